package runner

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"magicode/internal/session"
	"magicode/internal/tool"
)

// editing are tools that tell of one changed file per call.
type editing struct {
	path   string
	result tool.Result
	after  func(n int) string
	n      int
}

func (e *editing) Dispatch(ctx context.Context, env tool.Env, c tool.Call) tool.Result {
	e.n++
	if env.Edits != nil {
		env.Edits.Record(ctx, tool.Edit{Tool: "edit", Path: e.path, Before: tool.Present([]byte("a\n")), After: tool.Present([]byte(e.after(e.n)))})
	}
	res := e.result
	res.ToolName, res.Content = c.Name, "edited"
	return res
}

func (e *editing) Definitions() []tool.Definition { return innerTools{}.Definitions() }

// kept is a tool.Edits.
type kept []tool.Edit

func (k *kept) Record(_ context.Context, e tool.Edit) { *k = append(*k, e) }

func edited(path string) *editing {
	return &editing{path: path, result: tool.Result{Success: true, Changed: []string{path}}, after: func(int) string { return "b\n" }}
}

const pictureOfF = "--- f\n+++ f\n@@ -1,1 +1,1 @@\n-a\n+b"

func TestPreviewFollowsItsResult(t *testing.T) {
	b := newBench(says(callEvent("c1", "write", `{"path":"f"}`)), says(text("done")))
	forRewind := &kept{}
	b.cfg.Tools, b.cfg.Env = edited("/w/f"), tool.Env{Cwd: "/w", CanonicalCwd: "/w", Edits: forRewind}
	if res := b.run(t, background(t)); res.Err != nil || res.Degraded {
		t.Fatalf("%+v", res)
	}
	if d := cmp.Diff("tool_result tool_applied_preview session_usage assistant_output", b.log.behind(session.KindToolCall)); d != "" {
		t.Error(d)
	}
	res, p := b.log.of(session.KindToolResult)[0], b.log.of(session.KindToolAppliedPreview)[0]
	if d := cmp.Diff(map[string]any{"display_id": res["display_id"], "preview": map[string]any{"schema_version": 1.0, "diff": pictureOfF, "truncated": false}}, p); d != "" {
		t.Error(d)
	}
	if id, _ := p["display_id"].(string); id == "" || len(*forRewind) != 1 {
		t.Errorf("id %q, %d edits kept for a rewind", id, len(*forRewind))
	}
	if sent := fmt.Sprint(b.prov.requests[1].Items); strings.Contains(sent, "+b") || strings.Contains(sent, "display") {
		t.Errorf("the model gets %s", sent)
	}
	if b.log.syncs != 3 {
		t.Errorf("%d syncs, wanted input, call and answer", b.log.syncs)
	}
}

func TestPreviewInAScript(t *testing.T) {
	b := scripted(`tools.call("read", {}); return tools.call("write", {path: "f"}).success`)
	b.cfg.Script.Tools, b.cfg.Env = edited("/w/f"), tool.Env{Cwd: "/w", CanonicalCwd: "/w"}
	if res := b.run(t, background(t)); res.Err != nil || res.Degraded {
		t.Fatalf("%+v", res)
	}
	want := "code_mode_tool_call code_mode_tool_result code_mode_tool_call code_mode_tool_result tool_applied_preview tool_result session_usage assistant_output"
	if d := cmp.Diff(want, b.log.behind(session.KindToolCall)); d != "" {
		t.Error(d)
	}
	p, res := b.log.of(session.KindToolAppliedPreview)[0], b.log.of(session.KindCodeModeToolResult)
	if p["parent_call_id"] != "c1" || p["sequence"] != 2.0 || p["display_id"] != res[1]["display_id"] || len(p) != 4 {
		t.Errorf("%v behind %v", p, res[1])
	}
	for _, r := range append(res[:1], b.log.of(session.KindToolResult)...) {
		if id, ok := r["display_id"]; id != nil || !ok {
			t.Errorf("%v names a preview", r)
		}
	}
}

func TestNoPreview(t *testing.T) {
	for name, row := range map[string]struct {
		tool   string
		change func(*editing)
	}{
		"of another tool":      {"bash", func(*editing) {}},
		"of nothing":           {"write", func(e *editing) { e.after = func(int) string { return "a\n" } }},
		"of a secret file":     {"write", func(e *editing) { e.path = "/w/.env.local" }},
		"of what is not text":  {"write", func(e *editing) { e.after = func(int) string { return "\xff" } }},
		"of what is too large": {"hash_edit", func(e *editing) { e.after = func(int) string { return strings.Repeat("x", tool.MaxCheckpoint+1) } }},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBench(says(callEvent("c1", row.tool, `{}`)), says(text("done")))
			e := edited("/w/f")
			row.change(e)
			b.cfg.Tools = e
			if res := b.run(t, background(t)); res.Err != nil || res.Degraded {
				t.Fatalf("%+v", res)
			}
			if id, ok := b.log.of(session.KindToolResult)[0]["display_id"]; id != nil || !ok || len(b.log.of(session.KindToolAppliedPreview)) != 0 {
				t.Errorf("%v: %s", id, b.log.kinds())
			}
		})
	}
}

