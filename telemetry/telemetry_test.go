package telemetry

import (
	"context"
	"encoding/json"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"

	"magicode/pkg/localagent"
	"magicode/telemetry/point"
)

func TestMain(m *testing.M) {
	if !Compiled {
		os.Exit(0) // what is tested here is compiled to nothing
	}
	goleak.VerifyTestMain(m)
}

// stateDir is a state folder such as a startup leaves behind.
func stateDir(t *testing.T) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "state")
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	return dir
}

const instance = "6f1c5f0e-0000-4000-8000-000000000001"

// started returns a handle that writes a capture.
func started(t *testing.T, environ ...string) (Tel, string) {
	t.Helper()
	dir := stateDir(t)
	tel := New(append([]string{"MC_TELEMETRY=file"}, environ...), time.Now())
	tel.Start(nil, Identity{InstanceID: instance, StateDir: dir, Version: "1"})
	return tel, dir
}

// stop ends it and returns its files by signal.
func stop(t *testing.T, tel Tel, dir string) map[string]string {
	t.Helper()
	d := tel.core().decided.Load()
	tel.Exit(0, WordOf("shutdown"), false)
	<-d.stopped
	out := map[string]string{}
	for _, signal := range []string{"traces", "logs", "metrics"} {
		names, err := filepath.Glob(filepath.Join(dir, "telemetry", "mc-*."+signal+".jsonl"))
		if err != nil || len(names) != 1 {
			t.Fatalf("%s: %v %v", signal, names, err)
		}
		b, err := os.ReadFile(names[0])
		if err != nil {
			t.Fatal(err)
		}
		out[signal] = string(b)
		for line := range strings.Lines(string(b)) {
			if !json.Valid([]byte(line)) {
				t.Errorf("%s: a line is no JSON: %s", signal, line)
			}
		}
	}
	return out
}

// waitFor waits for what the journal does beside.
func waitFor(t *testing.T, done func() bool) {
	t.Helper()
	for deadline := time.Now().Add(5 * time.Second); !done(); {
		if time.Now().After(deadline) {
			t.Fatal("it does not happen")
		}
		time.Sleep(time.Millisecond)
	}
}

// exercise calls every method once.
func exercise(t Tel) {
	now := time.Now()
	t.FrameIn(now, time.Microsecond, 100, FrameRequest)
	t.FrameQueued(3)
	t.FrameWritten(now, now.Add(time.Second), 100, FrameResponse, 0)
	t.WriteCall(100, true)
	t.WorkerEvents(2)
	t.EventWaited(time.Millisecond)
	t.DeltaQueued()
	t.DeltaMerged()
	t.DeltaDropped()
	t.Rejected(WordOf("status"), CodeOf("busy"))
	t.OutputFailed(WordOf("deadline"))
	t.ApprovalAnswered(true, false)
	ctx, s := t.Begin(context.Background(), SpanExecuteTool)
	s.Int(KeyToolSeq, 1)
	s.Dur(KeyFsyncMS, time.Second)
	s.Bool(KeyDetached, true)
	s.Str(KeyTool, WordOf("bash"))
	s.Name(KeySessionRef, SessionID("x"))
	s.Event(EventAnswered)
	s.Fail(CodeOf("busy"))
	s.Begin(SpanApprovalWait).End()
	Current(s.Into(ctx)).On()
	s.End()
	s.End()
	t.BeginInChild(SpanOutputStall).End()
	t.CleanupBegin()
	t.CleanupUntil(now.Add(time.Second))
	t.Snapshot()
}

func TestEveryMethodInEveryState(t *testing.T) {
	off := New([]string{"MC_TELEMETRY=off"}, time.Now())
	dormant := New(nil, time.Now())
	decidedOff := New(nil, time.Now())
	decidedOff.Start(nil, Identity{})
	on, dir := started(t)
	for name, tel := range map[string]Tel{"zero": {}, "killed": off, "dormant": dormant, "off": decidedOff, "on": on} {
		var wg sync.WaitGroup
		for range 4 {
			wg.Go(func() {
				for range 20 {
					exercise(tel)
				}
			})
		}
		wg.Wait()
		if name == "zero" || name == "killed" || name == "off" {
			if tel.On() {
				t.Errorf("%s is on", name)
			}
		}
	}
	Tel{}.Start(nil, Identity{})
	Tel{}.Exit(0, 0, false)
	Tel{}.Detach()
	dormant.Exit(0, 0, false)
	stop(t, on, dir)
	exercise(on) // after the end
}

