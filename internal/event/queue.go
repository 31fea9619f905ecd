package event

import (
	"errors"
	"slices"
	"sync"
	"time"

	"magicode/pkg/localagent"
	"magicode/telemetry"
)

// Errors of Emit.
var (
	// ErrUndeliverable: an event found no room for 2,000 ms, or the connection
	// ended. It stays so for the rest of the run, which fails with output_unavailable.
	ErrUndeliverable = errors.New("run events cannot be delivered")
	// ErrStopped: the run's worker has ended; what comes late is dropped.
	ErrStopped = errors.New("run events are no longer accepted")
)

// Queue holds at most 32 events of one run, in order. A full queue makes Try
// give its text back and Emit wait. All methods are safe for concurrent use.
type Queue struct {
	wake func()
	lost func()
	tel  telemetry.Tel
	run  telemetry.Span

	mu      sync.Mutex
	ring    [localagent.MaxWorkerEvents]Item
	head, n int
	waiters []*waiter // who waits for room, in order; the ring is full while there are any
	err     error     // what Emit returns from now on
	lostRun bool
	message string // of the last delta taken
	part    int    // the next one of it
}

type waiter struct {
	event Event
	done  chan error // capacity 1: nil when the event is in the ring
}

// NewQueue returns an empty queue. Each event that was put into it calls wake,
// and the first that cannot be delivered calls lost; both are called by the
// run's goroutine without a lock.
func NewQueue(tel telemetry.Tel, wake, lost func()) *Queue {
	return &Queue{wake: wake, lost: lost, tel: tel}
}

// Observe tells whose events these are, before the first one.
func (q *Queue) Observe(run telemetry.Span) { q.run = run }

// Try offers a delta and never waits. false: it was not taken, now or ever; the
// caller offers the text again with what follows it (decision 31). While output
// stalls, text of one message is merged into pieces of at most 4,000 bytes.
func (q *Queue) Try(d Delta) bool {
	taken, wake := q.tryDelta(d)
	if wake {
		q.wake()
	}
	return taken
}

func (q *Queue) tryDelta(d Delta) (taken, wake bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.err != nil {
		return false, false
	}
	if q.n > 0 && q.merge(d) {
		q.tel.DeltaMerged()
		return true, false
	}
	if q.n == len(q.ring) {
		return false, false
	}
	q.push(Item{delta: d})
	q.tel.DeltaQueued()
	return true, true
}

// merge adds d to the newest event if that is a delta of the same message.
func (q *Queue) merge(d Delta) bool {
	last := &q.ring[(q.head+q.n-1)%len(q.ring)]
	if last.event != nil || last.delta.MessageID != d.MessageID ||
		len(last.delta.Text)+len(d.Text) > localagent.MaxLiveTextBytes {
		return false
	}
	last.delta.Text += d.Text
	return true
}

// Emit puts an event into the queue. Where there is no room it waits at most
// 2,000 ms, whatever becomes of the run; after that nothing more of this run is
// delivered. The error is ErrUndeliverable or ErrStopped.
func (q *Queue) Emit(e Event) error {
	w, err := q.put(e)
	if err != nil {
		return err
	}
	if w != nil {
		if err := q.wait(w); err != nil {
			return err
		}
	}
	q.wake()
	return nil
}

// put queues e, or whoever waits to queue it.
func (q *Queue) put(e Event) (*waiter, error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.err != nil {
		return nil, q.err
	}
	if q.n < len(q.ring) {
		q.push(Item{event: e})
		return nil, nil
	}
	w := &waiter{event: e, done: make(chan error, 1)}
	q.waiters = append(q.waiters, w)
	return w, nil
}

func (q *Queue) wait(w *waiter) error {
	if q.tel.On() {
		defer q.waiting(w)()
	}
	timer := time.NewTimer(localagent.CriticalEventWait)
	defer timer.Stop()
	select {
	case err := <-w.done:
		return err
	case <-timer.C:
	}
	if q.giveUp(w) {
		q.lost()
	}
	return <-w.done
}

// waiting tells telemetry how long an event waits for room. It has a span once
// that is worth one.
func (q *Queue) waiting(w *waiter) func() {
	began, span := time.Now(), q.run.Begin(telemetry.SpanEventWait)
	span.Str(telemetry.KeyEvent, telemetry.WordOf(w.event.wire().name))
	return func() {
		q.tel.EventWaited(time.Since(began))
		outcome := "delivered"
		if q.Undeliverable() {
			outcome = "timeout"
		}
		span.Str(telemetry.KeyEventOutcome, telemetry.WordOf(outcome))
		span.End()
	}
}

// giveUp ends the run's delivery, unless w got its room in the last moment. It
// reports whether it was the first to do so.
func (q *Queue) giveUp(w *waiter) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	if !slices.Contains(q.waiters, w) {
		return false
	}
	q.lostRun = true
	q.refuse(ErrUndeliverable)
	return true
}

// Lose makes every pending and later Emit fail with ErrUndeliverable: nobody
// takes events any more.
func (q *Queue) Lose() {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.err == nil {
		q.lostRun = true
		q.refuse(ErrUndeliverable)
	}
}

// Stop makes every pending and later Emit fail with ErrStopped. What is in the
// queue stays.
func (q *Queue) Stop() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.refuse(ErrStopped)
}

func (q *Queue) refuse(err error) {
	q.err = err
	for _, w := range q.waiters {
		w.done <- err
	}
	q.waiters = nil
}

// Undeliverable reports whether an event of the run was lost.
func (q *Queue) Undeliverable() bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.lostRun
}

// Take removes the oldest event and numbers it, if it is a delta. The longest
// waiting Emit gets the room.
func (q *Queue) Take() (Item, bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.n == 0 {
		return Item{}, false
	}
	item := q.ring[q.head]
	q.ring[q.head] = Item{}
	q.head = (q.head + 1) % len(q.ring)
	q.n--
	if len(q.waiters) > 0 {
		w := q.waiters[0]
		q.waiters = q.waiters[1:]
		q.push(Item{event: w.event})
		w.done <- nil
	}
	if item.event == nil {
		item.part = q.number(item.delta.MessageID)
	}
	return item, true
}

// number gives out part numbers. Messages do not alternate: a segment that has
// closed gets no more deltas.
func (q *Queue) number(messageID string) int {
	if q.message != messageID {
		q.message, q.part = messageID, 0
	}
	q.part++
	return q.part - 1
}

func (q *Queue) push(i Item) {
	q.ring[(q.head+q.n)%len(q.ring)] = i
	q.n++
	q.tel.WorkerEvents(q.n)
}
