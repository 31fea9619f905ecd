package app

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// command runs the test binary as the program in a home.
func command(t *testing.T, home string, env []string, args ...string) (out string, status int) {
	t.Helper()
	return commandIn(t, t.TempDir(), home, env, args...)
}

// commandIn is command in a folder of the caller's.
func commandIn(t *testing.T, dir, home string, env []string, args ...string) (out string, status int) {
	t.Helper()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(exe, args...)
	cmd.Dir = dir
	cmd.Env = append([]string{"PATH=" + os.Getenv("PATH"), "MC_HOME=" + home, "HOME=" + filepath.Dir(home), "NO_PROXY=127.0.0.1", asProgram + "=1"}, env...)
	text, err := cmd.CombinedOutput()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	return string(text), cmd.ProcessState.ExitCode()
}

func writeHome(t *testing.T, files map[string]string) string {
	t.Helper()
	home := filepath.Join(t.TempDir(), "home")
	if err := os.MkdirAll(home, 0o700); err != nil {
		t.Fatal(err)
	}
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(home, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return home
}

// TestModels: a catalog is fetched, listed and selected from, and no command
// shows the key.
func TestModels(t *testing.T) {
	var keys []string
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		keys = append(keys, r.URL.Path+" "+r.Header.Get("Authorization"))
		if r.Header.Get("Authorization") != "Bearer key-of-fixture" {
			http.Error(w, "who?", http.StatusUnauthorized)
			return
		}
		_, _ = w.Write([]byte(`{"object":"list","data":[{"id":"small"},{"id":"large"}]}`))
	}))
	t.Cleanup(server.Close)
	home := writeHome(t, map[string]string{"settings.json": `{"schema_version":2,"agent":{"model":{"provider":"fixture","model":"m","mine":1}},
"providers":{"custom":{"fixture":{"label":"F","base_url":"` + server.URL + `/v1","api_key_env_var":"FIXTURE_KEY","extra_models":["extra"]}}}}`})
	key := []string{"FIXTURE_KEY=key-of-fixture"}
	for _, c := range []struct {
		name string
		env  []string
		args string
		code int
		want string
	}{
		{"nothing yet", key, "models list fixture", 0, "no catalog"},
		{"any model without a catalog", key, "models use fixture whatever", 0, ""},
		{"no key", nil, "models refresh --bare", 1, "no usable credential"},
		{"never logged in", nil, "models refresh --bare openai-codex", 1, "there is no ChatGPT login that can be used; log in with `magi-code auth login`"},
		{"no such provider", nil, "models refresh fixtrue", 1, "there is no such provider: fixtrue; choose one of: openai-codex, anthropic, claude-subscription, fixture"},
		{"wrong key", []string{"FIXTURE_KEY=wrong"}, "models refresh --bare", 1, "refused the credential"},
		{"refresh", key, "models refresh --bare", 0, "fixture: 3 models"},
		{"list", key, "models list fixture", 0, "  large "},
		{"unknown model", key, "models use fixture whatever", 1, "does not list"},
		{"unknown level", key, "models use fixture large --level=high", 1, "thinking level"},
		{"unknown provider", key, "models use nobody large", 1, "no such provider"},
		{"use", key, "models use fixture large", 0, ""},
		{"selected", key, "models list", 0, "selected: fixture large (thinking level default)"},
		{"status", key, "auth status", 0, "* fixture                ready: key from FIXTURE_KEY"},
		{"status without", nil, "auth status", 0, "not ready: FIXTURE_KEY is empty or not set"},
		{"status of codex", key, "auth status", 0, "  openai-codex           not ready"},
		{"logout of a variable", key, "auth logout fixture", 1, "nothing of this provider is stored"},
		{"logout of nobody", key, "auth logout nobody", 1, "there is no such provider: nobody; choose one of: openai-codex, anthropic\n"},
		{"selected is nobody", append([]string{"MC_PROVIDER=nobody"}, key...), "models list fixture", 0, "\nthere is no such provider: nobody; choose one of: "},
		{"no home", []string{"MC_HOME="}, "models list", 1, "MC_HOME: empty; "},
		{"bad level", key, "models use fixture large --level=odd", 2, "must be one of default, low,"},
		{"failed", []string{"FIXTURE_KEY=wrong"}, "models refresh", 1, "the old catalog stays"},
		{"no models.dev", append([]string{"HTTPS_PROXY=http://127.0.0.1:1"}, key...), "models refresh", 0, "no context windows and prices; --bare does not ask models.dev"},
	} {
		out, code := command(t, home, c.env, strings.Fields(c.args)...)
		if c.name == "wrong key" && strings.Contains(out, "old catalog") {
			t.Errorf("there is no old catalog: %s", out)
		}
		if code != c.code || !strings.Contains(out, c.want) || strings.Contains(out, "key-of-fixture") {
			t.Errorf("%s: status %d\n%s", c.name, code, out)
		}
	}
	raw, err := os.ReadFile(filepath.Join(home, "settings.json"))
	if err != nil || !strings.Contains(string(raw), `"mine"`) || !strings.Contains(string(raw), `"large"`) || strings.Count(string(raw), "schema_version") != 1 {
		t.Errorf("%v %s", err, raw)
	}
	if keys[len(keys)-1] != "/v1/models Bearer key-of-fixture" {
		t.Error(keys)
	}
}

func TestLogout(t *testing.T) {
	home := writeHome(t, map[string]string{"settings.json": `{"schema_version":2}`,
		"auth.json": `{"revision":7,"anthropic":{"type":"api_key","key":"secret-of-anthropic"},"openai-codex":{"type":"oauth","access":"secret-a","refresh":"secret-r","expires":1,"accountId":"a"}}`})
	for _, c := range [][2]string{
		{"auth status", "  anthropic              ready: stored in auth.json"},
		{"auth status", "* openai-codex           ready: stored in auth.json, renewed at the next turn"},
		{"auth logout anthropic", "anthropic: removed"},
		{"auth logout anthropic", "nothing was stored"},
		{"auth status", "  anthropic              not ready"},
	} {
		out, code := command(t, home, nil, strings.Fields(c[0])...)
		if code != 0 || !strings.Contains(out, c[1]) || strings.Contains(out, "secret") {
			t.Errorf("%s: status %d\n%s", c[0], code, out)
		}
	}
	raw, err := os.ReadFile(filepath.Join(home, "auth.json"))
	if err != nil || strings.Contains(string(raw), "secret-of-anthropic") || !strings.Contains(string(raw), "secret-r") {
		t.Errorf("%v %s", err, raw)
	}
}
