// Command mcpinterop holds our MCP client against servers of others.
//
//	mcpinterop client URL     what the MCP project's conformance suite runs: connect, log in, call each tool
//	mcpinterop real DIR       list, call, a failing call, cancel and stop with the servers installed in DIR by bench/mcp.sh
package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"time"

	"magicode/internal/auth"
	"magicode/internal/config"
	"magicode/internal/httpx"
	"magicode/internal/lease"
	"magicode/internal/mcp"
	"magicode/internal/mcp/oauth"
	"magicode/internal/tool"
	"magicode/internal/vfs"
)

func main() {
	if len(os.Args) != 3 {
		fmt.Fprintln(os.Stderr, "usage: mcpinterop client URL | real DIR")
		os.Exit(2)
	}
	run := client
	if os.Args[1] == "real" {
		run = realServers
	}
	if err := run(os.Args[2]); err != nil {
		fmt.Fprintln(os.Stderr, "mcpinterop:", err)
		os.Exit(1)
	}
}

// user is a client with a token store of its own and a browser that says yes.
type user struct {
	server config.MCPServer
	store  *oauth.Store
	http   *httpx.Client
}

func client(url string) error {
	dir, err := os.MkdirTemp("", "mcpinterop")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	leases := lease.New(lease.Options{})
	defer leases.Close()
	u := &user{http: httpx.New(httpx.Options{}), store: &oauth.Store{FS: vfs.OS(), Dir: dir,
		Lock: func(ctx context.Context, target string, wait time.Duration) (func() error, error) {
			l, err := leases.Acquire(ctx, target, wait)
			if err != nil {
				return nil, err
			}
			return l.Release, nil
		}}}
	defer u.http.Close()
	u.server = config.MCPServer{Name: "suite", Timeout: 20 * time.Second, HTTP: &config.HTTPServer{URL: url}}
	if strings.HasPrefix(os.Getenv("MCP_CONFORMANCE_SCENARIO"), "auth/") {
		u.server.HTTP.OAuth = new(config.MCPOAuth)
	}
	if err := u.prepare(); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(context.Background(), 25*time.Second)
	defer cancel()
	return u.calls(ctx)
}

// prepare takes what a scenario gives to a client in advance.
func (u *user) prepare() error {
	var given struct {
		ID     string `json:"client_id"`
		Secret string `json:"client_secret"`
	}
	if text := os.Getenv("MCP_CONFORMANCE_CONTEXT"); text != "" {
		if err := json.Unmarshal([]byte(text), &given); err != nil {
			return err
		}
	}
	if os.Getenv("MCP_CONFORMANCE_SCENARIO") == "auth/basic-cimd" {
		given.ID = "https://conformance-test.local/client-metadata.json"
	}
	if given.ID == "" {
		return nil
	}
	u.server.HTTP.OAuth = &config.MCPOAuth{ClientID: &given.ID}
	return u.store.Put(context.Background(), "suite", oauth.Record{ClientID: given.ID, ServerURL: u.server.HTTP.URL,
		ClientSecret: (*auth.Secret)(&given.Secret)})
}

// connect logs in once if it must.
func (u *user) connect(ctx context.Context) (*mcp.Manager, error) {
	o := mcp.Options{Lookup: os.LookupEnv, Dir: "/", Version: "interop", HTTP: u.http, Auth: func(s config.MCPServer) mcp.Authorizer {
		return oauth.NewTokens(u.store, s, u.http, time.Now)
	}}
	m, err := mcp.Connect(ctx, o, []config.MCPServer{u.server})
	if !errors.Is(err, mcp.ErrLoginNeeded) {
		return m, err
	}
	if err := u.login(ctx, nil); err != nil {
		return nil, err
	}
	return mcp.Connect(ctx, o, []config.MCPServer{u.server})
}

func (u *user) login(ctx context.Context, scopes []string) error {
	l := &oauth.Login{Server: u.server, RT: u.http, Now: time.Now, Scopes: scopes, Visit: visit}
	if r, err := u.store.Read("suite"); err == nil {
		l.Earlier = &r
	}
	r, err := l.Run(ctx)
	if err != nil {
		return fmt.Errorf("login: %w", err)
	}
	return u.store.Put(ctx, "suite", r)
}

// visit is the browser: it follows the redirect back to the callback.
func visit(url string) error {
	go func() {
		if res, err := http.Get(url); err == nil {
			_, _ = io.Copy(io.Discard, res.Body)
			res.Body.Close()
		}
	}()
	return nil
}

// calls runs every tool; a tool that asks for more scopes gets them once.
func (u *user) calls(ctx context.Context) error {
	m, err := u.connect(ctx)
	if err != nil {
		return err
	}
	defer m.Close()
	if os.Getenv("MCP_CONFORMANCE_SCENARIO") == "sse-retry" {
		time.Sleep(time.Second) // it takes every GET for the resumption: the server's own stream must be open by then
	}
	for _, t := range m.Tools() {
		for range 2 {
			r := t.Run(ctx, tool.Env{}, json.RawMessage(`{"a":5,"b":3}`))
			fmt.Println(t.Definition().Name, r.Success, r.Content)
			_, command, more := strings.Cut(r.Content, "magi-code mcp login suite")
			if !more {
				break
			}
			var scopes []string
			for _, s := range strings.Fields(command) {
				if s != "--scope" {
					scopes = append(scopes, s)
				}
			}
			if err := u.login(ctx, scopes); err != nil {
				return err
			}
		}
	}
	return nil
}

