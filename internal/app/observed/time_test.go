package observed

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"io/fs"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"magicode/internal/agent"
	"magicode/internal/server"
	"magicode/internal/vfs"
	"magicode/pkg/client"
	"magicode/pkg/localagent"
	"magicode/telemetry"
	"magicode/telemetry/reader/spantest"
)

// delay is 50 ms, or another time, at one place of a conversation, once.
type delay struct {
	stage string        // of the conversation, in which it counts
	where string        // "fs", "model", "mcp", "host", "read"
	match string        // what it waits for there: an operation and a part of a name, a step, a method
	skip  int32         // how often that comes before it counts
	lasts time.Duration // 0: as spantest has it

	now      atomic.Value // the stage that the conversation is in
	seen     atomic.Int32
	once     sync.Once
	from, to time.Time
}

func (d *delay) at(where, what string) {
	if now, _ := d.now.Load().(string); where != d.where || d.stage != "" && now != d.stage || !d.matches(what) {
		return
	}
	if d.seen.Add(1) <= d.skip {
		return
	}
	d.once.Do(func() {
		d.from = time.Now()
		time.Sleep(cmp.Or(d.lasts, spantest.Delayed))
		d.to = time.Now()
	})
}

// matches: every word of match is in what.
func (d *delay) matches(what string) bool {
	for word := range strings.FieldsSeq(d.match) {
		if !strings.Contains(what, word) {
			return false
		}
	}
	return true
}

// slowFS is the file system of a child with a delay in it.
type slowFS struct {
	vfs.FS
	d *delay
}

func (s slowFS) Open(name string, flags vfs.Flag, perm fs.FileMode) (vfs.File, error) {
	s.d.at("fs", "open "+name)
	f, err := s.FS.Open(name, flags, perm)
	if err != nil {
		return nil, err
	}
	return slowFile{f, name, s.d}, nil
}

func (s slowFS) Stat(name string) (vfs.Info, error) {
	s.d.at("fs", "stat "+name)
	return s.FS.Stat(name)
}
func (s slowFS) Lstat(name string) (vfs.Info, error) {
	s.d.at("fs", "stat "+name)
	return s.FS.Lstat(name)
}
func (s slowFS) Remove(name string) error { s.d.at("fs", "remove "+name); return s.FS.Remove(name) }
func (s slowFS) ReadDir(name string) ([]fs.DirEntry, error) {
	s.d.at("fs", "list "+name)
	return s.FS.ReadDir(name)
}

type slowFile struct {
	vfs.File
	name string
	d    *delay
}

func (f slowFile) Sync() error                { f.d.at("fs", "sync "+f.name); return f.File.Sync() }
func (f slowFile) Read(b []byte) (int, error) { f.d.at("fs", "read "+f.name); return f.File.Read(b) }
func (f slowFile) ReadAt(b []byte, off int64) (int, error) {
	f.d.at("fs", "read "+f.name)
	return f.File.ReadAt(b, off)
}

// slowHost is the host's end of the pipe: it stops reading at a frame.
type slowHost struct {
	io.Reader
	d *delay
}

func (h slowHost) Read(b []byte) (int, error) {
	if h.d.where == "read" {
		b = b[:1] // the rest of a frame waits
	}
	n, err := h.Reader.Read(b)
	h.d.at("read", "")
	return n, err
}

// timed is a conversation in this process with a delay in it.
type timed struct {
	t     *testing.T
	w     *world
	d     *delay
	c     *client.Client
	ended chan server.Exit
	id    string
	fs    vfs.FS
	env   []string
	tool  string // of the MCP server

	refuse atomic.Int32 // so many of its calls
}

func newTimed(t *testing.T, d *delay) *timed {
	t.Helper()
	s := &timed{t: t, w: newWorld(t), d: d, ended: make(chan server.Exit, 1), fs: slowFS{vfs.OS(), d}, env: []string{"MC_TELEMETRY=file"}, tool: "look"}
	dir, err := filepath.EvalSymlinks(s.w.work)
	if err != nil {
		t.Fatal(err)
	}
	s.w.work = dir
	write(t, filepath.Join(dir, "AGENTS.md"), "Be brief.\n")
	model := httptest.NewServer(http.HandlerFunc(s.answer))
	t.Cleanup(model.Close)
	s.w.settings["providers"].(map[string]any)["custom"].(map[string]any)[canaryProvider].(map[string]any)["base_url"] = model.URL + "/v1"
	s.w.settings["capabilities"].(map[string]any)["tools"] = map[string]any{"code_mode": map[string]any{"enabled": false}}
	s.serve("notes")
	return s
}

