package telemetry

import (
	"context"
	"testing"
	"time"
)

// TestEndsDuringDecision: a request that ends in the middle of the decision, when it
// has an identity and nothing reports yet, is captured once, as others are.
func TestEndsDuringDecision(t *testing.T) {
	dir := stateDir(t)
	tel := New([]string{"MC_TELEMETRY=file"}, time.Now())
	_, first := tel.Begin(context.Background(), SpanRequest)
	_, last := tel.Begin(context.Background(), SpanRequest)
	last.s.mu.Lock() // the decision comes to it, and no further
	decided := make(chan struct{})
	go func() {
		defer close(decided)
		tel.Start(nil, Identity{InstanceID: instance, StateDir: dir})
	}()
	for named := false; !named; time.Sleep(time.Millisecond) {
		first.s.mu.Lock()
		named = first.s.id.valid()
		first.s.mu.Unlock()
	}
	crash := make(chan any)
	go func() {
		defer func() { crash <- recover() }()
		first.End()
	}()
	for ended := false; !ended; time.Sleep(time.Millisecond) {
		first.s.mu.Lock()
		ended = first.s.ended
		first.s.mu.Unlock()
	}
	time.Sleep(10 * time.Millisecond)
	last.s.mu.Unlock()
	if c := <-crash; c != nil {
		t.Fatal(c)
	}
	<-decided
	last.End()
	if n := len(capturedSpans(t, stop(t, tel, dir)["traces"])); n != 2 {
		t.Errorf("%d spans of 2", n)
	}
}