// hotHooks are the hooks of the frame path.
func hotHooks(t Tel) map[string]func() {
	now := time.Now()
	return map[string]func(){
		"FrameIn":      func() { t.FrameIn(now, time.Microsecond, 100, FrameRequest) },
		"FrameQueued":  func() { t.FrameQueued(3) },
		"FrameWritten": func() { t.FrameWritten(now, now, 100, FrameMessageDelta, 0) },
		"WriteCall":    func() { t.WriteCall(100, true) },
		"WorkerEvents": func() { t.WorkerEvents(2) },
		"EventWaited":  func() { t.EventWaited(time.Millisecond) },
		"DeltaQueued":  func() { t.DeltaQueued() },
		"DeltaMerged":  func() { t.DeltaMerged() },
		"DeltaDropped": func() { t.DeltaDropped() },
	}
}

func TestHotHooksDoNotAllocate(t *testing.T) {
	on, dir := started(t)
	defer stop(t, on, dir)
	for state, tel := range map[string]Tel{"off": {}, "on": on} {
		for name, hook := range hotHooks(tel) {
			if n := testing.AllocsPerRun(100, hook); n != 0 {
				t.Errorf("%s, %s: %v allocations", name, state, n)
			}
		}
	}
	ctx := context.Background()
	if n := testing.AllocsPerRun(100, func() {
		_, s := Tel{}.Begin(ctx, SpanRun)
		s.Int(KeyRunSeq, 1)
		s.Event(EventFirstDelta)
		s.Fail(0)
		s.End()
	}); n != 0 {
		t.Errorf("a span that is off: %v allocations", n)
	}
}

// TestTablesAreClosed: lists that are searched are sorted, every name is there,
// and the protocol's codes and reasons are known.
func TestTablesAreClosed(t *testing.T) {
	if !slices.IsSorted(words[1:]) || !slices.IsSorted(codes[1:]) {
		t.Error("a list of words is not sorted")
	}
	for name, list := range map[string][]string{"ints": intKeys[:], "bools": boolKeys[:], "enums": enumKeys[1:], "names": nameKeys[:], "events": eventNames[:]} {
		seen := map[string]bool{}
		for i, s := range list {
			if s == "" || seen[s] {
				t.Errorf("%s[%d] is empty or twice: %q", name, i, s)
			}
			seen[s] = true
		}
	}
	for i, k := range kinds {
		if k.name == "" {
			t.Errorf("kind %d has no name", i)
		}
		if _, _, word, ok := spanMetric(Kind(i)); ok && word != "" && WordOf(word) == 0 {
			t.Errorf("kind %d counts under an unknown word %q", i, word)
		}
	}
	for i, m := range slowInfos {
		if m.name == "" || !slices.IsSorted(m.bounds) || len(m.bounds) > 15 {
			t.Errorf("metric %d: %+v", i, m)
		}
	}
	for _, c := range append(localagent.Codes(), localagent.DiagnosticExecutionNotice) {
		if CodeOf(string(c)).text() != string(c) {
			t.Errorf("code %s is unknown", c)
		}
	}
	for _, r := range []string{"shutdown", "eof", "protocol_mismatch", "request_limit", "frame_too_large", "output_deadline", "output_overflow",
		"output_broken", "input_error", "closing_deadline", "signal",
		localagent.OutcomeCompleted, localagent.OutcomeCancelled, localagent.OutcomeFailed,
		localagent.PersistenceDurable, localagent.PersistenceDegraded, localagent.PersistenceNotStarted,
		localagent.MethodInitialize, localagent.MethodStatus, localagent.MethodShutdown, localagent.MethodSessionCreate, localagent.MethodSessionOpen,
		localagent.MethodHistoryPage, localagent.MethodTurnStart, localagent.MethodTurnCancel, localagent.MethodApprovalAnswer} {
		if WordOf(r).text() != r {
			t.Errorf("word %s is unknown", r)
		}
	}
	for s, want := range map[string]string{"429": "429", "000": other, "999": other, "": other, "anything": other} {
		if got := CodeOf(s).text(); got != want {
			t.Errorf("CodeOf(%q) = %q", s, got)
		}
	}
}

