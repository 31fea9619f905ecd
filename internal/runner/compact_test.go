package runner

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"magicode/internal/provider"
	"magicode/internal/session"
	"magicode/internal/tool"
)

// fakeSession is the log that a compaction rotates.
type fakeSession struct {
	carries   []int
	summaries []string
	before    []provider.Item // what is summarised
	after     []provider.Item // the conversation after a commit

	begin, commit, replay error
	outcome               session.Outcome
	onBegin, onCommit     func()
}

func (f *fakeSession) Begin(_ context.Context, carry int) (Rotation, error) {
	f.carries = append(f.carries, carry)
	if f.onBegin != nil {
		f.onBegin()
	}
	return f, f.begin
}

func (f *fakeSession) Replayed() []provider.Item { return f.before }

func (f *fakeSession) Commit(_ context.Context, summary string) (session.Outcome, error) {
	f.summaries = append(f.summaries, summary)
	if f.onCommit != nil {
		f.onCommit()
	}
	return f.outcome, f.commit
}

func (f *fakeSession) Replay(context.Context) ([]provider.Item, error) { return f.after, f.replay }

// size counts the bytes of items: one byte is one token here.
func size(items []provider.Item) int {
	n := 0
	for _, it := range items {
		n += len(it.Text) + len(it.Arguments)
	}
	return n
}

// room is a bench whose context holds 1,000 tokens, 200 of them reserved, and
// which compacts at 500. Its compaction answers with summaries.
func room(summaries ...reply) (*bench, *fakeSession, *fakeProvider) {
	b := newBench()
	log := &fakeSession{after: []provider.Item{message("user", "SUMMARY")}, before: []provider.Item{message("user", "OLD")}}
	if len(summaries) == 0 {
		summaries = []reply{says(text(" the\x00 summary\n"), usage(3, 2))}
	}
	compacter := &fakeProvider{replies: summaries}
	b.cfg.Budget = Budget{Enabled: true, MaxTokens: 1000, Reserve: 200, CountItems: size, CountTools: func([]provider.ToolDef) int { return 0 },
		Auto: true, Percent: 50, MaxPerRun: 4}
	b.cfg.Compaction = &Compaction{Provider: compacter, System: "COMPACT", Request: provider.Request{Model: "small"}, Begin: log.Begin, Replay: log.Replay}
	return b, log, compacter
}

// asks shows the conversation of a request.
func asks(req provider.Request) string {
	var out []string
	for _, it := range req.Items {
		switch it.Kind {
		case provider.ItemCall:
			out = append(out, "call")
		case provider.ItemResult:
			out = append(out, "result")
		default:
			out = append(out, it.Role+":"+it.Text)
		}
	}
	return strings.Join(out, " | ")
}

func xs(n int) string { return strings.Repeat("x", n) }

// bigResult makes every call answer with so many bytes.
func (b *bench) bigResult(n int) {
	b.tools.run = func(c tool.Call) tool.Result { return tool.Result{ToolName: c.Name, Success: true, Content: xs(n)} }
}

var aCall = says(callEvent("c", "bash", "{}"))

func TestPreflight(t *testing.T) {
	b, log, compacter := room()
	b.cfg.History = []provider.Item{message("user", xs(900))}
	b.prov.replies = []reply{says(text("answer"))}
	if res := b.run(t, background(t)); res.Err != nil || res.Degraded {
		t.Fatalf("%+v", res)
	}
	want := []string{"input", "start compaction/1 compaction", "finish compaction/1 ok=true", `segment 0 "answer" closed=false`}
	if diff := cmp.Diff(want, b.tape.lines); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]int{1}, log.carries); diff != "" {
		t.Errorf("the input is carried over: %s", diff)
	}
	if got := asks(compacter.requests[0]); got != "system:COMPACT | user:OLD | user:Write the summary of the conversation above now." || len(compacter.requests[0].Tools) != 0 {
		t.Error(got)
	}
	if diff := cmp.Diff([]string{"the  summary"}, log.summaries); diff != "" {
		t.Error(diff)
	}
	if got := asks(b.prov.requests[0]); got != "system:SYSTEM | user:SUMMARY | user:the question" {
		t.Error(got)
	}
	if got := b.log.of(session.KindTurnStatus); len(got) != 0 {
		t.Errorf("%v", got)
	}
	var ids []string
	for _, u := range b.log.of(session.KindSessionUsage) {
		ids = append(ids, fmt.Sprint(u["id"], " ", u["request_sequence"], " ", u["final_usage"]))
	}
	wantIDs := []string{"session-usage/run/compaction/0 0 false", "session-usage/run/compaction/0 0 true", "session-usage/run/primary/1 1 false"}
	if diff := cmp.Diff(wantIDs, ids); diff != "" {
		t.Error(diff)
	}
}

