package app

import (
	"maps"
	"os"
	"slices"
	"strings"

	"magicode/internal/config"
	"magicode/internal/lsp"
	"magicode/internal/proc"
)

// languageServers says which servers an edit would start.
func (d *doctor) languageServers(s *config.Settings) {
	c := s.Capabilities.LSP
	if !c.Enabled || !c.InjectDiagnostics {
		return
	}
	path, _ := d.lookup("PATH")
	extensions := make(map[string][]string)
	servers := lsp.Servers(c.Servers)
	for _, ext := range slices.Sorted(maps.Keys(servers)) {
		command := servers[ext].Command
		extensions[command] = append(extensions[command], ext)
	}
	for _, command := range slices.Sorted(maps.Keys(extensions)) {
		files := "files ending in " + strings.Join(extensions[command], ", ")
		if info, err := os.Stat(proc.Program(command, path, "/")); err == nil && info.Mode().IsRegular() {
			d.say(good, "diagnostics", "an edit of %s starts %s", files, command)
		} else {
			d.say(noted, "diagnostics", "%s is not installed: there are no diagnostics of %s", command, files)
		}
	}
}
