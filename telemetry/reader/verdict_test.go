package reader

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

// build makes the lines of a capture.
type build struct {
	traces, logs, metrics strings.Builder
	id                    int
	above                 string // id of the span that the next ones are below
}

// below makes the spans that follow those of the one that was made last.
func (b *build) below() *build {
	b.above = fmt.Sprint(b.id)
	return b
}

func quote(s string) string {
	b, err := json.Marshal(s)
	if err != nil {
		panic(err)
	}
	return string(b)
}

func attributes(kv []any) string {
	var out []string
	for i := 0; i+1 < len(kv); i += 2 {
		value := `{"stringValue":` + quote(fmt.Sprint(kv[i+1])) + `}`
		switch v := kv[i+1].(type) {
		case int:
			value = fmt.Sprintf(`{"intValue":"%d"}`, v)
		case bool:
			value = fmt.Sprintf(`{"boolValue":%v}`, v)
		}
		out = append(out, fmt.Sprintf(`{"key":%q,"value":%s}`, kv[i], value))
	}
	return strings.Join(out, ",")
}

// span is one that ended, from and to in milliseconds.
func (b *build) span(name string, from, to int, kv ...any) *build {
	b.id++
	fmt.Fprintf(&b.traces, `{"resourceSpans":[{"scopeSpans":[{"spans":[{"name":%s,"spanId":"%d","parentSpanId":%q,"startTimeUnixNano":"%d000000","endTimeUnixNano":"%d000000","attributes":[%s]}]}]}]}`+"\n",
		quote(name), b.id, b.above, 1000+from, 1000+to, attributes(kv))
	return b
}

func (b *build) record(name string, at int, id string, kv ...any) *build {
	return b.recordBody(name, at, id, "", kv...)
}

func (b *build) recordBody(name string, at int, id, body string, kv ...any) *build {
	fmt.Fprintf(&b.logs, `{"resourceLogs":[{"scopeLogs":[{"logRecords":[{"timeUnixNano":"%d000000","eventName":%q,"spanId":%q,"body":{"stringValue":%s},"attributes":[%s]}]}]}]}`+"\n",
		1000+at, name, id, quote(body), attributes(kv))
	return b
}

func (b *build) exit(at int, reason string, detached bool) *build {
	return b.record("magi.exit", at, "", "process.exit.code", 0, "magi.exit.reason", reason, "magi.detached", detached)
}

func (b *build) metric(form, name string, value float64, kv ...any) *build {
	fmt.Fprintf(&b.metrics, `{"resourceMetrics":[{"scopeMetrics":[{"metrics":[{"name":%q,%q:{"dataPoints":[{"timeUnixNano":"1500000000","asDouble":%g,"attributes":[%s]}]}}]}]}]}`+"\n",
		name, form, value, attributes(kv))
	return b
}

// analyse explains it; without are signals whose files are gone.
func (b *build) analyse(t *testing.T, without ...string) *Analysis {
	t.Helper()
	c := new(Capture)
	for signal, text := range map[string]string{"traces": b.traces.String(), "logs": b.logs.String(), "metrics": b.metrics.String()} {
		if slices.Contains(without, signal) {
			continue
		}
		if err := c.Read(strings.NewReader(text), "x."+signal+".jsonl"); err != nil {
			t.Fatal(err)
		}
	}
	if c.Torn > 0 {
		t.Fatalf("%d lines are torn", c.Torn)
	}
	return Analyse("x", c)
}

