package runner

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"magicode/internal/protect/injection"
	"magicode/internal/protect/judge"
	"magicode/internal/provider"
	"magicode/internal/session"
	"magicode/internal/tool"
)

// oracle answers yes-or-no questions with one figure and scores with another.
type oracle struct {
	noul, score float64
	err         error
}

func (o oracle) Ask(_ context.Context, _ any, questions map[string]judge.Question) (judge.Answers, error) {
	out := judge.Answers{Model: "m", Of: map[string]judge.Answer{}}
	for name, q := range questions {
		if q.Kind == judge.Noul {
			out.Of[name] = judge.Answer{Noul: o.noul}
		} else {
			out.Of[name] = judge.Answer{Score: o.score, Confidence: 1}
		}
	}
	return out, o.err
}

func screenOf(o oracle, enforce bool) *injection.Screen {
	return &injection.Screen{Judge: o, Level: injection.Balanced, Enforce: enforce, MaxBytes: 1000, OnFailure: injection.Quarantine, Tools: []string{"read", "code_mode"}}
}

// TestScreen: what the model sees, what is stored, what the user is told.
func TestScreen(t *testing.T) {
	const raw = "raw text"
	for name, c := range map[string]struct {
		tool    string
		oracle  oracle
		enforce bool
		seen    string
		action  string // of the verdict; "" for none
		notices int
	}{
		"allowed":                 {"read", oracle{}, true, raw, "allow", 0},
		"annotated":               {"read", oracle{noul: 0.5}, true, injection.Project(injection.Annotate, raw, ""), "annotate", 0},
		"quarantined":             {"read", oracle{noul: 1, score: 2}, true, injection.Withheld, "quarantine", 1},
		"escalated":               {"read", oracle{noul: 0.5, score: 2}, true, injection.Withheld, "escalate", 1},
		"failed":                  {"read", oracle{err: judge.ErrTooLarge}, true, injection.Withheld, "quarantine", 1},
		"quarantined, not forced": {"read", oracle{noul: 1, score: 2}, false, raw, "quarantine", 1},
		"annotated, not forced":   {"read", oracle{noul: 0.5}, false, raw, "annotate", 0},
		"another tool":            {"grep", oracle{noul: 1, score: 2}, true, raw, "", 0},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBench(says(callEvent("c", c.tool, `{}`)), says(text("done")))
			b.cfg.Screen = screenOf(c.oracle, c.enforce)
			b.tools.run = func(tool.Call) tool.Result { return tool.Result{Success: true, Content: raw} }
			if res := b.run(t, background(t)); res.Err != nil || res.Degraded {
				t.Fatalf("%+v", res)
			}
			items := b.prov.requests[1].Items
			if last := items[len(items)-1]; last.Kind != provider.ItemResult || last.Text != c.seen {
				t.Errorf("the model sees %q", last.Text)
			}
			res := b.log.of(session.KindToolResult)[0]["result"].(map[string]any)
			stamp := res["metadata"].(map[string]any)["prompt_injection_protection"].(map[string]any)
			if res["content"] != raw {
				t.Errorf("stored %v", res["content"])
			}
			verdicts := b.log.of(session.KindToolResultAssessment)
			if c.action == "" {
				if len(verdicts) != 0 || stamp["action"] != "not_assessed" || stamp["result_id"] != nil {
					t.Errorf("%v %v", stamp, verdicts)
				}
				return
			}
			v := verdicts[0]["prompt_injection_protection"].(map[string]any)
			if len(verdicts) != 1 || stamp["action"] != "pending" || stamp["enforced"] != c.enforce || v["result_id"] != stamp["result_id"] || v["action"] != c.action || v["enforced"] != c.enforce || verdicts[0]["call_id"] != "c" {
				t.Errorf("%v %v", stamp, verdicts)
			}
			if got := strings.Count(strings.Join(b.tape.lines, "\n"), "notice"); got != c.notices {
				t.Errorf("%d notices", got)
			}
			for _, d := range b.log.of(session.KindDiagnostic) {
				if strings.Contains(fmt.Sprint(d), raw) {
					t.Errorf("a notice holds the text: %v", d)
				}
			}
		})
	}
}

