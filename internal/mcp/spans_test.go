package mcp

import (
	"context"
	"testing"

	"magicode/telemetry"
	"magicode/telemetry/reader/spantest"
)

// slowToTell is a server that takes its time to be told.
type slowToTell struct{ tellIt func() }

func (slowToTell) send(context.Context, int64, []byte) error { return nil }
func (s slowToTell) tell()                                   { s.tellIt() }
func (slowToTell) wait(context.Context, stepped) error       { return nil }

// TestRequestSpan: telling the servers to end takes 50 ms.
func TestRequestSpan(t *testing.T) {
	p := spantest.New(t)
	m := &Manager{tel: p.Tel}
	for i, tell := range []func(){p.Delay, func() {}} {
		l := &link{label: labelOf(i), peer: newPeer(), tel: p.Tel, transport: slowToTell{tell}}
		l.peer.start(l.transport)
		m.links = append(m.links, l)
	}
	if err := m.Stop(p.Context()); err != nil {
		t.Fatal(err)
	}
	p.Sees(telemetry.SpanCleanupMCPRequest)
}
