package session

import (
	"bytes"
	"context"
	"errors"
	"hash/maphash"
	"io"
	"math/rand/v2"
	"testing"
)

func filled(size int) []byte {
	b := make([]byte, size)
	r := rand.New(rand.NewPCG(1, uint64(size)))
	for i := range b {
		b[i] = byte(r.Uint32())
	}
	return b
}

func digestOf(seed maphash.Seed, b []byte, piece int) *digest {
	var d digest
	d.begin(seed)
	for len(b) > 0 {
		n := min(piece, len(b))
		d.write(b[:n])
		b = b[n:]
	}
	return &d
}

var digestSizes = []int{0, 1, 1000, section - 1, section, section + 1, 2 * section, 5*section + 77}

func TestDigestOfAnyPieces(t *testing.T) {
	seed := maphash.MakeSeed()
	for _, size := range digestSizes {
		b := filled(size)
		want := digestOf(seed, b, max(size, 1)).sum()
		for _, piece := range []int{1021, 64 << 10, section, section + 3} {
			if got := digestOf(seed, b, piece); got.sum() != want || got.size != int64(size) {
				t.Errorf("%d bytes in pieces of %d: sum %x of %d bytes, in one %x", size, piece, got.sum(), got.size, want)
			}
		}
	}
}

func TestDigestFindsEveryDifference(t *testing.T) {
	seed, ctx := maphash.MakeSeed(), context.Background()
	for _, size := range digestSizes {
		b := filled(size)
		d := digestOf(seed, b, 10_000)
		if same, err := d.equals(ctx, bytes.NewReader(b)); !same || err != nil {
			t.Errorf("%d bytes, unchanged: %v, %v", size, same, err)
		}
		if same, err := d.equals(ctx, bytes.NewReader(append(bytes.Clone(b), 'x'))); same || err != nil {
			t.Errorf("%d bytes and one more: %v, %v", size, same, err)
		}
		if size == 0 {
			continue
		}
		if same, err := d.equals(ctx, bytes.NewReader(b[:size-1])); same || err != nil {
			t.Errorf("%d bytes less one: %v, %v", size, same, err)
		}
		for at := 0; at < size; at += max(1, min(section/2+11, size/3)) {
			b[at] ^= 1
			if same, err := d.equals(ctx, bytes.NewReader(b)); same || err != nil {
				t.Errorf("%d bytes, other at %d: %v, %v", size, at, same, err)
			}
			b[at] ^= 1
		}
	}
}

// A copy goes on by itself: what is written to one does not reach the other,
// also at the place where both begin the same section.
func TestDigestCopies(t *testing.T) {
	seed := maphash.MakeSeed()
	b := filled(3 * section)
	for _, at := range []int{section - 5, section, 2*section - 5, 2*section + 5} {
		one := digestOf(seed, b[:at], section)
		two := *one
		one.write(b[at:])
		two.write(bytes.Repeat([]byte{'t'}, len(b)-at))
		if want := digestOf(seed, b, 999); one.sum() != want.sum() {
			t.Errorf("copied at %d: the copy's bytes are in the original", at)
		}
		if one.sum() == two.sum() {
			t.Errorf("copied at %d: both have one sum", at)
		}
	}
}

// unreadable fails every read at or behind a place.
type unreadable struct {
	io.ReaderAt
	from int64
	err  error
}

func (u unreadable) ReadAt(p []byte, off int64) (int, error) {
	if off+int64(len(p)) > u.from && len(p) > 1 {
		return 0, u.err
	}
	return u.ReaderAt.ReadAt(p, off)
}

func TestDigestReadErrors(t *testing.T) {
	broken := errors.New("broken")
	b := filled(6 * section)
	d := digestOf(maphash.MakeSeed(), b, section)
	for _, from := range []int64{0, section + 1, 5 * section} {
		same, err := d.equals(context.Background(), unreadable{bytes.NewReader(b), from, broken})
		if same || !errors.Is(err, broken) {
			t.Errorf("no read from %d on: %v, %v", from, same, err)
		}
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if same, err := d.equals(ctx, bytes.NewReader(b)); same || !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v, %v", same, err)
	}
}

// growing gets another byte when it is read first.
type growing struct{ data []byte }

func (g *growing) ReadAt(p []byte, off int64) (int, error) {
	n, err := bytes.NewReader(g.data).ReadAt(p, off)
	if int64(n)+off == int64(len(g.data)) && g.data[len(g.data)-1] != '+' {
		g.data = append(g.data, '+')
	}
	return n, err
}

func TestDigestFindsWhatComesMeanwhile(t *testing.T) {
	b := []byte("a file of one section")
	d := digestOf(maphash.MakeSeed(), b, section)
	if same, err := d.equals(context.Background(), &growing{b}); same || err != nil {
		t.Errorf("grown while it was compared: %v, %v", same, err)
	}
}
