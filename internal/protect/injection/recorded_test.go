package injection

import (
	"encoding/json"
	"maps"
	"testing"

	"magicode/internal/jsonscan"
	"magicode/internal/protect/judge"
)

func recorded(t *testing.T, record map[string]any) Recorded {
	t.Helper()
	raw, err := json.Marshal(map[string]any{"prompt_injection_protection": record})
	if err != nil {
		t.Fatal(err)
	}
	return RecordedIn(jsonscan.Value(raw))
}

func whole(text string) string { return text }

// TestRecordedShowsWhatWasShown: read back, a verdict shows of what is stored what
// it showed in its turn.
func TestRecordedShowsWhatWasShown(t *testing.T) {
	const text = "the text"
	for name, c := range map[string]struct {
		tool  string
		judge answering
		max   int
		fails Action
	}{
		"allowed":               {tool: "web", max: 100},
		"annotated":             {tool: "web", max: 100, judge: answering{f: Figures{Instructions: 1, Confidence: 1}}},
		"quarantined":           {tool: "web", max: 100, judge: answering{f: Figures{1, 1, 2, 1}}},
		"our own words":         {tool: "write", max: 100},
		"too long":              {tool: "web", max: 3, fails: Annotate},
		"not judged, annotated": {tool: "web", max: 100, judge: answering{err: judge.ErrTooLarge}, fails: Annotate},
		"not judged, withheld":  {tool: "web", max: 100, judge: answering{err: judge.ErrTooLarge}, fails: Quarantine},
	} {
		for _, stored := range []string{text, "the [REDACTED]"} {
			s := &Screen{Judge: &c.judge, Level: Balanced, Enforce: true, MaxBytes: c.max, OnFailure: c.fails, Tools: []string{"web", "write"}}
			v, err := s.Assess(t.Context(), Result{ID: "r", Tool: c.tool, Text: text, Stored: stored})
			if err != nil {
				t.Fatal(err)
			}
			r := recorded(t, v.Record())
			if got, want := r.Project(stored, "", whole), Project(v.Action, stored, ""); got != want {
				t.Errorf("%s, stored as %q: %q was shown, and then %q", name, stored, want, got)
			}
			if got := r.Project(stored+"!", "", whole); got != Withheld {
				t.Errorf("%s: of another text it shows %q", name, got)
			}
		}
	}
}

// TestRecordedWithDamage: a verdict that shows text shows none once a field says
// that it is about something else, or says nothing.
func TestRecordedWithDamage(t *testing.T) {
	const text, stored = "the text", "the [REDACTED]"
	for _, action := range []Action{Allow, Annotate} {
		for _, kept := range []string{text, stored} {
			good := (Verdict{Action: action, Enforced: true}).fields(Result{ID: "r", Text: text, Stored: kept}, "untrusted_tool_output", len(text), nil, judge.Answers{})
			if got, want := recorded(t, good).Project(kept, "", whole), Project(action, kept, ""); got != want {
				t.Fatalf("undamaged: %q, want %q", got, want)
			}
			fields := []string{"action", "assessed_bytes", "original_bytes"}
			if kept == text {
				fields = append(fields, "sha256")
			} else {
				fields = append(fields, "persisted_content")
			}
			for _, field := range fields {
				for _, v := range []any{nil, "", "x", -1, 7, 7.5, 1e300, true, []any{}, map[string]any{}, map[string]any{"bytes": len(kept)}} {
					bad := maps.Clone(good)
					bad[field] = v
					if got := recorded(t, bad).Project(kept, "", whole); got != Withheld {
						t.Errorf("%s of %q with %s %v: %q", action, kept, field, v, got)
					}
				}
				bad := maps.Clone(good)
				delete(bad, field)
				if got := recorded(t, bad).Project(kept, "", whole); got != Withheld {
					t.Errorf("%s of %q without %s: %q", action, kept, field, got)
				}
			}
		}
	}
}