// TestVerdicts: each verdict has a capture that brings it, and says what it is about.
func TestVerdicts(t *testing.T) {
	ended := func() *build { return new(build).span("magi.child", 0, 500).exit(500, "shutdown", false) }
	fired := map[string]bool{}
	for code, row := range map[string]struct {
		b    *build
		want string
	}{
		"healthy": {ended(), "nothing stands out"},
		"stuck-cleanup": {new(build).record("magi.span.start", 0, "c1", "magi.span.name", "magi.cleanup").
			record("magi.span.start", 5, "m1", "magi.span.name", "magi.cleanup.mcp.close", "magi.span.parent", "c1").
			record("magi.span.event", 9, "m1", "magi.mcp.server", "mcp-2", "network.transport", "pipe", "magi.mcp.step", "stdout_join").
			span("magi.session.lease", 0, 1, "magi.lease.outcome", "ok").exit(2005, "shutdown", true),
			"closing MCP server mcp-2 (stdio) did not finish: open ≥ 2000 ms|last step  stdout_join|still held  writer lease"},
		"vanished":       {new(build).record("magi.span.start", 0, "r", "magi.span.name", "magi.startup").record("magi.heartbeat", 700, ""), "open: magi.startup, ≥ 700 ms"},
		"output-failed":  {new(build).span("magi.output.stall", 0, 2000, "magi.output.peak", 32, "magi.output.oldest_ms", 2000).exit(2100, "output_deadline", false), "output_deadline|up to 32 of 32 frames, the oldest 2000 ms"},
		"failed-startup": {failed(), "the start failed: mcp_unavailable|connecting MCP server mcp-2 (HTTP): transport\nconnecting MCP server mcp-1 (stdio): cancelled\nclosing MCP server mcp-1 (stdio): 600 ms"},
		"failed-run": {ended().span(runSpan, 0, 90, "magi.run.seq", 3, "magi.run.outcome", "failed", "error.type", "execution_failed").below().
			span("chat m", 10, 80, "error.type", "503", "magi.provider.attempts", 3).below().
			span("magi.provider.attempt", 10, 20, "magi.attempt", 1, "error.type", "timeout").span("magi.provider.attempt", 60, 80, "magi.attempt", 3, "http.response.status_code", 503),
			"run 3 failed: execution_failed; chat m ended with 503; attempt 3 of 3: HTTP status 503"},
		"slow-cleanup":   {ended().span("magi.cleanup", 0, 1200).span("magi.cleanup.lease", 100, 1200), "1200 of 2000 ms, most of them releasing the session: 1100 ms"},
		"near-miss":      {ended().metric("sum", "magi.output.near_misses", 2), "2 frames left less than 500 ms"},
		"queue-pressure": {ended().metric("gauge", "magi.worker.pending.peak", 31).metric("sum", "magi.deltas", 80, "magi.delta.outcome", "queued").metric("sum", "magi.deltas", 20, "magi.delta.outcome", "dropped"), "up to 31 of 32 events|20 of 100 deltas"},
		"slow-startup":   {ended().span("magi.startup", 0, 400).span("magi.mcp.connect", 50, 390, "magi.mcp.server", "mcp-1", "network.transport", "tcp"), "the start took 400 ms, 340 of them in connecting MCP server mcp-1 (HTTP)"},
		"slow-provider":  {ended().span("chat m", 0, 9, "gen_ai.response.time_to_"+"first_chunk", 11_000), "first chunk: 95 % took up to 11000 ms"},
		"slow-disk":      {ended().span("magi.session.append", 0, 150), "append: 95 % took up to 150 ms"},
		"slow-history":   {ended().span("magi.history.project", 0, 1500), "projection"},
		"telemetry-loss": {ended().record("magi.heartbeat", 1, "", "magi.telemetry.dropped", 7), "7 items were dropped"},
	} {
		a := row.b.analyse(t)
		fired[code] = true
		i := slices.IndexFunc(a.Verdicts, func(v Verdict) bool { return v.Code == code })
		if i < 0 {
			t.Errorf("%s does not fire: %+v", code, a.Verdicts)
			continue
		}
		said := a.Verdicts[i].Text + "\n" + strings.Join(a.Verdicts[i].Details, "\n")
		for want := range strings.SplitSeq(row.want, "|") {
			if !strings.Contains(said, want) {
				t.Errorf("%s: no %q in %s", code, want, said)
			}
		}
		if len(a.Verdicts[i].Evidence) == 0 {
			t.Errorf("%s has no evidence", code)
		}
		for _, v := range a.Verdicts {
			if v.Code != "healthy" && !slices.Contains(Codes(), v.Code) {
				t.Errorf("%s is no code", v.Code)
			}
		}
	}
	for _, code := range Codes() {
		if !fired[code] {
			t.Errorf("%s has no capture here", code)
		}
	}
}

// TestShuffled: the order of the lines, and which file is read first, changes no
// verdict.
func TestShuffled(t *testing.T) {
	want := codesOf(busy().analyse(t))
	for seed := range uint64(20) {
		b := busy()
		random := rand.New(rand.NewPCG(seed, 1))
		for _, text := range []*strings.Builder{&b.traces, &b.logs, &b.metrics} {
			lines := strings.Split(strings.TrimSpace(text.String()), "\n")
			random.Shuffle(len(lines), func(i, k int) { lines[i], lines[k] = lines[k], lines[i] })
			text.Reset()
			text.WriteString(strings.Join(lines, "\n"))
		}
		if got := codesOf(b.analyse(t)); !slices.Equal(got, want) {
			t.Errorf("seed %d: %v, want %v", seed, got, want)
		}
	}
}

