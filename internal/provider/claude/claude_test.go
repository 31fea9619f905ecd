package claude

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"

	"magicode/internal/httpx"
	"magicode/internal/provider"
	"magicode/internal/vfs"
)

const textStream = `event: message_start
data: {"type":"message_start","message":{"id":"m","usage":{"input_tokens":12,"cache_read_input_tokens":3,"cache_creation_input_tokens":0,"output_tokens":1}}}

data: {"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}}

data: {"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"Hello "}}

data: {"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"there."}}

data: {"type":"content_block_stop","index":0}

data: {"type":"message_delta","delta":{"stop_reason":"end_turn"},"usage":{"output_tokens":9}}

data: {"type":"message_stop"}

`

func toolStream(name string) string {
	return `data: {"type":"message_start","message":{"usage":{"input_tokens":12,"output_tokens":1}}}

data: {"type":"content_block_start","index":0,"content_block":{"type":"tool_use","id":"toolu_1","name":"` + name + `","input":{}}}

data: {"type":"content_block_delta","index":0,"delta":{"type":"input_json_delta","partial_json":"{\"path\":\"a\"}"}}

data: {"type":"content_block_stop","index":0}

data: {"type":"message_delta","delta":{"stop_reason":"tool_use"},"usage":{"output_tokens":9}}

data: {"type":"message_stop"}

`
}

// rig is a command in a folder of its own, and the model behind the relay.
type rig struct {
	dir      string // with the command and what it recorded
	tmp      string
	provider *Provider
	command  *Command

	mu       sync.Mutex
	requests []*http.Request
	bodies   []string
}

func newRig(t *testing.T, mode string, status int, answer string) *rig {
	t.Helper()
	r := &rig{dir: t.TempDir(), tmp: t.TempDir()}
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(exe, filepath.Join(r.dir, "claude")); err != nil {
		t.Fatal(err)
	}
	model := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		body, _ := io.ReadAll(req.Body)
		r.mu.Lock()
		r.requests, r.bodies = append(r.requests, req), append(r.bodies, string(body))
		r.mu.Unlock()
		w.Header().Set("Content-Type", "text/event-stream")
		w.Header().Set("Request-Id", "req_1")
		w.WriteHeader(status)
		_, _ = io.WriteString(w, answer)
	}))
	t.Cleanup(model.Close)
	client := httpx.New(httpx.Options{})
	t.Cleanup(func() { _ = client.Close() })
	environ := []string{"PATH=" + r.dir, fakeMode + "=" + mode, "FAKE_CLAUDE_DIR=" + r.dir, "NO_PROXY=example.com", "CLAUDE_CODE_EXTRA_BODY=x", "ANTHROPIC_BASE_URL=http://elsewhere"}
	r.command = &Command{FS: vfs.OS(), Environ: environ, Lookup: func(name string) (string, bool) {
		for _, kv := range environ {
			if k, v, _ := strings.Cut(kv, "="); k == name {
				return v, true
			}
		}
		return "", false
	}}
	r.provider = New(Config{Command: r.command, FS: vfs.OS(), Executable: exe, Dir: r.dir, TempDir: r.tmp, HTTP: client, Upstream: model.URL + "/v1/messages", NewID: uuid.NewString})
	return r
}

func (r *rig) recorded(t *testing.T, name string) string {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(r.dir, name))
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

func request(items ...provider.Item) provider.Request {
	return provider.Request{Model: "claude-opus-5-5", Level: provider.LevelHigh, Items: items,
		Tools: []provider.ToolDef{{Name: "read", Description: "Reads.", Parameters: json.RawMessage(`{"type":"object","properties":{"path":{"type":"string"}}}`)}}}
}

func said(role, text string) provider.Item {
	return provider.Item{Kind: provider.ItemMessage, Role: role, Text: text}
}

