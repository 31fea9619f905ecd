package subagent

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"magicode/internal/checkpoint"
	"magicode/internal/jsonscan"
	"magicode/internal/provider"
	"magicode/internal/redact"
	"magicode/internal/runner"
	"magicode/internal/session"
	"magicode/internal/tool"
)

// facts is what the primary's session holds of its only call.
func (w *world) facts() batchFacts {
	w.t.Helper()
	results := w.log.of(session.KindToolResult)
	if len(results) != 1 {
		w.t.Fatalf("%d results were recorded", len(results))
	}
	f, ok := results[0]["result"].(map[string]any)["metadata"].(map[string]any)[factsKey].(batchFacts)
	if !ok {
		w.t.Fatalf("the result has no facts: %v", results[0])
	}
	return f
}

var touch = fakeTool{"touch", func(_ context.Context, args json.RawMessage) tool.Result {
	switch strings.Trim(string(args), `"`) {
	case "fail":
		return tool.Failed("it is not there")
	case "stop":
		return tool.Failed(tool.CancelledText)
	case "look":
		return tool.Result{Success: true}
	}
	return tool.Result{Success: true, Changed: []string{"/w/" + string(args)}}
}}

// TestFacts: what a task did, as the session keeps it.
func TestFacts(t *testing.T) {
	one := counts{10, 5, 0, true}
	spent := &usageReport{one, one, 0, true}
	plain := &provider.Error{Kind: provider.ErrPlain, Err: errors.New("no such model")}
	of := func(change func(*taskFacts)) taskFacts {
		f := taskFacts{Activity: []string{}, Intent: "one", ScopedID: "call_subagents/g1", Outcome: outcomeSuccess,
			Provider: new("house"), Model: new("m-g1"), Usage: spent}
		change(&f)
		return f
	}
	touches := func(end reply, args ...string) func(*world) {
		return func(w *world) {
			w.replies = func(Request) []reply {
				var out []reply
				for _, a := range args {
					out = append(out, says(calls("touch", a)))
				}
				return append(out, end)
			}
		}
	}
	done := says(text("done"), cost(10, 5))
	for _, c := range []struct {
		name    string
		prepare func(*world)
		want    taskFacts
	}{
		{"only says", func(*world) {}, of(func(*taskFacts) {})},
		{"calls", touches(done, "a", "look", "fail", "a", "stop"), of(func(f *taskFacts) {
			f.Activity = []string{"touch: success", "touch: success", "touch: failure", "touch: success", "touch: cancelled"}
			f.CallsChanged, f.CallsFailed, f.ChangedPaths = 2, 2, 1
			f.Usage = &usageReport{counts{10, 5, 0, false}, one, 5, true}
		})},
		{"many calls", touches(done, strings.Split("look look fail fail fail fail fail fail fail fail", " ")...), of(func(f *taskFacts) {
			f.Activity, f.ActivityOmitted, f.CallsFailed = slices.Repeat([]string{"touch: failure"}, 8), 2, 8
			f.Usage = &usageReport{counts{10, 5, 0, false}, one, 10, true}
		})},
		{"not opened", func(w *world) { w.openErr = errors.New("unavailable") }, of(func(f *taskFacts) {
			f.Outcome, f.Provider, f.Model, f.Usage = outcomeFailure, nil, nil, nil
		})},
		{"provider", func(w *world) { w.replies = func(Request) []reply { return []reply{fails(plain)} } }, of(func(f *taskFacts) {
			f.Outcome, f.Usage = outcomeFailure, &usageReport{counts{0, 0, 0, false}, counts{}, 0, false}
		})},
		{"result that is lost", func(w *world) { touches(done, "a")(w); w.failAt = 4 }, of(func(f *taskFacts) {
			f.Activity, f.CallsChanged, f.ChangedPaths = []string{"touch: success"}, 1, 1
			f.Outcome, f.Usage = outcomeFailure, &usageReport{counts{0, 0, 0, false}, counts{}, 0, false}
		})},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := newWorld(t, delegates(4, "one"))
			w.tools = []tool.Tool{touch}
			c.prepare(w)
			if res := w.run(t.Context()); res.Err != nil {
				t.Fatal(res.Err)
			}
			if d := cmp.Diff(batchFacts{1, []taskFacts{c.want}}, w.facts()); d != "" {
				t.Error(d)
			}
		})
	}
}

