package subagent

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"magicode/internal/provider"
	"magicode/internal/runner"
	"magicode/internal/session"
	"magicode/internal/tool"
)

func TestTwoTasks(t *testing.T) {
	w := newWorld(t, delegates(1, "look around", "write\nit"))
	if res := w.run(t.Context()); res.Err != nil || res.Degraded {
		t.Fatalf("%+v", res)
	}
	w.settled()
	want := []string{"+call_subagents subagents · 2 tasks",
		"+call_subagents/g1 g1 · depth 1 · look around", "+call_subagents/g2 g2 · depth 1 · write\nit",
		"+call_subagents/g1 g1 · depth 1 · look around", "-call_subagents/g1 true",
		"+call_subagents/g2 g2 · depth 1 · write\nit", "-call_subagents/g2 true", "-call_subagents true"}
	if d := cmp.Diff(want, w.sink.list); d != "" {
		t.Error(d)
	}
	if all := strings.Join(w.sink.text, "|"); strings.Contains(all, "I did") {
		t.Errorf("a task's text reached the parent's sink: %s", all)
	}
	r := w.report()
	if r.Summary != (summary{2, 2, 0, 30}) || r.Results[1].Output != "I did write\nit" || *r.Results[0].SessionID != "s-g1" || *r.Results[0].SessionPath != "/sessions/g1" {
		t.Errorf("%+v", r)
	}
	one := counts{10, 5, 0, true}
	if u := r.Results[0].Usage; u == nil || *u != (usageReport{one, one, 0, true}) {
		t.Errorf("%+v", u)
	}
	links := w.log.of(session.KindSubagentSession)
	if len(links) != 2 || links[0]["session_id"] != "s-g1" {
		t.Errorf("%v", links)
	}
	in := w.kids[0].log.of(session.KindUserInput)
	if len(in) != 1 || in[0]["task_scope_version"] != 1 || !strings.HasPrefix(in[0]["text"].(string), "Task g1:\nlook around\n") {
		t.Errorf("%v", in)
	}
	if k := w.kids[0].log.kinds(); !strings.HasPrefix(k, "task_scope user_input ") {
		t.Error(k)
	}
}

// sums adds up, by the rule of readers, what a session's usage records say below a prefix.
func sums(l *memlog, prefix string) (input, output int64) {
	last := map[string]map[string]any{}
	for _, p := range l.of(session.KindSessionUsage) {
		last[p["id"].(string)] = p
	}
	for id, p := range last {
		if u := p["usage"].(map[string]any); strings.HasPrefix(id, prefix) && p["final_usage"] == true {
			input, output = input+u["effective_input"].(int64), output+u["output"].(int64)
		}
	}
	return input, output
}

// TestManyCalls: four tasks with fifty calls each at once (run with -race).
func TestManyCalls(t *testing.T) {
	w := newWorld(t, delegates(4, "a", "b", "c", "d"))
	w.tools = []tool.Tool{fakeTool{"touch", func(_ context.Context, args json.RawMessage) tool.Result {
		return tool.Result{Success: true, Content: string(args), Changed: []string{"/w/" + string(args)}}
	}}}
	w.replies = func(r Request) []reply {
		var out []reply
		for i := range 50 {
			out = append(out, says(calls("touch", fmt.Sprint(r.ID, i)), cost(3, 2)))
		}
		return append(out, says(text("done"), cost(3, 2)))
	}
	if res := w.run(t.Context()); res.Err != nil || res.Degraded {
		t.Fatalf("%+v", res)
	}
	w.settled()
	r := w.report()
	if r.Summary != (summary{4, 4, 0, 4 * 51 * 5}) || len(r.Results[3].Changed) != 50 {
		t.Errorf("%+v, %d changed", r.Summary, len(r.Results[3].Changed))
	}
	if in, out := sums(w.log, "session-usage/run-/activity/call_subagents/g"); in != 4*51*3 || out != 4*51*2 {
		t.Errorf("recorded usage %d, %d", in, out)
	}
	if n := len(w.sink.list); n != 2+4*3+4*50*2 {
		t.Errorf("%d events", n)
	}
	if res := w.log.of(session.KindToolResult); len(res[0]["changed_paths"].([]string)) != 200 {
		t.Errorf("%d changed paths", len(res[0]["changed_paths"].([]string)))
	}
}

// TestDepth: what a task delegates lies below its path, is paid by the primary
// too, and ends at the last level.
func TestDepth(t *testing.T) {
	w := newWorld(t, delegates(1, "outer"))
	w.replies = func(r Request) []reply {
		return []reply{delegates(1, "inner"), says(text("depth "+fmt.Sprint(r.Depth)), cost(1, 1))}
	}
	if res := w.run(t.Context()); res.Err != nil {
		t.Fatal(res.Err)
	}
	w.settled()
	if len(w.kids) != 2 || w.kids[1].request.Scope != "g1/g1" || w.kids[1].request.Depth != 2 {
		t.Fatalf("%+v", w.kids)
	}
	const inner = "call_subagents/g1/call_subagents/g1"
	if all := strings.Join(w.sink.list, "\n"); !strings.Contains(all, "+"+inner+" g1 · depth 2 · inner") || !strings.Contains(all, "-"+inner+"/call_subagents false") {
		t.Errorf("%s", all)
	}
	res := w.kids[1].log.of(session.KindToolResult)
	if got := res[0]["result"].(map[string]any)["content"].(string); !strings.Contains(got, "depth is used up") {
		t.Error(got)
	}
	if in, _ := sums(w.log, "session-usage/run-/activity/"); in != 2 {
		t.Errorf("the primary paid for %d", in)
	}
	if in, _ := sums(w.kids[0].log, "session-usage/run-g1/activity/"); in != 1 {
		t.Errorf("the task paid for %d", in)
	}
}

