package host

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"

	"magicode/bench/fixtures"
)

// Home is a user's folder, the program's folder in it, and a workspace.
type Home struct{ Root, MC, Work string }

// NewHome makes a home below root whose model is served at baseURL. Nothing in
// it compacts by itself.
func NewHome(root, baseURL string) (Home, error) {
	root, err := filepath.EvalSymlinks(root)
	if err != nil {
		return Home{}, err
	}
	h := Home{Root: root, MC: filepath.Join(root, "home"), Work: filepath.Join(root, "work")}
	settings, err := json.Marshal(map[string]any{"schema_version": 2,
		"agent": map[string]any{"model": map[string]any{"provider": "fixture", "model": "fixture-model"},
			"context": map[string]any{"enabled": false}, "compaction": map[string]any{"auto": map[string]any{"enabled": false}}},
		"providers": map[string]any{"custom": map[string]any{"fixture": map[string]any{"label": "Fixture", "base_url": baseURL}}}})
	return h, errors.Join(err, os.Mkdir(h.MC, 0o700), os.Mkdir(filepath.Join(h.MC, "sessions"), 0o700), os.Mkdir(h.Work, 0o755),
		os.WriteFile(filepath.Join(h.MC, "settings.json"), settings, 0o600))
}

// AddServers gives the home MCP servers, in the form of .mcp.json, and approves them.
func (h Home) AddServers(servers map[string]any) error {
	approved := map[string]bool{}
	for name := range servers {
		approved[name] = true
	}
	file, settings := filepath.Join(h.MC, "settings.json"), map[string]any{}
	text, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	if err := json.Unmarshal(text, &settings); err != nil {
		return err
	}
	definitions := filepath.Join(h.MC, ".mcp.json")
	settings["capabilities"] = map[string]any{"mcp_approvals": map[string]any{definitions: approved}}
	text, err = json.Marshal(settings)
	defined, derr := json.Marshal(map[string]any{"mcpServers": servers})
	return errors.Join(err, derr, os.WriteFile(file, text, 0o600), os.WriteFile(definitions, defined, 0o600))
}

// profileDir is handed on to children: see bench/cmd/profiled.
const profileDir = "MAGI_CODE_PROFILE_DIR"

// Env is what a child in this home is started with, and nothing else of ours.
func (h Home) Env(more ...string) []string {
	if dir := os.Getenv(profileDir); dir != "" {
		more = append(more, profileDir+"="+dir)
	}
	return append([]string{"PATH=" + os.Getenv("PATH"), "HOME=" + h.Root, "MC_HOME=" + h.MC, "LANG=C.UTF-8", "NO_PROXY=127.0.0.1"}, more...)
}

// Store puts a session of about size bytes into the home and returns its id.
func (h Home) Store(size int) (id string, err error) {
	data := bytes.ReplaceAll(fixtures.Stored(size), []byte(`"`+fixtures.Cwd+`"`), []byte(`"`+h.Work+`"`))
	return fixtures.SessionID, os.WriteFile(filepath.Join(h.MC, "sessions", fixtures.SessionID+".jsonl"), data, 0o600)
}
