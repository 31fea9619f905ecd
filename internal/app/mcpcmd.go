package app

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/signal"
	"slices"
	"strings"
	"syscall"
	"time"

	"magicode/internal/agent"
	"magicode/internal/auth"
	"magicode/internal/config"
	"magicode/internal/httpx"
	"magicode/internal/mcp"
	"magicode/internal/mcp/oauth"
	"magicode/internal/redact"
)

// mcpCmd is the care for MCP servers.
type mcpCmd struct {
	List struct{} `cmd:"" help:"List the servers that are defined here: which would be started, and why the others are not."`
	Test struct {
		Name string `arg:"" optional:"" help:"Only this server."`
	} `cmd:"" help:"Connect approved servers as a start would, tell how far each came, and end them again. Status 1 if one failed."`
	Approve struct {
		Name string `arg:"" help:"The server's name, as in .mcp.json; 'magi-code mcp list' shows them."`
	} `cmd:"" help:"Approve the definition that counts in this folder, so that every start runs it."`
	Revoke struct {
		Name string `arg:"" help:"The server's name."`
	} `cmd:"" help:"Take an approval back."`
	Login  mcpLoginCmd `cmd:"" help:"Log in to a server with OAuth: opens a browser and waits for it to come back."`
	Logout struct {
		Name string `arg:"" help:"The server's name."`
	} `cmd:"" help:"Forget the stored login of a server."`
}

type mcpLoginCmd struct {
	Name      string        `arg:"" help:"The server's name. Its definition must have oauth."`
	Scope     []string      `help:"Ask for this scope as well. May be repeated."`
	Port      int           `help:"Port of the loopback callback; any free one without it."`
	NoBrowser bool          `help:"Only print the address."`
	Wait      time.Duration `help:"How long to wait for the browser." default:"5m"`
}

var (
	errNoSuchServer = errors.New("no such server is defined here; see 'magi-code mcp list'")
	errNoOAuth      = usageError("the server's definition has no oauth, so there is nothing to log in to")
)

// mcpTool is what the commands work on.
type mcpTool struct {
	out    io.Writer
	env    config.Env
	loaded *config.Loaded
	http   *httpx.Client
}

func runMCP(c mcpCmd, what string, stdout, stderr *os.File) int {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	defer stop()
	err := doMCP(ctx, c, what, stdout)
	switch {
	case err == nil:
		return exitOK
	case errors.Is(err, errTestFailed):
		return exitError
	}
	fmt.Fprintf(stderr, "magi-code: %v\n", err)
	return statusOf(err)
}

func doMCP(ctx context.Context, c mcpCmd, what string, stdout *os.File) (err error) {
	env, err := settingsEnv()
	if err != nil {
		return err
	}
	t := &mcpTool{out: stdout, env: env, http: httpx.New(httpx.Options{Environ: os.Environ(), HeaderTimeout: agent.MaxServerTimeout})}
	defer t.http.Close()
	switch what {
	case "approve":
		return t.approve(ctx, c.Approve.Name, true)
	case "revoke":
		return t.approve(ctx, c.Revoke.Name, false)
	}
	if what == "login" { // alone in writing something, so that it may have to make the home
		t.loaded, err = config.Load(ctx, env)
	} else {
		t.loaded, err = config.Look(env)
	}
	if what == "list" { // tells of all others where one cannot be used
		t.list(err)
		return err
	}
	if err != nil {
		return err
	}
	switch what {
	case "test":
		return t.test(ctx, c.Test.Name)
	case "login":
		return t.login(ctx, c.Login)
	case "logout":
		return t.logout(ctx, c.Logout.Name)
	}
	return nil
}

func (t *mcpTool) store() *oauth.Store {
	return &oauth.Store{FS: t.env.FS, Dir: agent.TokenDir(t.loaded.Paths), Lock: auth.Acquire(t.env.Lock)}
}

// find returns a server that would be started.
func (t *mcpTool) find(name string) (config.MCPServer, error) {
	for _, s := range t.loaded.MCP.Servers {
		if s.Name == name {
			return s, nil
		}
	}
	for _, h := range t.loaded.MCP.Held {
		if h.Name == name {
			return config.MCPServer{}, fmt.Errorf("server %s is not approved (%s): run 'magi-code mcp approve %s'", name, h.Why, name)
		}
	}
	return config.MCPServer{}, fmt.Errorf("%s: %w", name, errNoSuchServer)
}

