package mcp

import (
	"bytes"
	"errors"
	"io"
	"strconv"
	"time"
)

// event is one server-sent event. Its data aliases the reader's memory.
type event struct {
	id   string // "" unless the event has one
	data []byte
}

// maxEventID bounds what is sent back as Last-Event-ID.
const maxEventID = 1024

var errEventSize = errors.New("an event has more than 1048576 bytes")

// events reads the event stream of a response body. Unlike the model providers'
// streams, ids and retry hints count here: a stream may be resumed.
type events struct {
	src    io.Reader
	buf    []byte // read and not taken yet: buf[from:]
	from   int
	eof    error
	retry  time.Duration // the last hint; 0 for none
	lastID string
	data   []byte
}

// next returns the next event that has data or an id. io.EOF ends the stream; an
// event that lacks its blank line then is dropped, as the format says.
func (e *events) next() (event, error) {
	e.data = e.data[:0]
	hasData, hasID := false, false
	for {
		line, err := e.line()
		if err != nil {
			return event{}, err
		}
		if len(line) == 0 {
			if hasData || hasID {
				return event{id: e.lastID, data: e.data}, nil
			}
			continue
		}
		name, value, _ := bytes.Cut(line, []byte{':'})
		value = bytes.TrimPrefix(value, []byte{' '})
		switch string(name) {
		case "data":
			if hasData {
				e.data = append(e.data, '\n')
			}
			hasData = true
			if e.data = append(e.data, value...); len(e.data) > maxMessage {
				return event{}, errEventSize
			}
		case "id":
			if len(value) <= maxEventID && bytes.IndexByte(value, 0) < 0 {
				e.lastID, hasID = string(value), true
			}
		case "retry":
			if ms, err := strconv.ParseUint(string(value), 10, 31); err == nil {
				e.retry = time.Duration(ms) * time.Millisecond
			}
		}
	}
}

// line returns the next line without its end: LF, CR LF or CR.
func (e *events) line() ([]byte, error) {
	for {
		rest := e.buf[e.from:]
		if i := bytes.IndexAny(rest, "\r\n"); i >= 0 && (rest[i] == '\n' || i+1 < len(rest) || e.eof != nil) {
			e.from += i + 1
			if rest[i] == '\r' && i+1 < len(rest) && rest[i+1] == '\n' {
				e.from++
			}
			return rest[:i], nil
		}
		if e.eof != nil {
			return nil, e.eof
		}
		if len(rest) > maxMessage+64 {
			return nil, errEventSize
		}
		e.more()
	}
}

func (e *events) more() {
	if e.from > 0 {
		e.buf = e.buf[:copy(e.buf, e.buf[e.from:])]
		e.from = 0
	}
	const step = 16 << 10
	if cap(e.buf)-len(e.buf) < step {
		grown := make([]byte, len(e.buf), 2*cap(e.buf)+step)
		copy(grown, e.buf)
		e.buf = grown
	}
	n, err := e.src.Read(e.buf[len(e.buf):cap(e.buf)])
	e.buf = e.buf[:len(e.buf)+n]
	e.eof = err
}
