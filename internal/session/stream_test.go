package session

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"hash/maphash"
	"io"
	"math"
	"math/rand/v2"
	"runtime"
	"strings"
	"testing"
	"testing/synctest"
)

// passed streams content through a pass and returns it with the texts that the
// folds were told.
func passed(t *testing.T, content string, r io.Reader) (*pass, []string) {
	t.Helper()
	var told texts
	p := &pass{id: sid, seed: maphash.MakeSeed(), folds: []Fold{&told}, stop: math.MaxInt, size: int64(len(content))}
	if err := p.stream(context.Background(), r); err != nil {
		t.Fatal(err)
	}
	return p, told.texts
}

// Lines of any length, at any place of the chunks, come out whole and in
// order, and the fingerprint is that of the bytes.
func TestStreamOfAnyLines(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 7))
	sizes := []int{0, 100, headroom - 300, headroom, headroom + 300, readChunk - headroom, readChunk, readChunk + 1, 3 * readChunk}
	for round := range 20 {
		var all strings.Builder
		var want []string
		for range 1 + r.IntN(12) {
			text := fmt.Sprint(len(want), strings.Repeat("x", sizes[r.IntN(len(sizes))]+r.IntN(200)))
			want = append(want, text)
			all.WriteString(textLine(text))
		}
		content, torn := all.String(), ""
		switch round % 4 {
		case 1:
			content = strings.TrimSuffix(content, "\n")
		case 2:
			torn = textLine("torn" + strings.Repeat("y", r.IntN(2*readChunk)))
			torn = torn[:len(torn)-1-r.IntN(len(torn)-2)-1]
		case 3:
			content = strings.TrimSuffix(content, "\n")
			torn = strings.Repeat("\x00", r.IntN(headroom)+1)
		}
		p, got := passed(t, content+torn, strings.NewReader(content+torn))
		checkTexts(t, round, got, want)
		checkPrint(t, round, p, content, content+torn)
	}
}

func checkTexts(t *testing.T, round int, got, want []string) {
	t.Helper()
	if len(got) != len(want) {
		t.Fatalf("round %d: %d records, %d written", round, len(got), len(want))
	}
	for i := range got {
		if got[i] != want[i] {
			t.Fatalf("round %d: record %d is not as it was written", round, i)
		}
	}
}

func checkPrint(t *testing.T, round int, p *pass, whole, all string) {
	t.Helper()
	if p.info.Bytes != int64(len(all)) || p.print.end != int64(len(whole)) || p.print.size != int64(len(all)) {
		t.Fatalf("round %d: %d bytes, print %d of %d; want %d of %d", round, p.info.Bytes, p.print.end, p.print.size, len(whole), len(all))
	}
	if p.info.Torn != (len(whole) < len(all)) || p.print.open == strings.HasSuffix(whole, "\n") {
		t.Fatalf("round %d: torn %v, open %v", round, p.info.Torn, p.print.open)
	}
	if same, err := p.print.content().equals(context.Background(), strings.NewReader(all)); !same || err != nil {
		t.Fatalf("round %d: the fingerprint is not the content's: %v", round, err)
	}
	if got, want := p.print.whole.sum(), digestOf(p.seed, []byte(whole), 7777).sum(); got != want {
		t.Fatalf("round %d: fingerprint of the whole records %x, want %x", round, got, want)
	}
}

// trickle gives few bytes at a time, and in the end an error.
type trickle struct {
	data []byte
	step int
	err  error
}

func (s *trickle) Read(p []byte) (int, error) {
	if len(s.data) == 0 {
		return 0, s.err
	}
	n := copy(p[:min(len(p), s.step)], s.data)
	s.data = s.data[n:]
	return n, nil
}

func TestStreamOfShortReads(t *testing.T) {
	content := strings.Repeat(textLine(strings.Repeat("z", 5000)), 100)
	_, got := passed(t, content, &trickle{[]byte(content), 333, io.EOF})
	if len(got) != 100 {
		t.Errorf("%d records of 100", len(got))
	}
}

