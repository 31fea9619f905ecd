package chat

import (
	"bytes"

	"magicode/internal/provider/exchange"
)

const (
	thinkOpen  = "<think>"
	thinkClose = "</think>"
	blanks     = " \t\r\n"
)

// thinkMode says what answer text is, until it can only be text.
type thinkMode uint8

const (
	thinkUndecided thinkMode = iota // only white space or a part of the opening tag came
	thinkInside                     // behind the opening tag
	thinkHeld                       // no opening tag will come: text is held until the closing one
	thinkAfter                      // behind the closing tag: white space is dropped
	thinkText                       // all is text, tags too
)

// thinkFilter tells reasoning that a model writes into its answer from the
// answer (providers.md 13.2). It holds back only what is not decided yet.
type thinkFilter struct {
	mode thinkMode
	held []byte
}

// write takes more answer text. text gets what is the answer, thought what is
// private.
func (f *thinkFilter) write(s *exchange.Sink, piece []byte, thought func([]byte)) {
	switch f.mode {
	case thinkUndecided:
		f.held = append(f.held, piece...)
		f.decide(s, thought)
	case thinkInside:
		f.held = append(f.held, piece...)
		f.inside(s, thought)
	case thinkHeld:
		f.held = append(f.held, piece...)
		s.Progress()
		if i := bytes.Index(f.held, []byte(thinkClose)); i >= 0 {
			thought(f.held[:i])
			f.after(s, f.held[i+len(thinkClose):])
		}
	case thinkAfter:
		f.after(s, piece)
	default:
		s.TextBytes(piece)
	}
}

func (f *thinkFilter) decide(s *exchange.Sink, thought func([]byte)) {
	text := bytes.TrimLeft(f.held, blanks)
	switch {
	case bytes.HasPrefix(text, []byte(thinkOpen)):
		f.mode = thinkInside
		f.held = append(f.held[:0], text[len(thinkOpen):]...)
		f.inside(s, thought)
	case bytes.HasPrefix([]byte(thinkOpen), text):
		s.Alive()
	default:
		f.mode = thinkText
		s.TextBytes(f.held)
		f.held = nil
	}
}

// inside hands on reasoning but for what may be the beginning of the closing tag.
func (f *thinkFilter) inside(s *exchange.Sink, thought func([]byte)) {
	if i := bytes.Index(f.held, []byte(thinkClose)); i >= 0 {
		thought(f.held[:i])
		f.after(s, f.held[i+len(thinkClose):])
		return
	}
	keep := min(len(f.held), len(thinkClose)-1)
	for !bytes.HasPrefix([]byte(thinkClose), f.held[len(f.held)-keep:]) {
		keep--
	}
	thought(f.held[:len(f.held)-keep])
	f.held = append(f.held[:0], f.held[len(f.held)-keep:]...)
}

func (f *thinkFilter) after(s *exchange.Sink, piece []byte) {
	f.mode = thinkAfter
	if text := bytes.TrimLeft(piece, blanks); len(text) > 0 {
		f.mode = thinkText
		s.TextBytes(text)
	}
	f.held = nil
}

// end releases what is still held: text that was not decided is text, and
// reasoning without its closing tag stays reasoning.
func (f *thinkFilter) end(s *exchange.Sink, thought func([]byte)) {
	switch f.mode {
	case thinkUndecided, thinkHeld:
		s.TextBytes(f.held)
		f.mode = thinkText
	case thinkInside:
		thought(f.held)
	}
	f.held = nil
}
