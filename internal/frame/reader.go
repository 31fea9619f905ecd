package frame

import (
	"bytes"
	"errors"
	"io"

	"magicode/pkg/localagent"
)

// How input ends beside io.EOF, which comes only between frames.
var (
	// ErrTooLarge: byte 65,537 of a frame came and was no LF. It is reported
	// without waiting for the LF, and for ever.
	ErrTooLarge = errors.New("frame too large")
	// ErrIncomplete: input ended inside a frame.
	ErrIncomplete = errors.New("incomplete frame")
)

const (
	// A batch: protocol, "Bounds".
	batchBytes = localagent.MaxReadBytes
	// smallBuffer holds what clients send all day: two batches.
	smallBuffer = 2 * batchBytes
	// largeBuffer holds the longest partial frame and a batch behind it.
	largeBuffer = localagent.MaxFrameBytes + batchBytes
	// shrinkAfter is how many small frames in a row end the use of a large
	// buffer. Fewer, and a client that mixes sizes pays for new ones all the time.
	shrinkAfter = 16
	// maxEmptyReads in a row without an error are taken for a broken source.
	maxEmptyReads = 100
)

// Reader cuts input into frames. Each read asks for at most 4,096 bytes and
// lands behind the partial frame, where it stays (decision 39). The buffer has
// 8 KiB, or 68 KiB while large frames come. It is for one goroutine.
type Reader struct {
	src     io.Reader
	buf     []byte
	from    int   // the partial frame, or frames not asked for yet, begin here
	end     int   // and end here
	scanned int   // no LF lies in buf[from:scanned]
	small   int   // small frames in a row while the buffer is large
	pending error // came with the last batch, to be looked at behind it
	err     error // what Next returns for ever
}

// NewReader returns a Reader of src, which remains the caller's to close.
func NewReader(src io.Reader) *Reader {
	return &Reader{src: src, buf: make([]byte, smallBuffer)}
}

// Next returns the next frame without its LF, of 0 to 65,536 bytes, valid until
// the next call. It reads only while no complete frame is there.
//
// The error is ErrTooLarge, ErrIncomplete or io.EOF, each again at every
// further call, or what src returned; after that the partial frame is kept, and
// Next may be called again, so that a read deadline can interrupt it.
func (r *Reader) Next() (frame []byte, err error) {
	if r.err != nil {
		return nil, r.err
	}
	for {
		if n := bytes.IndexByte(r.buf[r.scanned:r.end], '\n'); n >= 0 {
			return r.take(r.scanned + n)
		}
		r.scanned = r.end
		if r.end-r.from > localagent.MaxFrameBytes {
			return nil, r.fail(ErrTooLarge)
		}
		if err := r.read(); err != nil {
			return nil, err
		}
	}
}

// Buffered reports whether Next has an answer without reading.
func (r *Reader) Buffered() bool {
	if r.err != nil {
		return true
	}
	n := bytes.IndexByte(r.buf[r.scanned:r.end], '\n')
	if n < 0 {
		r.scanned = r.end
	} else {
		r.scanned += n
	}
	return n >= 0 || r.pending != nil || r.end-r.from > localagent.MaxFrameBytes
}

// Partial returns how many bytes of a frame are there without its LF, once
// Buffered is false.
func (r *Reader) Partial() int { return r.end - r.from }

// take cuts the frame that ends before the LF at lf.
func (r *Reader) take(lf int) ([]byte, error) {
	frame := r.buf[r.from:lf:lf]
	if len(frame) > localagent.MaxFrameBytes {
		return nil, r.fail(ErrTooLarge)
	}
	r.from, r.scanned = lf+1, lf+1
	if len(r.buf) == largeBuffer {
		r.small++
		if len(frame) > smallBuffer-batchBytes {
			r.small = 0
		}
	}
	return frame, nil
}

func (r *Reader) fail(err error) error {
	r.err, r.buf = err, nil
	r.from, r.end, r.scanned = 0, 0, 0
	return err
}

// read appends one batch. It returns nil if there is something new to look at.
func (r *Reader) read() error {
	r.room()
	for range maxEmptyReads {
		n, err := 0, r.pending
		if err == nil {
			n, err = r.src.Read(r.buf[r.end : r.end+batchBytes])
			r.end += n
		}
		switch {
		case n > 0:
			r.pending = err
			return nil
		case errors.Is(err, io.EOF) && r.end > r.from:
			return r.fail(ErrIncomplete)
		case errors.Is(err, io.EOF):
			return r.fail(io.EOF)
		case err != nil:
			r.pending = nil
			return err
		}
	}
	return io.ErrNoProgress
}

// room makes place for a batch. What is left of the last batch, less than
// 4,096 bytes, moves to the front; a partial frame that began there stays.
func (r *Reader) room() {
	if r.from > 0 {
		copy(r.buf, r.buf[r.from:r.end])
		r.end, r.scanned, r.from = r.end-r.from, r.scanned-r.from, 0
	}
	switch {
	case r.end+batchBytes > len(r.buf):
		r.resize(largeBuffer)
	case r.small >= shrinkAfter && r.end+batchBytes <= smallBuffer:
		r.resize(smallBuffer)
	}
}

func (r *Reader) resize(size int) {
	buf := make([]byte, size)
	copy(buf, r.buf[:r.end])
	r.buf, r.small = buf, 0
}