func stream(ctx context.Context, r *rig, req provider.Request) ([]string, error) {
	var got []string
	err := r.provider.Stream(ctx, req, func(ev provider.Event) error {
		switch ev.Kind {
		case provider.EventText:
			got = append(got, "text "+ev.Text)
		case provider.EventCall:
			got = append(got, "call "+ev.Call.Name+" "+ev.Call.Arguments)
		case provider.EventItem:
			got = append(got, "item "+string(ev.Raw))
		case provider.EventUsage:
			got = append(got, fmt.Sprintf("usage %d %d", ev.Usage.Effective(), *ev.Usage.Output))
		}
		return nil
	})
	return got, err
}

func TestGeneration(t *testing.T) {
	r := newRig(t, "", 200, textStream)
	got, err := stream(t.Context(), r, request(said("system", "SYSTEM"), said("user", "first"), said("assistant", "answer"),
		provider.Item{Kind: provider.ItemCall, CallID: "c1", Name: "read", Arguments: `{"path":"x"}`},
		provider.Item{Kind: provider.ItemResult, CallID: "c1", Name: "read", Success: true, Text: "content"}, said("user", "second")))
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"text Hello there.", "usage 15 9"}, slices.DeleteFunc(got, func(s string) bool { return s == "usage 15 1" })); diff != "" {
		t.Error(diff)
	}
	t.Run("command line", func(t *testing.T) {
		args := strings.Split(r.recorded(t, "args"), "\n")
		private := filepath.Dir(args[slices.Index(args, "--settings")+1])
		want := strings.Split("-p|--model|claude-opus-5-5|--input-format|stream-json|--output-format|stream-json|--verbose|--include-partial-messages|--tools||"+
			"--system-prompt-file|"+private+"/system.md|--settings|"+private+"/settings.json|--setting-sources||--strict-mcp-config|--disable-slash-commands|--max-turns|1|"+
			"--permission-mode|dontAsk|--no-session-persistence|--mcp-config|"+args[slices.Index(args, "--mcp-config")+1]+"|--effort|high", "|")
		if diff := cmp.Diff(want, args); diff != "" {
			t.Error(diff)
		}
		if r.recorded(t, "system") != "SYSTEM" {
			t.Error(r.recorded(t, "system"))
		}
		if left, _ := os.ReadDir(r.tmp); len(left) > 0 {
			t.Errorf("the private folder is left: %v", left)
		}
	})
	t.Run("environment", func(t *testing.T) {
		env := strings.Split(r.recorded(t, "env"), "\n")
		for _, want := range []string{"NO_PROXY=127.0.0.1,localhost,example.com", "no_proxy=127.0.0.1,localhost,example.com", "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC=1",
			"CLAUDE_CODE_MAX_RETRIES=0", "DISABLE_AUTO_COMPACT=1", "DISABLE_COMPACT=1", "ENABLE_TOOL_SEARCH=false", "CLAUDE_CODE_TOTAL_TOKENS_REMINDER=off"} {
			if !slices.Contains(env, want) {
				t.Errorf("%s is missing", want)
			}
		}
		if joined := strings.Join(env, "\n"); strings.Contains(joined, "EXTRA_BODY") || strings.Contains(joined, "elsewhere") || !strings.Contains(joined, "ANTHROPIC_BASE_URL=http://127.0.0.1:") {
			t.Error(joined)
		}
	})
	t.Run("frames", func(t *testing.T) {
		want := `{"type":"user","message":{"content":[{"text":"first","type":"text"}],"role":"user"},"shouldQuery":false}
{"type":"assistant","message":{"content":[{"text":"answer","type":"text"},{"id":"c1","input":{"path":"x"},"name":"mcp__magi__read","type":"tool_use"}],"role":"assistant"}}
{"type":"user","message":{"content":[{"content":"content","is_error":false,"tool_use_id":"c1","type":"tool_result"},{"text":"second","type":"text"}],"role":"user"}}
`
		if diff := cmp.Diff(want, r.recorded(t, "frames")); diff != "" {
			t.Error(diff)
		}
	})
	t.Run("request", r.checkRequest)
}

