package turn

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"magicode/internal/provider"
	"magicode/internal/runner"
	"magicode/pkg/localagent"
)

// TestLimitsOfVersion1 passes each bound of a run exactly, and then by one.
func TestLimitsOfVersion1(t *testing.T) {
	v1 := runner.Limits{ContentBytes: localagent.MaxContentBytes, Segments: localagent.MaxSegments,
		Activities: localagent.MaxActivities, ActivityIDBytes: localagent.MaxActivityIDBytes}
	megabyte := strings.Repeat("many words go here. \n", 1<<20/21+1)[:1<<20]
	segment := func(n int) []provider.Event { // text, then a call whose arguments differ
		return []provider.Event{text("segment "), {Kind: provider.EventCall, Call: &provider.Call{ID: fmt.Sprint(n), Name: "x", Arguments: fmt.Sprintf(`{"path":"%d"}`, n)}}}
	}
	for name, c := range map[string]struct {
		requests int // that the model answers before it ends its turn
		reply    func(n int) []provider.Event
	}{
		"8 MiB of content": {1, func(int) []provider.Event { return repeat(text(megabyte), 8) }},
		"512 segments":     {512, func(n int) []provider.Event { return segment(n) }},
		"4096 activities":  {1, func(int) []provider.Event { return calls(4096) }},
	} {
		for _, over := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s over=%v", name, over), func(t *testing.T) {
				more := 0
				if over {
					more = 1
				}
				r := newRig(func(_ context.Context, n int, emit func(provider.Event) error) error {
					events := c.reply(n)
					switch {
					case name == "512 segments" && n == 512 && !over:
						events = []provider.Event{text("the last one")} // the 512th segment is the answer
					case name == "512 segments":
					case n > c.requests:
						events = nil
					case name == "8 MiB of content" && over:
						events = append(events, text("x"))
					case name == "4096 activities":
						events = calls(4096 + more)
					}
					for _, e := range events {
						if err := emit(e); err != nil {
							return err
						}
					}
					return nil
				})
				r.limits = v1
				f := r.run(t)
				if !over && (f.Outcome != localagent.OutcomeCompleted || f.Err != nil) {
					t.Errorf("at the bound: %+v", f)
				}
				if over && (f.Outcome != localagent.OutcomeFailed || !errors.Is(f.Err, runner.ErrContentLimit) || f.Persistence != localagent.PersistenceDurable) {
					t.Errorf("over the bound: %+v", f)
				}
				if name == "512 segments" && len(r.segments()) != 512 {
					t.Errorf("%d segments", len(r.segments()))
				}
			})
		}
	}
}

func repeat(e provider.Event, n int) []provider.Event {
	out := make([]provider.Event, n)
	for i := range out {
		out[i] = e
	}
	return out
}

func calls(n int) []provider.Event {
	out := make([]provider.Event, n)
	for i := range out {
		out[i] = provider.Event{Kind: provider.EventCall, Call: &provider.Call{ID: fmt.Sprintf("c%d", i), Name: "x", Arguments: fmt.Sprintf(`{"path":"%d"}`, i)}}
	}
	return out
}

// segments are the messages that were reconciled.
func (r *rig) segments() map[string]bool {
	out := map[string]bool{}
	for _, l := range r.taken {
		if f := strings.Fields(l); f[0] == "message.reconcile" {
			out[f[1]] = true
		}
	}
	return out
}
