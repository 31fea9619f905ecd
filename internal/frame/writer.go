package frame

import (
	"errors"
	"os"
	"sync"
	"time"

	"magicode/pkg/localagent"
	"magicode/telemetry"
)

// How output ends. Each is final: nothing is written after it.
var (
	// ErrOverflow: a 33rd frame was queued.
	ErrOverflow = errors.New("output queue overflow")
	// ErrDeadline: the oldest frame was not written 2,000 ms after it was queued.
	ErrDeadline = errors.New("output deadline exceeded")
	// ErrFrameBound: a frame of more than 65,536 bytes was queued.
	ErrFrameBound = errors.New("output frame too large")
)

// keepBytes is the capacity that an empty buffer may keep: two of the largest frames.
const keepBytes = 2 * localagent.MaxFrameBytes

// Owner is who owns a Writer and all other state of the connection. Its lock
// guards the Writer; the callbacks are made with the lock held.
type Owner interface {
	sync.Locker
	// Drained is called after the writer's own goroutine has made room.
	Drained()
	// Broken is called once, when output has ended: with ErrOverflow,
	// ErrDeadline, ErrFrameBound or the transport's error.
	Broken(err error)
}

// Writer queues frames in order, at most 32, and writes them. Each has an
// absolute deadline 2,000 ms after it was queued, which partial writes do not
// move (protocol, "Bounds").
//
// While the transport has room, Flush writes in the caller's goroutine, all
// queued frames with one call. Only a stalled transport, and one without
// TryWrite, has a goroutine, which ends with the stall. All methods need the
// owner's lock held.
type Writer struct {
	own Owner
	t   Transport
	try TryWriter // nil: every frame goes through the goroutine
	tel telemetry.Tel

	buf  []byte // buf[off:] is the unsent rest of the queued frames
	off  int
	sent int // of the oldest frame

	queue [localagent.MaxPendingFrames]queued // a ring
	head  int
	n     int

	stalled   bool // the goroutine runs
	stall     telemetry.Span
	peak      int           // of the queue during the stall
	oldestAge time.Duration // the greatest of a frame during the stall
	err       error
	wg        sync.WaitGroup
}

type queued struct {
	size     int
	kind     telemetry.FrameKind
	deadline time.Time // zero until somebody needs it: no clock is read for a frame that leaves at once
}

// NewWriter returns a Writer to t, which remains the caller's to close.
func NewWriter(t Transport, own Owner, tel telemetry.Tel) *Writer {
	try, _ := t.(TryWriter)
	return &Writer{own: own, t: t, try: try, tel: tel}
}

// Len returns the number of queued frames, a partly written one included.
func (w *Writer) Len() int { return w.n }

// Room returns how many more frames can be queued.
func (w *Writer) Room() int { return len(w.queue) - w.n }

// Full reports whether another frame would be one too many.
func (w *Writer) Full() bool { return w.Room() == 0 }

// Begin makes room if it can and returns the buffer to append one frame to,
// its LF included. Commit takes it back before anything else is called.
func (w *Writer) Begin() []byte {
	if w.Full() {
		w.Flush()
	}
	return w.buf
}

// Commit queues the frame that was appended. Nothing is written before Flush.
// Breaking a bound ends the output.
func (w *Writer) Commit(buf []byte, kind telemetry.FrameKind) {
	size := len(buf) - len(w.buf)
	switch {
	case w.err != nil:
		return
	case size > localagent.MaxFrameBytes:
		w.fail(ErrFrameBound)
		return
	case w.Full():
		w.fail(ErrOverflow)
		return
	}
	f := queued{size: size, kind: kind}
	if w.stalled {
		f.deadline = time.Now().Add(localagent.OutputDeadline)
	}
	w.buf = buf
	w.queue[(w.head+w.n)%len(w.queue)] = f
	w.n++
	if w.stalled {
		w.peak = max(w.peak, w.n)
	}
	w.tel.FrameQueued(w.n)
}

// Flush writes what is queued, as far as there is room, and leaves the rest to
// the goroutine.
func (w *Writer) Flush() {
	if w.n == 0 || w.stalled || w.err != nil {
		return
	}
	if w.tryAll(); w.n == 0 || w.err != nil {
		return
	}
	w.stamp(time.Now())
	w.stalled, w.peak, w.oldestAge = true, w.n, 0
	w.stall = w.tel.BeginInChild(telemetry.SpanOutputStall)
	w.stall.Int(telemetry.KeyOutputPending, int64(w.n))
	w.wg.Go(w.drain)
}

// Wait waits for the goroutine, after the transport was closed. It must be
// called without the owner's lock.
func (w *Writer) Wait() { w.wg.Wait() }