func TestPreflightThatDoesNotHelp(t *testing.T) {
	b, log, _ := room()
	b.cfg.History, log.after = []provider.Item{message("user", xs(900))}, []provider.Item{message("user", xs(850))}
	res := b.run(t, background(t))
	if !errors.Is(res.Err, ErrTooLarge) || !res.Persisted || len(b.prov.requests) != 0 || len(log.summaries) != 1 {
		t.Errorf("%+v", res)
	}
	if st := b.log.of(session.KindTurnStatus); len(st) != 1 || st[0]["status"] != "failed" {
		t.Errorf("%v", st)
	}
}

// TestRefusedBeforeAnythingIsStored: what no compaction can help (decision 30).
func TestRefusedBeforeAnythingIsStored(t *testing.T) {
	for name, set := range map[string]func(b *bench){
		"the rest alone is too large": func(b *bench) { b.cfg.System = xs(900) },
		"compaction is off":           func(b *bench) { b.cfg.Budget.Auto = false },
		"nothing compacts":            func(b *bench) { b.cfg.Compaction = nil },
		"no history":                  func(b *bench) { b.cfg.History, b.cfg.System = nil, xs(790) },
	} {
		t.Run(name, func(t *testing.T) {
			b, log, _ := room()
			b.cfg.History = []provider.Item{message("user", xs(900))}
			b.prov.replies = []reply{says(text("never"))}
			set(b)
			res := b.run(t, background(t))
			if !errors.Is(res.Err, ErrTooLarge) || res.Persisted || b.log.appends != 0 || len(b.tape.lines) != 0 || len(log.carries) != 0 {
				t.Errorf("%+v, %d appends, %v", res, b.log.appends, b.tape.lines)
			}
		})
	}
	t.Run("no budget, no limit", func(t *testing.T) {
		b, _, _ := room()
		b.cfg.Budget.Enabled = false
		b.cfg.History = []provider.Item{message("user", xs(9000))}
		b.prov.replies = []reply{says(text(xs(9000)))}
		if res := b.run(t, background(t)); res.Err != nil {
			t.Error(res.Err)
		}
	})
}

// goesOn is what every compaction in the middle of a turn leads to.
func goesOn(t *testing.T, b *bench, log *fakeSession, requests int) {
	t.Helper()
	last := b.prov.requests[len(b.prov.requests)-1]
	if got := asks(last); len(b.prov.requests) != requests || got != "system:SYSTEM | user:SUMMARY | user:continue" {
		t.Errorf("%d requests, the last %s", len(b.prov.requests), got)
	}
	if diff := cmp.Diff([]int{0}, log.carries); diff != "" {
		t.Error(diff)
	}
	in := b.log.of(session.KindUserInput)
	if len(in) != 2 || in[1]["text"] != "continue" || in[1]["origin"] != "automatic_compaction" {
		t.Errorf("%v", in)
	}
	st := b.log.of(session.KindTurnStatus)
	if len(st) != 1 || st[0]["status"] != "compaction_required" {
		t.Errorf("%v", st)
	}
}