// checkRequest: what reached the model.
func (r *rig) checkRequest(t *testing.T) {
	var body struct {
		Messages []map[string]any
		Tools    []map[string]any
	}
	if err := json.Unmarshal([]byte(r.bodies[0]), &body); err != nil {
		t.Fatal(err)
	}
	content := func(i int) []any { return body.Messages[i]["content"].([]any) }
	if len(body.Messages) != 4 || content(0)[0].(map[string]any)["text"] != "<system-reminder>the date</system-reminder>" || content(0)[1].(map[string]any)["text"] != "first" {
		t.Errorf("%v", body.Messages)
	}
	last := content(2)[1].(map[string]any)
	if diff := cmp.Diff(map[string]any{"ttl": "1h", "type": "ephemeral"}, last["cache_control"]); diff != "" {
		t.Error(diff)
	}
	if body.Messages[3]["role"] != "system" || body.Tools[0]["name"] != "mcp__magi__read" {
		t.Errorf("%v %v", body.Messages[3], body.Tools)
	}
	h := r.requests[0].Header
	if h.Get("Authorization") != "Bearer login-of-the-command" || h.Get("Proxy-Authorization") != "" || h.Get("Accept-Encoding") != "identity" || r.requests[0].URL.RawQuery != "beta=true" {
		t.Errorf("%v %s", h, r.requests[0].URL)
	}
}

func TestCall(t *testing.T) {
	r := newRig(t, "", 200, toolStream("mcp__magi__read"))
	got, err := stream(t.Context(), r, request(said("user", "q")))
	if err != nil {
		t.Fatal(err)
	}
	want := []string{`item {"arguments":"{\"path\":\"a\"}","call_id":"toolu_1","name":"read","status":"completed","type":"function_call"}`, `call read {"path":"a"}`}
	if diff := cmp.Diff(want, slices.DeleteFunc(got, func(s string) bool { return strings.HasPrefix(s, "usage") })); diff != "" {
		t.Error(diff)
	}
}

func TestInventory(t *testing.T) {
	r := newRig(t, "mcp", 200, textStream)
	if _, err := stream(t.Context(), r, request(said("user", "q"))); err != nil {
		t.Fatal(err)
	}
	want := `{"jsonrpc":"2.0","id":1,"result":{"protocolVersion":"2024-11-05","capabilities":{"tools":{}},"serverInfo":{"name":"magi","version":"1"}}}
{"jsonrpc":"2.0","id":"two","result":{"tools":[{"description":"Reads.","inputSchema":{"properties":{"path":{"type":"string"}},"type":"object"},"name":"read"}]}}
{"jsonrpc":"2.0","id":3,"result":{"content":[{"type":"text","text":"This tool does not run here."}],"isError":true}}
{"jsonrpc":"2.0","id":4,"error":{"code":-32601,"message":"method not found"}}
<nil>`
	if diff := cmp.Diff(want, r.recorded(t, "mcp")); diff != "" {
		t.Error(diff)
	}
}

