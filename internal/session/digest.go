package session

import (
	"context"
	"encoding/binary"
	"errors"
	"hash/maphash"
	"io"
	"runtime"
	"sync"
)

const (
	// section is what is hashed by itself, so that a long file is compared by
	// several goroutines. Beside 64 MiB of file its 64 sums do not count.
	section = 1 << 20
	// maxComparers is how many goroutines compare one file: more only wait for
	// each other's memory.
	maxComparers = 4
	// compareChunk is one read of a comparison.
	compareChunk = 128 << 10
)

// digest is a hash over bytes that are written in any pieces, section by
// section. A copy goes on by itself. The seed is the store's (decision 43).
type digest struct {
	full []uint64     // the sums of the whole sections
	last maphash.Hash // of the section that is begun
	size int64
}

func (d *digest) begin(seed maphash.Seed) {
	*d = digest{}
	d.last.SetSeed(seed)
}

func (d *digest) write(b []byte) {
	for len(b) > 0 {
		n := min(len(b), section-int(d.size%section))
		_, _ = d.last.Write(b[:n])
		if d.size += int64(n); d.size%section == 0 {
			// Copies of d share what lies behind its own length: never there.
			d.full = append(d.full[:len(d.full):len(d.full)], d.last.Sum64())
			d.last.Reset()
		}
		b = b[n:]
	}
}

// sum is a hash of all that was written.
func (d *digest) sum() uint64 {
	h := d.last // the seed comes with it
	last := h.Sum64()
	h.Reset()
	var buf [8]byte
	for _, s := range append(d.full[:len(d.full):len(d.full)], last) {
		binary.LittleEndian.PutUint64(buf[:], s)
		_, _ = h.Write(buf[:])
	}
	return h.Sum64()
}

// sections is how many there are, the begun one counted.
func (d *digest) sections() int { return int((d.size + section - 1) / section) }

// of returns the size and the sum of section i.
func (d *digest) of(i int) (size int, sum uint64) {
	if i < len(d.full) {
		return section, d.full[i]
	}
	h := d.last
	return int(d.size % section), h.Sum64()
}

// equals reports whether f holds exactly what was written. It reads the file
// once and at most one byte more. The error is the first one of a read, or
// that of ctx.
func (d *digest) equals(ctx context.Context, f io.ReaderAt) (bool, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	n := min(d.sections(), runtime.GOMAXPROCS(0), maxComparers)
	same, errs := make([]bool, n), make([]error, n)
	var wg sync.WaitGroup
	part := func(k int) {
		same[k], errs[k] = d.compare(ctx, f, k*d.sections()/n, (k+1)*d.sections()/n)
		if !same[k] {
			cancel() // the answer is known
		}
	}
	for k := 1; k < n; k++ {
		wg.Go(func() { part(k) })
	}
	if n > 0 {
		part(0)
	}
	wg.Wait()
	if all, err := verdict(same, errs); !all || err != nil {
		return false, err
	}
	return endsAt(f, d.size) // at last: what comes while it is compared counts
}

// verdict puts the parts together: a difference that was seen counts more than
// an error, and an error that came first more than those of the others that
// were stopped for it.
func verdict(same []bool, errs []error) (bool, error) {
	all, why := true, error(nil)
	for k := range same {
		switch {
		case errs[k] == nil && !same[k]:
			return false, nil
		case errs[k] != nil && (why == nil || errors.Is(why, context.Canceled)):
			why = errs[k]
		}
		all = all && same[k]
	}
	return all, why
}

// endsAt reports whether nothing lies behind the first size bytes.
func endsAt(f io.ReaderAt, size int64) (bool, error) {
	var one [1]byte
	n, err := f.ReadAt(one[:], size)
	if errors.Is(err, io.EOF) {
		err = nil
	}
	return n == 0, err
}

// compare looks at the sections from up to before to.
func (d *digest) compare(ctx context.Context, f io.ReaderAt, from, to int) (bool, error) {
	h := d.last
	buf := make([]byte, min(compareChunk, d.size))
	for i := from; i < to; i++ {
		size, sum := d.of(i)
		h.Reset()
		for at := 0; at < size; {
			if err := ctx.Err(); err != nil {
				return false, err
			}
			n, err := f.ReadAt(buf[:min(len(buf), size-at)], int64(i)*section+int64(at))
			if err != nil && !errors.Is(err, io.EOF) {
				return false, err
			}
			if n == 0 { // shorter than it was
				return false, nil
			}
			_, _ = h.Write(buf[:n])
			at += n
		}
		if h.Sum64() != sum {
			return false, nil
		}
	}
	return true, nil
}
