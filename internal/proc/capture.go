package proc

import (
	"io"
	"os"
	"strings"
	"sync"
	"unicode/utf8"
)

const readSize = 32 << 10

// capture drains one stream. The buffer belongs to the reading goroutine until
// done is closed.
type capture struct {
	conf Capture
	file *os.File
	over func() // called once, when a KeepHead stream passes its limit
	done chan struct{}

	mu        sync.Mutex
	buf       []byte
	truncated bool
	eof       bool
}

func newCapture(conf Capture, f *os.File, over func()) *capture {
	return &capture{conf: conf, file: f, over: over, done: make(chan struct{})}
}

// run reads to the end of the stream, or until the file's deadline.
func (c *capture) run() {
	defer close(c.done)
	chunk := make([]byte, readSize)
	for {
		n, err := c.file.Read(chunk)
		if n > 0 && c.add(chunk[:n]) {
			c.over()
		}
		if err != nil {
			c.mu.Lock()
			c.eof = err == io.EOF
			c.mu.Unlock()
			return
		}
	}
}

// add keeps what the limit allows and reports the moment a KeepHead stream
// passed it.
func (c *capture) add(p []byte) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.conf.Keep == KeepTail {
		c.buf = append(c.buf, p...)
		if extra := len(c.buf) - c.conf.Limit; extra > 0 {
			c.truncated = true
			c.buf = c.buf[:copy(c.buf, c.buf[extra:])]
		}
		return false
	}
	room := c.conf.Limit - len(c.buf)
	if len(p) <= room {
		c.buf = append(c.buf, p...)
		return false
	}
	c.buf = append(c.buf, p[:max(room, 0)]...)
	first := !c.truncated
	c.truncated = true
	return first
}

// text gives what was kept, and whether something was left out.
func (c *capture) text() (string, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	b := c.buf
	if c.truncated {
		if c.conf.Keep == KeepTail {
			b = trimLead(b)
		} else {
			b = trimPartial(b)
		}
	}
	if utf8.Valid(b) {
		return string(b), c.truncated
	}
	s := strings.ToValidUTF8(string(b), "\uFFFD")
	if len(s) > c.conf.Limit { // a replacement is longer than what it replaces
		s = string(trimPartial([]byte(s[:c.conf.Limit])))
		return s, true
	}
	return s, c.truncated
}

// ended reports whether the stream came to its end.
func (c *capture) ended() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.eof
}

// trimPartial drops an unfinished character at the end.
func trimPartial(b []byte) []byte {
	for i := 1; i < utf8.UTFMax && i <= len(b); i++ {
		if c := b[len(b)-i]; utf8.RuneStart(c) {
			if c >= utf8.RuneSelf && !utf8.FullRune(b[len(b)-i:]) {
				return b[:len(b)-i]
			}
			return b
		}
	}
	return b
}

// trimLead drops the rest of a character at the start.
func trimLead(b []byte) []byte {
	for i := 0; i < utf8.UTFMax && i < len(b); i++ {
		if utf8.RuneStart(b[i]) {
			return b[i:]
		}
	}
	return b
}