func codesOf(a *Analysis) (out []string) {
	for _, v := range a.Verdicts {
		out = append(out, v.Code)
	}
	return out
}

// failed is a start that one MCP server ended, and that had to end another one,
// which took its time, before the cleanup.
func failed() *build {
	return new(build).span("magi.child", 0, 720).span("magi.startup", 0, 700, "error.type", "mcp_unavailable").
		span("magi.mcp.connect", 10, 60, "magi.mcp.server", "mcp-1", "network.transport", "pipe", "error.type", "cancelled").
		span("magi.mcp.connect", 10, 50, "magi.mcp.server", "mcp-2", "network.transport", "tcp", "error.type", "transport").
		span("magi.cleanup.mcp.close", 60, 660, "magi.mcp.server", "mcp-1", "network.transport", "pipe").
		span("magi.cleanup", 710, 711).exit(720, "eof", false)
}

// TestFailedStartup: what a start that failed had to end is not the cleanup's.
func TestFailedStartup(t *testing.T) {
	a := failed().analyse(t)
	if v := a.Verdicts; len(v) != 1 || v[0].Code != "failed-startup" {
		t.Errorf("%+v", v)
	}
	if js, err := json.Marshal(a); err != nil || bytes.Contains(js, []byte("null")) { // what there is none of is an empty list
		t.Errorf("%s, %v", js, err)
	}
	stopped := new(build).span("magi.child", 0, 9).span("magi.startup", 0, 8, "error.type", "_OTHER", "magi.startup.cancelled", true).exit(9, "shutdown", false)
	if v := stopped.analyse(t).Verdicts; v[0].Code != "healthy" {
		t.Errorf("a start that the host took back: %+v", v)
	}
}

// TestFailedRuns: a run that failed is on the first screen, with its error and the
// attempt that it ended with; what a tool answered, and what a user ended, is none.
func TestFailedRuns(t *testing.T) {
	run := func(b *build, seq int, outcome string, kv ...any) *build {
		b.above = ""
		return b.span(runSpan, 10*seq, 10*seq+5, append([]any{"magi.run.seq", seq, "magi.run.outcome", outcome}, kv...)...).below()
	}
	b := new(build).span("magi.child", 0, 500)
	run(b, 1, "failed", "error.type", "execution_failed").span("chat m", 11, 14, "error.type", "429").below().
		span("magi.provider.attempt", 11, 14, "magi.attempt", 2, "magi.attempt.phase", "connect")
	run(b, 2, "completed").span("execute_tool bash", 21, 22, "error.type", "_OTHER", "magi.tool.outcome", "error")
	run(b, 3, "cancelled").span("chat m", 31, 32, "error.type", "cancelled")
	run(b, 4, "failed", "error.type", "persistence_failed").span("execute_tool bash", 41, 42, "error.type", "_OTHER").span("magi.session.append", 42, 43, "error.type", "_OTHER")
	a := b.exit(500, "shutdown", false).analyse(t)
	v := a.Verdicts[0]
	if len(a.Verdicts) != 1 || v.Code != "failed-run" || !v.Severe || v.Text != "2 of 4 runs failed, the last, run 4: persistence_failed; magi.session.append ended with _OTHER" {
		t.Errorf("%+v", a.Verdicts)
	}
	if want := "run 1: execution_failed; chat m ended with 429; attempt 2 of 2: no answer, in the phase connect"; len(v.Details) != 1 || v.Details[0] != want {
		t.Errorf("%q, want %q", v.Details, want)
	}
	var out bytes.Buffer
	Print(&out, a, Look{})
	if !strings.Contains(out.String(), "run 1   failed · execution_failed") {
		t.Error(out.String())
	}
	many := new(build)
	for i := range maxFailed + 3 {
		run(many, i, "failed")
	}
	if v := many.analyse(t).Verdicts; !slices.Contains(v[len(v)-1].Details, "and 3 more") && !slices.Contains(v[1].Details, "and 3 more") {
		t.Errorf("%+v", v)
	}
	for failure, want := range map[string]string{"401": "magi-code auth status", "403": "sign-in", "429": "wait", "transport": "proxy", "stream_incomplete": "again", "502": "later", "_OTHER": "doctor"} {
		if got := withFailure(failure); !strings.Contains(got, want) {
			t.Errorf("%s: %s", failure, got)
		}
	}
}