// serve gives the agent one MCP server of a name.
func (s *timed) serve(name string) {
	tools := httptest.NewServer(http.HandlerFunc(s.serveTools))
	s.t.Cleanup(tools.Close)
	s.w.serve(s.t, map[string]any{name: map[string]any{"type": "http", "url": tools.URL}})
}

// answer is the model: "slow" waits before its headers.
func (s *timed) answer(rw http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	for _, step := range []string{"slow", "sub"} {
		if bytes.Contains(body[max(0, bytes.LastIndex(body, []byte("plan "))):], []byte(`\"`+step+`\"`)) {
			s.d.at("model", step)
		}
	}
	r.Body = io.NopCloser(bytes.NewReader(body))
	planned(rw, r)
}

// serveTools is an MCP server behind HTTP.
func (s *timed) serveTools(rw http.ResponseWriter, r *http.Request) {
	var m struct {
		ID     json.RawMessage
		Method string
	}
	_ = json.NewDecoder(r.Body).Decode(&m)
	if r.Method == http.MethodDelete {
		m.Method = "delete"
	}
	s.d.at("mcp", m.Method)
	rw.Header().Set("Content-Type", "application/json")
	rw.Header().Set("Mcp-Session-Id", "s1")
	switch m.Method {
	case "initialize":
		fmt.Fprintf(rw, `{"jsonrpc":"2.0","id":%s,"result":{"protocolVersion":"2025-06-18","capabilities":{"tools":{}}}}`, m.ID)
	case "tools/list":
		fmt.Fprintf(rw, `{"jsonrpc":"2.0","id":%s,"result":{"tools":[{"name":%q}]}}`, m.ID, s.tool)
	case "tools/call":
		if s.refuse.Add(-1) >= 0 {
			fmt.Fprintf(rw, `{"jsonrpc":"2.0","id":%s,"error":{"code":-32000,"message":%q}}`, m.ID, canaryError)
			return
		}
		fmt.Fprintf(rw, `{"jsonrpc":"2.0","id":%s,"result":{"content":[{"type":"text","text":%q}]}}`, m.ID, canarySeen)
	case "":
		rw.WriteHeader(http.StatusMethodNotAllowed)
	default:
		rw.WriteHeader(http.StatusAccepted)
	}
}

// stage goes on to the next part of the conversation.
func (s *timed) stage(name string) { s.d.now.Store(name) }

func (s *timed) must(err error) {
	s.t.Helper()
	if err != nil {
		s.t.Fatal(err)
	}
}

// converse starts, holds two turns around a page and an open, and shuts down.
func (s *timed) converse(ctx context.Context, prompt plan) {
	here, there := net.Pipe()
	s.c = client.New(slowHost{here, s.d}, here, nil)
	environ := []string{"PATH=" + os.Getenv("PATH"), "HOME=" + s.w.home, "MC_HOME=" + s.w.home, "CANARY_KEY=" + canaryKey, "NO_PROXY=127.0.0.1"}
	s.stage("start")
	go func() { s.ended <- agent.ServeOn(ctx, there, s.fs, s.w.work, append(environ, s.env...)) }()
	_, err := s.c.Initialize(ctx, client.AllCapabilities()...)
	s.must(err)
	s.stage("create")
	session, err := s.c.CreateSession(ctx)
	s.must(err)
	s.id = session.SessionID
	s.stage("turn")
	revision := s.turn(ctx, prompt)
	s.stage("page")
	_, err = s.c.HistoryPage(ctx, s.id, revision, nil)
	s.must(err)
	s.stage("open")
	_, err = s.c.OpenSession(ctx, s.id)
	s.must(err)
	s.stage("again")
	s.turn(ctx, plan{Steps: []string{"text"}, Chunks: 2})
	s.stage("shutdown")
	s.must(s.c.Shutdown(ctx))
	select {
	case exit := <-s.ended:
		if exit.Code != 0 || exit.Detached {
			s.t.Errorf("exit %+v", exit)
		}
	case <-ctx.Done():
		s.t.Fatal("it does not end")
	}
	_ = here.Close()
}