// One write and its twin in the same response: one effect, one picture.
func TestRepeatedCallHasNoPreview(t *testing.T) {
	b := newBench(says(callEvent("c1", "write", `{"path":"f"}`), callEvent("c2", "write", `{"path":"f"}`)), says(text("done")))
	b.cfg.Tools, b.cfg.Env = edited("/w/f"), tool.Env{Cwd: "/w", CanonicalCwd: "/w"}
	if res := b.run(t, background(t)); res.Err != nil {
		t.Fatal(res.Err)
	}
	if d := cmp.Diff("tool_result tool_applied_preview tool_call tool_result session_usage assistant_output", b.log.behind(session.KindToolCall)); d != "" {
		t.Error(d)
	}
	if id := b.log.of(session.KindToolResult)[1]["display_id"]; id != nil {
		t.Errorf("the twin names preview %v", id)
	}
}

func TestPreviewsOfARunAreBounded(t *testing.T) {
	r := &run{Config: Config{NewID: func() string { return "id" }}}
	edit := tool.Edit{Tool: "edit", Path: "/f", Before: tool.Present(nil), After: tool.Present([]byte(strings.Repeat(strings.Repeat("é", 500)+"\n", 100)))}
	n, last := 0, shown{}
	for s := r.preview(origin{}, []tool.Edit{edit}); s.id != ""; s = r.preview(origin{}, []tool.Edit{edit}) {
		n, last = n+1, s
	}
	size, err := session.EncodedSize(last.payload)
	if err != nil || n*size > maxPictureBytes || (n+1)*size <= maxPictureBytes {
		t.Errorf("%d previews of %d bytes, %v", n, size, err)
	}
}

// A preview that cannot be stored degrades the run, truthfully; the result is
// there, for the file and for the model, and the answer follows.
func TestLostPreview(t *testing.T) {
	for _, name := range []string{"direct", "script"} {
		t.Run(name, func(t *testing.T) {
			b := newBench(says(callEvent("c1", "write", `{"path":"f"}`)), says(text("done")))
			kind := session.KindToolResult
			if name == "script" {
				b = scripted(`return tools.call("write", {path: "f"}).success`)
				b.cfg.Script.Tools, kind = edited("/w/f"), session.KindCodeModeToolResult
			}
			b.cfg.Tools = edited("/w/f")
			b.log.failKind = session.KindToolAppliedPreview
			res := b.run(t, background(t))
			if res.Err != nil || !res.Degraded {
				t.Fatalf("%+v", res)
			}
			if len(b.log.of(kind)) != 1 || len(b.log.of(session.KindToolAppliedPreview)) != 0 || len(b.log.of(session.KindAssistantOutput)) != 1 {
				t.Error(b.log.kinds())
			}
			if s := b.log.of(session.KindTurnStatus); len(s) != 1 || s[0]["status"] != "incomplete" {
				t.Errorf("%v", s)
			}
			if last := b.tape.lines[len(b.tape.lines)-1]; last != "notice" {
				t.Error(b.tape.lines)
			}
			if items := b.prov.requests[1].Items; items[len(items)-1].Text == "" {
				t.Errorf("%+v", items)
			}
		})
	}
}

// Whatever append fails: with the result in the file the model has it, without
// it there is no preview either.
func TestPreviewWithFailingAppends(t *testing.T) {
	for n := 1; n < 9; n++ {
		b := newBench(says(callEvent("c1", "write", `{"path":"f"}`)), says(text("done")))
		b.cfg.Tools = edited("/w/f")
		b.log.failAt = n
		res := b.run(t, background(t))
		results, previews := len(b.log.of(session.KindToolResult)), len(b.log.of(session.KindToolAppliedPreview))
		if previews > results || res.Persisted && results+previews < 2 && !res.Degraded {
			t.Errorf("append %d: %d results, %d previews, %+v", n, results, previews, res)
		}
	}
}

