package agent

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"magicode/internal/auth"
	"magicode/internal/config"
	"magicode/internal/provider"
	"magicode/internal/startup"
	"magicode/internal/vfs"
	"magicode/telemetry"
)

// TestStaleLogin: a login that must be renewed is renewed over the network, and
// its failure is an error of the turn.
func TestStaleLogin(t *testing.T) {
	home, fsys := t.TempDir(), vfs.OS()
	for name, text := range map[string]string{"settings.json": `{"schema_version":2}`,
		"auth.json": `{"openai-codex":{"type":"oauth","access":"x","refresh":"secret-r","expires":1,"accountId":"a"}}`} {
		if err := os.WriteFile(filepath.Join(home, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	t.Setenv("HTTPS_PROXY", "http://127.0.0.1:1") // nothing listens there
	a := New(fsys, home, append(os.Environ(), "MC_HOME="+home), telemetry.Tel{})
	lock := func(context.Context, string, time.Duration) (func() error, error) {
		return func() error { return nil }, nil
	}
	loaded, err := config.Look(config.Env{FS: fsys, Lookup: a.lookup, CWD: home, PID: os.Getpid(), UID: os.Geteuid(), Lock: lock, PasswordHome: PasswordHome})
	if err != nil {
		t.Fatal(err)
	}
	snap := &startup.Snapshot{Paths: loaded.Paths, Settings: loaded.Settings, Auth: auth.NewStore(fsys, loaded.Paths.Auth(), auth.Acquire(lock), time.Now)}
	_, err = newFactory(a, snap, a.Models(snap)).Make(t.Context(), provider.Selection{Provider: "openai-codex", Model: "gpt-5.5"}, provider.PurposeMain)
	if err == nil || !strings.Contains(err.Error(), "log in again") || strings.Contains(err.Error(), "secret") {
		t.Error(err)
	}
}
