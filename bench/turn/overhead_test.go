//go:build unix

package turn

import (
	"context"
	"testing"
	"time"

	"magicode/internal/racetest"
	"magicode/telemetry"
)

// frameHooks are the calls that one request and its answer make, and those of an
// event on its way, all together more than any single frame has.
func frameHooks(t telemetry.Tel, ctx context.Context, now, late time.Time) {
	t.FrameIn(now, time.Microsecond, 180, telemetry.FrameRequest)
	_, s := t.Begin(ctx, telemetry.SpanRequest)
	s.Str(telemetry.KeyMethod, 1)
	s.Event(telemetry.EventResponseQueued)
	s.End()
	t.FrameQueued(1)
	t.WriteCall(420, false)
	t.FrameWritten(now, late, 420, telemetry.FrameResponse, 0)
	t.WorkerEvents(1)
	t.EventWaited(time.Millisecond)
	t.DeltaQueued()
}

// TestHooksThatAreOff: 0 allocations, and less than 1 % of the time that a status
// takes over two pipes, both measured here and now. The least of several is taken
// of both: what else the machine does can only add.
func TestHooksThatAreOff(t *testing.T) {
	tel := telemetry.New([]string{"MC_TELEMETRY=off"}, time.Now())
	ctx, now := context.Background(), time.Now()
	late := now.Add(2 * time.Second)
	if n := testing.AllocsPerRun(100, func() { frameHooks(tel, ctx, now, late) }); n != 0 {
		t.Errorf("%v allocations", n)
	}
	c, _ := serve(t, newHome(t, "http://127.0.0.1:1/v1"), nil)
	const rounds, requests, calls = 10, 300, 100_000 // a child has 4,096 requests
	frame, hooks := time.Hour, time.Hour
	for range rounds {
		from := time.Now()
		for range requests {
			if _, err := c.Ask("status", `{}`); err != nil {
				t.Fatal(err)
			}
		}
		frame = min(frame, time.Since(from)/requests)
		from = time.Now()
		for range calls {
			frameHooks(tel, ctx, now, late)
		}
		hooks = min(hooks, time.Since(from)/calls)
	}
	share := 100 * float64(hooks) / float64(frame)
	t.Logf("a status takes %v, its hooks %v: %.2f %%", frame, hooks, share)
	if share >= 1 && !racetest.On {
		t.Errorf("hooks that are off take %.2f %% of a frame", share)
	}
}