// TestEvidence: every verdict but of nothing says where in the files what it rests on
// stands, in every form.
func TestEvidence(t *testing.T) {
	a := busy().analyse(t)
	at := map[string][]Evidence{}
	for _, v := range a.Verdicts {
		at[v.Code] = v.Evidence
		if len(v.Evidence) == 0 {
			t.Errorf("%s has no evidence", v.Code)
		}
	}
	logs := strings.Split(busy().logs.String(), "\n")
	for _, e := range at["stuck-cleanup"] {
		if e.File == "x.logs.jsonl" && (e.Line < 1 || e.Line > len(logs) || !strings.Contains(logs[e.Line-1], e.Record)) && e.Span == "" {
			t.Errorf("%+v is not there", e)
		}
	}
	want := []Evidence{{"x.logs.jsonl", 2, "magi.cleanup.mcp.close", "m2"}, {"x.logs.jsonl", 5, "magi.exit", ""}, {"x.logs.jsonl", 4, "magi.goroutines", ""}}
	if !slices.Equal(at["stuck-cleanup"], want) {
		t.Errorf("%+v, want %+v", at["stuck-cleanup"], want)
	}
	var short, all, page bytes.Buffer
	Print(&short, a, Look{})
	Print(&all, a, Look{All: true})
	HTML(&page, a)
	for form, said := range map[string]string{"--all": all.String(), "--html": page.String()} {
		for _, want := range map[string][]string{"--all": {"at x.logs.jsonl:5  magi.exit"}, "--html": {"x.logs.jsonl, line 5: magi.exit"}}[form] {
			if want = strings.Replace(want, "at x.", "at ", 1); !strings.Contains(said, want) {
				t.Errorf("%s: no %q in\n%s", form, want, said)
			}
		}
	}
	if strings.Contains(short.String(), "logs.jsonl:5") {
		t.Error("the first screen is full of places")
	}
	js, err := json.Marshal(a.Verdicts[0])
	if err != nil || !bytes.Contains(js, []byte(`"evidence":[{"file":"x.logs.jsonl","line":2,"record":"magi.cleanup.mcp.close","span":"m2"},`)) {
		t.Errorf("%s %v", js, err)
	}
}

// TestWithServer: what to try fits the step that took long.
func TestWithServer(t *testing.T) {
	for step, want := range map[string]string{"terminate": "close its input", "stdout_join": "another process still holds", "session_delete": "DELETE"} {
		if got := withServer("mcp-1", step); !strings.Contains(got, want) || !strings.Contains(got, "--resolve") {
			t.Errorf("%s: %s", step, got)
		}
		if got := withServer("mcp-1=files", step); strings.Contains(got, "--resolve") {
			t.Errorf("%s: %s", step, got)
		}
	}
}

// TestCutCaptures: with the end of every file cut off, the open chain of that
// moment is still told, from start records.
func TestCutCaptures(t *testing.T) {
	b := new(build)
	for i := range 50 {
		b.span("magi.session.append", i, i+1)
		b.record("magi.span.start", i, fmt.Sprintf("e%d", i), "magi.span.name", "chat")
		if i == 10 {
			b.record("magi.span.start", i, "run", "magi.span.name", runSpan)
			b.record("magi.span.start", i, "tool", "magi.span.name", "execute_tool", "magi.span.parent", "run")
			b.record("magi.span.event", i, "tool", "gen_ai.tool."+"name", "bash")
		}
	}
	b.exit(60, "shutdown", false)
	for _, part := range []int{35, 60} {
		c := new(Capture)
		for signal, text := range map[string]string{"traces": b.traces.String(), "logs": b.logs.String()} {
			if err := c.Read(strings.NewReader(text[:len(text)*part/100]), signal); err != nil {
				t.Fatal(err)
			}
		}
		a := Analyse("x", c)
		if a.Exit != nil || a.Verdicts[0].Code != "vanished" || c.Torn == 0 {
			t.Errorf("%d %%: %+v", part, a.Verdicts)
		}
		i := slices.IndexFunc(a.Unfinished, func(u Unfinished) bool { return u.Name == "execute_tool" })
		if i < 0 || a.Unfinished[i].Depth != 1 || a.Unfinished[i].Phase != "bash" {
			t.Errorf("%d %%: the chain is lost: %+v", part, a.Unfinished)
		}
	}
}

