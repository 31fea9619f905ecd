package config

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"

	"magicode/internal/vfs"
)

// TestSetMCPApproval: what is approved is started, whichever form the record has;
// an edited definition keeps a plain approval and loses a digest.
func TestSetMCPApproval(t *testing.T) {
	for _, bound := range []bool{false, true} {
		root := realDir(t)
		cwd := realDir(t)
		put(t, filepath.Join(root, ".mcp.json"), `{"mcpServers":{"a":{"command":"x"},"b":{"command":"y"}}}`)
		put(t, filepath.Join(cwd, ".mcp.json"), `{"mcpServers":{"b":{"command":"z","args":["1"]}}}`)
		if bound {
			put(t, filepath.Join(root, "mcp-approval.key"), "0123456789abcdef0123456789abcdef")
		}
		env := Env{FS: vfs.OS(), CWD: cwd, UID: os.Geteuid(), Lookup: func(n string) (string, bool) {
			v, ok := map[string]string{"MC_HOME": root, "HOME": root}[n]
			return v, ok
		}, Lock: func(context.Context, string, time.Duration) (func() error, error) {
			return func() error { return nil }, nil
		}}
		load := func() MCP {
			t.Helper()
			l, err := Load(context.Background(), env)
			if err != nil {
				t.Fatal(err)
			}
			return l.MCP
		}
		if m := load(); len(m.Servers) != 0 || len(m.Held) != 2 {
			t.Fatalf("%+v", m)
		}
		p, _, err := ResolveRoot(env)
		if err != nil {
			t.Fatal(err)
		}
		source, err := SetMCPApproval(context.Background(), env, p, "b", true)
		if err != nil || source != filepath.Join(cwd, ".mcp.json") {
			t.Fatal(source, err)
		}
		if m := load(); len(m.Servers) != 1 || m.Servers[0].Name != "b" || m.Servers[0].Bound != bound || m.Servers[0].Stdio.Command != "z" {
			t.Errorf("%+v", m)
		}
		put(t, filepath.Join(cwd, ".mcp.json"), `{"mcpServers":{"b":{"command":"evil"}}}`)
		if m := load(); len(m.Servers) == 1 == bound {
			t.Errorf("after an edit: %+v", m)
		}
		if _, err := SetMCPApproval(context.Background(), env, p, "b", false); err != nil {
			t.Fatal(err)
		}
		if m := load(); len(m.Servers) != 0 || m.Held[1].Why != HeldRevoked {
			t.Errorf("%+v", m)
		}
		if _, err := SetMCPApproval(context.Background(), env, p, "c", true); !errors.Is(err, ErrNoServer) {
			t.Error(err)
		}
	}
}

func realDir(t *testing.T) string {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	return dir
}

func put(t *testing.T, file, text string) {
	t.Helper()
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}
