package litellm

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"magicode/pkg/client"
	"magicode/pkg/localagent"
)

// TestProxy runs a turn of a real child over each wire against a litellm proxy,
// and a second one in the same session. The proxy's address and key come from
// MAGI_LITELLM_URL and MAGI_LITELLM_KEY.
func TestProxy(t *testing.T) {
	base, key := os.Getenv("MAGI_LITELLM_URL"), os.Getenv("MAGI_LITELLM_KEY")
	if base == "" {
		t.Skip("no proxy: bench/litellm.sh starts one")
	}
	exe := filepath.Join(t.TempDir(), "magi-code")
	if out, err := exec.Command("go", "build", "-o", exe, "../../cmd/magi-code").CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	custom := func(responses bool) string {
		return fmt.Sprintf(`"custom":{"proxy":{"label":"Proxy","base_url":"%s/v1","api_key_env_var":"PROXY_KEY","use_responses_endpoint":%v}}`, base, responses)
	}
	for _, c := range []struct{ name, provider, model, providers string }{
		{"chat", "proxy", "mock", custom(false)},
		{"responses", "proxy", "bridge", custom(true)},
		{"messages", "anthropic", "messages", fmt.Sprintf(`"anthropic":{"base_url":%q}`, base)},
	} {
		t.Run(c.name, func(t *testing.T) {
			home, work := filepath.Join(t.TempDir(), "home"), t.TempDir()
			settings := fmt.Sprintf(`{"schema_version":2,"agent":{"model":{"provider":%q,"model":%q}},"providers":{%s}}`, c.provider, c.model, c.providers)
			if err := os.MkdirAll(home, 0o700); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(filepath.Join(home, "settings.json"), []byte(settings), 0o600); err != nil {
				t.Fatal(err)
			}
			env := []string{"PATH=" + os.Getenv("PATH"), "HOME=" + work, "MC_HOME=" + home, "PROXY_KEY=" + key, "ANTHROPIC_API_KEY=" + key, "NO_PROXY=127.0.0.1"}
			talk(t, client.Options{Path: exe, Dir: work, Env: env})
			if c.provider == "proxy" {
				cmd := exec.Command(exe, "models", "refresh", "--bare")
				cmd.Dir, cmd.Env = work, env
				if out, err := cmd.CombinedOutput(); err != nil || !strings.Contains(string(out), "proxy: 3 models") {
					t.Errorf("models refresh: %v %s", err, out)
				}
			}
		})
	}
}

// talk runs two turns.
func talk(t *testing.T, o client.Options) {
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	child, err := client.Start(o)
	if err != nil {
		t.Fatal(err)
	}
	defer child.Close()
	if _, err := child.Initialize(ctx, localagent.MethodTurnStart); err != nil {
		t.Fatal(err)
	}
	s, err := child.CreateSession(ctx)
	if err != nil {
		t.Fatal(err)
	}
	for n := range 2 {
		run, err := child.StartTurn(ctx, s.SessionID, "Say hello.")
		if err != nil {
			t.Fatal(err)
		}
		deltas := 0
		for run.Finished == nil {
			select {
			case ev, ok := <-child.Events():
				if !ok {
					t.Fatal(child.Err())
				}
				if ev.Name == localagent.EventMessageDelta {
					deltas++
				}
				if err := run.Apply(ev); err != nil {
					t.Fatal(err)
				}
			case <-ctx.Done():
				t.Fatal("no end")
			}
		}
		if f := run.Finished; f.Outcome != localagent.OutcomeCompleted || f.Persistence != localagent.PersistenceDurable || len(run.Messages) != 1 {
			t.Fatalf("turn %d: %+v, %d messages", n, f, len(run.Messages))
		}
		if text, _ := run.Messages[0].Text(); text != "Hello from the proxy." || deltas == 0 {
			t.Errorf("turn %d: %q in %d deltas", n, text, deltas)
		}
	}
}