// TestFactsOfARunThatEnds: a call without a result, a task that was cut off, one
// that nobody began.
func TestFactsOfARunThatEnds(t *testing.T) {
	w := newWorld(t, delegates(1, "asks", "waits"))
	w.tools = []tool.Tool{touch}
	w.replies = func(Request) []reply { return []reply{says(calls("touch", "a"))} }
	w.guard = func(label string) runner.Guard { return lostGuard(label != "") }
	if res := w.run(t.Context()); res.Err != nil {
		t.Fatal(res.Err)
	}
	got := w.facts().Tasks
	if got[0].CallsUnknown != 1 || got[0].CallsFailed != 0 || got[0].Outcome != outcomeFailure || got[0].Activity[0] != "touch: unknown" {
		t.Errorf("%+v", got[0])
	}

	ctx, cancel := context.WithCancel(t.Context())
	w = newWorld(t, delegates(1, "works", "waits"))
	w.replies = func(Request) []reply {
		return []reply{func(ctx context.Context, r provider.Request, emit func(provider.Event) error) error {
			cancel()
			return hangs(ctx, r, emit)
		}}
	}
	_ = w.run(ctx)
	for _, f := range w.facts().Tasks {
		if f.Outcome != outcomeCancelled {
			t.Errorf("%+v", f)
		}
	}

	lost := errors.New("nobody reads")
	w = newWorld(t, delegates(1, "never begun"))
	w.sink.err = func(ev runner.Event) error {
		if e, ok := ev.(runner.ActivityStarted); ok && e.Kind == runner.ActivitySubagent {
			return lost
		}
		return nil
	}
	_ = w.run(t.Context())
	if f := w.facts().Tasks[0]; f.Outcome != outcomeUnknown || f.Usage != nil {
		t.Errorf("%+v", f)
	}
}

// lostGuard fails where it is true: a call has begun and gets no result.
type lostGuard bool

func (g lostGuard) Check(context.Context, tool.Env, tool.Call, func(string)) (runner.Verdict, error) {
	if g {
		return runner.Verdict{}, errors.New("nobody can say")
	}
	return runner.Verdict{Allowed: true}, nil
}

