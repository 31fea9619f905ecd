package app

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"magicode/internal/provider/codex"
)

// fakeService answers a codex login whose user agrees at once.
func fakeService(t *testing.T) *httptest.Server {
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/authorize" {
			q := r.URL.Query()
			http.Redirect(w, r, q.Get("redirect_uri")+"?"+url.Values{"code": {"c"}, "state": {q.Get("state")}}.Encode(), http.StatusFound)
			return
		}
		_, _ = io.WriteString(w, `{"access_token":"access-secret","refresh_token":"refresh-secret","expires_in":360000,"account_id":"acct-secret"}`)
	}))
	t.Cleanup(s.Close)
	return s
}

// deskIn is the desk of a home, as the commands open it.
func deskIn(t *testing.T, home string) *desk {
	t.Helper()
	t.Setenv("MC_HOME", home)
	t.Setenv("HOME", filepath.Dir(home))
	t.Setenv("ANTHROPIC_API_KEY", "")
	t.Chdir(t.TempDir())
	d, err := openDesk(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// TestAuthLoginCodex: the browser comes back, the record is stored with its
// counters, and nothing that is printed holds a credential.
func TestAuthLoginCodex(t *testing.T) {
	s := fakeService(t)
	home := writeHome(t, map[string]string{"auth.json": `{"revision":4,"provider_generations":{"openai-codex":2},"anthropic":{"type":"api_key","key":"key-secret"}}`})
	d := deskIn(t, home)
	rt := &http.Transport{DisableKeepAlives: true}
	var out strings.Builder
	var wg sync.WaitGroup
	browse := writerFunc(func(p []byte) (int, error) {
		for _, word := range strings.Fields(string(p)) {
			if strings.HasPrefix(word, s.URL) {
				wg.Go(func() {
					if res, err := (&http.Client{Transport: rt}).Get(word); err == nil {
						res.Body.Close()
					}
				})
			}
		}
		return out.Write(p)
	})
	l := &codex.Login{HTTP: rt, AuthorizeURL: s.URL + "/authorize", TokenURL: s.URL + "/token", Ports: []int{0}}
	err := d.loginCodex(t.Context(), authLoginCmd{Provider: codex.ID, NoBrowser: true, Wait: 10 * time.Second}, l, browse)
	wg.Wait()
	if err != nil || strings.Contains(out.String(), "secret") || !strings.Contains(out.String(), "openai-codex: ready: stored in auth.json, until 20") || !regexp.MustCompile(`ssh -L (\d+):localhost:\d+ `).MatchString(out.String()) {
		t.Errorf("%v\n%s", err, &out)
	}
	file, err := d.snap.Auth.Read(t.Context())
	if err != nil || file.Revision != 5 || file.Generations["openai-codex"] != 3 || string(file.Records["openai-codex"].Access) != "access-secret" || string(file.Records["anthropic"].Key) != "key-secret" {
		t.Errorf("%v %+v", err, file)
	}
	if status, code := command(t, home, nil, "auth", "status"); code != exitOK || strings.Contains(status, "secret") || !strings.Contains(status, "* openai-codex           ready") {
		t.Error(status)
	}
	if text, code := command(t, home, nil, "auth", "logout", "openai-codex"); code != exitOK || text != "openai-codex: removed\n" {
		t.Error(text)
	}
}

type writerFunc func([]byte) (int, error)

func (f writerFunc) Write(p []byte) (int, error) { return f(p) }

// TestAuthLoginEnds: nobody comes back, or the user gives up.
func TestAuthLoginEnds(t *testing.T) {
	d := deskIn(t, writeHome(t, nil))
	gone, cancel := context.WithCancelCause(t.Context())
	stop := errors.New("interrupted")
	cancel(stop)
	for name, c := range map[string]struct {
		ctx  context.Context
		wait time.Duration
		want error
	}{
		"nobody":      {t.Context(), 20 * time.Millisecond, errNobody},
		"interrupted": {gone, time.Minute, stop},
		"no wait":     {t.Context(), -1, errUsage},
	} {
		t.Run(name, func(t *testing.T) {
			l := &codex.Login{HTTP: http.DefaultTransport, Ports: []int{0}}
			if err := d.loginCodex(c.ctx, authLoginCmd{NoBrowser: true, Wait: c.wait}, l, io.Discard); !errors.Is(err, c.want) {
				t.Error(err)
			}
		})
	}
	if _, err := os.Lstat(d.snap.Paths.Auth()); err == nil {
		t.Error("something was stored")
	}
}

// loginWith runs `auth login` with text on standard input.
func loginWith(t *testing.T, home, stdin string, args ...string) (out string, status int) {
	t.Helper()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(exe, append([]string{"auth", "login"}, args...)...)
	cmd.Dir, cmd.Stdin = t.TempDir(), strings.NewReader(stdin)
	cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "MC_HOME=" + home, "HOME=" + filepath.Dir(home), asProgram + "=1"}
	text, _ := cmd.CombinedOutput()
	return string(text), cmd.ProcessState.ExitCode()
}

func TestAuthLoginKeyAndRefusals(t *testing.T) {
	settings := `{"providers":{"custom":{"mine":{"label":"m","base_url":"http://127.0.0.1:1","api_key_env_var":"MINE"},"free":{"label":"f","base_url":"http://127.0.0.1:1"}}}}`
	for name, c := range map[string]struct {
		args, stdin, auth string
		status            int
		want              string
	}{
		"key":          {"anthropic", " key-secret\n", "", exitOK, "anthropic: ready: stored in auth.json\nselected is openai-codex; "},
		"no key":       {"anthropic", " \n", "", exitUsage, "read from standard input"},
		"two lines":    {"anthropic", "secret\nsecret\n", "", exitUsage, "is no API key"},
		"too long":     {"anthropic", strings.Repeat("s", 5000), "", exitUsage, "is no API key"},
		"claude":       {"claude-subscription", "", "", exitUsage, "claude auth login"},
		"custom":       {"mine", "", "", exitUsage, "from the variable MINE"},
		"needs none":   {"free", "", "", exitUsage, "needs no key"},
		"unknown":      {"nobody", "", "", exitError, "no such provider: nobody; choose one of: openai-codex, anthropic\n"},
		"broken file":  {"anthropic", "key-secret", "[", exitError, "auth.json invalid"},
		"bad duration": {"--wait soon", "", "", exitUsage, "invalid duration"},
	} {
		t.Run(name, func(t *testing.T) {
			files := map[string]string{"settings.json": settings}
			if c.auth != "" {
				files["auth.json"] = c.auth
			}
			home := writeHome(t, files)
			out, status := loginWith(t, home, c.stdin, strings.Fields(c.args)...)
			if status != c.status || !strings.Contains(out, c.want) || strings.Contains(out, "secret") {
				t.Errorf("status %d: %s", status, out)
			}
			stored, _ := os.ReadFile(filepath.Join(home, "auth.json"))
			if c.status != exitOK && string(stored) != c.auth {
				t.Errorf("stored %s", stored)
			}
			if c.status == exitOK && !strings.Contains(string(stored), `"key": "key-secret"`) {
				t.Errorf("stored %s", stored)
			}
		})
	}
}
