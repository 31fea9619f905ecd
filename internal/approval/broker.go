package approval

import (
	"context"
	"errors"
	"sync"
	"time"

	"magicode/telemetry"
)

// ErrStale: no such question is open (wrong, answered, expired or cancelled).
var ErrStale = errors.New("no such approval is pending")

// Request is a question as it is announced.
type Request struct {
	ID      string
	Summary string
	Expires time.Duration
}

// Announce puts a question to the user. It calls started once, when the
// question is queued for output; its error is the asker's error.
type Announce func(ctx context.Context, r Request, started func()) error

// Answer is how a question ended.
type Answer uint8

const (
	Denied Answer = iota
	Allowed
	Expired
)

// Broker asks one question at a time. It is safe for concurrent use.
type Broker struct {
	announce Announce
	newID    func() string
	expiry   time.Duration
	// Tel may be set before the first question.
	Tel  telemetry.Tel
	turn chan struct{} // holds one token: whose question may be open; waiters are served in order

	mu      sync.Mutex
	pending *question
}

type question struct {
	id      string
	ctx     context.Context
	span    telemetry.Span
	started chan struct{} // closed when the minute begins
	answer  chan bool     // capacity 1: the winning reply

	stale    int64 // answers to others while this one was open; guarded by the broker's mu
	once     sync.Once
	deadline time.Time // settled when started is closed; guarded by the broker's mu
}

// NewBroker returns a broker whose questions expire after expiry, counted from
// the moment each one is announced.
func NewBroker(announce Announce, newID func() string, expiry time.Duration) *Broker {
	b := &Broker{announce: announce, newID: newID, expiry: expiry, turn: make(chan struct{}, 1)}
	b.turn <- struct{}{}
	return b
}

// Ask puts a question and waits for its end. Waiting for a turn in the queue
// does not count against the expiry. The error is the context's cause or the
// announcement's; both mean denied.
func (b *Broker) Ask(ctx context.Context, summary string) (Answer, error) {
	if err := b.queue(ctx); err != nil {
		return Denied, err
	}
	defer func() { b.turn <- struct{}{} }()
	ctx, span := b.Tel.Begin(ctx, telemetry.SpanApprovalWait)
	defer span.End()
	answer, err := b.ask(ctx, summary, span)
	if span.On() {
		span.Str(telemetry.KeyApprovalOutcome, telemetry.WordOf(outcomeWord(ctx, answer, err)))
	}
	return answer, err
}

// queue waits for the one place.
func (b *Broker) queue(ctx context.Context) error {
	select {
	case <-b.turn:
		return nil
	default:
	}
	b.Tel.ApprovalsQueued(1)
	defer b.Tel.ApprovalsQueued(-1)
	select {
	case <-b.turn:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// outcomeWord is telemetry's word for the end of a question.
func outcomeWord(ctx context.Context, a Answer, err error) string {
	switch {
	case ctx.Err() != nil:
		return "cancelled"
	case err != nil:
		return "undelivered"
	case a == Allowed:
		return "allow"
	case a == Expired:
		return "expired"
	}
	return "deny"
}

// ask puts the one question that may be open.
func (b *Broker) ask(ctx context.Context, summary string, span telemetry.Span) (Answer, error) {
	if err := context.Cause(ctx); err != nil {
		return Denied, err
	}
	q := &question{id: b.newID(), ctx: ctx, span: span, started: make(chan struct{}), answer: make(chan bool, 1)}
	b.set(q)
	defer b.set(nil)
	span.Name(telemetry.KeyApprovalHash, telemetry.WireID(q.id))
	span.Dur(telemetry.KeyApprovalExpiresMS, b.expiry)
	err := b.announce(ctx, Request{ID: q.id, Summary: summary, Expires: b.expiry}, func() {
		b.start(q)
		span.Event(telemetry.EventRequestedQueued)
	})
	if err != nil {
		return Denied, err
	}
	return b.wait(ctx, q)
}

// start begins the minute: when the question is queued for output, not while
// room for it was waited for. It takes no lock for longer than an assignment.
func (b *Broker) start(q *question) {
	q.once.Do(func() {
		b.mu.Lock()
		q.deadline = time.Now().Add(b.expiry)
		b.mu.Unlock()
		close(q.started)
	})
}

func (b *Broker) wait(ctx context.Context, q *question) (Answer, error) {
	select {
	case <-q.started:
	case <-ctx.Done():
		return Denied, context.Cause(ctx)
	}
	timer := time.NewTimer(b.expiry)
	defer timer.Stop()
	select {
	case allow := <-q.answer:
		return b.judge(ctx, allow)
	case <-ctx.Done():
		return Denied, context.Cause(ctx)
	case <-timer.C:
		return b.expire(q), nil
	}
}

// judge looks again at both conditions before a command may run: an answer
// that came in time does not outlive a cancellation.
func (b *Broker) judge(ctx context.Context, allow bool) (Answer, error) {
	if err := context.Cause(ctx); err != nil {
		return Denied, err
	}
	if allow {
		return Allowed, nil
	}
	return Denied, nil
}

// expire closes the question; an answer recorded in the same instant counts.
func (b *Broker) expire(q *question) Answer {
	b.set(nil)
	select {
	case allow := <-q.answer:
		if allow {
			return Allowed
		}
		return Denied
	default:
		return Expired
	}
}

func (b *Broker) set(q *question) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.pending = q
}

// Answer records a reply. Exactly one reply to each question returns nil.
func (b *Broker) Answer(id string, allow bool) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	q := b.pending
	if q == nil || q.id != id || q.ctx.Err() != nil || q.expired() {
		if q != nil {
			q.stale++
			q.span.Int(telemetry.KeyStaleAnswers, q.stale)
		}
		return ErrStale
	}
	b.pending = nil
	q.answer <- allow
	q.span.Event(telemetry.EventAnswered)
	return nil
}

// expired: a question that was not announced yet has no end. Needs the broker's mu.
func (q *question) expired() bool {
	return !q.deadline.IsZero() && !time.Now().Before(q.deadline)
}