func TestNothingBeforeTheDecisionIsLost(t *testing.T) {
	dir := stateDir(t)
	tel := New([]string{"MC_TELEMETRY=file"}, time.Now())
	ctx, child := tel.Begin(context.Background(), SpanChild)
	ctx, request := tel.Begin(ctx, SpanRequest)
	request.Str(KeyMethod, WordOf("initialize"))
	_, done := tel.Begin(ctx, SpanStartupSettings)
	done.End() // before anybody knows
	if files, err := os.ReadDir(dir); err != nil || len(files) != 0 {
		t.Fatalf("dormant, and yet: %v %v", files, err)
	}
	tel.Start(nil, Identity{InstanceID: instance, StateDir: dir})
	_, late := tel.Begin(ctx, SpanStartup)
	late.End()
	request.End()
	child.End()
	traces := stop(t, tel, dir)["traces"]
	for _, want := range []string{`"name":"magi.child"`, `"name":"initialize"`, `"name":"magi.startup.settings"`, `"name":"magi.startup"`} {
		if strings.Count(traces, want) != 1 {
			t.Errorf("%s: %d times", want, strings.Count(traces, want))
		}
	}
	var ids []string
	for _, rest := range strings.Split(traces, `{"traceId":"`)[1:] {
		ids = append(ids, rest[:32])
	}
	if len(ids) != 4 || len(slices.Compact(ids)) != 1 {
		t.Errorf("the spans are of several traces: %v", ids)
	}
}

// TestStatusRules: which of the 33 codes make a request an error (T-17).
func TestStatusRules(t *testing.T) {
	if n := len(localagent.Codes()); n != 33 {
		t.Errorf("%d codes", n)
	}
	for _, c := range localagent.Codes() {
		fault := slices.Contains([]string{"startup_failed", "configuration_invalid", "provider_unavailable", "profile_invalid", "mcp_unavailable",
			"session_invalid", "history_limit", "content_limit", "execution_failed", "persistence_failed", "output_unavailable"}, string(c))
		tel, dir := started(t)
		_, s := tel.Begin(context.Background(), SpanRequest)
		s.Fail(CodeOf(string(c)))
		s.End()
		traces := stop(t, tel, dir)["traces"]
		if got := strings.Contains(traces, `"status":{"code":2}`); got != fault {
			t.Errorf("%s: error status %v", c, got)
		}
		if !strings.Contains(traces, `{"key":"rpc.response.status_code","value":{"stringValue":"`+string(c)+`"}}`) {
			t.Errorf("%s: no status code in %s", c, traces)
		}
	}
}

// TestStatusOfKinds: what fails is an error, unless it was cancelled, in spans of
// every kind but a request's; what has an error type and nothing else has no status.
func TestStatusOfKinds(t *testing.T) {
	for code, faults := range map[string]int{"timeout": int(kindCount) - 1, "cancelled": 0} {
		tel, dir := started(t)
		for k := range kindCount {
			_, s := tel.Begin(context.Background(), k)
			s.Fail(CodeOf(code))
			s.End()
		}
		traces := stop(t, tel, dir)["traces"]
		if n := strings.Count(traces, `"status":{"code":2}`); n != faults || strings.Count(traces, `"status":`) != n {
			t.Errorf("%s: %d errors", code, n)
		}
		if n := strings.Count(traces, `{"key":"error.type","value":{"stringValue":"`+code+`"}}`); n != int(kindCount) {
			t.Errorf("%s: %d error types", code, n)
		}
	}
}