func TestCompactionBetweenBatches(t *testing.T) {
	t.Run("over the soft threshold", func(t *testing.T) {
		b, log, _ := room()
		b.bigResult(600)
		b.prov.replies = []reply{says(text("Before. "), callEvent("c", "bash", "{}")), says(text("done"))}
		if res := b.run(t, background(t)); res.Err != nil {
			t.Fatal(res.Err)
		}
		goesOn(t, b, log, 2)
		want := []string{"input", `segment 0 "Before. " closed=true`, "start c bash", "finish c ok=true",
			"start compaction/1 compaction", "finish compaction/1 ok=true", `segment 1 "done" closed=false`}
		if diff := cmp.Diff(want, b.tape.lines); diff != "" {
			t.Error(diff)
		}
	})
	t.Run("over the hard budget", func(t *testing.T) {
		b, log, _ := room()
		b.cfg.Budget.Percent = 0
		b.bigResult(900)
		b.prov.replies = []reply{aCall, says(text("done"))}
		if res := b.run(t, background(t)); res.Err != nil {
			t.Fatal(res.Err)
		}
		goesOn(t, b, log, 2)
	})
	t.Run("asked for", func(t *testing.T) {
		b, log, compacter := room()
		b.cfg.Budget.Auto = false // asking is no automatic compaction
		b.tools.run = func(c tool.Call) tool.Result {
			return tool.Result{ToolName: c.Name, Success: true, Content: "ok", Metadata: map[string]any{"action": "compact"}}
		}
		b.prov.replies = []reply{says(callEvent("c", "magi_control", `{"action":"compact","context":"KEEP"}`)), says(text("done"))}
		if res := b.run(t, background(t)); res.Err != nil {
			t.Fatal(res.Err)
		}
		goesOn(t, b, log, 2)
		if got := asks(compacter.requests[0]); !strings.HasSuffix(got, "The agent asks to preserve in particular:\nKEEP") {
			t.Error(got)
		}
	})
	t.Run("asked for, and refused", func(t *testing.T) {
		b, log, _ := room()
		b.tools.run = func(c tool.Call) tool.Result { return tool.Result{ToolName: c.Name, Content: "off"} }
		b.prov.replies = []reply{says(callEvent("c", "magi_control", `{"action":"compact"}`)), says(text("done"))}
		if res := b.run(t, background(t)); res.Err != nil || len(log.carries) != 0 {
			t.Errorf("%v, %d compactions", res.Err, len(log.carries))
		}
	})
	t.Run("it does not help", func(t *testing.T) {
		b, log, _ := room()
		log.after = []provider.Item{message("user", xs(600))}
		b.bigResult(600)
		b.prov.replies = []reply{aCall}
		if res := b.run(t, background(t)); !errors.Is(res.Err, ErrTooLarge) || len(log.carries) != 1 || len(b.prov.requests) != 1 {
			t.Errorf("%v after %d compactions", res.Err, len(log.carries))
		}
	})
}

func TestPromptTooLong(t *testing.T) {
	tooLong := breaks(&provider.Error{Kind: provider.ErrPromptTooLong, Err: errors.New("too long")})
	t.Run("once", func(t *testing.T) {
		b, log, _ := room()
		b.prov.replies = []reply{tooLong, says(text("done"))}
		if res := b.run(t, background(t)); res.Err != nil {
			t.Fatal(res.Err)
		}
		goesOn(t, b, log, 2)
	})
	t.Run("twice", func(t *testing.T) {
		b, log, _ := room()
		b.prov.replies = []reply{tooLong, tooLong}
		res := b.run(t, background(t))
		var perr *provider.Error
		if !errors.As(res.Err, &perr) || len(log.carries) != 1 || len(b.prov.requests) != 2 {
			t.Errorf("%v after %d compactions", res.Err, len(log.carries))
		}
		if st := b.log.of(session.KindTurnStatus); len(st) != 2 || st[1]["status"] != "failed" {
			t.Errorf("%v", st)
		}
	})
	t.Run("nothing compacts", func(t *testing.T) {
		b, _, _ := room()
		b.cfg.Compaction = nil
		b.prov.replies = []reply{tooLong}
		if res := b.run(t, background(t)); res.Err == nil || len(b.prov.requests) != 1 {
			t.Errorf("%v after %d requests", res.Err, len(b.prov.requests))
		}
	})
	t.Run("after a recovery", func(t *testing.T) {
		b, log, _ := room()
		broken := breaks(&provider.Error{Kind: provider.ErrIncomplete, Err: errors.New("broken")}, text("half"))
		b.prov.replies = []reply{broken, tooLong}
		if res := b.run(t, background(t)); res.Err == nil || len(log.carries) != 0 {
			t.Errorf("%v after %d compactions", res.Err, len(log.carries))
		}
	})
}

