package session

import (
	"context"
	"errors"
	"fmt"
	"io"
)

const (
	// readChunk is one read of a session file; longer lines make the buffer grow.
	readChunk = 256 << 10
	// maxBatches is how many buffers one pass has: one that is scanned, one
	// that the folds are given, one between them.
	maxBatches = 3
	// maxKeptBatch is the size over which a buffer is not used again.
	maxKeptBatch = 8 << 20
)

// batch is a buffer of whole lines and the records in them, which alias it.
type batch struct {
	buf     []byte
	records []found
	whole   int  // bytes of whole records
	open    bool // the last of them lacks its line end
	torn    int  // where the torn rest behind them ends, 0 without one
}

// pipe carries batches from scan to the folds and back. Both channels hold
// every batch there is, so that sending never waits.
type pipe struct {
	full, free chan *batch
	made       int
}

// stream reads f to its end. The folds are called by the caller's goroutine;
// the other one is joined, also when a fold panics.
func (p *pass) stream(ctx context.Context, f io.Reader) error {
	ctx, cancel := context.WithCancel(ctx)
	q := &pipe{full: make(chan *batch, maxBatches), free: make(chan *batch, maxBatches)}
	defer func() {
		cancel()
		for range q.full { // until it is closed
		}
	}()
	var err error
	var crash any
	go func() {
		defer close(q.full)
		defer func() { crash = recover() }()
		err = p.scan(ctx, f, q)
	}()
	for b := range q.full {
		p.deliver(b)
		q.free <- b
	}
	if crash != nil {
		panic(crash) // where the caller's recovery sees it
	}
	return err
}

// scan reads chunks and sends the whole lines in them on.
func (p *pass) scan(ctx context.Context, f io.Reader, q *pipe) error {
	b, err := q.take(ctx, true)
	have := 0
	for err == nil {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if have == len(b.buf) {
			b.buf = append(b.buf, make([]byte, max(len(b.buf), readChunk))...)
		}
		n, rerr := f.Read(b.buf[have:])
		if p.info.Bytes += int64(n); p.info.Bytes > MaxBytes {
			return fmt.Errorf("more than %d bytes: %w", MaxBytes, ErrLimit)
		}
		fresh := have
		have += n
		b.whole = p.lines(b.buf[:have], fresh)
		switch {
		case errors.Is(rerr, io.EOF):
			p.end(b, have)
			p.send(b, q)
			return nil
		case rerr != nil:
			return fmt.Errorf("%w: %w", ErrInvalid, rerr)
		case b.whole > 0:
			rest := b.buf[b.whole:have]
			p.send(b, q)
			if b, err = q.take(ctx, p.info.Bytes < p.size); err == nil {
				have = b.begin(rest)
			}
		}
	}
	return err
}

// send hands a buffer over with the records that were found in it.
func (p *pass) send(b *batch, q *pipe) {
	b.records, p.found = p.found, b.records[:0]
	q.full <- b
}

// take returns a buffer that is not in use; a new one only if more is read
// into it than the end of the file.
func (q *pipe) take(ctx context.Context, more bool) (*batch, error) {
	select {
	case b := <-q.free:
		return b, nil
	default:
	}
	if more && q.made < maxBatches {
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

// begin puts the start of a line, which may lie in b itself, at its start.
func (b *batch) begin(rest []byte) int {
	if len(b.buf) < len(rest) || len(b.buf) > max(maxKeptBatch, 2*len(rest)) {
		b.buf = make([]byte, len(rest)+readChunk)
	}
	return copy(b.buf, rest)
}