func TestNamesAreHashed(t *testing.T) {
	salted := func(tel Tel, dir string) string {
		_, s := tel.Begin(context.Background(), SpanChat)
		s.Name(KeyModel, Model("my-own-model", false, true))
		s.Name(KeySessionRef, SessionID("secret-session"))
		s.Name(KeyRequestHash, WireID("request-1"))
		waitFor(t, func() bool { return tel.core().decided.Load().salt.Load() != nil })
		s.End()
		traces := stop(t, tel, dir)["traces"]
		for _, clear := range []string{"my-own-model", "secret-session", "request-1"} {
			if strings.Contains(traces, clear) {
				t.Errorf("%s is in %s", clear, traces)
			}
		}
		_, ref, ok := strings.Cut(traces, `"s-`)
		if !ok {
			t.Fatalf("no session ref in %s", traces)
		}
		return ref[:12]
	}
	tel, dir := started(t)
	one := salted(tel, dir)
	if err := os.RemoveAll(filepath.Join(dir, "telemetry")); err != nil {
		t.Fatal(err)
	}
	again := New([]string{"MC_TELEMETRY=file"}, time.Now())
	again.Start(nil, Identity{InstanceID: instance, StateDir: dir})
	if two := salted(again, dir); one != two {
		t.Errorf("one home, two hashes: %s %s", one, two)
	}
	tel, dir = started(t)
	if other := salted(tel, dir); other == one {
		t.Error("two homes, one hash")
	}
	tel, dir = started(t, "MC_TELEMETRY_NAMES=plain")
	_, s := tel.Begin(context.Background(), SpanChat)
	s.Name(KeyModel, Model("my-own-model", false, true))
	s.Name(KeyResponseModel, Model("secret\nmodel", false, false))
	s.End()
	if traces := stop(t, tel, dir)["traces"]; !strings.Contains(traces, `"name":"chat my-own-model"`) || strings.Contains(traces, "secret") {
		t.Errorf("plain: %s", traces)
	}
}

// TestPlainNames: a name that may be shown takes the place of its word or hash,
// and only where the user asked for plain names.
func TestPlainNames(t *testing.T) {
	const hash = `"magi.mcp.tool","value":{"stringValue":"[0-9a-f]{12}"`
	for _, row := range []struct {
		names    string
		safe     bool
		provider string
		tool     string // a pattern
	}{{"hashed", true, other, hash}, {"plain", true, "mine", `"magi.mcp.tool","value":{"stringValue":"look"`}, {"plain", false, "mine", hash}} {
		tel, dir := started(t, "MC_TELEMETRY_NAMES="+row.names)
		_, s := tel.Begin(context.Background(), SpanChat)
		s.Str(KeyProviderName, WordOf(""))
		s.Name(KeyProviderID, PlainName("mine"))
		s.End()
		_, s = tel.Begin(context.Background(), SpanMCPCall)
		s.Name(KeyMCPTool, ToolName("look", row.safe))
		s.End()
		traces := stop(t, tel, dir)["traces"]
		if want := `"gen_ai.provider.name","value":{"stringValue":"` + row.provider + `"`; strings.Count(traces, "gen_ai.provider.name") != 1 || !strings.Contains(traces, want) {
			t.Errorf("%+v: no %s in %s", row, want, traces)
		}
		if !regexp.MustCompile(row.tool).MatchString(traces) {
			t.Errorf("%+v: no %s in %s", row, row.tool, traces)
		}
	}
}

// TestUnfinishedSpans: what hangs is in the log before the process ends, and a
// detached cleanup cuts what is left.
func TestUnfinishedSpans(t *testing.T) {
	tel, dir := started(t)
	ctx, child := tel.Begin(context.Background(), SpanChild)
	ctx, cleanup := tel.Begin(ctx, SpanCleanup)
	tel.CleanupBegin()
	_, closing := tel.Begin(ctx, SpanCleanupMCPClose)
	closing.Str(KeyMCPServer, WordOf("mcp"))
	tel.Snapshot()
	waitFor(t, func() bool { return strings.Contains(logged(t, dir), `"magi.goroutines"`) })
	tel.Detach()
	child.Fail(CodeOf("timeout"))
	child.End()
	cleanup.End() // too late, and ignored
	files := stop(t, tel, dir)
	for _, want := range []string{`"eventName":"magi.span.start"`, `"eventName":"magi.span.open"`, `"eventName":"magi.goroutines"`, `"magi.cleanup.mcp.close"`, `"eventName":"magi.exit"`} {
		if !strings.Contains(files["logs"], want) {
			t.Errorf("no %s in the log", want)
		}
	}
	if n := strings.Count(files["traces"], `{"key":"magi.span.cut","value":{"boolValue":true}}`); n != 2 {
		t.Errorf("%d spans are cut: %s", n, files["traces"])
	}
}