// TestHostilePage: text of a capture stays text in the page.
func TestHostilePage(t *testing.T) {
	const evil = "<script>alert(1)</script>\"'&\x1b"
	b := new(build).span("magi.cleanup", 0, 10, "magi.mcp.server", evil).span("magi.cleanup"+evil, 0, 5).span(runSpan, 0, 5, "magi.run.outcome", evil).
		record("magi.span.start", 1, "u", "magi.span.name", evil, "magi.mcp.server", evil)
	var out bytes.Buffer
	HTML(&out, b.analyse(t))
	if page := out.String(); strings.Contains(page, "<script") || strings.Contains(page, "\x1b") || strings.Contains(page, `="'&"`) || !strings.Contains(page, "&lt;script&gt;") {
		t.Error(page)
	}
}

// FuzzCheck: no file makes the audit fail, and what it reports holds nothing of it.
func FuzzCheck(f *testing.F) {
	f.Add([]byte(sampleLog + "\n"))
	f.Add([]byte(`{"resourceLogs":[{"resource":{"attributes":[]},"scopeLogs":[{"scope":{"name":"magi-code","version":"1"},"logRecords":[{"timeUnixNano":"1","severityNumber":5,"eventName":"magi.exit","attributes":[]}]}]}]}` + "\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		for _, x := range Check(data) {
			if x.Line < 1 || !strings.Contains(x.What, "none of ours") && !strings.Contains(x.What, "is no line") {
				t.Errorf("%+v", x)
			}
		}
	})
}

// TestSuspended: a capture that was suspended says that something is missing.
func TestSuspended(t *testing.T) {
	for problem, want := range map[string]bool{"disk_full": true, "salt_unavailable": false} {
		a := new(build).span("magi.child", 0, 500).exit(500, "shutdown", false).metric("sum", "magi.telemetry.errors", 1, "magi.sink", "file", "magi.problem", problem).analyse(t)
		if got := slices.ContainsFunc(a.Verdicts, func(v Verdict) bool { return v.Code == "telemetry-loss" }); got != want {
			t.Errorf("%s: %+v", problem, a.Verdicts)
		}
	}
}

