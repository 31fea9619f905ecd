package server

import (
	"context"
	"net"
	"testing"
	"time"

	"magicode/internal/event"
	"magicode/pkg/client"
	"magicode/pkg/localagent"
	"magicode/telemetry"
	"magicode/telemetry/reader/spantest"
)

// TestJoinSpan: a run that was cancelled takes 50 ms to end, behind the time
// that output has to drain, in which it is waited for anyway.
func TestJoinSpan(t *testing.T) {
	t.Parallel()
	p := spantest.New(t)
	b := &backend{newRun: func(RunRequest) (Run, error) {
		return &fakeRun{do: func(ctx context.Context) event.Finished {
			f := untilCancelled(ctx)
			time.Sleep(localagent.OutputDeadline + 100*time.Millisecond)
			p.Delay()
			return f
		}}, nil
	}}
	here, there := net.Pipe()
	c := client.New(here, here, nil)
	ended := make(chan Exit, 1)
	go func() {
		ended <- Serve(context.Background(), Config{Transport: there, Startup: b, NewID: func() string { return "r1" }, InstanceID: "00000000-0000-4000-8000-000000000000", Tel: p.Tel})
	}()
	ctx := t.Context()
	_, err := c.Initialize(ctx)
	if err == nil {
		_, err = c.CreateSession(ctx)
	}
	if err == nil {
		_, err = c.StartTurn(ctx, "s1", "hi")
	}
	if err != nil {
		t.Fatal(err)
	}
	here.Close() // nobody takes what the run has to say at its end
	<-ended
	p.Sees(telemetry.SpanCleanupJoin)
}
