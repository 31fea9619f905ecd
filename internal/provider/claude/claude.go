package claude

import (
	"context"
	"net/http"
	"path/filepath"
	"strings"
	"time"

	"magicode/internal/auth"
	"magicode/internal/jsonscan"
	"magicode/internal/proc"
	"magicode/internal/provider"
	"magicode/internal/vfs"
)

// ID is the provider's name in settings.
const ID = "claude-subscription"

// MaxTokens is the largest prompt that is sent: providers.md 15, runner.md 26.2.
const MaxTokens = 202_000

// InventoryVariable names the file of tools that our own executable serves when
// the claude command starts it as an MCP server.
const InventoryVariable = "MAGI_CLAUDE_INERT_MCP_INVENTORY"

// Config is what the provider needs.
type Config struct {
	Command    *Command
	FS         vfs.FS
	Executable string // our own, absolute
	Dir        string // the workspace folder, where the command runs
	TempDir    string // where private folders are made
	HTTP       http.RoundTripper
	Upstream   string // "" is Anthropic's endpoint; tests only
	// Semantic bounds the time between progress events; 0 is 300 s.
	Semantic time.Duration
	// Count estimates a request; nil: any size is sent.
	Count func([]provider.Item, []provider.ToolDef) int
	NewID func() string // a random UUID
}

// Provider runs one command per generation. It is safe for concurrent use.
type Provider struct {
	config Config
	limits limits
}

// New returns the provider; it starts nothing. Whether the command is logged in
// is the caller's to ask (Command.Ready).
func New(c Config) *Provider {
	if c.Upstream == "" {
		c.Upstream = upstreamURL
	}
	if c.Semantic <= 0 {
		c.Semantic = defaultSemantic
	}
	return &Provider{config: c, limits: limits{first: firstProgress, semantic: c.Semantic, exit: exitWait}}
}

var _ provider.Provider = (*Provider)(nil)

// Stream implements provider.Provider. Its events come all at once, at the end.
func (p *Provider) Stream(ctx context.Context, req provider.Request, emit func(provider.Event) error) error {
	c := &p.config
	if c.Count != nil && c.Count(req.Items, req.Tools) > MaxTokens {
		return failed(provider.ErrPromptTooLong, hintTooLong)
	}
	said, err := project(&req)
	if err != nil {
		return err
	}
	path, ok := c.Command.Path()
	if !ok || auth.ClaudeConflict(c.Command.Lookup) != "" {
		return refused(hintLogin)
	}
	l := p.limits
	if req.SemanticTimeout > 0 {
		l.semantic = req.SemanticTimeout
	}
	e, err := p.generate(ctx, &generation{prompt: said, path: path, model: req.Model, effort: req.Level.Effort(), limits: l})
	if context.Cause(ctx) != nil {
		return context.Cause(ctx)
	}
	if err != nil {
		return err
	}
	events, err := judge(ctx, e)
	if err != nil {
		return err
	}
	for _, ev := range events {
		if err := emit(ev); err != nil {
			return err
		}
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
	}
	return nil
}

// generation is what one command is asked.
type generation struct {
	*prompt
	path, model, effort string
	limits              limits
}

// generate runs one command to its end and gathers the evidence. Folder, relay
// and process group are gone when it returns.
func (p *Provider) generate(ctx context.Context, g *generation) (e *evidence, err error) {
	c := &p.config
	w, err := newWorkspace(c.FS, c.TempDir, c.NewID(), g.prompt)
	if err != nil {
		return nil, refused(err.Error())
	}
	defer func() { _ = w.remove() }() // it holds no credentials
	relayCtx, cancel := context.WithCancel(ctx)
	defer cancel()
	r, err := newRelay(relayCtx, c.HTTP, c.Upstream, c.NewID(), g.messages)
	if err != nil {
		return nil, err
	}
	defer r.close()
	child, err := proc.Start(proc.Spec{Path: g.path, Args: arguments(g, w, c.Executable), Dir: c.Dir, Env: environment(c.Command.Environ, r.base),
		StdinPipe: true, Stdout: proc.Capture{Keep: proc.KeepNone}, Stderr: proc.Capture{Limit: maxProbeErrors, Keep: proc.KeepTail}})
	if err != nil {
		return nil, refused("the claude command cannot be started")
	}
	talk := &conversation{in: child.Stdin(), out: child.Stdout(), limits: g.limits}
	err = talk.run(ctx, g.messages)
	exit := ended(child, err == nil, g.limits.exit)
	_ = child.Stdout().Close()
	r.close()
	e = &evidence{heard: talk.heard, exit: exit, names: g.names}
	r.mu.Lock()
	e.again, e.status, e.failure, e.answer = r.again, r.status, r.failure, r.answer
	r.mu.Unlock()
	if err != nil && !e.again && (e.status == 0 || e.status == http.StatusOK) {
		return nil, told(err) // else the relay knows better
	}
	return e, nil
}

// ended waits for a command whose output has ended to exit by itself, and stops
// it in any case with all that it started.
func ended(child *proc.Process, itself bool, wait time.Duration) proc.Result {
	if itself {
		late := time.NewTimer(wait)
		defer late.Stop()
		select {
		case <-child.Done():
		case <-late.C:
		}
	}
	_ = child.Stop(context.Background())
	return child.Result()
}

// arguments of the command (providers.md 15, step 5).
func arguments(g *generation, w *workspace, executable string) []string {
	args := []string{"-p", "--model", g.model, "--input-format", "stream-json", "--output-format", "stream-json", "--verbose",
		"--include-partial-messages", "--tools", "", "--system-prompt-file", w.path(systemFile), "--settings", w.path(settingsFile),
		"--setting-sources", "", "--strict-mcp-config", "--disable-slash-commands", "--max-turns", "1", "--permission-mode", "dontAsk",
		"--no-session-persistence", "--mcp-config", mcpConfig(executable, w.path(toolsFile))}
	if g.effort != "" {
		args = append(args, "--effort", g.effort)
	}
	return args
}

func mcpConfig(executable, inventory string) string {
	out := jsonscan.AppendString([]byte(`{"mcpServers":{"magi":{"command":`), filepath.Clean(executable))
	out = jsonscan.AppendString(append(out, `,"env":{"`+InventoryVariable+`":`...), inventory)
	return string(append(out, `}}}}`...))
}

// environment is the command's: one request, one turn, through the relay.
func environment(environ []string, base string) []string {
	set := [][2]string{
		{"ANTHROPIC_BASE_URL", base}, {"CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC", "1"}, {"CLAUDE_CODE_MAX_RETRIES", "0"},
		{"DISABLE_AUTO_COMPACT", "1"}, {"DISABLE_COMPACT", "1"}, {"ENABLE_TOOL_SEARCH", "false"}, {"CLAUDE_CODE_TOTAL_TOKENS_REMINDER", "off"},
	}
	gone := map[string]bool{"CLAUDE_CODE_EXTRA_BODY": true}
	for _, kv := range set {
		gone[kv[0]] = true
	}
	direct := "127.0.0.1,localhost"
	var out []string
	for _, kv := range environ {
		name, value, _ := strings.Cut(kv, "=")
		switch {
		case gone[name]:
		case strings.EqualFold(name, "NO_PROXY"): // either spelling may be the one that counts
			if value != "" && !strings.Contains(direct, value) {
				direct += "," + value
			}
		default:
			out = append(out, kv)
		}
	}
	for _, kv := range set {
		out = append(out, kv[0]+"="+kv[1])
	}
	return append(out, "NO_PROXY="+direct, "no_proxy="+direct)
}
