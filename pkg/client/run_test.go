package client

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"magicode/pkg/localagent"
)

var persisted = Event{Name: localagent.EventInputPersisted, MessageID: "u"}

func delta(id string, part int, text string) Event {
	return Event{Name: localagent.EventMessageDelta, MessageID: id, Part: part, Text: text}
}

func whole(id, text string, partial bool) Event { return part(id, 0, text, true, partial) }

func part(id string, n int, text string, last, partial bool) Event {
	return Event{Name: localagent.EventMessageReconcile, MessageID: id, Part: n, Text: text, LastPart: last, Partial: partial}
}

func finished(outcome, persistence string, code localagent.Code) Event {
	ev := Event{Name: localagent.EventRunFinished, Outcome: outcome, Persistence: persistence}
	if code != "" {
		ev.ErrorCode = &code
	}
	return ev
}

var completed = finished(localagent.OutcomeCompleted, localagent.PersistenceDurable, "")

// apply plays events into a run and returns what it shows: a line per message.
func apply(events []Event) (*Run, []string, error) {
	r := NewRun("s1", "run1")
	for _, ev := range events {
		ev.SessionID, ev.RunID = "s1", "run1"
		if err := r.Apply(ev); err != nil {
			return r, nil, err
		}
	}
	var shown []string
	for _, m := range r.Messages {
		text, complete := m.Text()
		line := fmt.Sprintf("%s %q", m.ID, text)
		if complete {
			line += " complete"
		}
		if m.Partial {
			line += " partial"
		}
		if m.Gap() {
			line += " gap"
		}
		shown = append(shown, line)
	}
	return r, shown, nil
}

func TestReconciliation(t *testing.T) {
	for name, test := range map[string]struct {
		events []Event
		want   string
	}{
		"deltas":                        {[]Event{persisted, delta("a", 0, "he"), delta("a", 1, "llo")}, `a "hello"`},
		"a missing delta":               {[]Event{persisted, delta("a", 0, "he"), delta("a", 2, "o")}, `a "heo" gap`},
		"still missing later":           {[]Event{persisted, delta("a", 0, "he"), delta("a", 2, "l"), delta("a", 3, "o")}, `a "helo" gap`},
		"the first delta missing":       {[]Event{persisted, delta("a", 3, "o")}, `a "o" gap`},
		"replaced":                      {[]Event{persisted, delta("a", 0, "he"), delta("a", 2, "o"), whole("a", "hello", true)}, `a "hello" complete partial`},
		"not appended":                  {[]Event{persisted, whole("a", "one", true), whole("a", "one two", false)}, `a "one two" complete`},
		"without deltas":                {[]Event{persisted, whole("a", "", false)}, `a "" complete`},
		"in parts":                      {[]Event{persisted, part("a", 0, "one ", false, true), part("a", 1, "two", true, true)}, `a "one two" complete partial`},
		"half of it changes nothing":    {[]Event{persisted, delta("a", 0, "old"), part("a", 0, "new ", false, true)}, `a "old"`},
		"half of a later one":           {[]Event{persisted, whole("a", "first", true), part("a", 0, "sec", false, false)}, `a "first" complete partial`},
		"deltas after it go on":         {[]Event{persisted, delta("a", 0, "x"), whole("a", "one", true), delta("a", 1, " two")}, `a "one two" partial`},
		"a gap after it":                {[]Event{persisted, delta("a", 0, "x"), whole("a", "one", true), delta("a", 2, "!")}, `a "one!" partial gap`},
		"segments stay apart":           {[]Event{persisted, whole("a", "one", true), delta("b", 0, "two")}, `a "one" complete partial|b "two"`},
		"the end of a run":              {[]Event{persisted, whole("a", "one", true), whole("b", "two", true), whole("a", "one", false), whole("b", "two", false), completed}, `a "one" complete|b "two" complete`},
		"kept on cancellation":          {[]Event{persisted, delta("a", 0, "pa"), whole("a", "part", true), finished("cancelled", "durable", "")}, `a "part" complete partial`},
		"output lost":                   {[]Event{persisted, delta("a", 0, "pa"), finished("failed", "durable", localagent.CodeOutputUnavailable)}, `a "pa"`},
		"failed before the input":       {[]Event{finished("failed", "not_started", localagent.CodeStaleRevision)}, ``},
		"input that cannot be shown":    {[]Event{finished("failed", "degraded", localagent.CodeHistoryLimit)}, ``},
		"a diagnostic before the input": {[]Event{{Name: localagent.EventDiagnostic}, persisted}, ``},
	} {
		t.Run(name, func(t *testing.T) {
			_, shown, err := apply(test.events)
			if got := strings.Join(shown, "|"); err != nil || got != test.want {
				t.Errorf("%s, %v; want %s", got, err, test.want)
			}
		})
	}
}

