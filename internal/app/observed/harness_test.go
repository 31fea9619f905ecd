package observed

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"magicode/internal/app"
	"magicode/internal/mcp/mcptest"
	"magicode/pkg/client"
	"magicode/pkg/localagent"
	"magicode/telemetry"
)

const asProgram = "MAGI_CODE_TEST_AS_PROGRAM"

// TestMain makes the test binary the program itself.
func TestMain(m *testing.M) {
	if os.Getenv(asProgram) != "" {
		os.Exit(app.Main(os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
	}
	mcptest.Main(nil)
	if !telemetry.Compiled {
		os.Exit(0) // nothing can be observed
	}
	os.Exit(elsewhere(m.Run))
}

// elsewhere runs the tests with an empty home: agents in this process start
// shells, which read the profile in it and would run whatever stands there.
func elsewhere(run func() int) int {
	dir, err := os.MkdirTemp("", "home")
	if err == nil {
		err = os.Setenv("HOME", dir)
	}
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(dir)
	return run()
}

// home is that of whoever runs the tests.
var home = os.Getenv("HOME")

// world is a home, a workspace and a scripted model.
type world struct {
	home, work string
	program    string                    // "" is the test binary
	slow       func(io.Reader) io.Reader // between the child and its host; nil: nothing
	settings   map[string]any
	model      *httptest.Server
	gate       chan struct{} // not nil: lets one more piece of text through
	// during is called while a conversation is under way, after the session was made.
	during func(c *child)
	// ending is called once the child was asked to shut down.
	ending func(c *child)
}

func newWorld(t *testing.T) *world {
	t.Helper()
	root := filepath.Join(t.TempDir(), canaryHome)
	w := &world{home: filepath.Join(root, "home"), work: filepath.Join(root, "work")}
	for _, dir := range []string{w.home, w.work} {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	write(t, filepath.Join(w.work, canaryFile+".txt"), canaryResult+"\n")
	w.model = httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		if w.gate != nil {
			w.completeGated(rw, r)
			return
		}
		complete(rw, r)
	}))
	t.Cleanup(w.model.Close)
	w.settings = map[string]any{
		"schema_version": 2,
		"agent":          map[string]any{"model": map[string]any{"provider": canaryProvider, "model": canaryModel}},
		"providers": map[string]any{"custom": map[string]any{canaryProvider: map[string]any{
			"label": "model", "base_url": w.model.URL + "/v1", "use_responses_endpoint": false, "api_key_env_var": "CANARY_KEY"}}},
		"capabilities": map[string]any{"approvals": map[string]any{"level": "strict"}},
	}
	return w
}

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// complete answers by the number of tool results that the request holds.
func complete(rw http.ResponseWriter, r *http.Request) {
	var req struct {
		Messages []struct {
			Role string `json:"role"`
		} `json:"messages"`
	}
	_ = json.NewDecoder(r.Body).Decode(&req)
	results := 0
	for _, m := range req.Messages {
		if m.Role == "tool" {
			results++
		}
	}
	rw.Header().Set("Content-Type", "text/event-stream")
	chunk := func(delta map[string]any, finish any) {
		b, _ := json.Marshal(map[string]any{"id": "x", "object": "chat.completion.chunk", "model": canaryAnswering,
			"choices": []any{map[string]any{"index": 0, "delta": delta, "finish_reason": finish}}})
		fmt.Fprintf(rw, "data: %s\n\n", b)
	}
	call := func(id, name string, args map[string]any) {
		text, _ := json.Marshal(args)
		chunk(map[string]any{"tool_calls": []any{map[string]any{"index": 0, "id": id, "type": "function",
			"function": map[string]any{"name": name, "arguments": string(text)}}}}, nil)
		chunk(map[string]any{}, "tool_calls")
	}
	chunk(map[string]any{"content": canaryReply + " text. "}, nil)
	switch results {
	case 0:
		call("call_a", "read", map[string]any{"path": canaryFile + ".txt"})
	case 1:
		call("call_b", "bash", map[string]any{"command": "touch " + canaryArgument, "intent": "make a file"})
	default:
		chunk(map[string]any{}, "stop")
	}
	fmt.Fprint(rw, `data: {"id":"x","object":"chat.completion.chunk","choices":[],"usage":{"prompt_tokens":40,"completion_tokens":12,"total_tokens":52}}`+"\n\ndata: [DONE]\n\n")
}

// talk is what a child said.
type talk struct {
	frames []string // from the child
	stderr string
	exit   int
	took   time.Duration // from the shutdown to the exit
}

// child is a child under way.
type child struct {
	*client.Client
	t      *testing.T
	in     io.Writer
	cmd    *exec.Cmd
	stderr bytes.Buffer
	mu     sync.Mutex
	frames []string
	sent   []string
}

// save writes the settings.
func (w *world) save(t *testing.T) {
	t.Helper()
	text, err := json.Marshal(w.settings)
	if err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(w.home, "settings.json"), string(text))
}