// TestScreenedScript: a script gets nothing of what is withheld, and is warned.
func TestScreenedScript(t *testing.T) {
	const code = `const r = tools.call("read", {paths: ["a"]}); return r`
	for name, c := range map[string]struct {
		oracle   oracle
		value    string
		warnings int
		outer    func(string) bool // what the model sees
	}{
		"allowed": {oracle{}, `{"success":true,"content":{"files":["raw"]}}`, 0, func(s string) bool { return strings.HasPrefix(s, `{"status":"completed"`) }},
		"annotated": {oracle{noul: 0.5}, `{"success":true,"content":{"files":["raw"]}}`, 1, func(s string) bool {
			return strings.HasPrefix(s, "<untrusted_tool_data") && strings.Contains(s, `"inner_calls":1`)
		}},
		"quarantined": {oracle{noul: 1, score: 2}, `{"success":false,"error":{"code":"protected_content","message":` + fmt.Sprintf("%q", injection.Withheld) + `}}`, 1, func(s string) bool {
			return strings.HasPrefix(s, injection.Withheld) && strings.Contains(s, `"inner_calls":1`)
		}},
	} {
		t.Run(name, func(t *testing.T) {
			b := scripted(code)
			b.cfg.Screen = screenOf(c.oracle, true)
			b.tools.run = func(tool.Call) tool.Result {
				return tool.Result{Success: true, Content: "raw", Metadata: map[string]any{"structured_result": map[string]any{"files": []string{"raw"}}}}
			}
			if res := b.run(t, background(t)); res.Err != nil {
				t.Fatal(res.Err)
			}
			e := envelope(t, b)
			if d := cmp.Diff(c.value, string(e.Value)); d != "" || len(e.Execution.Warnings) != c.warnings {
				t.Errorf("%s %v", d, e.Execution.Warnings)
			}
			if got := len(b.log.of(session.KindCodeModeWarning)); got != c.warnings {
				t.Errorf("%d recorded warnings", got)
			}
			v := b.log.of(session.KindCodeModeAssessment)
			if len(v) != 1 || v[0]["tool_name"] != "read" || v[0]["parent_call_id"] != "c1" || v[0]["sequence"] != 1.0 || v[0]["call_id"] != "c1:inner:1" {
				t.Fatalf("%v", v)
			}
			if p := v[0]["prompt_injection_protection"].(map[string]any); p["original_bytes"] != float64(len(`{"files":["raw"]}`)) || p["persisted_content"].(map[string]any)["bytes"] != 3.0 {
				t.Errorf("%v", p)
			}
			items := b.prov.requests[1].Items
			if seen := items[len(items)-1].Text; !c.outer(seen) {
				t.Errorf("the model sees %s", seen)
			}
		})
	}
}

// TestScreenCancelled: the result is stored, pending; the run is cancelled.
func TestScreenCancelled(t *testing.T) {
	b := newBench(says(callEvent("c", "read", `{}`)))
	ctx, cancel := context.WithCancelCause(background(t))
	b.cfg.Screen = screenOf(oracle{}, true)
	b.cfg.Screen.Judge = stopping{cancel}
	if res := b.run(t, ctx); !errors.Is(res.Err, errUserStop) {
		t.Error(res.Err)
	}
	if len(b.log.of(session.KindToolResult)) != 1 || len(b.log.of(session.KindToolResultAssessment)) != 0 {
		t.Error(b.log.kinds())
	}
}

// stopping cancels the run while it judges.
type stopping struct{ cancel context.CancelCauseFunc }

func (s stopping) Ask(ctx context.Context, _ any, _ map[string]judge.Question) (judge.Answers, error) {
	s.cancel(errUserStop)
	return judge.Answers{}, context.Cause(ctx)
}