// list tells what is known of the servers; broken is why a start would fail.
func (t *mcpTool) list(broken error) {
	m := t.loaded.MCP
	if len(m.Servers)+len(m.Held) == 0 && broken == nil {
		fmt.Fprintln(t.out, "no MCP servers are defined here")
	}
	for _, s := range m.Servers {
		approval := "approved"
		if s.Bound {
			approval = "approved as it stands"
		}
		fmt.Fprintf(t.out, "%s  %s  %s\n    %s\n", s.Name, approval, t.address(s), s.Source)
	}
	for _, h := range m.Held {
		fmt.Fprintf(t.out, "%s  not started: %s  %s\n    %s\n", h.Name, h.Why, defined(h.Stdio, h.HTTP), h.Source)
	}
	unusable := func(h config.HeldServer) bool { return h.Why == config.HeldUnusable }
	if slices.ContainsFunc(m.Held, unusable) {
		fmt.Fprintln(t.out, "an unusable one fails every start here: 'magi-code mcp revoke NAME' lets them go on without it")
	}
	if slices.ContainsFunc(m.Held, func(h config.HeldServer) bool { return !unusable(h) }) {
		fmt.Fprintln(t.out, approveHint)
	}
}

// approveHint says how a server comes to be started.
const approveHint = "'magi-code mcp approve NAME' approves one: then every start here runs it"

// defined tells what a definition would run or ask, without values that may be
// secrets: of an unapproved one nothing else is known to be harmless.
func defined(stdio *config.StdioServer, http *config.HTTPServer) string {
	if http != nil {
		return "http " + redact.Display(mcp.ShownURL(http.URL))
	}
	return "stdio " + redact.Display(strings.Join(append([]string{stdio.Command}, stdio.Args...), " "))
}

// address tells what a server is, without values that may be secrets.
func (t *mcpTool) address(s config.MCPServer) string {
	text := defined(s.Stdio, s.HTTP)
	if s.HTTP != nil && s.HTTP.OAuth != nil {
		text += ", " + t.loginState(s)
	}
	return text
}

func (t *mcpTool) loginState(s config.MCPServer) string {
	r, err := t.store().Read(s.Name)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return "not logged in"
	case err != nil:
		return "the login cannot be read"
	case r.ServerURL != s.HTTP.URL:
		return "logged in at another URL"
	case r.RefreshToken == nil && r.ExpiresAt != nil && *r.ExpiresAt <= time.Now().Unix():
		return "the login has expired"
	}
	return "logged in"
}

var errTestFailed = errors.New("a server failed")

// test connects servers one after the other and tells about each.
func (t *mcpTool) test(ctx context.Context, name string) error {
	servers := t.loaded.MCP.Servers
	if name != "" {
		s, err := t.find(name)
		if err != nil {
			return err
		}
		servers = []config.MCPServer{s}
	}
	if len(servers) == 0 {
		fmt.Fprintln(t.out, "no approved MCP server is defined here")
		t.unapproved()
	}
	var failed error
	for _, s := range servers {
		if err := context.Cause(ctx); err != nil {
			return err
		}
		r := mcp.Probe(ctx, mcp.Options{
			Lookup: t.env.Lookup, Dir: t.env.CWD, Version: agent.Version, HTTP: t.http,
			Auth: agent.Authorizer(t.store(), t.http),
		}, s)
		t.tell(s.Name, r)
		if r.Err != nil {
			failed = errTestFailed
		}
	}
	return failed
}

// unapproved names the servers that could be approved, and how.
func (t *mcpTool) unapproved() {
	if len(t.loaded.MCP.Held) == 0 {
		return
	}
	for _, h := range t.loaded.MCP.Held {
		fmt.Fprintf(t.out, "    %s (%s)  %s\n", h.Name, h.Why, defined(h.Stdio, h.HTTP))
	}
	fmt.Fprintln(t.out, approveHint)
}

