package event

import (
	"testing"
	"time"

	"magicode/telemetry"
	"magicode/telemetry/reader/spantest"
)

// TestWaitSpan: there is room for an event after 50 ms.
func TestWaitSpan(t *testing.T) {
	p := spantest.New(t)
	q := NewQueue(p.Tel, func() {}, func() { t.Error("lost") })
	q.Observe(telemetry.Current(p.Context()))
	fill(t, q)
	done := make(chan error)
	go func() { done <- q.Emit(notice(99)) }()
	for waits := false; !waits; time.Sleep(time.Millisecond) {
		q.mu.Lock()
		waits = len(q.waiters) > 0
		q.mu.Unlock()
	}
	time.Sleep(20 * time.Millisecond) // it has a span by now, which nothing else tells
	p.Delay()
	if _, ok := q.Take(); !ok {
		t.Fatal("nothing to take")
	}
	if err := <-done; err != nil {
		t.Fatal(err)
	}
	p.Sees(telemetry.SpanEventWait)
}
