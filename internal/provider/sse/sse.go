package sse

import (
	"bytes"
	"errors"
	"slices"
)

// MaxEventBytes bounds what is held of one unfinished event: 1,048,576 bytes,
// providers.md 10. Complete lines that carry no data are not held.
const MaxEventBytes = 1 << 20

var (
	// ErrTooLarge: an event or a line exceeds MaxEventBytes.
	ErrTooLarge = errors.New("sse: event too large")
	// ErrLeftover: the stream ended inside an event that is not complete.
	ErrLeftover = errors.New("sse: stream ended inside an event")
)

var (
	dataField = []byte("data:")
	bom       = []byte("\xef\xbb\xbf")
)

// Decoder is an incremental parser. The zero value is ready. It is not safe for
// concurrent use. A decoder that has returned an error is used up.
type Decoder struct {
	line    []byte // an unfinished line
	data    []byte // the data of an event that began in an earlier read or has several lines
	ref     []byte // the only data line so far; aliases the chunk
	lines   int    // data lines of the open event
	started bool   // the first line of the stream is past
}

// Feed takes the next bytes of the stream and calls event for each event that
// they complete, in order, with its joined data lines. The data is only valid
// during the call. An error of event ends Feed and is returned as it is.
func (d *Decoder) Feed(chunk []byte, event func(data []byte) error) error {
	for len(chunk) > 0 {
		i := bytes.IndexByte(chunk, '\n')
		if i < 0 {
			if d.held()+len(d.line)+len(chunk) > MaxEventBytes {
				return ErrTooLarge
			}
			d.line = append(roomFor(d.line, len(chunk)), chunk...)
			break
		}
		if d.held()+len(d.line)+i > MaxEventBytes {
			return ErrTooLarge
		}
		line := chunk[:i]
		chunk = chunk[i+1:]
		if err := d.endLine(line, event); err != nil {
			return err
		}
	}
	d.keep()
	return nil
}

// roomFor returns b with room for n more bytes. It doubles: an event with all of
// a reply comes in many reads, and append alone would move it at every fourth.
func roomFor(b []byte, n int) []byte {
	if cap(b)-len(b) < n {
		b = slices.Grow(b, max(n, cap(b)))
	}
	return b
}

// End tells that the stream is over. An event that lacks only its final blank
// line is delivered if complete says that its data is whole; the rest of an
// event is ErrLeftover. Lines without data are no rest.
func (d *Decoder) End(complete func(data []byte) bool, event func(data []byte) error) error {
	if len(d.line) > 0 {
		if err := d.endLine(nil, event); err != nil {
			return err
		}
		d.keep()
	}
	if d.lines == 0 {
		return nil
	}
	d.lines = 0
	if len(bytes.TrimSpace(d.data)) == 0 {
		return nil
	}
	if !complete(d.data) {
		return ErrLeftover
	}
	return event(d.data)
}

// endLine handles the line that rest completes.
func (d *Decoder) endLine(rest []byte, event func([]byte) error) error {
	if len(d.line) == 0 {
		return d.handle(rest, event)
	}
	line := append(d.line, rest...)
	err := d.handle(line, event)
	d.keep() // before the line's memory is used again
	d.line = line[:0]
	return err
}

func (d *Decoder) handle(line []byte, event func([]byte) error) error {
	if n := len(line); n > 0 && line[n-1] == '\r' {
		line = line[:n-1]
	}
	if !d.started {
		d.started = true
		line = bytes.TrimPrefix(line, bom)
	}
	if len(line) == 0 {
		return d.dispatch(event)
	}
	if !bytes.HasPrefix(line, dataField) {
		return nil
	}
	line = line[len(dataField):]
	if len(line) > 0 && line[0] == ' ' {
		line = line[1:]
	}
	d.add(line)
	return nil
}

func (d *Decoder) add(line []byte) {
	if d.lines == 0 {
		d.ref, d.lines = line, 1
		return
	}
	d.keep()
	d.data = append(append(d.data, '\n'), line...)
	d.lines++
}

func (d *Decoder) dispatch(event func([]byte) error) error {
	if d.lines == 0 {
		return nil
	}
	data := d.data
	if d.ref != nil {
		data = d.ref
	}
	d.ref, d.data, d.lines = nil, d.data[:0], 0
	return event(data)
}

// keep copies a data line that aliases memory of others.
func (d *Decoder) keep() {
	if d.ref != nil {
		d.data = append(d.data[:0], d.ref...)
		d.ref = nil
	}
}

// held is how much of the open event is waiting.
func (d *Decoder) held() int {
	if d.ref != nil {
		return len(d.ref)
	}
	return len(d.data)
}