func (t *mcpTool) tell(name string, r mcp.Report) {
	fmt.Fprintf(t.out, "%s\n", name)
	for i, s := range r.Steps {
		if i+1 < len(r.Steps) {
			fmt.Fprintf(t.out, "    ok    %-10s %v\n", s.Phase, r.Steps[i+1].At.Sub(s.At).Round(time.Millisecond))
		}
	}
	var e *mcp.Error
	switch {
	case r.Err == nil:
		fmt.Fprintf(t.out, "    ok    %s in %v, MCP %s; ended in %v\n", counted(len(r.Tools), "tool"), r.Took.Round(time.Millisecond), r.Protocol, r.Stopped.Round(time.Millisecond))
		for _, tool := range r.Tools {
			fmt.Fprintf(t.out, "          %s\n", tool)
		}
	case errors.As(r.Err, &e):
		fmt.Fprintf(t.out, "    FAIL  %-10s %s\n", e.Phase, e.Reason)
		if errors.Is(e, mcp.ErrLoginNeeded) {
			fmt.Fprintf(t.out, "          run: magi-code mcp login %s\n", name)
		}
		for line := range strings.Lines(e.Stderr) {
			fmt.Fprintf(t.out, "          stderr: %s\n", strings.TrimRight(line, "\n"))
		}
	default:
		fmt.Fprintf(t.out, "    FAIL  %v\n", r.Err)
	}
}

func (t *mcpTool) approve(ctx context.Context, name string, approve bool) error {
	p, _, err := config.Prepare(t.env)
	if err != nil {
		return err
	}
	source, err := config.SetMCPApproval(ctx, t.env, p, name, approve)
	if errors.Is(err, config.ErrNoServer) {
		return fmt.Errorf("%s: %w", name, errNoSuchServer)
	}
	if err != nil {
		return err
	}
	if !approve {
		fmt.Fprintf(t.out, "revoked: %s of %s\n", name, source)
		return nil
	}
	fmt.Fprintf(t.out, "approved: %s of %s\n    %s\n", name, source, t.shown(name))
	fmt.Fprintf(t.out, "Every start that reads this file runs it now, and fails while it does not come up: 'magi-code mcp test %s' tries it.\n", name)
	return nil
}

// shown is the definition of a name that counts here.
func (t *mcpTool) shown(name string) string {
	loaded, err := config.Look(t.env)
	if err != nil {
		return fmt.Sprintf("it cannot be started yet: %v", err)
	}
	for _, s := range loaded.MCP.Servers {
		if s.Name == name {
			return defined(s.Stdio, s.HTTP)
		}
	}
	return "it is not started: see 'magi-code mcp list'"
}

func (t *mcpTool) logout(ctx context.Context, name string) error {
	if !isServerName(t.loaded.MCP, name) {
		return fmt.Errorf("%s: %w", name, errNoSuchServer)
	}
	removed, err := t.store().Remove(ctx, name)
	if err != nil {
		return err
	}
	if removed {
		fmt.Fprintf(t.out, "the login of %s is forgotten here; the authorization server still knows it\n", name)
	} else {
		fmt.Fprintf(t.out, "%s was not logged in\n", name)
	}
	return nil
}

// isServerName keeps the name of a file inside its folder: only defined names,
// whose grammar has no separators, count.
func isServerName(m config.MCP, name string) bool {
	return slices.ContainsFunc(m.Servers, func(s config.MCPServer) bool { return s.Name == name }) ||
		slices.ContainsFunc(m.Held, func(h config.HeldServer) bool { return h.Name == name })
}

func (t *mcpTool) login(ctx context.Context, c mcpLoginCmd) error {
	s, err := t.find(c.Name)
	if err != nil {
		return err
	}
	if s.HTTP == nil || s.HTTP.OAuth == nil {
		return fmt.Errorf("%s: %w", c.Name, errNoOAuth)
	}
	ctx, cancel := context.WithTimeoutCause(ctx, c.Wait, errors.New("nobody came back from the browser in time"))
	defer cancel()
	phase := oauth.PhaseDiscovery
	l := &oauth.Login{
		Server: s, RT: t.http, Now: time.Now, Scopes: c.Scope, Port: c.Port, Phase: func(p string) { phase = p },
		Visit: func(url string) error { return visit(ctx, t.out, url, !c.NoBrowser) },
	}
	if r, err := t.store().Read(s.Name); err == nil && r.ServerURL == s.HTTP.URL {
		l.Earlier = &r
	}
	r, err := l.Run(ctx)
	if err != nil {
		return fmt.Errorf("login to %s: %s: %w", s.Name, phase, err)
	}
	if err := t.store().Put(ctx, s.Name, r); err != nil {
		return fmt.Errorf("store the login: %w", err)
	}
	fmt.Fprintf(t.out, "logged in to %s", s.Name)
	if len(r.GrantedScopes) > 0 {
		fmt.Fprintf(t.out, " for: %s", redact.Display(strings.Join(r.GrantedScopes, " ")))
	}
	fmt.Fprintln(t.out)
	return nil
}
