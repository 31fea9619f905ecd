package runner

import (
	"context"
	"strings"
	"sync"
	"time"
	"unicode"

	"magicode/internal/redact"
	"magicode/internal/session"
	"magicode/internal/textbuf"
	"magicode/telemetry"
)

// textOut carries assistant text to the sink and into the file: sanitised and
// redacted once for both, never ahead of what the streaming redactor let go.
type textOut struct {
	rec    *recorder
	sink   Sink
	limits Limits
	tel    telemetry.Tel

	mu       sync.Mutex
	open     *segment
	segments int
	bytes    int
	earlier  textbuf.Builder // redacted text of closed segments, for the terminal status
	save     *time.Timer     // armed while released text is not in the file
	retry    *time.Timer     // armed while the sink refused text
	stopped  bool
}

// segment is the text between two boundaries: one message on the wire.
type segment struct {
	index   int
	strip   redact.Stripper
	stream  redact.Stream
	raw     textbuf.Builder // as the model sent it, for the next request
	waiting string          // released and not taken by the sink yet
	unsaved textbuf.Builder // released and not in the file yet
	saved   bool
}

// write adds a piece of the model's text.
func (t *textOut) write(text string) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	s := t.open
	if s == nil {
		if t.segments >= t.limits.Segments {
			return ErrContentLimit
		}
		s = &segment{index: t.segments}
		t.segments++
		t.open = s
	}
	clean := s.strip.Write(text)
	if t.bytes+len(clean) > t.limits.ContentBytes {
		return ErrContentLimit
	}
	t.bytes += len(clean)
	s.raw.WriteString(text)
	released := s.stream.Write(clean)
	if released == "" {
		return nil
	}
	s.waiting += released
	s.unsaved.WriteString(released)
	t.offer(s)
	t.keep(s)
	return nil
}

// offer hands waiting text to the sink, in pieces of at most maxDeltaBytes;
// refused text waits for the next piece or for the timer. Holds mu.
func (t *textOut) offer(s *segment) {
	for s.waiting != "" {
		piece := redact.Cut(s.waiting, maxDeltaBytes)
		if !t.sink.Try(Delta{Segment: s.index, Text: piece}) {
			break
		}
		s.waiting = s.waiting[len(piece):]
	}
	if s.waiting == "" {
		return
	}
	if t.retry == nil && !t.stopped {
		t.retry = time.AfterFunc(retryDelay, func() {
			t.mu.Lock()
			defer t.mu.Unlock()
			t.retry = nil
			if t.open != nil && !t.stopped {
				t.offer(t.open)
			}
		})
	}
}

// keep writes a chunk when enough has come together, or arms the timer that
// writes it within a second. Holds mu.
func (t *textOut) keep(s *segment) {
	if s.unsaved.Len() >= chunkBytes {
		t.flush(s)
		return
	}
	if t.save == nil && !t.stopped {
		t.save = time.AfterFunc(chunkDelay, func() {
			t.mu.Lock()
			defer t.mu.Unlock()
			t.save = nil
			// Whatever segment is open by now: one that was begun meanwhile has armed
			// no timer of its own, and would wait for up to twice as long.
			if t.open != nil && !t.stopped {
				t.flush(t.open)
			}
		})
	}
}

// flush writes released text as one chunk. White space alone waits: a reader
// drops it (storage.md 5.4). Holds mu.
func (t *textOut) flush(s *segment) {
	if text := s.unsaved.String(); !isBlank(text) {
		s.unsaved.Reset()
		s.saved = true
		_ = t.rec.write(session.Ordered, chunk(text)) // a loss degrades the run, it does not stop the text
	}
}

// boundary queues everything released and the rest of the open segment as a
// chunk, before a record that is not text. The segment stays open.
func (t *textOut) boundary() {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.open != nil {
		t.store(t.open, t.open.unsaved.String())
		t.open.unsaved.Reset()
	}
}

func (t *textOut) store(s *segment, text string) {
	if isBlank(text) && !s.saved {
		return
	}
	if text != "" {
		s.saved = true
		t.rec.later(chunk(text))
	}
}

// closed is what a closed segment held.
type closed struct {
	index int
	raw   string // as the model sent it
	text  string // sanitised and redacted
}

// close ends the open segment. With stored it also queues what the file does
// not have yet; the final answer leaves that to assistant_output.
func (t *textOut) close(stored bool) (closed, bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	s := t.open
	if s == nil {
		return closed{}, false
	}
	if tail := s.strip.Flush(); tail != "" {
		s.unsaved.WriteString(s.stream.Write(tail))
	}
	t.open = nil
	if s.waiting != "" {
		t.tel.DeltaDropped() // reconciliation follows at once (decision 31)
	}
	out := closed{index: s.index, raw: s.raw.String(), text: s.stream.Text()}
	if stored {
		t.store(s, s.unsaved.String()+s.stream.Rest())
	}
	if t.earlier.Len() > 0 {
		t.earlier.WriteString("\n\n")
	}
	t.earlier.WriteString(out.text)
	return out, true
}

// all is the text of the run so far, for a terminal status.
func (t *textOut) all() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.open == nil {
		return t.earlier.String()
	}
	if t.earlier.Len() == 0 {
		return t.open.stream.Text()
	}
	return t.earlier.String() + "\n\n" + t.open.stream.Text()
}

// totals are the segments so far and the bytes of their text.
func (t *textOut) totals() (segments, bytes int) {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.segments, t.bytes
}

// short is the text of the open segment; nothing when more than limit bytes were
// written, because a long text is not joined for a question about a short one.
func (t *textOut) short(limit int) string {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.open == nil || t.open.stream.Len() > limit {
		return ""
	}
	return t.open.stream.Text()
}

// stop disarms the timers.
func (t *textOut) stop() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.stopped = true
	for _, timer := range []*time.Timer{t.save, t.retry} {
		if timer != nil {
			timer.Stop()
		}
	}
}

// closeSegment ends the open segment and tells the sink its whole text.
func (r *run) closeSegment(ctx context.Context) error {
	c, ok := r.text.close(true)
	if !ok {
		return nil
	}
	return r.Sink.Emit(ctx, SegmentDone{Segment: c.index, Text: c.text, Closed: true})
}

func chunk(text string) session.Event {
	return session.Event{Kind: session.KindAssistantChunk, Payload: map[string]any{"text": text}}
}

func isBlank(s string) bool { return strings.TrimFunc(s, unicode.IsSpace) == "" }

// takeRaw returns and forgets what the model sent in the open segment so far,
// for an item that stands behind it in the conversation.
func (t *textOut) takeRaw() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.open == nil {
		return ""
	}
	text := t.open.raw.String()
	t.open.raw.Reset()
	return text
}
