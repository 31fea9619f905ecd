package telemetry

import (
	"testing"
	"time"
)

// TestMargin: near misses are counted below half a second, not at it, and a
// frame that left at once had all its time.
func TestMargin(t *testing.T) {
	now := time.Now()
	tel := New(nil, now)
	for _, left := range []time.Duration{499 * time.Millisecond, 500 * time.Millisecond, 501 * time.Millisecond, -time.Millisecond} {
		tel.FrameWritten(now, now.Add(left), 1, FrameResponse, 0)
	}
	tel.FrameWritten(time.Time{}, time.Time{}, 1, FrameMessageDelta, 0)
	hot := tel.core().hot
	if n := hot.nearMisses.Load(); n != 2 {
		t.Errorf("%d near misses", n)
	}
	p := hot.margin.point(perSecond)
	if p.Count != 5 || p.Buckets[0] != 1 || p.Buckets[4] != 2 || p.Buckets[5] != 1 || p.Buckets[13] != 1 {
		t.Errorf("margins: %+v", p)
	}
}

// TestPeaksPerReader: each reader has the greatest value since its own last look.
func TestPeaksPerReader(t *testing.T) {
	h := newHotInstruments()
	var a, b peaks
	h.pending.set(7)
	h.pending.set(2)
	h.raise(&a, &b)
	if a.pending != 7 || b.pending != 7 {
		t.Errorf("peaks %d %d", a.pending, b.pending)
	}
	a = peaks{} // a has looked
	h.pending.set(3)
	h.pending.set(0)
	h.raise(&a, &b)
	if a.pending != 3 || b.pending != 7 {
		t.Errorf("peaks %d %d", a.pending, b.pending)
	}
}

func BenchmarkHotFrame(b *testing.B) {
	tel := New(nil, time.Now())
	b.ReportAllocs()
	for b.Loop() {
		tel.FrameQueued(1)
		tel.WriteCall(400, false)
		tel.FrameWritten(time.Time{}, time.Time{}, 400, FrameMessageDelta, 0)
	}
}