// TestRefused: whatever does not agree gives an error of a kind, without a word
// of the API or the command, and no event.
func TestRefused(t *testing.T) {
	busy := `{"type":"error","error":{"type":"x","message":"secret words of the API"}}`
	tooLong := `{"type":"error","error":{"type":"invalid_request_error","message":"prompt is too long: 300000 tokens > 200000 maximum"}}`
	for _, c := range []struct {
		mode   string
		status int
		answer string
		kind   provider.ErrorKind
		want   string
	}{
		{"norequest", 200, textStream, provider.ErrPlain, hintNone},
		{"twice", 200, textStream, provider.ErrPlain, "more than one request"},
		{"noassistant", 200, textStream, provider.ErrPlain, hintAnswer},
		{"noresult", 200, textStream, provider.ErrPlain, hintAnswer},
		{"tworesults", 200, textStream, provider.ErrPlain, hintAnswer},
		{"nostop", 200, textStream, provider.ErrPlain, hintAnswer},
		{"exit2", 200, textStream, provider.ErrPlain, hintAnswer},
		{"maxturns", 200, textStream, provider.ErrPlain, hintAnswer}, // without a call
		{"noack", 200, textStream, provider.ErrPlain, ""},
		{"badack", 200, textStream, provider.ErrPlain, errAck.Error()},
		{"garbage", 200, textStream, provider.ErrPlain, errLine.Error()},
		{"longline", 200, textStream, provider.ErrPlain, errLine.Error()},
		{"origin", 200, textStream, provider.ErrPlain, hintNone},
		{"chunked", 200, textStream, provider.ErrPlain, hintNone},
		{"", 200, toolStream("Bash"), provider.ErrPlain, "not offered"},
		{"", 200, toolStream("mcp__magi__write"), provider.ErrPlain, "not offered"},
		{"", 200, strings.Replace(textStream, "end_turn", "pause_turn", 1), provider.ErrPlain, hintAnswer},
		{"", 200, strings.Replace(textStream, `"input_tokens":12,`, "", 1), provider.ErrPlain, hintAnswer},
		{"", 200, strings.Replace(textStream, `data: {"type":"message_stop"}`, "", 1), provider.ErrStreamTerminal, hintBroken},
		{"", 200, `data: {"type":"error","error":{"type":"overloaded_error","message":"secret words of the API"}}` + "\n\n", provider.ErrStreamFailed, hintBusy},
		{"", 401, busy, provider.ErrHTTPStatus, hintRefused},
		{"", 404, busy, provider.ErrHTTPStatus, hintModel},
		{"", 429, busy, provider.ErrHTTPStatus, hintLimit},
		{"", 529, busy, provider.ErrHTTPStatus, hintBusy},
		{"", 422, busy, provider.ErrHTTPStatus, hintStatus},
		{"", 302, busy, provider.ErrHTTPStatus, hintStatus},
		{"", 400, tooLong, provider.ErrPromptTooLong, hintTooLong},
		{"", 413, "", provider.ErrPromptTooLong, hintTooLong},
	} {
		t.Run(fmt.Sprint(c.mode, " ", c.status, " ", c.want), func(t *testing.T) {
			t.Parallel()
			r := newRig(t, c.mode, c.status, c.answer)
			got, err := stream(t.Context(), r, request(said("user", "q"), said("assistant", "a"), said("user", "r")))
			var perr *provider.Error
			if !errors.As(err, &perr) || perr.Kind != c.kind || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "secret") {
				t.Errorf("%v", err)
			}
			if perr != nil && perr.Retryable {
				t.Error("a generation is not tried twice")
			}
			if len(got) > 0 {
				t.Errorf("events: %v", got)
			}
			if left, _ := os.ReadDir(r.tmp); len(left) > 0 {
				t.Errorf("the private folder is left: %v", left)
			}
			if c.mode == "twice" && r.recorded(t, "second") != "400 Bad Request "+consumed {
				t.Error(r.recorded(t, "second"))
			}
		})
	}
}

// TestShape: a body that the relay does not understand goes through unchanged.
func TestShape(t *testing.T) {
	r := newRig(t, "shape", 200, textStream)
	if _, err := stream(t.Context(), r, request(said("user", "q"))); err != nil {
		t.Fatal(err)
	}
	if strings.Contains(r.bodies[0], `"ttl"`) || !strings.Contains(r.bodies[0], `"role":"tool"`) {
		t.Error(r.bodies[0])
	}
}

func TestOtherPaths(t *testing.T) {
	r := newRig(t, "wrongpath", 200, textStream)
	if _, err := stream(t.Context(), r, request(said("user", "q"))); err != nil {
		t.Fatal(err)
	}
	if got := r.recorded(t, "wrongpath"); got != "404 Not Found" || len(r.bodies) != 1 {
		t.Error(got, len(r.bodies))
	}
}

// TestStops: a command that does not end is ended, with its group, when the
// context does, when progress stays away, and after its result.
func TestStops(t *testing.T) {
	cause := errors.New("cancelled by the user")
	t.Run("cancelled", func(t *testing.T) {
		r := newRig(t, "hang", 200, textStream)
		ctx, cancel := context.WithCancelCause(t.Context())
		time.AfterFunc(100*time.Millisecond, func() { cancel(cause) })
		began := time.Now()
		_, err := stream(ctx, r, request(said("user", "q")))
		if !errors.Is(err, cause) || time.Since(began) > 3*time.Second {
			t.Error(err, time.Since(began))
		}
	})
	t.Run("no progress", func(t *testing.T) {
		r := newRig(t, "hang", 200, textStream)
		r.provider.limits.first = 100 * time.Millisecond
		_, err := stream(t.Context(), r, request(said("user", "q")))
		var perr *provider.Error
		if !errors.As(err, &perr) || perr.Kind != provider.ErrStreamTerminal {
			t.Error(err)
		}
	})
	t.Run("after the result", func(t *testing.T) {
		r := newRig(t, "lingers", 200, textStream)
		r.provider.limits.exit = 100 * time.Millisecond
		if _, err := stream(t.Context(), r, request(said("user", "q"))); err == nil || len(r.bodies) != 1 {
			t.Error(err, len(r.bodies))
		}
	})
}