func TestCurve(t *testing.T) {
	samples := func(values ...float64) (out []Sample) {
		for _, v := range values {
			out = append(out, Sample{Value: v})
		}
		return out
	}
	long := make([]float64, 400)
	long[199] = 32
	for want, depth := range map[string][]Sample{"": samples(9), " ▁▂▅█▁": samples(0, 4, 18, 32, 1), " ▁▁▁▁▁▁▁▁▁█▁▁▁▁▁▁▁▁▁▁": samples(long...), " ██": samples(40, 99)} {
		if got := curve(depth); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

// TestLoss: what is missing, and what does not follow then, by where it went.
func TestLoss(t *testing.T) {
	ended := func() *build { return new(build).span("magi.child", 0, 500).exit(500, "shutdown", false) }
	drop := func(b *build, n int, sink, signal, why string) *build {
		return b.metric("sum", "magi.telemetry.dropped", float64(n), "magi.sink", sink, "magi.signal", signal, "magi.drop", why)
	}
	for name, row := range map[string]struct {
		b    *build
		want []string // of each verdict, all of it
	}{
		"none": {drop(ended(), 0, "file", "span", "queue"), nil},
		"quota": {drop(drop(drop(ended(), 7, "file", "span", "quota"), 2, "file", "log", "quota"), 1, "file", "metric", "quota"),
			[]string{"the middle of the story is missing, its beginning and its end are kept|given up: 10 items, among them 7 spans, 2 records, 1 lines of counts|how it started and how it ended stands"}},
		"queue":      {drop(ended(), 3, "file", "span", "queue"), []string{"3 items were dropped: durations stand, counts are too low"}},
		"both":       {drop(drop(ended(), 3, "file", "span", "io"), 4, "file", "span", "quota"), []string{"given up: 4 items", "3 items were dropped"}},
		"endpoint":   {drop(ended(), 5, "otlp", "span", "breaker"), []string{"5 items did not reach the endpoint: traces and counts are not whole there, and are here"}},
		"text file":  {drop(ended(), 2, "prometheus", "metric", "io"), []string{"the text file was not written 2 times"}},
		"heartbeats": {drop(ended(), 4, "file", "span", "quota").record("magi.heartbeat", 400, "", "magi.telemetry.dropped", 9), []string{"given up: 4 items", "5 items were dropped"}},
	} {
		var got []string
		for _, v := range row.b.analyse(t).Verdicts {
			if v.Code == "telemetry-loss" {
				got = append(got, v.Text+"|"+strings.Join(v.Details, "|"))
				if len(v.Evidence) == 0 {
					t.Errorf("%s: no evidence", name)
				}
			}
		}
		if len(got) != len(row.want) {
			t.Errorf("%s: %q", name, got)
			continue
		}
		for i, want := range row.want {
			for part := range strings.SplitSeq(want, "|") {
				if !strings.Contains(got[i], part) {
					t.Errorf("%s: no %q in %q", name, part, got[i])
				}
			}
		}
	}
}

// TestLeastMargin: how closely a deadline was kept, as far as the buckets tell.
func TestLeastMargin(t *testing.T) {
	for buckets, want := range map[string]string{"0,0,0,0,0,0,9": "", "0,0,0,2,0,0,9": ", one with at most 250 ms", "1,0,0,2,0,0,9": ", one of them behind it"} {
		c := new(Capture)
		line := `{"resourceMetrics":[{"scopeMetrics":[{"metrics":[{"name":"magi.output.deadline.margin","histogram":{"dataPoints":[{"timeUnixNano":"5","count":"9","explicitBounds":[0,0.05,0.1,0.25,0.5,0.75],"bucketCounts":["` +
			strings.ReplaceAll(buckets, ",", `","`) + `"]}]}}]}]}]}`
		if err := c.Read(strings.NewReader(line), "metrics"); err != nil || c.Torn > 0 {
			t.Fatal(err, c.Torn)
		}
		if got := c.leastMargin(); got != want {
			t.Errorf("%s: %q, want %q", buckets, got, want)
		}
	}
}

// TestMissingFile: a capture that has lost a signal's file is not healthy; what only that
// file knows is not made up: neither spans that never ended, nor a child that was
// killed, nor empty queues.
func TestMissingFile(t *testing.T) {
	b := new(build).record("magi.span.start", 0, "r", "magi.span.name", runSpan, "magi.run.seq", 1).
		record("magi.span.start", 10, "u", "magi.span.name", "magi.cleanup").exit(500, "shutdown", false)
	b.id = 6
	b.span("magi.child", 0, 500, "process.exit.code", 0, "magi.exit.reason", "shutdown", "magi.detached", false).metric("gauge", "magi.output.pending.peak", 3)
	for signal, row := range map[string]struct{ want, not string }{
		"traces":  {"exit 0 (shutdown)", "unfinished"},
		"logs":    {"exit 0 (shutdown)", "vanished"},
		"metrics": {"queues    not known", "peak 0/32"},
	} {
		a := b.analyse(t, signal)
		if len(a.Verdicts) != 1 || a.Verdicts[0].Code != "telemetry-loss" || !strings.HasPrefix(a.Verdicts[0].Text, "the "+signal+" file is missing: ") || !slices.Equal(a.Capture.Missing, []string{signal}) {
			t.Errorf("%s: %+v", signal, a.Verdicts)
		}
		var screen, page bytes.Buffer
		Print(&screen, a, Look{})
		HTML(&page, a)
		for _, text := range []string{screen.String(), page.String()} {
			if strings.Contains(text, row.not) || strings.Contains(text, "healthy<") || !strings.Contains(text, "the "+signal+" file is missing") {
				t.Errorf("%s: it says %q or not what is missing:\n%s", signal, row.not, text)
			}
		}
		if !strings.Contains(screen.String(), row.want) || !strings.Contains(screen.String(), signal+" MISSING") {
			t.Errorf("%s: no %q in\n%s", signal, row.want, screen.String())
		}
	}
	if a := new(build).span(runSpan, 0, 5).analyse(t, "logs"); a.Ending() != "exit not known" || a.Verdicts[0].Code != "telemetry-loss" {
		t.Errorf("%s, %+v", a.Ending(), a.Verdicts)
	}
}