// TestFactsStayLocal: the model gets the content only, and a checkpoint finds
// the evidence of the call (tools.md 1.3, 8.6).
func TestFactsStayLocal(t *testing.T) {
	w := newWorld(t, delegates(1, "outer"))
	w.tools = []tool.Tool{touch}
	w.replies = func(r Request) []reply {
		if r.Depth == 1 {
			// No text of its own: its records stand for it.
			return []reply{says(calls(Name, map[string]any{"tasks": []map[string]any{{"intent": "inner"}}})), fails(errors.New("gone"))}
		}
		return []reply{says(calls("touch", "a")), says(text("done"))}
	}
	if res := w.run(t.Context()); res.Err != nil {
		t.Fatal(res.Err)
	}
	requests := slices.Clone(w.model.requests)
	for _, k := range w.kids {
		requests = append(requests, k.model.requests...)
	}
	for i, req := range requests {
		for _, item := range req.Items {
			if strings.Contains(item.Text, factsKey) {
				t.Errorf("request %d: %s", i, item.Text)
			}
		}
	}
	var fold checkpoint.Fold
	for _, ev := range w.log.events {
		raw, err := json.Marshal(ev.Payload)
		if err == nil {
			err = fold.Apply(session.Record{Kind: ev.Kind, Payload: raw})
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	want := `{"incomplete":false,"mutation_calls":1,"samples":[{"call_id":"call_subagents","path":"/w/\"a\""}],"shell_calls":0}`
	got, _ := json.Marshal(fold.Payload("", "", "", "")["execution_effects"])
	if string(got) != want {
		t.Errorf("%s", got)
	}
}

// TestCallsOfScripts: their records are encoded; the script's own result does
// not count their changes again.
func TestCallsOfScripts(t *testing.T) {
	r := record{watch: newWatch(nil), dst: &memlog{}}
	add := func(kind session.Kind, payload any) {
		if _, err := r.Append(t.Context(), session.Ordered, session.Event{Kind: kind, Payload: payload}); err != nil {
			t.Fatal(err)
		}
	}
	result := func(id string, ok bool, changed ...string) map[string]any {
		return map[string]any{"call_id": id, "changed_paths": changed, "result": map[string]any{"success": ok, "content": ""}}
	}
	add(session.KindToolCall, map[string]any{"id": "c", "name": "code_mode"})
	for n, ok := range map[string]bool{"c:inner:1": true, "c:inner:2": false} {
		add(session.KindCodeModeToolCall, encoded(t, map[string]any{"id": n, "name": "write"}))
		add(session.KindCodeModeToolResult, encoded(t, result(n, ok, "/w/"+n)))
	}
	add(session.KindToolResult, result("c", true, "/w/c:inner:1", "/w/c:inner:2"))
	add(session.KindToolResult, result("of no call", false))
	if c := r.calls; c.total != 3 || c.failed != 1 || c.changed != 2 || len(c.open) != 0 || len(r.changed()) != 2 {
		t.Errorf("%+v %v", c, r.changed())
	}
}

// TestFactsHideSecrets: also where the cut would leave half of one.
func TestFactsHideSecrets(t *testing.T) {
	const secret = "sk-proj-abcdefghijklmnopqrstuvwxyz0123456789"
	for _, before := range []int{0, 230, 240, 1000, 1010, 1020} {
		s := strings.Repeat("x", before) + " " + secret + "\x1b[31m"
		one := batchOf([]Task{{Intent: s, Agent: &s, Identity: &s}}, func(k *task) {
			k.log.calls.begin("c", s)
		})
		raw, err := json.Marshal(one.facts())
		if err != nil || strings.Contains(string(raw), secret[:12]) || strings.Contains(string(raw), `\u001b`) {
			t.Errorf("%d: %s", before, raw)
		}
	}
}

// batchOf makes a batch of tasks that nobody has worked on.
func batchOf(tasks []Task, each func(*task)) *batch {
	b := &batch{}
	for i, k := range tasks {
		t := &task{batch: b, Request: Request{Task: k, ID: fmt.Sprintf("g%d", i+1)}, log: &record{}, place: i + 1}
		t.path = runner.Path("call/" + t.ID)
		each(t)
		b.tasks = append(b.tasks, t)
	}
	return b
}

// TestFactsKeepTheirBounds: whatever the tasks are, every key is there, every
// bound holds, what is omitted adds up, and nothing is cut unsaid.
func TestFactsKeepTheirBounds(t *testing.T) {
	want := slices.Sorted(slices.Values([]string{"index", "scoped_id", "intent", "profile", "agent", "provider", "model", "outcome", "usage", "activity",
		"activity_omitted", "text_limited", "changed_paths", "calls_failed", "calls_unknown", "calls_changed"}))
	outcomes := []string{outcomeSuccess, outcomeFailure, outcomeCancelled, outcomeUnknown}
	rapid.Check(t, func(t *rapid.T) {
		b := batchOf(rapid.SliceOfN(rapid.Custom(drawTask), 1, maxTasks).Draw(t, "tasks"), func(k *task) { drawWork(t, k) })
		all := b.facts()
		raw, err := json.Marshal(all)
		if err != nil || len(raw) > maxFactsBytes || len(all.Tasks) != len(b.tasks) {
			t.Fatalf("%v, %d bytes, %d tasks", err, len(raw), len(all.Tasks))
		}
		var loose struct {
			Version int                          `json:"schema_version"`
			Tasks   []map[string]json.RawMessage `json:"tasks"`
		}
		if err := json.Unmarshal(raw, &loose); err != nil || loose.Version != 1 {
			t.Fatalf("%v %d", err, loose.Version)
		}
		if _, err := jsonscan.Parse(raw, jsonscan.Options{}); err != nil {
			t.Fatalf("strictly: %v", err)
		}
		for i, f := range all.Tasks {
			k := b.tasks[i]
			if got := slices.Sorted(maps.Keys(loose.Tasks[i])); !slices.Equal(got, want) {
				t.Fatalf("keys: %v", got)
			}
			if f.Index != i || !slices.Contains(outcomes, f.Outcome) || f.ActivityOmitted+len(f.Activity) != k.log.calls.total || len(f.Activity) > maxActivity {
				t.Fatalf("%+v", f)
			}
			texts := []string{f.Intent, f.ScopedID}
			for _, p := range []*string{f.Agent, f.Profile, f.Provider, f.Model} {
				if p != nil {
					texts = append(texts, *p)
				}
			}
			for _, s := range texts {
				if len(s) > 1024 || !utf8.ValidString(s) {
					t.Fatalf("%d bytes: %q", len(s), s)
				}
			}
			for _, row := range f.Activity {
				if _, outcome, ok := strings.Cut(row, ": "); len(row) > maxActivityBytes || !ok || outcome == "" {
					t.Fatalf("%q", row)
				}
			}
			if !f.TextLimited && (f.Intent != redact.Display(k.Intent) || f.Agent != nil && *f.Agent != redact.Display(*k.Agent)) {
				t.Fatalf("a text was cut unsaid: %+v", f)
			}
		}
	})
}

// drawText draws texts that are short, long, hostile to JSON, or no UTF-8.
func drawText(t *rapid.T) string {
	piece := rapid.SampledFrom([]string{"a", "word ", `"`, `\`, "<", "\x01", "é", "𝄞", "\u2028", "password=hunter2hunter2 ", "\n"}).Draw(t, "piece")
	n := rapid.SampledFrom([]int{0, 1, 60, 64, 65, 255, 256, 257, 1023, 1024, 1025, 30_000}).Draw(t, "length")
	return strings.Repeat(piece, n/len(piece)) + rapid.StringN(0, 8, 32).Draw(t, "end")
}

func drawOptional(t *rapid.T) *string {
	return rapid.Ptr(rapid.Custom(drawText), true).Draw(t, "optional")
}

func drawTask(t *rapid.T) Task {
	return Task{Intent: drawText(t), Agent: drawOptional(t), Identity: drawOptional(t)}
}

// drawWork makes a task look as if it had been worked on.
func drawWork(t *rapid.T, k *task) {
	k.path += runner.Path(drawText(t))
	if rapid.Bool().Draw(t, "opened") {
		k.child = &Child{Provider: drawText(t), Model: drawText(t)}
	}
	name := drawText(t)
	for i := range rapid.IntRange(0, 20).Draw(t, "calls") {
		id := fmt.Sprint(i)
		k.log.calls.begin(id, name)
		if rapid.Bool().Draw(t, "ended") {
			k.log.calls.end(id, ended{success: rapid.Bool().Draw(t, "ok")})
		}
	}
	k.completed = rapid.Bool().Draw(t, "completed")
	k.err = rapid.SampledFrom([]error{nil, context.Canceled, errBatchOver, errStalled}).Draw(t, "err")
	if k.meter.requests = rapid.IntRange(0, 3).Draw(t, "requests"); k.meter.requests > 0 {
		big := int64(1) << 53
		k.meter.before, k.meter.latest = counts{big, big, big, true}, counts{big, big, big, false}
	}
}

// TestFactsAreCutInOrder: texts first, then activity, each task alike.
func TestFactsAreCutInOrder(t *testing.T) {
	for _, c := range []struct {
		name, text  string
		tasks       int
		bytes, rows int // that are left
	}{
		{"one long task", strings.Repeat("a", 2000), 1, 1024, 8},
		{"ten", strings.Repeat("a", 2000), 10, 256, 8},
		{"ten, two bytes each in JSON", strings.Repeat(`"`, 2000), 10, 256, 2},
		{"ten, six bytes each in JSON", strings.Repeat("<", 2000), 10, 64, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			k := Task{Intent: c.text, Agent: &c.text, Identity: &c.text}
			all := batchOf(slices.Repeat([]Task{k}, c.tasks), func(k *task) {
				k.child = &Child{Provider: c.text, Model: c.text}
				for i := range 9 {
					k.log.calls.begin(fmt.Sprint(i), c.text)
				}
			}).facts()
			for _, f := range all.Tasks {
				if len(f.Intent) != c.bytes || len(*f.Model) != c.bytes || len(f.Activity) != c.rows || f.ActivityOmitted != 9-c.rows || !f.TextLimited {
					t.Errorf("%d %d %d omitted %d", len(f.Intent), len(*f.Model), len(f.Activity), f.ActivityOmitted)
				}
			}
		})
	}
}
