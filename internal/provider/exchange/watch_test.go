package exchange

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"
)

// Reads that are short keep a stream alive for as long as it likes; the one
// that is long is cancelled at its own bound, not at one that was left over
// from a read before it.
func TestWatchdogCountsTheReadThatGoesOn(t *testing.T) {
	for _, c := range []struct {
		name     string
		semantic time.Duration
		state    State
		quiet    time.Duration // of the last read
		want     error
	}{
		{"idle", time.Hour, Open, idleTimeout, errIdle},
		{"semantic", 30 * time.Second, Open, 30 * time.Second, errSemantic},
		{"linger", time.Hour, Terminal, lingerTimeout, errLinger},
		{"drain", time.Hour, Final, drainTimeout, errLinger},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) { watched(t, c.semantic, c.state, c.quiet, c.want) })
		})
	}
}

func watched(t *testing.T, semantic time.Duration, state State, quiet time.Duration, want error) {
	ctx, cancel := context.WithCancelCause(t.Context())
	defer cancel(nil)
	w := newWatchdog(cancel, semantic)
	defer w.stop()
	for range 500 { // pieces a second apart, each handled for longer than any bound of a read
		w.arm(Open)
		time.Sleep(time.Second)
		w.disarm()
		time.Sleep(3 * idleTimeout)
		w.progress()
	}
	if ctx.Err() != nil {
		t.Fatalf("cancelled while all reads were short: %v", context.Cause(ctx))
	}
	began := time.Now()
	w.arm(state)
	<-ctx.Done()
	if took := time.Since(began); took != quiet || !errors.Is(context.Cause(ctx), want) {
		t.Errorf("after %v: %v; want after %v: %v", took, context.Cause(ctx), quiet, want)
	}
}

func TestWatchdogStopped(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancelCause(t.Context())
		defer cancel(nil)
		w := newWatchdog(cancel, time.Second)
		w.arm(Open)
		w.stop()
		time.Sleep(time.Hour)
		if ctx.Err() != nil {
			t.Errorf("cancelled after its end: %v", context.Cause(ctx))
		}
	})
}
