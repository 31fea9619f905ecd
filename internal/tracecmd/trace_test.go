package tracecmd

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"magicode/telemetry"
	"magicode/telemetry/reader"
)

// stateDir is the state folder of a home, for a child that leaves a capture there. A
// build without telemetry leaves none: the test is skipped.
func stateDir(t *testing.T) string {
	t.Helper()
	if !telemetry.Compiled {
		t.Skip("built without telemetry")
	}
	state := filepath.Join(t.TempDir(), "state")
	if err := os.Mkdir(state, 0o700); err != nil {
		t.Fatal(err)
	}
	return state
}

// record leaves a capture of a child with one run and a cleanup; play says how
// it ends.
func record(t *testing.T, play func(ctx context.Context, tel telemetry.Tel, child telemetry.Span)) string {
	t.Helper()
	state := stateDir(t)
	tel := telemetry.New([]string{"MC_TELEMETRY=file"}, time.Now())
	ctx, child := tel.Begin(context.Background(), telemetry.SpanChild)
	tel.Start(nil, telemetry.Identity{InstanceID: "6f1c5f0e-1", StateDir: state, Version: "1"})
	rctx, request := tel.Begin(ctx, telemetry.SpanRequest)
	request.Str(telemetry.KeyMethod, telemetry.WordOf("turn.start"))
	request.Name(telemetry.KeyRequestHash, telemetry.WireID("1"))
	rctx, run := tel.Begin(rctx, telemetry.SpanRun)
	request.End()
	_, call := tel.Begin(rctx, telemetry.SpanExecuteTool)
	call.Str(telemetry.KeyTool, telemetry.WordOf("bash"))
	call.End()
	run.Str(telemetry.KeyRunOutcome, telemetry.WordOf("completed"))
	run.End()
	play(ctx, tel, child)
	settled(t, state)
	return filepath.Join(state, "telemetry")
}

func explain(t *testing.T, o Options) (string, int) {
	t.Helper()
	var out, errs bytes.Buffer
	status := Run(o, &out, &errs)
	return out.String() + errs.String(), status
}

func TestHealthy(t *testing.T) {
	dir := record(t, func(_ context.Context, tel telemetry.Tel, child telemetry.Span) {
		child.End()
		tel.Exit(0, telemetry.WordOf("shutdown"), false)
	})
	text, status := explain(t, Options{Dir: dir, FailOn: []string{"stuck"}})
	for _, want := range []string{"exit 0 (shutdown)", "○ healthy", "run 1   completed", "execute_tool bash", "requests  turn.start ", "torn lines 0"} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in\n%s", want, text)
		}
	}
	if text, status := explain(t, Options{Dir: dir, Look: reader.Look{Run: 7}}); status != exitError || !strings.Contains(text, "has no run 7; it has 1") {
		t.Errorf("run 7: %d %s", status, text)
	}
	if status != 0 {
		t.Errorf("status %d", status)
	}
}

func TestStuckCleanup(t *testing.T) {
	dir := record(t, func(ctx context.Context, tel telemetry.Tel, child telemetry.Span) {
		ctx, _ = tel.Begin(ctx, telemetry.SpanCleanup)
		tel.CleanupBegin()
		_, closing := tel.Begin(ctx, telemetry.SpanCleanupMCPClose)
		closing.Str(telemetry.KeyMCPServer, telemetry.WordOf("mcp-2"))
		closing.Str(telemetry.KeyTransport, telemetry.WordOf("pipe"))
		closing.Str(telemetry.KeyMCPStep, telemetry.WordOf("stdout_join"))
		tel.Snapshot()
		tel.Detach()
		child.End()
		tel.Exit(0, telemetry.WordOf("shutdown"), true)
	})
	text, status := explain(t, Options{Capture: dir, FailOn: []string{"stuck"}})
	for deadline := time.Now().Add(5 * time.Second); strings.Contains(text, "no exit") && time.Now().Before(deadline); {
		time.Sleep(10 * time.Millisecond) // here the process lives on; a child would be gone
		text, status = explain(t, Options{Capture: dir, FailOn: []string{"stuck"}})
	}
	first, _, _ := strings.Cut(text[strings.Index(text, "●"):], "\n")
	if !strings.HasPrefix(first, "● stuck-cleanup   closing MCP server mcp-2 (stdio) did not finish") || !strings.Contains(text, "last step  stdout_join") || !strings.Contains(text, "DETACHED") || status != 3 {
		t.Errorf("status %d\n%s", status, text)
	}
	js, _ := explain(t, Options{Capture: dir, JSON: true})
	var a struct {
		Version  int
		Verdicts []struct{ Code string }
	}
	if err := json.Unmarshal([]byte(js), &a); err != nil || a.Version != 1 || a.Verdicts[0].Code != "stuck-cleanup" {
		t.Errorf("%v: %s", err, js)
	}
}