func TestStreamReadError(t *testing.T) {
	broken := errors.New("broken")
	p := &pass{id: sid, seed: maphash.MakeSeed(), stop: math.MaxInt, size: 1 << 20}
	content := []byte(strings.Repeat(textLine("a"), 10_000))
	err := p.stream(context.Background(), &trickle{content, readChunk, broken})
	if !errors.Is(err, ErrInvalid) || !errors.Is(err, broken) {
		t.Errorf("got %v", err)
	}
}

// A short file does not cost a long buffer.
func TestStreamBufferFitsTheFile(t *testing.T) {
	b := &batch{}
	if _, err := b.fill(bytes.NewReader(make([]byte, 2000)), 2000); err != io.EOF {
		t.Fatal(err)
	}
	if len(b.buf) > headroom+2000+bytes.MinRead {
		t.Errorf("%d bytes for a file of 2,000", len(b.buf))
	}
}

// uncertain panics or fails at a read.
type uncertain struct {
	io.Reader
	reads int // before
	do    func() error
}

func (u *uncertain) Read(p []byte) (int, error) {
	if u.reads--; u.reads == -1 {
		if err := u.do(); err != nil {
			return 0, err
		}
	}
	return u.Reader.Read(p)
}

// However a pass is ended, and wherever it is, its goroutines end with it: a
// bubble that has one left fails.
func TestStreamLeavesNobody(t *testing.T) {
	content := strings.Repeat(textLine(strings.Repeat("z", readChunk/3)), 40)
	broken := errors.New("broken")
	for at := 0; at < 40; at += 3 {
		for name, want := range map[string]error{"fold panics": broken, "read panics": broken, "read fails": ErrInvalid, "cancelled by a fold": context.Canceled, "cancelled by a read": context.Canceled} {
			synctest.Test(t, func(t *testing.T) {
				ctx, cancel := context.WithCancel(t.Context())
				defer cancel()
				r := &uncertain{strings.NewReader(content), math.MaxInt, nil}
				f := foldFunc(func(rec Record) error {
					switch {
					case rec.Index != at:
					case name == "fold panics":
						panic(broken)
					case name == "cancelled by a fold":
						cancel()
					}
					return nil
				})
				switch r.do = func() error { panic(broken) }; name {
				case "read panics":
					r.reads = at / 3
				case "read fails":
					r.reads, r.do = at/3, func() error { return broken }
				case "cancelled by a read":
					r.reads, r.do = at/4, func() error { cancel(); return nil }
				}
				// When a fold cancels, all may be read already.
				if err := streamed(ctx, r, f); !errors.Is(err, want) && (err != nil || name != "cancelled by a fold") {
					t.Errorf("%s at %d: %v", name, at, err)
				}
			})
		}
	}
}

func streamed(ctx context.Context, r io.Reader, f Fold) (err error) {
	defer func() {
		if crash := recover(); crash != nil {
			err = crash.(error)
		}
	}()
	p := &pass{id: sid, seed: maphash.MakeSeed(), folds: []Fold{f}, stop: math.MaxInt, size: 1 << 20}
	return p.stream(ctx, r)
}

// The buffers of long lines serve again, and one that grows is not copied over
// and over.
func TestStreamOfLongLinesAllocatesLittle(t *testing.T) {
	for _, c := range []struct{ size, lines, most int }{ // most is for one byte of the file, in percent
		{40 << 10, 500, 40},
		{100 << 10, 200, 40},
		{2 << 20, 15, 200},
		{16 << 20, 1, 350},
	} {
		content := strings.Repeat(textLine(strings.Repeat("z", c.size)), c.lines)
		p := &pass{id: sid, seed: maphash.MakeSeed(), stop: math.MaxInt, size: int64(len(content))}
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		if err := p.stream(context.Background(), strings.NewReader(content)); err != nil || p.info.Records != c.lines {
			t.Fatal(err, p.info.Records)
		}
		runtime.ReadMemStats(&after)
		if got := int(after.TotalAlloc-before.TotalAlloc) / (len(content) / 100); got > c.most {
			t.Errorf("%d lines of %d bytes: %d %% of the file were allocated", c.lines, c.size, got)
		}
	}
}