func TestRunViolations(t *testing.T) {
	tool := Event{Name: localagent.EventActivity, ActivityID: "t", Kind: "tool", State: "started", Activity: "read x"}
	many := func(n int, ev func(i int) Event) []Event {
		out := []Event{persisted}
		for i := range n {
			out = append(out, ev(i))
		}
		return out
	}
	for name, events := range map[string][]Event{
		"delta again":                    {persisted, delta("a", 0, "x"), delta("a", 0, "x")},
		"delta backwards":                {persisted, delta("a", 1, "x"), delta("a", 0, "x")},
		"reconciliation from part one":   {persisted, part("a", 1, "x", true, true)},
		"a part is missing":              {persisted, part("a", 0, "x", false, true), part("a", 2, "x", true, true)},
		"a part again":                   {persisted, part("a", 0, "x", false, true), part("a", 0, "x", true, true)},
		"parts that differ in partial":   {persisted, part("a", 0, "x", false, true), part("a", 1, "x", true, false)},
		"an end within a reconciliation": {persisted, part("a", 0, "x", false, false), completed},
		"an end without reconciliation":  {persisted, delta("a", 0, "x"), completed},
		"an end after further deltas":    {persisted, whole("a", "x", true), delta("a", 0, "y"), completed},
		"an event after the end":         {persisted, completed, tool},
		"a delta before the input":       {delta("a", 0, "x")},
		"an activity before the input":   {tool},
		"an approval before the input":   {{Name: localagent.EventApprovalRequested, ApprovalID: "a"}},
		"the input twice":                {persisted, persisted},
		"completed without the input":    {completed},
		"not started after the input":    {persisted, finished("failed", "not_started", localagent.CodeExecutionFailed)},
		"more than 512 messages":         many(513, func(i int) Event { return whole(fmt.Sprint("m", i), "x", true) }),
		"more than 4,096 activities":     many(4097, func(i int) Event { ev := tool; ev.ActivityID = fmt.Sprint("t", i); return ev }),
		"more text than a run may hold":  many(9000, func(i int) Event { return delta("a", i, strings.Repeat("x", 4000)) }),
	} {
		t.Run(name, func(t *testing.T) {
			r, _, err := apply(events)
			if !errors.Is(err, ErrProtocol) {
				t.Errorf("%v", err)
			}
			if n := len(r.Messages); n > 512 || len(r.Activities) > 4096 {
				t.Errorf("%d messages, %d activities", n, len(r.Activities))
			}
		})
	}
	r := NewRun("s1", "run1")
	for _, ev := range []Event{{SessionID: "s2", RunID: "run1"}, {SessionID: "s1", RunID: "run2"}} {
		ev.Name = localagent.EventInputPersisted
		if err := r.Apply(ev); !errors.Is(err, ErrProtocol) || r.Persisted {
			t.Errorf("%+v: %v", ev, err)
		}
	}
}

// TestManyReconciliations: replaced text is not counted against the bound.
func TestManyReconciliations(t *testing.T) {
	events := []Event{persisted}
	for range 10_000 {
		events = append(events, whole("a", strings.Repeat("x", 4000), true))
	}
	if _, _, err := apply(append(events, completed)); err != nil {
		t.Error(err)
	}
}

// TestActivities: started may come again; kind and name keep their first values.
func TestActivities(t *testing.T) {
	state := func(id, state, name string) Event {
		return Event{Name: localagent.EventActivity, ActivityID: id, Kind: "tool", State: state, Activity: name}
	}
	r, _, err := apply([]Event{persisted, state("a", "started", "first"), state("a", "started", "second"), state("b", "started", "b"), state("a", "completed", "third")})
	if err != nil || len(r.Activities) != 2 || *r.Activities[0] != (Activity{ID: "a", Kind: "tool", Name: "first", State: "completed"}) || r.Activities[1].State != "started" {
		t.Errorf("%v %+v", err, r.Activities)
	}
}