// TestShortSpansHaveOneRecord: what began and ended between two looks is told by
// its end alone; what is still open is told when it begins.
func TestShortSpansHaveOneRecord(t *testing.T) {
	tel, dir := started(t)
	d := tel.core().decided.Load()
	waitFor(t, d.idle.Load)
	_, short := tel.Begin(context.Background(), SpanRun)
	short.Event(EventFirstDelta)
	short.End()
	_, open := tel.Begin(context.Background(), SpanStartup)
	_, urgent := tel.Begin(context.Background(), SpanCleanupLease)
	urgent.End()
	waitFor(t, func() bool { return strings.Contains(logged(t, dir), "magi.startup") })
	open.End()
	files := stop(t, tel, dir)
	for name, wanted := range map[string]bool{"invoke_agent magi-code": false, "magi.startup": true, "magi.cleanup.lease": false} {
		if got := strings.Contains(files["logs"], `{"key":"magi.span.name","value":{"stringValue":"`+name+`"}}`); got != wanted {
			t.Errorf("%s has a start record: %v", name, got)
		}
		if !strings.Contains(files["traces"], `"name":"`+name+`"`) {
			t.Errorf("%s has no end", name)
		}
	}
	if !strings.Contains(files["traces"], "magi.first_delta") {
		t.Error("the event is lost")
	}
}