func TestResourceDisplay(t *testing.T) {
	facts := func(v ...any) (out []any) {
		for i := 0; i < len(v); i += 2 {
			out = append(out, map[string]any{"label": v[i], "value": v[i+1]})
		}
		return out
	}
	listing := tool.Describe("list_files", true, map[string]any{"Files returned": 2, "Result state": "incomplete", "Results limited": true})
	reading := tool.Describe("read", false, map[string]any{"Result state": "incomplete"})
	reading.Resources = []tool.Resource{
		{Location: "/w/a", Outcome: "success", Supplied: 3, Retained: 4, Completeness: "complete"},
		{Location: "b\x1b[31m password=hunter2hunter2", Outcome: "failure", Supplied: -1, Retained: -1, Completeness: "unavailable", Reason: "no such file"},
	}
	long := tool.Describe("read", false, nil)
	for range 8 {
		long.Resources = append(long.Resources, tool.Resource{Location: strings.Repeat("\u2028", 400), Reason: strings.Repeat("\u2028", 400)})
	}
	failed := facts("Files returned", nil, "Directories returned", nil, "Result state", "failed", "Entries returned", nil, "Listing complete", nil, "Results limited", nil)
	for _, tc := range []struct {
		name string
		res  tool.Result
		want any
	}{
		{"listing", tool.Result{ToolName: "list_files", Success: true, Display: listing}, map[string]any{"schema_version": 1.0, "tool_name": "list_files", "limited": true, "resources": []any{},
			"facts": facts("Files returned", "2", "Directories returned", nil, "Result state", "incomplete", "Entries returned", nil, "Listing complete", nil, "Results limited", "true")}},
		{"resources", tool.Result{ToolName: "read", Success: true, Display: reading}, map[string]any{"schema_version": 1.0, "tool_name": "read", "limited": false,
			"facts": facts("Requested resources", nil, "Result state", "incomplete", "Succeeded resources", nil, "Failed resources", nil, "Omitted resources", nil, "Read complete", nil, "Results limited", nil, "Aggregate read limited", nil),
			"resources": []any{
				map[string]any{"location": "/w/a", "outcome": "success", "supplied_lines": 3.0, "retained_output_lines": 4.0, "completeness": "complete", "reason": nil},
				map[string]any{"location": "b password=<redacted>", "outcome": "failure", "supplied_lines": nil, "retained_output_lines": nil, "completeness": "unavailable", "reason": "no such file"},
			}}},
		{"failure", tool.Result{ToolName: "list_files"}, map[string]any{"schema_version": 1.0, "tool_name": "list_files", "facts": failed, "resources": []any{}, "limited": false}},
		{"not run", tool.Result{ToolName: "list_files", Metadata: map[string]any{hookBlocked: true}}, nil},
		{"too large", tool.Result{ToolName: "read", Success: true, Display: long}, nil},
		{"another tool", tool.Result{ToolName: "bash", Success: true, Display: listing}, nil},
		{"a failure of another tool", tool.Result{ToolName: "bash"}, nil},
		{"told nothing", tool.Result{ToolName: "grep", Success: true}, nil},
	} {
		t.Run(tc.name, func(t *testing.T) {
			raw, err := json.Marshal(resourceDisplay(tc.res))
			if err != nil {
				t.Fatal(err)
			}
			var got any
			if err := json.Unmarshal(raw, &got); err != nil {
				t.Fatal(err)
			}
			if d := cmp.Diff(tc.want, got); d != "" {
				t.Error(d)
			}
		})
	}
	if got, _ := resourceDisplay(tool.Result{ToolName: "ffgrep"}).(map[string]any); got["tool_name"] != "grep" {
		t.Errorf("an alias is called %v", got["tool_name"])
	}
}

func TestResultsCarryTheirDisplay(t *testing.T) {
	b := newBench(says(callEvent("c1", "grep", `{}`), callEvent("c2", "bash", `{}`)), says(text("done")))
	b.tools.run = func(c tool.Call) tool.Result {
		res := tool.Result{Success: true, Content: "x"}
		if c.Name == "grep" {
			res.Display = tool.Describe("grep", false, map[string]any{"Walk errors": 7})
		}
		return res
	}
	if res := b.run(t, background(t)); res.Err != nil {
		t.Fatal(res.Err)
	}
	results := b.log.of(session.KindToolResult)
	if got := fmt.Sprint(results[0]["resource_display"]); !strings.Contains(got, "map[label:Walk errors value:7]") {
		t.Error(got)
	}
	if got, ok := results[1]["resource_display"]; got != nil || !ok {
		t.Error(got)
	}
	if sent := fmt.Sprint(b.prov.requests[1].Items); strings.Contains(sent, "Walk errors") {
		t.Errorf("the model gets %s", sent)
	}
}