func TestWhatEndsATask(t *testing.T) {
	plain := &provider.Error{Kind: provider.ErrPlain, Err: errors.New("no such model")}
	for _, c := range []struct {
		name    string
		prepare func(*world)
		holds   string
		output  string
	}{
		{"unknown identity", func(w *world) { w.openErr = errors.New("unavailable") }, "unavailable", ""},
		{"provider", func(w *world) {
			w.replies = func(Request) []reply { return []reply{fails(plain, text("half an answer"))} }
		}, "no such model", "half an answer"},
		{"nothing said", func(w *world) { w.replies = func(Request) []reply { return []reply{fails(plain)} } }, "no such model", `"event_type":"user_input"`},
		{"bad schema", func(w *world) { w.schema = `{"type":7}` }, "output_schema", ""},
		{"panic", func(w *world) {
			w.replies = func(Request) []reply {
				return []reply{func(context.Context, provider.Request, func(provider.Event) error) error { panic("secret") }}
			}
		}, "internal error", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := newWorld(t, delegates(4, "one"))
			c.prepare(w)
			if res := w.run(t.Context()); res.Err != nil {
				t.Fatalf("the run: %v", res.Err)
			}
			w.settled()
			r := w.report()
			got := r.Results[0]
			if r.Summary.Failed != 1 || got.Status != "failed" || got.Error == nil || !strings.Contains(*got.Error, c.holds) || !strings.Contains(got.Output, c.output) {
				t.Errorf("%+v %s", got, *got.Error)
			}
			if len(w.model.requests) != 2 {
				t.Errorf("the parent was asked %d times", len(w.model.requests))
			}
		})
	}
}

// TestChildLogFails: whichever append of a child's log fails first, the task
// fails, or had its answer, and the run goes on.
func TestChildLogFails(t *testing.T) {
	for n := 1; ; n++ {
		w := newWorld(t, delegates(1, "one"))
		w.tools = []tool.Tool{fakeTool{"touch", func(context.Context, json.RawMessage) tool.Result { return tool.Result{Success: true} }}}
		w.replies = func(Request) []reply { return []reply{says(calls("touch", 1)), says(text("done"))} }
		w.failAt = n
		if res := w.run(t.Context()); res.Err != nil || res.Degraded {
			t.Fatalf("append %d: %+v", n, res)
		}
		w.settled()
		k, r := w.kids[0], w.report().Results[0]
		if k.log.appends < n {
			if r.Status != "completed" || n < 4 {
				t.Errorf("%d appends: %+v", n, r)
			}
			return
		}
		if answered := r.Output == "done"; (r.Status == "completed") != answered {
			t.Errorf("append %d: %s, %q", n, r.Status, r.Output)
		}
	}
}

// TestActivitiesOfTasksCount: the run's limit holds for what lies below it.
func TestActivitiesOfTasksCount(t *testing.T) {
	for limit, want := range map[int]error{4: runner.ErrContentLimit, 5: nil} { // the call, two tasks, a call each
		w := newWorld(t, delegates(1, "a", "b"))
		w.limits.Activities = limit
		w.tools = []tool.Tool{fakeTool{"touch", func(context.Context, json.RawMessage) tool.Result { return tool.Result{Success: true} }}}
		w.replies = func(Request) []reply { return []reply{says(calls("touch", 1)), says(text("done"))} }
		if res := w.run(t.Context()); !errors.Is(res.Err, want) || (want == nil) != (res.Err == nil) {
			t.Errorf("limit %d: %v", limit, res.Err)
		}
		w.settled()
	}
}

// TestLostEventEndsTheRun: what the parent's sink cannot take is no failure of a task.
func TestLostEventEndsTheRun(t *testing.T) {
	lost := errors.New("nobody reads")
	w := newWorld(t, delegates(2, "a", "b"))
	w.sink.err = func(ev runner.Event) error {
		if e, ok := ev.(runner.ActivityFinished); ok && strings.HasSuffix(string(e.Path), "/g1") {
			return lost
		}
		return nil
	}
	if res := w.run(t.Context()); !errors.Is(res.Err, lost) {
		t.Error(res.Err)
	}
	if len(w.model.requests) != 1 {
		t.Errorf("the parent was asked %d times", len(w.model.requests))
	}
}

func TestResultIsBounded(t *testing.T) {
	for n, cut := range map[int]bool{maxOutputChars: false, maxOutputChars + 1: true} {
		out, truncated := bounded(strings.Repeat("é", n))
		want := fmt.Sprintf("\n[subagent result truncated: original_chars=%d limit=24000]", n)
		if truncated != cut || strings.HasSuffix(out, want) != cut || strings.Count(out, "é") != maxOutputChars {
			t.Errorf("%d: %v %d", n, truncated, len(out))
		}
	}
	if got := errorText(errors.New(strings.Repeat("x", maxErrorChars+9))); len(got) != maxErrorChars {
		t.Errorf("%d", len(got))
	}
}