// TestCompactionAfterTheAnswer: the answer stands, and nothing is asked again (decision 12).
func TestCompactionAfterTheAnswer(t *testing.T) {
	for name, c := range map[string]struct {
		set         func(b *bench, log *fakeSession)
		compactions int
		tail        []string
	}{
		"over the threshold":  {func(*bench, *fakeSession) {}, 1, []string{"start compaction/1 compaction", "finish compaction/1 ok=true"}},
		"it fails":            {func(_ *bench, log *fakeSession) { log.begin = errors.New("no") }, 1, []string{"start compaction/1 compaction", "finish compaction/1 ok=false", "notice"}},
		"below it":            {func(b *bench, _ *fakeSession) { b.cfg.Budget.Percent = 90 }, 0, nil},
		"switched off":        {func(b *bench, _ *fakeSession) { b.cfg.Budget.Auto = false }, 0, nil},
		"after a lost record": {func(b *bench, _ *fakeSession) { b.log.failAt = 2 }, 0, []string{"notice"}},
	} {
		t.Run(name, func(t *testing.T) {
			b, log, _ := room()
			answer := strings.Repeat("words ", 100)
			b.prov.replies = []reply{says(text(answer))}
			c.set(b, log)
			res := b.run(t, background(t))
			if res.Err != nil || len(b.prov.requests) != 1 || len(log.carries) != c.compactions {
				t.Errorf("%+v, %d requests, %d compactions", res, len(b.prov.requests), len(log.carries))
			}
			want := append([]string{"input", fmt.Sprintf("segment 0 %q closed=false", answer)}, c.tail...)
			if diff := cmp.Diff(want, b.tape.lines); diff != "" {
				t.Error(diff)
			}
			if st := b.log.of(session.KindTurnStatus); name != "after a lost record" && len(st) != 0 {
				t.Errorf("%v", st)
			}
		})
	}
	t.Run("after a recovery", func(t *testing.T) {
		b, log, _ := room()
		think := provider.Event{Kind: provider.EventReasoningDone, Text: "hm"}
		b.prov.replies = []reply{says(think), says(text(xs(600)))}
		if res := b.run(t, background(t)); res.Err != nil || len(log.carries) != 0 {
			t.Errorf("%v, %d compactions", res.Err, len(log.carries))
		}
	})
}

func TestCompactionCap(t *testing.T) {
	for name, c := range map[string]struct{ limit, batches, compactions int }{
		"cap of two": {2, 6, 2},
		"no cap":     {0, 6, 6},
	} {
		t.Run(name, func(t *testing.T) {
			b, log, _ := room()
			b.cfg.Budget.MaxPerRun = c.limit
			b.bigResult(510)
			for i := range c.batches {
				b.prov.replies = append(b.prov.replies, says(callEvent(fmt.Sprint("c", i), "bash", fmt.Sprintf(`{"n":%d}`, i))))
			}
			b.prov.replies = append(b.prov.replies, says(text("done")))
			res := b.run(t, background(t))
			if len(log.carries) != c.compactions {
				t.Errorf("%d compactions", len(log.carries))
			}
			if capped := errors.Is(res.Err, ErrTooLarge); capped != (c.limit > 0) || !capped && res.Err != nil {
				t.Errorf("%v", res.Err)
			}
		})
	}
}