// logged is what the log has so far.
func logged(t *testing.T, dir string) string {
	t.Helper()
	names, err := filepath.Glob(filepath.Join(dir, "telemetry", "*.logs.jsonl"))
	if err != nil || len(names) == 0 {
		return ""
	}
	b, err := os.ReadFile(names[0])
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// TestOpenSpansAreTold: of a span that stays open the log has the start, at once or
// after a quarter of a second as its kind wants it, every event, and how far it has come.
func TestOpenSpansAreTold(t *testing.T) {
	tel, dir := started(t)
	ctx, attempt := tel.Begin(context.Background(), SpanProviderAttempt)
	_, read := tel.Begin(ctx, SpanHistoryRead)
	count := func(record, name string) (n int) {
		for line := range strings.Lines(logged(t, dir)) {
			if strings.Contains(line, `"eventName":"`+record+`"`) && strings.Contains(line, `{"stringValue":"`+name+`"}`) {
				n++
			}
		}
		return n
	}
	waitFor(t, func() bool { return count(recordStart, "magi.provider.attempt") == 1 })
	if n := count(recordStart, "magi.history.read"); n != 0 && time.Since(read.s.start) < lateAfter {
		t.Error("the late one is told at once")
	}
	attempt.Str(KeyAttemptPhase, WordOf("headers"))
	waitFor(t, func() bool { return count(recordEvent, "headers") == 1 })
	attempt.Event(EventHeaders)
	attempt.Event(EventFirstChunk)
	waitFor(t, func() bool { return count(recordEvent, "magi.headers") == 1 && count(recordEvent, "first_chunk") == 1 })
	waitFor(t, func() bool { return count(recordStart, "magi.history.read") == 1 })
	if !strings.Contains(logged(t, dir), `{"key":"magi.span.late","value":{"boolValue":true}}`) {
		t.Error("the late start does not say so")
	}
	read.End()
	attempt.End()
	stop(t, tel, dir)
	for _, name := range []string{"magi.provider.attempt", "magi.history.read"} {
		if n := count(recordStart, name); n != 1 {
			t.Errorf("%s began %d times", name, n)
		}
	}
}

// TestEndpointAloneWakesNobody: where there is no capture, nothing is told of
// open spans, and the journal sleeps on.
func TestEndpointAloneWakesNobody(t *testing.T) {
	c := newCore(nil, time.Now())
	d := &decision{wake: make(chan struct{}, 1)}
	d.idle.Store(true)
	c.decided.Store(d)
	s := Span{c.begin(SpanRun, nil, time.Now())}
	s.Event(EventFirstDelta)
	s.Str(KeyAttemptPhase, WordOf("headers"))
	s.End()
	if !d.idle.Load() || len(d.wake) > 0 {
		t.Error("the journal is woken for nothing")
	}
}

func TestAppendCap(t *testing.T) {
	tel, dir := started(t)
	ctx, run := tel.Begin(context.Background(), SpanRun)
	const many = maxRunAppends + 100
	slow := 0 // that a busy machine held up beyond the cap: they are worth a span
	for i := range many {
		_, s := tel.Begin(ctx, SpanSessionAppend)
		s.End()
		if i >= maxRunAppends && s.s.lasted >= slowAppend {
			slow++
		}
		for len(tel.core().decided.Load().lo) > loQueue/2 {
			time.Sleep(time.Millisecond)
		}
	}
	_, failed := tel.Begin(ctx, SpanSessionAppend)
	failed.Fail(CodeOf("append"))
	failed.End()
	run.End()
	files := stop(t, tel, dir)
	if n := strings.Count(files["traces"], `"name":"magi.session.append"`); n != maxRunAppends+1+slow {
		t.Errorf("%d spans", n)
	}
	if !strings.Contains(files["metrics"], `"count":"2101"`) {
		t.Error("the metric does not count them all")
	}
}

// TestCaps: a run has so many spans and a span so many attributes and events; what
// is beyond is dropped and counted, and the next run has its own.
func TestCaps(t *testing.T) {
	tel, dir := started(t)
	ctx, run := tel.Begin(context.Background(), SpanRun)
	_, full := tel.Begin(ctx, SpanHistoryProject)
	for k := range intKeyCount {
		full.Int(k, 7)
	}
	for range maxEvents + 5 {
		full.Event(EventHeaders)
	}
	full.End()
	begun := 1
	for range maxRunSpans + 9 {
		_, s := tel.Begin(ctx, SpanHistoryPage)
		if s.On() {
			begun++
		}
		s.End()
		for len(tel.core().decided.Load().lo) > loQueue/2 {
			time.Sleep(time.Millisecond)
		}
	}
	if begun != maxRunSpans {
		t.Errorf("%d spans of %d", begun, maxRunSpans)
	}
	want := uint64(10 + 5 + int(intKeyCount) - maxAttributes)
	if lost := tel.core().losses.dropped(sinkFile); lost != want {
		t.Errorf("%d are counted as dropped, wanted %d", lost, want)
	}
	run.End()
	ctx, run = tel.Begin(context.Background(), SpanRun)
	_, again := tel.Begin(ctx, SpanHistoryPage)
	if !again.On() {
		t.Error("the next run has no spans")
	}
	again.End()
	run.End()
	for line := range strings.Lines(stop(t, tel, dir)["traces"]) {
		if !strings.Contains(line, `"name":"magi.history.project"`) {
			continue
		}
		if n := strings.Count(line, `{"intValue":"7"}`); n > maxAttributes || n < maxAttributes-8 {
			t.Errorf("%d attributes", n)
		}
		if n := strings.Count(line, `"name":"magi.headers"`); n != maxEvents {
			t.Errorf("%d events", n)
		}
		return
	}
	t.Error("the span is lost")
}

// TestFailedSinks: what cannot be opened is off, and nothing else changes.
func TestFailedSinks(t *testing.T) {
	for name, prepare := range map[string]func(dir string) error{
		"a file where the folder belongs": func(dir string) error { return os.WriteFile(filepath.Join(dir, "telemetry"), nil, 0o600) },
		"a link":                          func(dir string) error { return os.Symlink(os.TempDir(), filepath.Join(dir, "telemetry")) },
		"others may write":                func(dir string) error { return os.Mkdir(filepath.Join(dir, "telemetry"), 0o777) },
	} {
		dir := stateDir(t)
		if err := prepare(dir); err != nil {
			t.Fatal(err)
		}
		if name == "others may write" {
			if err := os.Chmod(filepath.Join(dir, "telemetry"), 0o777); err != nil {
				t.Fatal(err)
			}
		}
		tel := New([]string{"MC_TELEMETRY=file"}, time.Now())
		tel.Start(nil, Identity{InstanceID: instance, StateDir: dir})
		exercise(tel)
		d := tel.core().decided.Load()
		tel.Exit(1, WordOf("eof"), false)
		<-d.stopped
		b, err := os.ReadFile(filepath.Join(dir, statusName))
		var doc statusDocument
		if err != nil || json.Unmarshal(b, &doc) != nil || len(doc.Problems) != 1 || doc.Problems[0].Code != "dir_unsafe" || doc.Sinks["file"].State != sinkOff {
			t.Errorf("%s: %v %s", name, err, b)
		}
	}
}

// TestAskedInVain: a wish that cannot be met is told, and telemetry is off.
func TestAskedInVain(t *testing.T) {
	for value, code := range map[string]string{"otlp": "otlp_endpoint_missing", "fil": "env_invalid", "prom": "prom_path"} {
		dir := stateDir(t)
		tel := New([]string{"MC_TELEMETRY=" + value}, time.Now())
		tel.Start(nil, Identity{InstanceID: instance, StateDir: dir})
		if tel.On() {
			t.Errorf("%s: on", value)
		}
		tel.Exit(0, WordOf("shutdown"), false)
		b, err := os.ReadFile(filepath.Join(dir, statusName))
		if err != nil || !strings.Contains(string(b), `"code":"`+code+`"`) {
			t.Errorf("%s: %v %s", value, err, b)
		}
	}
}

// TestJournalIsWokenOnce: the first item of many wakes it, the others do not,
// unless the queue fills up or everything is urgent.
func TestJournalIsWokenOnce(t *testing.T) {
	c := newCore(nil, time.Now())
	d := &decision{hi: make(chan item, 1), lo: make(chan *openSpan, loQueue), wake: make(chan struct{}, 1)}
	c.decided.Store(d)
	woken := func() bool {
		select {
		case <-d.wake:
			return true
		default:
			return false
		}
	}
	put := func() bool { d.putEnded(&openSpan{core: c, kind: SpanRun}); return woken() }
	if d.idle.Store(true); !put() {
		t.Error("a sleeping journal is not woken")
	}
	for len(d.lo) < loSoon-1 {
		if put() {
			t.Fatalf("woken again with %d items", len(d.lo))
		}
	}
	if !put() {
		t.Error("not woken though many wait")
	}
	for len(d.lo) > 0 {
		<-d.lo
	}
	if c.urgent(); !woken() || !put() {
		t.Error("not woken though it is urgent")
	}
}

// TestSpanIsWrittenSoon: a span that ends while nothing else happens is in the
// file without any further call.
func TestSpanIsWrittenSoon(t *testing.T) {
	tel, dir := started(t)
	defer stop(t, tel, dir)
	d := tel.core().decided.Load()
	waitFor(t, d.idle.Load)
	_, s := tel.Begin(context.Background(), SpanSessionWork)
	s.End()
	waitFor(t, func() bool {
		files, _ := filepath.Glob(filepath.Join(dir, "telemetry", "*.traces.jsonl"))
		if len(files) != 1 {
			return false
		}
		b, _ := os.ReadFile(files[0])
		return strings.Contains(string(b), "magi.session.work")
	})
	waitFor(t, d.idle.Load)
}

// TestWhatHangsAtTheStartIsTold: what was put into the queue before the journal
// ran is in the log though nothing happens afterwards.
func TestWhatHangsAtTheStartIsTold(t *testing.T) {
	dir := stateDir(t)
	tel := New([]string{"MC_TELEMETRY=file"}, time.Now())
	_, startup := tel.Begin(context.Background(), SpanStartup)
	tel.Start(nil, Identity{InstanceID: instance, StateDir: dir})
	waitFor(t, func() bool {
		files, _ := filepath.Glob(filepath.Join(dir, "telemetry", "*.logs.jsonl"))
		if len(files) != 1 {
			return false
		}
		b, _ := os.ReadFile(files[0])
		return strings.Contains(string(b), "magi.startup")
	})
	startup.End()
	stop(t, tel, dir)
}

func TestExitDoesNotWaitForADeadJournal(t *testing.T) {
	c := newCore(nil, time.Now())
	c.decided.Store(&decision{hi: make(chan item)}) // nobody reads
	began := time.Now()
	c.exit(exitState{detached: true})
	if took := time.Since(began); took > 10*detachedWait {
		t.Errorf("waited %v", took)
	}
}

func TestTraceParent(t *testing.T) {
	const good = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"
	for value, valid := range map[string]bool{good: true, "": false, strings.ToUpper(good): false, "01" + good[2:]: false, good + "-": false} {
		if got := traceParent([]string{"TRACEPARENT=" + value}).IsValid(); got != valid {
			t.Errorf("%q: %v", value, got)
		}
	}
}

// TestIdleChildWritesNothing into its metrics file.
func TestIdleChildWritesNothing(t *testing.T) {
	tel, dir := started(t)
	if text := stop(t, tel, dir)["metrics"]; text != "" {
		t.Errorf("an idle child counted %s", text)
	}
}

// TestApprovalCountsFromItsAnnouncement: waiting for a place in the queue is not the user's time.
func TestApprovalCountsFromItsAnnouncement(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCore(nil, time.Now())
		s := Span{c.begin(SpanApprovalWait, nil, time.Now())}
		s.Str(KeyApprovalOutcome, WordOf("allow"))
		time.Sleep(time.Minute)
		s.Event(EventRequestedQueued)
		time.Sleep(3 * time.Second)
		s.End()
		for _, m := range c.slow.metrics(false) {
			if m.Name == "magi.approval.wait.duration" && (m.Points[0].Sum != 3 || len(m.Points[0].Labels) != 1 || m.Points[0].Labels[0].Value != "allow") {
				t.Errorf("%+v", m.Points)
			}
		}
	})
}