// start starts a child with these variables.
func (w *world) start(t *testing.T, env ...string) *child {
	t.Helper()
	w.save(t)
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	if w.program != "" {
		exe = w.program
	}
	c := &child{t: t, cmd: exec.Command(exe, "serve", "--stdio")}
	c.cmd.Dir = w.work
	c.cmd.Env = append([]string{"PATH=" + os.Getenv("PATH"), "HOME=" + w.home, "MC_HOME=" + w.home, asProgram + "=1",
		"CANARY_KEY=" + canaryKey, "SOMETHING=" + canaryEnv, "NO_PROXY=127.0.0.1"}, env...)
	c.cmd.Stderr = &c.stderr
	in, err := c.cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := c.cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := c.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	from := io.Reader(out)
	if w.slow != nil {
		from = w.slow(out)
	}
	c.in = in
	c.Client = client.New(from, in, func(sent bool, frame []byte) {
		c.mu.Lock()
		defer c.mu.Unlock()
		if sent {
			c.sent = append(c.sent, string(frame))
			return
		}
		c.frames = append(c.frames, string(frame))
	})
	return c
}

// says writes a line that no client would.
func (c *child) says(line string) {
	c.t.Helper()
	if _, err := io.WriteString(c.in, line+"\n"); err != nil {
		c.t.Error(err)
	}
}

// heard is what the child has said so far.
func (c *child) heard() []string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.Clone(c.frames)
}

// end waits for the child to be gone.
func (c *child) end(t *testing.T) talk {
	t.Helper()
	began := time.Now()
	select {
	case <-c.Done():
	case <-time.After(20 * time.Second):
		t.Error("the child did not end")
		_ = c.cmd.Process.Kill()
	}
	_ = c.CloseInput()
	_ = c.cmd.Wait() // the code is looked at
	c.mu.Lock()
	defer c.mu.Unlock()
	return talk{frames: c.frames, stderr: c.stderr.String(), exit: c.cmd.ProcessState.ExitCode(), took: time.Since(began)}
}

// converse holds one whole conversation.
func (w *world) converse(t *testing.T, env ...string) talk {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	c := w.start(t, env...)
	if _, err := c.Initialize(ctx, client.AllCapabilities()...); err != nil {
		t.Fatalf("initialize: %v", err)
	}
	session, err := c.CreateSession(ctx)
	if err != nil {
		t.Fatal(err)
	}
	if w.during != nil {
		w.during(c)
	}
	run, err := c.StartTurn(ctx, session.SessionID, canaryPrompt)
	if err != nil {
		t.Fatal(err)
	}
	for run.Finished == nil {
		ev, ok := <-c.Events()
		if !ok {
			t.Fatalf("the child ended: %v", c.Err())
		}
		if err := run.Apply(ev); err != nil {
			t.Fatal(err)
		}
		if w.gate != nil && ev.Name == localagent.EventMessageDelta {
			w.gate <- struct{}{}
		}
		if ev.Name == localagent.EventApprovalRequested {
			if err := c.AnswerApproval(ctx, run.SessionID, run.ID, ev.ApprovalID, true); err != nil {
				t.Fatal(err)
			}
		}
	}
	if run.Finished.Outcome != localagent.OutcomeCompleted {
		t.Fatalf("the run ended %s", run.Finished.Outcome)
	}
	if _, _, err := c.History(ctx, session.SessionID, *run.Finished.Revision); err != nil {
		t.Fatal(err)
	}
	if err := c.Shutdown(ctx); err != nil {
		t.Fatal(err)
	}
	if w.ending != nil {
		w.ending(c)
	}
	return c.end(t)
}

// files are all files below a folder that telemetry may have made, by name.
func files(t *testing.T, dir string) map[string]string {
	t.Helper()
	out := map[string]string{}
	err := filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if errors.Is(err, fs.ErrNotExist) && path == dir {
			return nil // taken away
		}
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		if name := d.Name(); strings.HasPrefix(name, "mc-") || strings.Contains(name, "telemetry") || strings.Contains(name, ".prom") {
			b, err := os.ReadFile(path)
			out[name] = string(b)
			return err
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

var (
	uuids  = regexp.MustCompile(`[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}`)
	ids    = regexp.MustCompile(`"(revision|next_cursor|message_id|session_id|context_id|instance_id|id)":"[^"]*"`)
	seqs   = regexp.MustCompile(`"seq":\d+`)
	deltas = "message.delta"
)

// masked removes what differs between any two conversations: ids, and how text
// is cut into deltas.
func masked(frames []string) []string {
	var out []string
	for _, f := range frames {
		if strings.Contains(f, deltas) {
			continue
		}
		f = uuids.ReplaceAllString(f, "U")
		f = ids.ReplaceAllString(f, `"$1":"I"`)
		out = append(out, seqs.ReplaceAllString(f, `"seq":N`))
	}
	slices.Sort(out) // an answer and an event may change places
	return out
}
