package attach

import (
	"testing"

	"magicode/telemetry"
	"magicode/telemetry/reader/spantest"
)

// TestProjectSpan: making a snapshot takes 50 ms.
func TestProjectSpan(t *testing.T) {
	p := spantest.New(t)
	s := newService(t, newFakeStore())
	s.opts.Tel = p.Tel
	id := s.opts.NewID
	s.opts.NewID = func() string { p.Delay(); return id() }
	if _, err := s.Create(p.Context()); err != nil {
		t.Fatal(err)
	}
	p.Sees(telemetry.SpanHistoryProject)
}
