package startup

import (
	"context"
	"testing"

	"magicode/telemetry"
	"magicode/telemetry/reader/spantest"
)

// TestReadinessSpan: asking the provider takes 50 ms.
func TestReadinessSpan(t *testing.T) {
	p := spantest.New(t)
	w := newWorld(t)
	w.settings(`{"agent":{"model":{"provider":"claude-subscription","model":"m"}}}`)
	w.env.Telemetry = p.Tel
	w.env.ClaudeReady = func(context.Context) bool { p.Delay(); return true }
	if _, _, err := Start(p.Context(), w.env); err != nil {
		t.Fatal(err)
	}
	p.Sees(telemetry.SpanStartupReadiness)
}
