package app

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"magicode/internal/mcp/mcptest"
)

// pidFolder names a folder into which a stubborn MCP server and the child that
// it starts each put a file named by their process id.
const pidFolder = "MAGI_CODE_TEST_PIDS"

// haveKin: the child of a server is as stubborn, and holds its pipes open.
func haveKin() {
	_ = os.WriteFile(filepath.Join(os.Getenv(pidFolder), strconv.Itoa(os.Getpid())), nil, 0o600)
	if len(os.Args) < 2 {
		kin := exec.Command(os.Args[0], "kin")
		kin.Stdout, kin.Stderr = os.Stdout, os.Stderr
		_ = kin.Start()
	}
}

// stubbornServers writes definitions of n of them, approved, and returns the
// folder in which they and their children tell their process ids.
func stubbornServers(t *testing.T, home string, n int) (pids string) {
	t.Helper()
	pids = t.TempDir()
	servers, approvals := map[string]any{}, map[string]bool{}
	for i := range n {
		name := fmt.Sprintf("s%d", i)
		servers[name] = map[string]any{"command": os.Args[0], "env": map[string]string{mcptest.Mode: mcptest.Stubborn, pidFolder: pids}}
		approvals[name] = true
	}
	source, err := filepath.EvalSymlinks(home)
	if err != nil {
		t.Fatal(err)
	}
	for file, v := range map[string]any{
		".mcp.json": map[string]any{"mcpServers": servers},
		"settings.json": map[string]any{
			"agent":        map[string]any{"model": map[string]any{"provider": "free", "model": "m"}},
			"providers":    map[string]any{"custom": map[string]any{"free": map[string]any{"label": "f", "base_url": "http://127.0.0.1:1"}}},
			"capabilities": map[string]any{"mcp_approvals": map[string]any{filepath.Join(source, ".mcp.json"): approvals}},
		},
	} {
		data, err := json.Marshal(v)
		if err == nil {
			err = os.WriteFile(filepath.Join(home, file), data, 0o600)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	return pids
}

// survivors are the processes of a folder of process ids that live.
func survivors(t *testing.T, dir string) (all int, alive []int) {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		pid, err := strconv.Atoi(e.Name())
		if err != nil {
			t.Fatal(err)
		}
		if p, err := os.FindProcess(pid); err == nil && running(p) {
			alive = append(alive, pid)
			_ = p.Kill()
		}
	}
	return len(entries), alive
}

// running: a zombie that nobody has waited for runs no more.
func running(p *os.Process) bool {
	if stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", p.Pid)); err == nil {
		return !strings.Contains(string(stat), ") Z ")
	}
	return p.Signal(syscall.Signal(0)) == nil
}