// turn sees one turn to its end and returns its revision. Answers take their time.
func (s *timed) turn(ctx context.Context, p plan) string {
	s.t.Helper()
	spec, _ := json.Marshal(p)
	run, err := s.c.StartTurn(ctx, s.id, "plan "+string(spec))
	s.must(err)
	for run.Finished == nil {
		ev, ok := <-s.c.Events()
		if !ok {
			s.t.Fatal(s.c.Err())
		}
		s.must(run.Apply(ev))
		if ev.Name == localagent.EventApprovalRequested {
			s.d.at("host", "approval")
			s.must(s.c.AnswerApproval(ctx, s.id, run.ID, ev.ApprovalID, true))
		}
	}
	if run.Finished.Outcome != localagent.OutcomeCompleted {
		s.t.Fatalf("%+v ended %s", p, run.Finished.Outcome)
	}
	return *run.Finished.Revision
}

// TestSpansTimeRealThings delays one thing in a whole agent for each kind of
// span, and sees the 50 ms in that span and in none beside it. Kinds whose
// subject is out of reach here have such a test in their own packages.
func TestSpansTimeRealThings(t *testing.T) {
	text := plan{Steps: []string{"text"}, Chunks: 2}
	slow := plan{Steps: []string{"slow"}, Chunks: 2}
	for _, row := range []struct {
		kind  telemetry.Kind
		name  string // of the span, where the kind has several
		delay *delay
		plan  plan
	}{
		{telemetry.SpanChild, "", &delay{stage: "start", where: "fs", match: "auth.json"}, text},
		{telemetry.SpanRequest, "initialize", &delay{stage: "start", where: "fs", match: "auth.json"}, text},
		{telemetry.SpanStartup, "", &delay{stage: "start", where: "fs", match: "auth.json"}, text},
		{telemetry.SpanStartupSettings, "", &delay{stage: "start", where: "fs", match: "open /settings.json"}, text},
		{telemetry.SpanStartupInstructions, "", &delay{stage: "start", where: "fs", match: "/work/AGENTS.md"}, text},
		{telemetry.SpanStartupSkills, "", &delay{stage: "start", where: "fs", match: "/home/skills"}, text},
		{telemetry.SpanStartupProfiles, "", &delay{stage: "start", where: "fs", match: "/home/subagents"}, text},
		{telemetry.SpanMCPConnect, "", &delay{stage: "start", where: "mcp", match: "initialize"}, text},
		{telemetry.SpanMCPCall, "initialize", &delay{stage: "start", where: "mcp", match: "initialize"}, text},
		{telemetry.SpanMCPCall, "tools/list", &delay{stage: "start", where: "mcp", match: "tools/list"}, text},
		{telemetry.SpanMCPCall, "tools/call", &delay{stage: "turn", where: "mcp", match: "tools/call"}, plan{Steps: []string{"look", "text"}}},
		{telemetry.SpanSessionWork, "", &delay{stage: "create", where: "fs", match: ".writer"}, text},
		{telemetry.SpanSessionLease, "", &delay{stage: "create", where: "fs", match: ".writer"}, text},
		{telemetry.SpanRunPrepare, "", &delay{stage: "again", where: "fs", match: "open .jsonl", skip: 1}, text},
		{telemetry.SpanHistoryFingerprint, "", &delay{stage: "page", where: "fs", match: "read .jsonl"}, text},
		{telemetry.SpanHistoryPage, "", &delay{stage: "page", where: "fs", match: "stat .jsonl"}, text},
		{telemetry.SpanRun, "", &delay{stage: "turn", where: "model", match: "slow"}, slow},
		{telemetry.SpanRunValidate, "", &delay{stage: "again", where: "fs", match: "stat .jsonl"}, text},
		{telemetry.SpanChat, "", &delay{stage: "turn", where: "model", match: "slow"}, slow},
		{telemetry.SpanProviderAttempt, "", &delay{stage: "turn", where: "model", match: "slow"}, slow},
		{telemetry.SpanExecuteTool, "execute_tool read", &delay{stage: "turn", where: "fs", match: "open " + canaryFile}, plan{Steps: []string{"read", "text"}}},
		{telemetry.SpanExecuteTool, "execute_tool mcp", &delay{stage: "turn", where: "mcp", match: "tools/call"}, plan{Steps: []string{"look", "text"}}},
		{telemetry.SpanApprovalWait, "", &delay{stage: "turn", where: "host", match: "approval"}, plan{Steps: []string{"bash", "text"}}},
		{telemetry.SpanSubagent, "", &delay{stage: "turn", where: "model", match: "sub"}, plan{Steps: []string{"delegate", "text"}}},
		{telemetry.SpanSessionAppend, "", &delay{stage: "turn", where: "fs", match: "sync .jsonl"}, text},
		{telemetry.SpanSessionAppend, "", &delay{stage: "shutdown", where: "fs", match: "open .metadata.json"}, text},
		{telemetry.SpanOutputStall, "", &delay{stage: "turn", where: "read"}, text},
		{telemetry.SpanCleanup, "", &delay{stage: "shutdown", where: "mcp", match: "delete"}, text},
		{telemetry.SpanCleanupDrain, "", &delay{stage: "shutdown", where: "read"}, text},
		{telemetry.SpanCleanupMCPClose, "", &delay{stage: "shutdown", where: "mcp", match: "delete"}, text},
		{telemetry.SpanCleanupLease, "", &delay{stage: "shutdown", where: "fs", match: "remove .writer"}, text},
	} {
		t.Run(strings.TrimSpace(row.kind.String()+" "+row.name), func(t *testing.T) {
			t.Parallel()
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
			defer cancel()
			s := newTimed(t, row.delay)
			s.converse(ctx, row.plan)
			s.check(row.kind, row.name)
		})
	}
}

