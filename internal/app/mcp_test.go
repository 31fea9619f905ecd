package app

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// mcpPlace is a home and a project with servers, and the program run in them.
type mcpPlace struct {
	t         *testing.T
	home, cwd string
}

func newMCPPlace(t *testing.T, servers map[string]any) *mcpPlace {
	p := &mcpPlace{t: t, home: t.TempDir(), cwd: t.TempDir()}
	data, err := json.Marshal(map[string]any{"mcpServers": servers})
	if err == nil {
		err = os.WriteFile(filepath.Join(p.cwd, ".mcp.json"), data, 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func (p *mcpPlace) command(args ...string) *exec.Cmd {
	cmd := exec.Command(os.Args[0], append([]string{"mcp"}, args...)...)
	cmd.Dir = p.cwd
	cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "MC_HOME=" + p.home, "HOME=" + p.home, "NO_PROXY=*", asProgram + "=1"}
	return cmd
}

// runs holds the output against pieces that must be there, in order.
func (p *mcpPlace) runs(status int, args string, want ...string) {
	p.t.Helper()
	cmd := p.command(strings.Fields(args)...)
	out, _ := cmd.CombinedOutput()
	if got := cmd.ProcessState.ExitCode(); got != status {
		p.t.Errorf("mcp %s: status %d, wanted %d: %s", args, got, status, out)
	}
	rest := string(out)
	for _, w := range want {
		_, after, ok := strings.Cut(rest, w)
		if !ok {
			p.t.Errorf("mcp %s: no %q in %s", args, w, out)
			return
		}
		rest = after
	}
}

func TestMCPCommands(t *testing.T) {
	web := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var m struct {
			ID     json.RawMessage
			Method string
		}
		body, _ := io.ReadAll(r.Body)
		_ = json.Unmarshal(body, &m)
		w.Header().Set("Content-Type", "application/json")
		switch m.Method {
		case "initialize":
			fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,"result":{"protocolVersion":"2025-06-18","capabilities":{}}}`, m.ID)
		case "tools/list":
			fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,"result":{"tools":[{"name":"look"}]}}`, m.ID)
		case "":
			w.WriteHeader(http.StatusMethodNotAllowed)
		default:
			w.WriteHeader(http.StatusAccepted)
		}
	}))
	defer web.Close()
	p := newMCPPlace(t, map[string]any{
		"good": map[string]any{"type": "http", "url": web.URL + "/?key=hidden"},
		"bad":  map[string]any{"command": "sh", "args": []string{"-c", "echo oh no >&2; exit 3"}},
	})
	p.runs(0, "list", "bad  not started: unapproved  stdio sh -c", "good  not started: unapproved  http "+web.URL+"/\n", "'magi-code mcp approve NAME'")
	p.runs(0, "test", "no approved MCP server", "bad (unapproved)  stdio sh -c", "good (unapproved)  http ", "'magi-code mcp approve NAME'")
	p.runs(1, "test good", "is not approved (unapproved): run 'magi-code mcp approve good'")
	p.runs(0, "approve good", "approved: good of ", "http "+web.URL+"/\n", "fails while it does not come up")
	p.runs(0, "test", "good", "ok    initialize", "1 tool in ", "MCP 2025-06-18", "mcp__good__look")
	p.runs(0, "approve bad", "approved: bad of ", "stdio sh -c")
	p.runs(0, "list", "bad  approved  stdio sh -c", "good  approved  http "+web.URL+"/\n")
	p.runs(1, "test", "bad", "FAIL  initialize the server exited with status 3", "stderr: oh no", "good", "ok    initialize")
	p.runs(0, "revoke bad", "revoked: bad")
	p.runs(0, "list", "bad  not started: revoked")
	p.runs(1, "test other", "no such server")
	p.runs(1, "approve other", "no such server")
	p.runs(1, "logout ../auth", "no such server")
	p.runs(2, "login good", "has no oauth")
	p.runs(2, "login", "expected")
}

// TestMCPListWithOneUnusable: the others are told of, and the one that fails
// every start is named.
func TestMCPListWithOneUnusable(t *testing.T) {
	p := newMCPPlace(t, map[string]any{
		"held":   map[string]any{"command": "a"},
		"needs":  map[string]any{"command": "b", "args": []string{"${NOBODY_SETS_THIS}"}},
		"usable": map[string]any{"command": "c"},
	})
	p.runs(0, "approve usable")
	p.runs(0, "approve needs", "it cannot be started yet")
	p.runs(1, "list", "usable  approved  stdio c", "held  not started: unapproved", "needs  not started: unusable  stdio b ${NOBODY_SETS_THIS}",
		"'magi-code mcp revoke NAME'", "'magi-code mcp approve NAME'", "mcpServers.needs.args.0: needs a variable that is not set")
	p.runs(1, "test", "mcpServers.needs.args.0: needs a variable")
	p.runs(0, "revoke needs")
	p.runs(0, "list", "usable  approved", "needs  not started: revoked")
}

// TestMCPLogin plays the user: the printed address is visited, and the login is
// there afterwards, for the user alone.
func TestMCPLogin(t *testing.T) {
	var a *httptest.Server
	a = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		switch r.URL.Path {
		case "/.well-known/oauth-protected-resource/mcp":
			fmt.Fprintf(w, `{"resource":"%s/mcp","authorization_servers":["%s"]}`, a.URL, a.URL)
		case "/.well-known/oauth-authorization-server":
			fmt.Fprintf(w, `{"issuer":"%[1]s","authorization_endpoint":"%[1]s/authorize","token_endpoint":"%[1]s/token","code_challenge_methods_supported":["S256"]}`, a.URL)
		case "/authorize":
			q := r.URL.Query()
			http.Redirect(w, r, q.Get("redirect_uri")+"?"+url.Values{"code": {"c"}, "state": {q.Get("state")}}.Encode(), http.StatusFound)
		case "/token":
			io.WriteString(w, `{"access_token":"secret-access","token_type":"Bearer","scope":"read write"}`)
		default:
			w.WriteHeader(http.StatusUnauthorized)
		}
	}))
	defer a.Close()
	p := newMCPPlace(t, map[string]any{"web": map[string]any{"type": "http", "url": a.URL + "/mcp", "oauth": map[string]any{"client_id": "me"}}})
	p.runs(0, "approve web")
	p.runs(0, "list", "not logged in")
	p.runs(1, "test web", "FAIL  initialize login needed: there is no login yet", "magi-code mcp login web")
	cmd := p.command("login", "web", "--no-browser")
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	printed := ""
	for sc := bufio.NewScanner(out); sc.Scan(); {
		printed += sc.Text() + "\n"
		if strings.HasPrefix(sc.Text(), a.URL+"/authorize?") {
			client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
			res, err := client.Get(sc.Text())
			if err != nil {
				t.Fatal(err)
			}
			res.Body.Close()
		}
	}
	if err := cmd.Wait(); err != nil || !strings.Contains(printed, "logged in to web for: read write") || strings.Contains(printed, "secret-access") {
		t.Errorf("%v %s", err, printed)
	}
	info, err := os.Stat(filepath.Join(p.home, "mcp-tokens", "web.json"))
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Error(info, err)
	}
	p.runs(0, "list", "logged in\n")
	p.runs(0, "logout web", "forgotten")
	p.runs(0, "list", "not logged in")
}
