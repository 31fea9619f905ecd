package app

import "time"

// quietAfter is after how long without an event a person at a terminal is told
// that the turn goes on. A model that thinks, a provider that is asked again after
// an error and a tool that runs are all silent on the wire.
const (
	quietAfter = 10 * time.Second
	quietMost  = 5 * time.Minute // between two times
)

// quiet knows how long nothing has happened. The zero value never says so.
type quiet struct {
	first time.Duration // 0: nobody wants to know
	c     <-chan time.Time
	timer *time.Timer
	since time.Time
	next  time.Duration
}

// begin starts anew: something has happened.
func (q *quiet) begin() {
	if q.first == 0 {
		return
	}
	q.since, q.next = time.Now(), q.first
	q.wait()
}

// again waits for the next time, twice as long, and returns how long nothing has
// happened.
func (q *quiet) again() time.Duration {
	q.next = min(2*q.next, quietMost)
	q.wait()
	return time.Since(q.since).Round(time.Second)
}

func (q *quiet) wait() {
	if q.timer == nil {
		q.timer = time.NewTimer(q.next)
		q.c = q.timer.C
		return
	}
	q.timer.Reset(q.next)
}

func (q *quiet) end() {
	if q.timer != nil {
		q.timer.Stop()
	}
}