// TestFailedCompaction: in the middle of a turn it ends the run, durably, and
// tells once which file is in force.
func TestFailedCompaction(t *testing.T) {
	no := errors.New("no")
	for name, c := range map[string]struct {
		summary reply
		set     func(b *bench, log *fakeSession)
		force   string
		commits int
	}{
		"begin":         {nil, func(_ *bench, log *fakeSession) { log.begin = no }, "stays as it was", 0},
		"summary":       {breaks(no, text("half")), nil, "stays as it was", 0},
		"blank summary": {says(text(" \n\x07 ")), nil, "stays as it was", 0},
		"too large":     {nil, func(b *bench, _ *fakeSession) { b.cfg.Compaction.Hard = 20 }, "stays as it was", 0},
		"endless":       {says(text(xs(2 << 20))), nil, "stays as it was", 0},
		"commit":        {nil, func(_ *bench, log *fakeSession) { log.outcome, log.commit = session.NotWritten, no }, "stays as it was", 1},
		"replay":        {nil, func(_ *bench, log *fakeSession) { log.replay = no }, "compacted session is in force", 1},
	} {
		t.Run(name, func(t *testing.T) {
			var summaries []reply
			if c.summary != nil {
				summaries = []reply{c.summary}
			}
			b, log, _ := room(summaries...)
			var told []string
			b.tape.onEvent = func(ev Event) {
				if n, ok := ev.(Notice); ok {
					told = append(told, n.Summary)
				}
			}
			b.bigResult(600)
			b.prov.replies = []reply{aCall, says(text("never"))}
			if c.set != nil {
				c.set(b, log)
			}
			res := b.run(t, background(t))
			if res.Err == nil || !res.Persisted || res.Degraded || len(b.prov.requests) != 1 || len(log.summaries) != c.commits {
				t.Errorf("%+v, %d requests, %d commits", res, len(b.prov.requests), len(log.summaries))
			}
			if len(told) != 1 || !strings.Contains(told[0], c.force) || len(told[0]) > maxNoticeBytes {
				t.Errorf("%q", told)
			}
			if st := b.log.of(session.KindTurnStatus); len(st) != 2 || st[0]["status"] != "compaction_required" || st[1]["status"] != "failed" {
				t.Errorf("%v", st)
			}
			if got := b.tape.lines[len(b.tape.lines)-2]; got != "finish compaction/1 ok=false" {
				t.Errorf("%v", b.tape.lines)
			}
		})
	}
}

// TestCancelledCompaction: stopped at each point, the run is cancelled and
// nothing is told but the end of the activity.
func TestCancelledCompaction(t *testing.T) {
	stop := errors.New("stop")
	for name, set := range map[string]func(b *bench, log *fakeSession, c *fakeProvider, cancel func()){
		"begin":  func(_ *bench, log *fakeSession, _ *fakeProvider, cancel func()) { log.onBegin = cancel },
		"commit": func(_ *bench, log *fakeSession, _ *fakeProvider, cancel func()) { log.onCommit = cancel },
		"summary": func(_ *bench, _ *fakeSession, c *fakeProvider, cancel func()) {
			c.replies = []reply{func(ctx context.Context, req provider.Request, emit func(provider.Event) error) error {
				cancel()
				return hangs(text("half"))(ctx, req, emit)
			}}
		},
	} {
		t.Run(name, func(t *testing.T) {
			b, log, compacter := room()
			ctx, cancel := context.WithCancelCause(background(t))
			b.bigResult(600)
			b.prov.replies = []reply{aCall, says(text("never"))}
			set(b, log, compacter, func() { cancel(stop) })
			res := b.run(t, ctx)
			if !errors.Is(res.Err, stop) || !res.Persisted || res.Degraded || len(b.prov.requests) != 1 {
				t.Errorf("%+v, %d requests", res, len(b.prov.requests))
			}
			st := b.log.of(session.KindTurnStatus)
			if len(st) != 2 || st[1]["status"] != "cancelled" {
				t.Errorf("%v", st)
			}
			last := b.tape.lines[len(b.tape.lines)-1]
			if want := fmt.Sprintf("finish compaction/1 ok=%v", name == "commit"); last != want {
				t.Errorf("%v", b.tape.lines)
			}
		})
	}
	t.Run("after the answer", func(t *testing.T) {
		b, log, _ := room()
		ctx, cancel := context.WithCancelCause(background(t))
		log.onBegin = func() { cancel(stop) }
		b.prov.replies = []reply{says(text(xs(600)))}
		if res := b.run(t, ctx); res.Err != nil {
			t.Errorf("the answer stands: %v", res.Err)
		}
	})
}