// TestDurationMetrics: each kind's metric has the time that its span took.
func TestDurationMetrics(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for k := range kindCount {
			m, _, _, ok := spanMetric(k)
			if !ok {
				continue
			}
			c := newCore(nil, time.Now())
			s := Span{c.begin(k, nil, time.Now())}
			time.Sleep(50 * time.Millisecond)
			s.End()
			found := false
			for _, got := range c.slow.metrics(false) {
				if got.Name == slowInfos[m].name && got.Type == point.Histogram && len(got.Points) == 1 && got.Points[0].Sum == 0.05 && got.Points[0].Count == 1 {
					found = true
				}
				if got.Name == slowInfos[m].name && got.Type == point.Counter && got.Points[0].Value == 1 {
					found = true
				}
			}
			if !found {
				t.Errorf("%s is not counted", kinds[k].name)
			}
		}
	})
}

// TestOverflow: what comes beyond the bound on the series of a metric is counted
// in one that says so, in a form that a capture may have.
func TestOverflow(t *testing.T) {
	c := newCore(nil, time.Now())
	for i := range maxSeries + 10 {
		c.slow.count(metricRejections, labels{}.withCode(rpcCode+Code(i)))
	}
	points := c.slow.metrics(false)[0].Points
	over := slices.IndexFunc(points, func(p point.Point) bool {
		return slices.Equal(p.Labels, []point.Label{{Key: "otel.metric.overflow", Value: "true"}})
	})
	if len(points) != maxSeries+1 || over < 0 || points[over].Value != 10 {
		t.Fatalf("%d points, overflow %d", len(points), over)
	}
	if kv := points[over].Labels[0].Attribute(); kv.Value.AsBool() != true || !Audit(false, string(kv.Key), kv.Value.AsBool()) {
		t.Errorf("%v", kv)
	}
}

