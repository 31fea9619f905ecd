package exchange

import (
	"context"
	"errors"
	"math/rand/v2"
	"testing"
	"testing/synctest"
	"time"
)

// Any reads, of any states and lengths: the first one that is longer than its
// own bound is cancelled at that bound, and none before it, however the bounds
// of the others lay.
func TestWatchdogOfAnyReads(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 2))
	for round := range 300 {
		synctest.Test(t, func(t *testing.T) {
			ctx, cancel := context.WithCancelCause(t.Context())
			defer cancel(nil)
			semantic := []time.Duration{time.Second, 60 * time.Second, time.Hour}[r.IntN(3)]
			w := newWatchdog(cancel, semantic)
			defer w.stop()
			deadline := time.Now().Add(semantic)
			for range 60 {
				state := []State{Open, Open, Terminal, Final}[r.IntN(4)]
				bound, want := bound(state, time.Until(deadline))
				length := max(bound, 0) + []time.Duration{-1, -1, -bound / 2, -bound / 3, -bound + 1, 1}[r.IntN(6)]
				if length == bound && bound > 0 {
					length-- // at the bound itself both are right
				}
				w.arm(state)
				began := time.Now()
				if length > bound || bound <= 0 {
					<-ctx.Done()
					if time.Since(began) != max(bound, 0) || !errors.Is(context.Cause(ctx), want) {
						t.Fatalf("round %d: after %v: %v; want after %v: %v", round, time.Since(began), context.Cause(ctx), bound, want)
					}
					return
				}
				time.Sleep(length)
				w.disarm()
				synctest.Wait()
				if ctx.Err() != nil {
					t.Fatalf("round %d: a read of %v of %v: %v", round, length, bound, context.Cause(ctx))
				}
				if r.IntN(2) == 0 {
					w.progress()
					deadline = time.Now().Add(semantic)
				}
				time.Sleep([]time.Duration{0, 1, lingerTimeout, 2 * idleTimeout}[r.IntN(4)])
			}
		})
	}
}

func bound(state State, semantic time.Duration) (time.Duration, error) {
	switch {
	case state == Terminal:
		return lingerTimeout, errLinger
	case state == Final:
		return drainTimeout, errLinger
	case semantic < idleTimeout:
		return semantic, errSemantic
	}
	return idleTimeout, errIdle
}
