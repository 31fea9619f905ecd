package server

import (
	"context"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"magicode/telemetry/reader/spantest"
)

// TestStuckWorkersAreCaptured: of each kind of worker that does not end, the capture says
// that it was waited for until the cleanup was given up (T-26).
func TestStuckWorkersAreCaptured(t *testing.T) {
	const forever = time.Hour
	for worker, row := range map[string]struct {
		b    *backend
		send []string
	}{
		"startup": {&backend{start: func(context.Context) error { time.Sleep(forever); return nil }},
			[]string{req("i", "initialize", `{"required_capabilities":[]}`)}},
		"session": {&backend{open: func(context.Context, string) (Attached, error) { time.Sleep(forever); return Attached{}, nil }},
			[]string{req("i", "initialize", `{"required_capabilities":[]}`), req("o", "session.open", `{"session_id":"x"}`)}},
		"turn": {stuck(forever), []string{req("i", "initialize", `{"required_capabilities":[]}`), req("c", "session.create", `{}`),
			req("t", "turn.start", `{"session_id":"s1","prompt":"p"}`)}},
	} {
		t.Run(worker, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				p := spantest.New(t)
				row.b.tel = p.Tel
				r := newRig(t, row.b)
				for _, line := range row.send {
					r.send(line)
					synctest.Wait()
				}
				r.eof()
				time.Sleep(5 * time.Second) // what the drain and the teardown have, and one more
				exit, over := r.ended()
				if !over || !exit.Detached {
					t.Fatalf("over %v: %+v", over, exit)
				}
				seen := map[string]int{}
				for _, s := range p.Spans() {
					if s.Name == "magi.cleanup.join" {
						seen[fmt.Sprint(s.Attributes["magi.worker"], " cut ", s.Attributes["magi.span.cut"])]++
					}
				}
				if len(seen) != 1 || seen[worker+" cut true"] != 1 {
					t.Errorf("waited for %v", seen)
				}
				time.Sleep(2 * forever) // a process would be gone
			})
		})
	}
}