// TestModels: the first 16 models of a child are told apart in metrics, the others
// are one.
func TestModels(t *testing.T) {
	c := newCore(nil, time.Now())
	c.decided.Store(new(decision))
	for range 2 {
		for i := range maxModels + 4 {
			s := Span{c.begin(SpanChat, nil, time.Now())}
			s.Name(KeyModel, Model("model-"+strconv.Itoa(i), true, true))
			s.End()
		}
	}
	got := map[string]uint64{}
	for _, m := range c.slow.metrics(false) {
		for _, at := range m.Points {
			if i := slices.IndexFunc(at.Labels, func(l point.Label) bool { return l.Key == KeyModel.String() }); i >= 0 && m.Name == nameChatDuration {
				got[at.Labels[i].Value] += at.Count
			}
		}
	}
	want := map[string]uint64{other: 8}
	for i := range maxModels {
		want["model-"+strconv.Itoa(i)] = 2
	}
	if !maps.Equal(got, want) {
		t.Errorf("counted %v", got)
	}
}

// TestCleanupLink: the cleanup links to the run that was under way, if one was.
func TestCleanupLink(t *testing.T) {
	for _, under := range []bool{false, true} {
		tel, dir := started(t)
		ctx, child := tel.Begin(context.Background(), SpanChild)
		_, run := tel.Begin(ctx, SpanRun)
		if !under {
			run.End()
		}
		_, cleanup := tel.Begin(ctx, SpanCleanup)
		run.End()
		cleanup.End()
		child.End()
		found := 0
		for line := range strings.Lines(stop(t, tel, dir)["traces"]) {
			var doc struct {
				ResourceSpans []struct {
					ScopeSpans []struct {
						Spans []struct {
							Name  string
							Links []struct{ SpanID string }
						}
					}
				}
			}
			if err := json.Unmarshal([]byte(line), &doc); err != nil {
				t.Fatal(err)
			}
			for _, s := range doc.ResourceSpans[0].ScopeSpans[0].Spans {
				if s.Name == "magi.cleanup" {
					for _, l := range s.Links {
						if l.SpanID == run.s.id.context().SpanID().String() {
							found++
						}
					}
				}
			}
		}
		if found != map[bool]int{true: 1}[under] {
			t.Errorf("under way %v: %d links", under, found)
		}
	}
}