// TestDamaged: killed children and cut files still tell what was open.
func TestDamaged(t *testing.T) {
	var dir string
	record(t, func(ctx context.Context, tel telemetry.Tel, child telemetry.Span) {
		ctx, run := tel.Begin(ctx, telemetry.SpanRun)
		_, chat := tel.Begin(ctx, telemetry.SpanChat)
		chat.Event(telemetry.EventFirstChunk)
		child.End()
		tel.Exit(0, telemetry.WordOf("eof"), false)
		chat.End()
		run.End()
	})
	dir = record(t, func(ctx context.Context, tel telemetry.Tel, _ telemetry.Span) {
		ctx, _ = tel.Begin(ctx, telemetry.SpanRun)
		_, _ = tel.Begin(ctx, telemetry.SpanProviderAttempt)
		tel.Exit(0, 0, false)
	})
	logs, err := filepath.Glob(filepath.Join(dir, "*.logs.jsonl"))
	if err != nil || len(logs) != 1 {
		t.Fatal(err, logs)
	}
	b, err := os.ReadFile(logs[0])
	if err != nil {
		t.Fatal(err)
	}
	cut := bytes.LastIndex(b, []byte(`{"resourceLogs"`)) // the exit record
	if err := os.WriteFile(logs[0], b[:cut+30], 0o600); err != nil {
		t.Fatal(err)
	}
	text, status := explain(t, Options{Capture: logs[0], FailOn: []string{"vanished"}})
	for _, want := range []string{"● vanished", "torn lines 1", "open: magi.provider.attempt", "no exit"} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in\n%s", want, text)
		}
	}
	if status != 3 {
		t.Errorf("status %d", status)
	}
}

func TestRefusals(t *testing.T) {
	empty := t.TempDir()
	for _, o := range []Options{{Dir: empty}, {Capture: filepath.Join(empty, "none")}, {Capture: filepath.Join(empty, "no", "such")}} {
		if text, status := explain(t, o); status != 1 || text == "" {
			t.Errorf("%+v: %d %q", o, status, text)
		}
	}
	if _, status := explain(t, Options{Dir: empty, FailOn: []string{"everything"}}); status != 2 {
		t.Errorf("status %d", status)
	}
}

func TestOrder(t *testing.T) {
	if order("x.traces.jsonl") >= order("x.traces.2.jsonl") || order("x.traces.2.jsonl") >= order("x.traces.10.jsonl") {
		t.Error("segments are out of order")
	}
}

// TestFailWords: every word means a verdict, an unknown one is answered with
// all of them, and the documentation names the same.
func TestFailWords(t *testing.T) {
	docs, err := os.ReadFile("../../docs/telemetry.md")
	if err != nil {
		t.Fatal(err)
	}
	text, status := explain(t, Options{Dir: t.TempDir(), FailOn: []string{"odd"}})
	if status != exitUsage {
		t.Errorf("status %d", status)
	}
	for _, w := range FailWords() {
		if len(codes(w)) != 1 || !strings.Contains(text, w) || !bytes.Contains(docs, []byte("`"+w+"`")) {
			t.Errorf("%s: means %v; said: %s", w, codes(w), text)
		}
	}
}

// TestNothingThere: a home without captures says how to get one.
func TestNothingThere(t *testing.T) {
	empty := t.TempDir()
	for _, dir := range []string{empty, filepath.Join(empty, "missing")} {
		want := "no capture in " + dir + "; start the host with MC_TELEMETRY=file"
		if text, status := explain(t, Options{Dir: dir}); status != exitError || !strings.Contains(text, want) {
			t.Errorf("status %d, %s", status, text)
		}
	}
}