// check reads the capture when the agent's journal is through with it.
func (s *timed) check(kind telemetry.Kind, name string) {
	s.t.Helper()
	if s.d.to.IsZero() {
		s.t.Fatal("nothing was delayed")
	}
	s.closed()
	c := readCapture(s.t, s.w)
	if c == nil {
		s.t.Fatal("the capture is not whole")
	}
	if err := spantest.Check(c.Spans, s.d.from, s.d.to, kind, name); err != nil {
		s.t.Error(err)
	}
}

// closed waits until the agent's journal is through.
func (s *timed) closed() {
	s.t.Helper()
	for deadline := time.Now().Add(10 * time.Second); ; time.Sleep(5 * time.Millisecond) {
		if b, err := os.ReadFile(filepath.Join(s.w.home, "state", "telemetry-status.json")); err == nil && bytes.Contains(b, []byte(`"closed"`)) {
			break
		}
		if time.Now().After(deadline) {
			s.t.Fatal("the capture does not end")
		}
	}
}

// TestHookSpan: a hook that waits 50 ms for somebody is seen in its own span.
func TestHookSpan(t *testing.T) {
	d := &delay{where: "nowhere"}
	s := newTimed(t, d)
	fifo := filepath.Join(s.w.home, "fifo")
	if err := exec.Command("mkfifo", "-m", "600", fifo).Run(); err != nil {
		t.Skip(err)
	}
	s.w.settings["automation"] = map[string]any{"hooks": map[string]any{"enabled": true, "after_tool": []any{map[string]any{"label": "wait", "command": "cat " + fifo}}}}
	text, _ := json.Marshal(s.w.settings)
	write(t, filepath.Join(s.w.home, "settings.json"), string(text))
	waited := make(chan struct{})
	go func() {
		defer close(waited)
		f, err := os.OpenFile(fifo, os.O_WRONLY, 0) // waits for the hook
		if err != nil {
			t.Error(err)
			return
		}
		d.from = time.Now()
		time.Sleep(spantest.Delayed)
		d.to = time.Now()
		_ = f.Close()
	}()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	s.converse(ctx, plan{Steps: []string{"read", "text"}})
	if f, err := os.OpenFile(fifo, os.O_RDONLY|syscall.O_NONBLOCK, 0); err == nil {
		defer f.Close() // whoever still waits for a hook need not any more
	}
	<-waited
	s.check(telemetry.SpanHook, "")
}