// tryAll writes all queued frames until there is no room.
func (w *Writer) tryAll() {
	for w.try != nil && w.n > 0 && w.err == nil {
		n, err := w.try.TryWrite(w.buf[w.off:])
		blocked := errors.Is(err, ErrWouldBlock)
		w.tel.WriteCall(n, blocked || n < len(w.buf)-w.off)
		w.accepted(n)
		switch {
		case blocked:
			return
		case err != nil:
			w.fail(err)
		case n == 0:
			w.fail(ErrOutputGone)
		}
	}
}

// drain writes frame by frame while the transport is stalled. It is the
// goroutine's function, and the only place that waits for the transport.
func (w *Writer) drain() {
	w.own.Lock()
	defer w.own.Unlock()
	for w.n > 0 && w.err == nil {
		w.writeOldest()
		if w.err != nil {
			break
		}
		if w.n > 0 && time.Now().Before(w.oldest().deadline) {
			w.tryAll()
		}
		if w.err == nil {
			w.own.Drained()
		}
	}
	w.stalled = false
	w.endStall()
}

// endStall tells telemetry how a stall ended.
func (w *Writer) endStall() {
	if !w.stall.On() {
		return
	}
	outcome := "drained"
	switch {
	case errors.Is(w.err, ErrDeadline):
		outcome = "deadline"
	case errors.Is(w.err, ErrOverflow), errors.Is(w.err, ErrFrameBound):
		outcome = "overflow"
	case w.err != nil:
		outcome = "broken"
	}
	if errors.Is(w.err, ErrDeadline) {
		w.oldestAge = localagent.OutputDeadline
	}
	w.stall.Dur(telemetry.KeyOutputOldestMS, w.oldestAge)
	w.stall.Int(telemetry.KeyOutputPeak, int64(w.peak))
	w.stall.Str(telemetry.KeyOutputOutcome, telemetry.WordOf(outcome))
	w.stall.End()
}

// writeOldest waits until the oldest frame is written, without the lock.
// Frames may be queued meanwhile: they lie behind it, and nothing moves.
func (w *Writer) writeOldest() {
	deadline := w.oldest().deadline
	rest := w.buf[w.off : w.off+w.oldest().size-w.sent]
	n, err := w.writeUnlocked(rest, deadline)
	w.tel.WriteCall(n, n < len(rest))
	w.accepted(n)
	switch {
	case w.err != nil || n == len(rest):
	case errors.Is(err, os.ErrDeadlineExceeded):
		w.fail(ErrDeadline)
	case err != nil:
		w.fail(err)
	default:
		w.fail(ErrOutputGone)
	}
}

func (w *Writer) writeUnlocked(p []byte, deadline time.Time) (int, error) {
	w.own.Unlock()
	defer w.own.Lock()
	if err := w.t.SetWriteDeadline(deadline); err != nil {
		return 0, err
	}
	return w.t.Write(p)
}

func (w *Writer) oldest() *queued { return &w.queue[w.head] }

// accepted accounts for n bytes that the transport took.
func (w *Writer) accepted(n int) {
	w.off += n
	w.sent += n
	var now time.Time
	for w.n > 0 && w.sent >= w.oldest().size {
		f := *w.oldest()
		w.sent -= f.size
		w.head = (w.head + 1) % len(w.queue)
		w.n--
		if now.IsZero() && !f.deadline.IsZero() && w.tel.On() {
			now = time.Now()
		}
		if w.stalled && !now.IsZero() {
			w.oldestAge = max(w.oldestAge, now.Sub(f.deadline)+localagent.OutputDeadline)
		}
		w.tel.FrameWritten(now, f.deadline, f.size, f.kind, w.n)
	}
	w.compact()
}

// compact gives back what was sent.
func (w *Writer) compact() {
	switch {
	case w.off == len(w.buf) && cap(w.buf) > keepBytes:
		w.buf, w.off = nil, 0
	case w.off == len(w.buf):
		w.buf, w.off = w.buf[:0], 0
	case w.off > keepBytes && w.off > len(w.buf)/2:
		w.buf = w.buf[:copy(w.buf, w.buf[w.off:])]
		w.off = 0
	}
}

// stamp gives the frames a deadline that have none: they were queued in this
// very moment.
func (w *Writer) stamp(now time.Time) {
	for i := range w.n {
		if f := &w.queue[(w.head+i)%len(w.queue)]; f.deadline.IsZero() {
			f.deadline = now.Add(localagent.OutputDeadline)
		}
	}
}

func (w *Writer) fail(err error) {
	if w.err != nil {
		return
	}
	w.err = err
	w.own.Broken(err)
}
