package session

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
)

const (
	// readChunk is one read of a session file. A shorter file gets a shorter
	// buffer.
	readChunk = 128 << 10
	// headroom is the room before a chunk for the beginning of its first line,
	// which the chunk before ended with. Longer beginnings are put together
	// elsewhere.
	headroom = 32 << 10
	// maxBatches is how many buffers one pass has: for each of the three that
	// work on one the next, less one. Fewer make them wait for each other.
	maxBatches = 5
	// maxKept is the size over which the buffer of a long line is not used again.
	maxKept = 4 << 20
)

// batch is a chunk of the file, and what became of it on its way.
type batch struct {
	buf     []byte
	data    []byte  // what was read, behind the rest of the batch before; aliases buf
	long    []byte  // what data aliases instead where that rest is long; room for a later one
	fresh   int     // before it, data has no line end
	last    *digest // with the last batch: of the file up to its last line end
	records []found // those in data, which they alias
	whole   int     // bytes of data that are whole records
	open    bool    // the last of them lacks its line end
	torn    int     // where the torn rest behind them ends, 0 without one
}

// stages are what one reading goes through: read takes bytes from the file and
// hashes them, scan finds out what they say, the folds are told. Every channel
// holds all batches there are, so that sending never waits.
type stages struct {
	raw, full, free chan *batch
	made            int
}

// stream reads f to its end. The folds are called by the caller's goroutine;
// the two others are joined, also when a fold panics.
func (p *pass) stream(ctx context.Context, f io.Reader) error {
	ctx, cancel := context.WithCancel(ctx)
	q := &stages{raw: make(chan *batch, maxBatches), full: make(chan *batch, maxBatches), free: make(chan *batch, maxBatches)}
	defer func() {
		cancel()
		for range q.full { // until it is closed
		}
		for range q.raw {
		}
	}()
	var read, scan stage
	go read.run(q.raw, func() error { return p.read(ctx, f, q) })
	go scan.run(q.full, func() error {
		p.scan(q)
		return nil
	})
	for b := range q.full {
		p.deliver(b)
		b.done()
		q.free <- b
	}
	if scan.crash != nil {
		panic(scan.crash) // where the caller's recovery sees it
	}
	if read.crash != nil { // it ended before scan did
		panic(read.crash)
	}
	return read.err
}

// stage is how a goroutine of a stream ended, to be looked at when the channel
// that it sends to is closed.
type stage struct {
	err   error
	crash any
}

func (s *stage) run(out chan *batch, do func() error) {
	defer close(out)
	defer func() { s.crash = recover() }()
	s.err = do()
}

// read is the first stage.
func (p *pass) read(ctx context.Context, f io.Reader, q *stages) error {
	var all, lines digest
	all.begin(p.seed)
	lines = all
	for {
		b, err := q.take(ctx)
		if err != nil {
			return err
		}
		data, err := b.fill(f, p.size-p.info.Bytes)
		if p.info.Bytes += int64(len(data)); p.info.Bytes > MaxBytes {
			return fmt.Errorf("more than %d bytes: %w", MaxBytes, ErrLimit)
		}
		if i := bytes.LastIndexByte(data, '\n') + 1; i > 0 {
			all.write(data[:i])
			lines = all
			data = data[i:]
		}
		all.write(data)
		switch {
		case errors.Is(err, io.EOF):
			b.last = &lines
			q.raw <- b
			return nil
		case err != nil:
			return fmt.Errorf("%w: %w", ErrInvalid, err)
		}
		q.raw <- b
	}
}

// take returns a buffer that is not in use.
func (q *stages) take(ctx context.Context) (*batch, error) {
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	select {
	case b := <-q.free:
		return b, nil
	default:
	}
	if q.made < maxBatches {
		q.made++
		return &batch{}, nil
	}
	select {
	case b := <-q.free:
		return b, nil
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}

// fill reads a chunk and returns it; io.EOF says that it is the last one. Of
// the file about left bytes should be to come: for those and the look for its
// end the buffer is made.
func (b *batch) fill(f io.Reader, left int64) ([]byte, error) {
	size := int(min(max(left, 0)+bytes.MinRead, readChunk))
	if room := len(b.buf) - headroom; room != readChunk && room < size {
		b.buf = make([]byte, headroom+size)
	}
	n, err := io.ReadFull(f, b.buf[headroom:])
	if errors.Is(err, io.ErrUnexpectedEOF) {
		err = io.EOF
	}
	b.data = b.buf[headroom : headroom+n]
	return b.data, err
}

// scan is the second stage.
func (p *pass) scan(q *stages) {
	var rest []byte // of a line whose end was not seen
	for b := range q.raw {
		if b.last == nil && bytes.IndexByte(b.data, '\n') < 0 {
			rest = append(p.room(rest, len(b.data)), b.data...)
			q.free <- b
			continue
		}
		rest = p.join(b, rest)
		b.whole, b.open, b.torn = p.lines(b.data, b.fresh), false, 0
		if b.last != nil {
			p.end(b)
		} else {
			rest = append(rest, b.data[b.whole:]...)
		}
		b.records, p.found = p.found, b.records[:0]
		q.full <- b
	}
}

// join puts the beginning of a line before the data, and returns an empty
// buffer for the next one.
func (p *pass) join(b *batch, rest []byte) []byte {
	b.fresh = len(rest)
	if from := headroom - len(rest); from >= 0 {
		copy(b.buf[from:], rest)
		b.data = b.buf[from : headroom+len(b.data)]
		return rest[:0]
	}
	next := b.long[:0]
	b.long = append(p.room(rest, len(b.data)), b.data...)
	b.data = b.long
	return next
}

// room returns b with room for n bytes more. A buffer that is too short gets
// twice the size: with a quarter more at a time, as append has it, a long line
// is copied five times.
func (p *pass) room(b []byte, n int) []byte {
	need := len(b) + n
	if need <= cap(b) {
		return b
	}
	size := max(need, min(2*cap(b), int(p.size)))
	return append(make([]byte, 0, size), b...)
}

// done lets go of what the folds have seen.
func (b *batch) done() {
	clear(b.records) // or they keep what they alias
	b.data = nil
	if cap(b.long) > maxKept {
		b.long = nil
	}
}