// TestRewrite: what of the command's body stays.
func TestRewrite(t *testing.T) {
	ours := []message{{user: true, blocks: [][]byte{[]byte(`{"text":"a","type":"text"}`)}}}
	const (
		plain  = `{"content":[{"text":"a","type":"text"}],"role":"user"}`
		marked = `{"content":[{"cache_control":{"ttl":"1h","type":"ephemeral"},"text":"a","type":"text"}],"role":"user"}`
		mark   = `{"cache_control":{"type":"ephemeral"}}`
	)
	for _, c := range []struct{ name, in, want string }{
		{"replaced", `{"a":1, "messages":[{"role":"user","content":"x"},{"role":"assistant","content":[]}],"z":[2]}`, `{"a":1,"messages":[` + marked + `],"z":[2]}`},
		{"reminders are kept", `{"messages":[{"role":"user","content":[{"type":"text","text":"<system-reminder>r"},{"type":"text","text":"x"}]},{"role":"user","content":[{"type":"text","text":"<system-reminder>later"}]}]}`,
			`{"messages":[` + strings.Replace(marked, `[`, `[{"type":"text","text":"<system-reminder>r"},`, 1) + `]}`},
		{"system messages are kept", `{"messages":[{"role":"system","content":"s"},{"role":"user","content":"x"}]}`, `{"messages":[` + marked + `,{"role":"system","content":"s"}]}`},
		{"four marks are enough", `{"messages":[{"role":"user","content":"x"}],"system":[` + mark + `,` + mark + `],"tools":[` + mark + `,` + mark + `]}`,
			`{"messages":[` + plain + `],"system":[` + mark + `,` + mark + `],"tools":[` + mark + `,` + mark + `]}`},
		{"marks of what is replaced do not count", `{"messages":[{"role":"user","content":[` + mark + `,` + mark + `,` + mark + `,` + mark + `]}]}`, `{"messages":[` + marked + `]}`},
		{"no user", `{"messages":[{"role":"assistant","content":"x"}]}`, ""},
		{"other role", `{"messages":[{"role":"user","content":"x"},{"role":"tool","content":"x"}]}`, ""},
		{"other content", `{"messages":[{"role":"user","content":1}]}`, ""},
		{"two lists", `{"messages":[{"role":"user","content":"x"}],"messages":[]}`, ""},
		{"no list", `{"messages":{}}`, ""},
		{"no object", `[]`, ""},
		{"no JSON", `{`, ""},
	} {
		want := c.want
		if want == "" {
			want = c.in
		}
		if diff := cmp.Diff(want, string(rewrite([]byte(c.in), ours))); diff != "" {
			t.Errorf("%s (-want +got):\n%s", c.name, diff)
		}
	}
}

func FuzzRewrite(f *testing.F) {
	f.Add([]byte(`{"messages":[{"role":"user","content":[{"type":"text","text":"<system-reminder>r"}]},{"role":"system","content":"s"}],"system":[]}`))
	ours := []message{{user: true, blocks: [][]byte{[]byte(`{"text":"a","type":"text"}`)}}}
	f.Fuzz(func(t *testing.T, in []byte) {
		if out := rewrite(in, ours); json.Valid(in) && !json.Valid(out) {
			t.Errorf("%s became %s", in, out)
		}
	})
}

