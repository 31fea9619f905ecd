package otlp

import "time"

// Figures of the breaker (telemetry.md 9.3).
const (
	failuresToOpen = 3
	firstPause     = 30 * time.Second
	longestPause   = 5 * time.Minute
)

// breaker keeps an exporter from an endpoint that does not answer: after three
// failures in a row it is left alone for 30 seconds, then asked once, and left
// alone twice as long each time that fails. It is for one goroutine.
type breaker struct {
	failures int
	pause    time.Duration // zero: closed
	until    time.Time
}

// open reports whether nothing may be sent now.
func (b *breaker) open(now time.Time) bool { return b.pause > 0 && now.Before(b.until) }

// tripped reports whether the last that was heard was trouble.
func (b *breaker) tripped() bool { return b.pause > 0 }

func (b *breaker) good() { *b = breaker{} }

func (b *breaker) bad(now time.Time) {
	b.failures++
	switch {
	case b.failures < failuresToOpen:
		return
	case b.pause == 0:
		b.pause = firstPause
	default:
		b.pause = min(2*b.pause, longestPause)
	}
	b.until = now.Add(b.pause)
}
