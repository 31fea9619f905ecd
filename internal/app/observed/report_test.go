package observed

import (
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"magicode/internal/mcp/mcptest"
)

// serveOne gives the world an MCP server of a kind that mcptest knows.
func (w *world) serveOne(t *testing.T, name, kind string) {
	t.Helper()
	w.serve(t, map[string]any{name: map[string]any{"command": os.Args[0], "env": map[string]string{mcptest.Mode: kind}}})
}

// serve gives the world MCP servers and approves them.
func (w *world) serve(t *testing.T, servers map[string]any) {
	t.Helper()
	w.save(t)
	text, err := json.Marshal(map[string]any{"mcpServers": servers})
	if err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(w.work, ".mcp.json"), string(text))
	for name := range servers {
		cmd := exec.Command(os.Args[0], "mcp", "approve", name)
		cmd.Dir = w.work
		cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + w.home, "MC_HOME=" + w.home, asProgram + "=1"}
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("approve: %v: %s", err, out)
		}
	}
	settings, err := os.ReadFile(filepath.Join(w.home, "settings.json"))
	if err != nil {
		t.Fatal(err)
	}
	stored := map[string]any{}
	if err := json.Unmarshal(settings, &stored); err != nil {
		t.Fatal(err)
	}
	w.settings = stored
}

// TestUsersReport is the case of docs/support.md: a child whose MCP server does
// not want to end is shut down, and the first screen of trace names the server
// and the phase. It holds the screen in the document against the one it gets.
func TestUsersReport(t *testing.T) {
	w := newWorld(t)
	w.serveOne(t, "notes", mcptest.Stubborn)
	c := w.start(t, "MC_TELEMETRY=file")
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	if _, err := c.Initialize(ctx); err != nil {
		t.Fatal(err)
	}
	if err := c.Shutdown(ctx); err != nil {
		t.Fatal(err)
	}
	said := c.end(t)
	if said.exit != 0 || said.stderr != "" {
		t.Errorf("exit %d, stderr %q", said.exit, said.stderr)
	}
	cmd := exec.Command(os.Args[0], "trace")
	cmd.Dir = w.work
	cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + w.home, "MC_HOME=" + w.home, asProgram + "=1"}
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("trace: %v: %s", err, out)
	}
	screen := string(out)
	t.Log("\n" + screen)
	if lines := strings.Split(screen, "\n"); len(lines) > 24 {
		screen = strings.Join(lines[:24], "\n")
	}
	document, err := os.ReadFile("../../../docs/support.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"slow-cleanup", "closing MCP server mcp-1 (stdio)", "in the step terminate", "mcp.close mcp-1 (stdio)", "start the command of mcp-1 by hand"} {
		if !strings.Contains(screen, want) {
			t.Errorf("no %q in\n%s", want, screen)
		}
		if !strings.Contains(string(document), want) {
			t.Errorf("docs/support.md does not show %q", want)
		}
	}
	if strings.Contains(screen, "notes") {
		t.Error("the user's own name of the server is shown")
	}
}