// call is one call to a real server.
type call struct{ tool, args, want string }

type realServer struct {
	conf  config.MCPServer
	calls []call
	hang  *call // to be cancelled
}

func realServers(dir string) error {
	npm := filepath.Join(dir, "node_modules", "@modelcontextprotocol")
	node := func(args ...string) *config.StdioServer { return &config.StdioServer{Command: "node", Args: args} }
	everything := []call{
		{"echo", `{"message":"hi"}`, "ok Echo: hi"}, {"get-sum", `{"a":2,"b":3}`, "ok The sum of 2 and 3 is 5."},
		{"get-tiny-image", `{}`, "[mcp content block redacted: image image/png]"}, {"get-structured-content", `{"location":"Chicago"}`, "structuredContent: {"},
		{"get-sum", `{"a":"x"}`, "failed "},
	}
	long := &call{tool: "trigger-long-running-operation", args: `{"duration":30,"steps":3}`}
	servers := []realServer{
		{conf: config.MCPServer{Name: "everything", Stdio: node(filepath.Join(npm, "server-everything/dist/index.js"), "stdio")}, calls: everything, hang: long},
		{conf: config.MCPServer{Name: "filesystem", Stdio: node(filepath.Join(npm, "server-filesystem/dist/index.js"), dir)}, calls: []call{
			{"list_allowed_directories", `{}`, "ok "}, {"list_directory", `{"path":"` + dir + `"}`, "[DIR] node_modules"}, {"read_text_file", `{"path":"/etc/passwd"}`, "failed "},
		}},
		{conf: config.MCPServer{Name: "time", Stdio: &config.StdioServer{Command: filepath.Join(dir, "venv/bin/mcp-server-time")}}, calls: []call{
			{"get_current_time", `{"timezone":"Europe/Berlin"}`, "Europe/Berlin"}, {"get_current_time", `{"timezone":"Nowhere/Land"}`, "failed "},
		}},
	}
	if url := os.Getenv("MCP_EVERYTHING_URL"); url != "" {
		servers = append(servers, realServer{conf: config.MCPServer{Name: "everything-http", HTTP: &config.HTTPServer{URL: url}}, calls: everything, hang: long})
	}
	failed := false
	for _, s := range servers {
		s.conf.Timeout = 30 * time.Second
		if err := s.try(); err != nil {
			failed = true
			fmt.Printf("FAIL  %s: %v\n", s.conf.Name, err)
		}
	}
	if failed {
		return errors.New("a server failed")
	}
	return nil
}

func (s realServer) try() error {
	c := httpx.New(httpx.Options{})
	defer c.Close()
	began := time.Now()
	m, err := mcp.Connect(context.Background(), mcp.Options{Lookup: os.LookupEnv, Dir: "/", Version: "interop", HTTP: c}, []config.MCPServer{s.conf})
	if err != nil {
		return err
	}
	connected := time.Since(began)
	tools := map[string]tool.Tool{}
	for _, t := range m.Tools() {
		tools[strings.TrimPrefix(t.Definition().Name, "mcp__"+s.conf.Name+"__")] = t
	}
	err = s.callAll(tools)
	began = time.Now()
	if e := m.Close(); e != nil {
		err = errors.Join(err, e)
	}
	if err == nil {
		fmt.Printf("ok    %-16s %2d tools, connected in %v, %d calls, stopped in %v\n", s.conf.Name, len(tools), connected.Round(time.Millisecond), len(s.calls), time.Since(began).Round(time.Millisecond))
	}
	return err
}

func (s realServer) callAll(tools map[string]tool.Tool) error {
	run := func(ctx context.Context, c call) (string, error) {
		t := tools[c.tool]
		if t == nil {
			return "", fmt.Errorf("there is no tool %s", c.tool)
		}
		r := t.Run(ctx, tool.Env{}, json.RawMessage(c.args))
		if r.Success {
			return "ok " + r.Content, nil
		}
		return "failed " + r.Content, nil
	}
	if s.hang != nil {
		ctx, cancel := context.WithTimeout(context.Background(), 300*time.Millisecond)
		defer cancel()
		began := time.Now()
		got, err := run(ctx, *s.hang)
		if err != nil || got != "failed "+tool.CancelledText || time.Since(began) > 600*time.Millisecond {
			return fmt.Errorf("cancel after %v: %s %v", time.Since(began), got, err)
		}
	}
	for _, c := range s.calls {
		if got, err := run(context.Background(), c); err != nil || !strings.Contains(got, c.want) {
			return fmt.Errorf("%s %s: %s %v", c.tool, c.args, got, err)
		}
	}
	return nil
}
