package lsp

import (
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"magicode/internal/config"
)

// Server is how a language server is started.
type Server struct {
	Command string
	Args    []string
}

// Name is what diagnostics are headed with: the program.
func (s Server) Name() string { return filepath.Base(s.Command) }

// preset is a server that needs no settings (tools.md 6.8).
type preset struct {
	server     Server
	languages  []string // names that settings may use for it, beside the command
	extensions []string
}

var presets = [...]preset{
	{Server{Command: "rust-analyzer"}, []string{"rust"}, []string{"rs"}},
	{Server{Command: "typescript-language-server", Args: []string{"--stdio"}}, []string{"typescript", "javascript"}, []string{"ts", "tsx", "js", "jsx"}},
	{Server{Command: "pyright-langserver", Args: []string{"--stdio"}}, []string{"python"}, []string{"py"}},
	{Server{Command: "gopls"}, []string{"golang"}, []string{"go"}},
}

// languageID is the protocol's word for files with an extension.
func languageID(ext string) string {
	switch ext {
	case "rs":
		return "rust"
	case "ts":
		return "typescript"
	case "tsx":
		return "typescriptreact"
	case "js":
		return "javascript"
	case "jsx":
		return "javascriptreact"
	case "py":
		return "python"
	}
	return ext
}

// Servers tells which server is started for which extension. A name in the
// settings is a command or a language of those that need no settings, and
// replaces that one; any other name is an extension. The latter counts first.
func Servers(settings map[string]config.LSPServer) map[string]Server {
	out := make(map[string]Server)
	for _, p := range presets {
		for _, ext := range p.extensions {
			out[ext] = p.server
		}
	}
	var single []string
	for _, name := range slices.Sorted(maps.Keys(settings)) {
		exts := extensionsOf(name)
		if exts == nil {
			single = append(single, name)
		}
		for _, ext := range exts {
			put(out, ext, settings[name])
		}
	}
	for _, name := range single {
		put(out, strings.ToLower(strings.TrimPrefix(name, ".")), settings[name])
	}
	return out
}

func extensionsOf(name string) []string {
	for _, p := range presets {
		if p.server.Command == name || slices.Contains(p.languages, name) {
			return p.extensions
		}
	}
	return nil
}

func put(out map[string]Server, ext string, s config.LSPServer) {
	delete(out, ext)
	if s.Enabled {
		out[ext] = Server{Command: s.Command, Args: s.Args}
	}
}

func extensionOf(path string) string {
	return strings.ToLower(strings.TrimPrefix(filepath.Ext(path), "."))
}
