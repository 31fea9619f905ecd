package exchange

import (
	"errors"
	"io"
	"time"
)

// Bounds of an answer in one piece: tools.md 1.15.
const (
	wholeIdle     = 90 * time.Second
	wholeTotal    = 300 * time.Second // from the headers on: providers.md 7.1
	maxWholeBytes = 1 << 20
)

var (
	errWholeIdle = errors.New("provider sent nothing for 90 seconds")
	errWholeSize = errors.New("provider's answer is larger than 1 MiB")
)

// wholeBody bounds a body's size and the time in which nothing of it comes.
type wholeBody struct {
	r    io.Reader
	idle *time.Timer
	left int
}

func (w *wholeBody) Read(p []byte) (int, error) {
	n, err := w.r.Read(p[:min(len(p), w.left+1)])
	if w.left -= n; w.left < 0 {
		return 0, errWholeSize
	}
	if n > 0 && w.idle.Stop() { // not when it has fired: the attempt has ended
		w.idle.Reset(wholeIdle)
	}
	return n, err
}