func TestProject(t *testing.T) {
	def := func(name, schema string) provider.ToolDef {
		return provider.ToolDef{Name: name, Parameters: json.RawMessage(schema)}
	}
	for _, c := range []struct {
		name string
		req  provider.Request
		ok   bool
	}{
		{"plain", provider.Request{Model: "m", Items: []provider.Item{said("user", "q")}}, true},
		{"a model that is a flag", provider.Request{Model: "--dangerous", Items: []provider.Item{said("user", "q")}}, false},
		{"no model", provider.Request{Items: []provider.Item{said("user", "q")}}, false},
		{"nothing", provider.Request{Model: "m"}, false},
		{"ends with the assistant", provider.Request{Model: "m", Items: []provider.Item{said("user", "q"), said("assistant", "a")}}, false},
		{"blank end", provider.Request{Model: "m", Items: []provider.Item{said("user", " \n")}}, false},
		{"thinking is dropped", provider.Request{Model: "m", Items: []provider.Item{said("user", "q"), {Kind: provider.ItemResponse, Raw: json.RawMessage(`{"type":"thinking","thinking":"t","signature":"s"}`)}}}, true},
		{"long name", provider.Request{Model: "m", Items: []provider.Item{said("user", "q")}, Tools: []provider.ToolDef{def(strings.Repeat("x", 51), "{}")}}, false},
		{"odd name", provider.Request{Model: "m", Items: []provider.Item{said("user", "q")}, Tools: []provider.ToolDef{def("a.b", "{}")}}, false},
		{"same name", provider.Request{Model: "m", Items: []provider.Item{said("user", "q")}, Tools: []provider.ToolDef{def("a", "{}"), def("a", "{}")}}, false},
		{"alternatives", provider.Request{Model: "m", Items: []provider.Item{said("user", "q")}, Tools: []provider.ToolDef{def("a", `{"type":"object","anyOf":[]}`)}}, false},
		{"no object", provider.Request{Model: "m", Items: []provider.Item{said("user", "q")}, Tools: []provider.ToolDef{def("a", `[]`)}}, false},
	} {
		if _, err := project(&c.req); (err == nil) != c.ok {
			t.Errorf("%s: %v", c.name, err)
		}
	}
}

func TestTooLargeStartsNothing(t *testing.T) {
	r := newRig(t, "", 200, textStream)
	r.provider.config.Count = func([]provider.Item, []provider.ToolDef) int { return MaxTokens + 1 }
	_, err := stream(t.Context(), r, request(said("user", "q")))
	var perr *provider.Error
	if !errors.As(err, &perr) || perr.Kind != provider.ErrPromptTooLong {
		t.Error(err)
	}
	if entries, _ := os.ReadDir(r.dir); len(entries) != 1 {
		t.Errorf("something ran: %v", entries)
	}
}

func TestReady(t *testing.T) {
	for mode, want := range map[string]bool{"": true, "status:long": false, "status:exit": false, "status:out": false, "status:key": false, "status:text": false} {
		r := newRig(t, mode, 200, "")
		if got := r.command.Ready(t.Context()); got != want {
			t.Errorf("%q: %v", mode, got)
		}
	}
	r := newRig(t, "status:slow", 200, "")
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if r.command.Ready(ctx) {
		t.Error("a silent command is ready")
	}
	r.command.Environ = append(r.command.Environ, fakeMode+"=")
	lookup := r.command.Lookup
	r.command.Lookup = func(name string) (string, bool) {
		if name == "CLAUDE_CODE_USE_BEDROCK" {
			return "1", true
		}
		return lookup(name)
	}
	if r.command.Ready(t.Context()) {
		t.Error("ready in spite of a variable that overrides the login")
	}
	r.command.Lookup = func(string) (string, bool) { return "relative:", true }
	if _, ok := r.command.Path(); ok {
		t.Error("found in a relative entry of PATH")
	}
	r.command.Home = r.dir
	if err := os.MkdirAll(filepath.Join(r.dir, ".local", "bin"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(filepath.Join(r.dir, "claude"), filepath.Join(r.dir, ".local", "bin", "claude")); err != nil {
		t.Fatal(err)
	}
	if path, ok := r.command.Path(); !ok || path != filepath.Join(r.dir, ".local", "bin", "claude") {
		t.Error(path, ok)
	}
}
