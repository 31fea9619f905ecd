package redact

import (
	"unicode/utf8"
	"unsafe"

	"magicode/internal/textbuf"
)

const (
	keepBytes = 1024 // of decided text, for looking back: more than maxLookBack and maxOpaque
	trimBytes = 4096 // decided text is dropped when there is so much of it
	smallHold = 256  // up to here, each piece is looked at when it comes
	holdShare = 16   // from there on, when the text held has grown by a 16th
)

// Stream redacts one assistant segment while it arrives (runner.md 18.3). Its
// zero value is ready. Time is linear in the text; memory is the redacted text
// and what is held.
type Stream struct {
	win    []byte          // decided text for looking back, then text held
	pos    int             // win[:pos] is decided
	again  int             // where to scan from: the word in which pos lies
	floor  int             // end of the last replacement in win
	user   bool            // as in scan
	loose  bool            // as in scan
	inside state           // as in scan
	next   int             // scan again when win is this long
	n      int             // bytes written
	out    textbuf.Builder // all that was released
	joined []byte          // scratch
}

// Write adds the next piece of sanitised text and returns what can be shown now.
func (t *Stream) Write(sanitised string) (released string) {
	t.n += len(sanitised)
	t.win = append(t.win, sanitised...)
	if len(t.win) < t.next || sanitised == "" {
		return ""
	}
	c := t.scanner(false)
	end := c.run(t.again)
	t.again = end
	if c.again >= 0 {
		t.again = c.again
	}
	t.pos, t.floor, t.user, t.loose, t.inside = end, c.floor, c.user, c.loose, c.inside
	t.joined = append(c.out, t.win[c.copied:end]...)
	t.next = 0
	if held := len(t.win) - end; held > smallHold {
		t.next = len(t.win) + held/holdShare
	}
	t.trim()
	return t.out.Append(t.joined)
}

// scanner makes a scan of the window that goes on where the last one stopped.
func (t *Stream) scanner(final bool) scan {
	// The scan is over before win changes again.
	s := unsafe.String(unsafe.SliceData(t.win), len(t.win))
	if !final {
		s = s[:len(s)-cutRune(s)]
	}
	return scan{s: s, out: t.joined[:0], copied: t.pos, floor: t.floor, user: t.user, loose: t.loose, inside: t.inside, final: final}
}

// trim drops decided text that nothing looks back to.
func (t *Stream) trim() {
	if t.pos < trimBytes {
		return
	}
	drop := t.pos - keepBytes
	for !utf8.RuneStart(t.win[drop]) && drop > t.pos-2*keepBytes {
		drop--
	}
	t.win = append(t.win[:0], t.win[drop:]...)
	t.pos -= drop
	t.again -= drop
	t.floor = max(t.floor-drop, 0)
	t.next = max(t.next-drop, 0)
}

// Text returns Text of all that was written: the segment as it is stored.
func (t *Stream) Text() string { return t.out.With(t.Rest()) }

// Rest returns what Text has beyond the released part.
func (t *Stream) Rest() string {
	c := t.scanner(true)
	end := c.run(t.again)
	return string(append(c.out, t.win[c.copied:end]...))
}

// Len returns the number of bytes written.
func (t *Stream) Len() int { return t.n }
