package frame

import (
	"bytes"
	"errors"
	"io"
	"os"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/google/go-cmp/cmp"

	"magicode/pkg/localagent"
)

// inputParts is a source that hands out its parts, one a read, and then err.
type inputParts struct {
	parts [][]byte
	err   error
	reads int
	most  int // the longest read that was asked for
}

func (s *inputParts) Read(p []byte) (int, error) {
	s.reads++
	s.most = max(s.most, len(p))
	if len(s.parts) == 0 {
		return 0, s.err
	}
	n := copy(p, s.parts[0])
	if s.parts[0] = s.parts[0][n:]; len(s.parts[0]) == 0 {
		s.parts = s.parts[1:]
	}
	return n, nil
}

func splitInput(in string, sizes ...int) *inputParts {
	s := &inputParts{err: io.EOF}
	for _, n := range sizes {
		s.parts = append(s.parts, []byte(in[:n]))
		in = in[n:]
	}
	if in != "" {
		s.parts = append(s.parts, []byte(in))
	}
	return s
}

// allFrames returns all frames of a reader and the error that ended them.
func allFrames(r *Reader) (frames []string, err error) {
	for {
		frame, err := r.Next()
		if err != nil {
			return frames, err
		}
		frames = append(frames, string(frame))
	}
}

// naiveFrames is runner.md 4, byte by byte.
func naiveFrames(in []byte) (frames []string, err error) {
	var partial []byte
	for _, c := range in {
		switch {
		case c == '\n':
			frames = append(frames, string(partial))
			partial = partial[:0]
		case len(partial) == localagent.MaxFrameBytes:
			return frames, ErrTooLarge
		default:
			partial = append(partial, c)
		}
	}
	if len(partial) > 0 {
		return frames, ErrIncomplete
	}
	return frames, io.EOF
}

func TestReader(t *testing.T) {
	const limit = localagent.MaxFrameBytes
	full := strings.Repeat("x", limit)
	tests := []struct {
		name, in string
		frames   int
		err      error
	}{
		{"nothing", "", 0, io.EOF},
		{"one frame", "abc\n", 1, io.EOF},
		{"empty frames", "\n\n\n", 3, io.EOF},
		{"CR stays", "abc\r\n\r\n", 2, io.EOF},
		{"no LF", "abc", 0, ErrIncomplete},
		{"no LF at the end", "abc\ndef", 1, ErrIncomplete},
		{"only CR at the end", "abc\n\r", 1, ErrIncomplete},
		{"65,536 bytes", full + "\n", 1, io.EOF},
		{"65,536 bytes twice", full + "\n" + full + "\n", 2, io.EOF},
		{"65,536 bytes and CR", full + "\r\n", 0, ErrTooLarge},
		{"65,537 bytes", full + "y\n", 0, ErrTooLarge},
		{"65,536 bytes without LF", full, 0, ErrIncomplete},
		{"65,537 bytes without LF", full + "y", 0, ErrTooLarge},
		{"the rest is discarded", "a\n" + full + "y\nb\n", 1, ErrTooLarge},
		{"a frame behind a full one", full + "\nb\n", 2, io.EOF},
		{"frames of many sizes", strings.Repeat(full[:4095]+"\n"+full[:4096]+"\n"+full[:4097]+"\n\n", 5), 20, io.EOF},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			want, wantErr := naiveFrames([]byte(tt.in))
			if len(want) != tt.frames || wantErr != tt.err {
				t.Fatalf("the oracle gives %d frames and %v", len(want), wantErr)
			}
			for name, src := range map[string]io.Reader{
				"whole":     strings.NewReader(tt.in),
				"bytes":     iotest.OneByteReader(strings.NewReader(tt.in)),
				"halves":    iotest.HalfReader(strings.NewReader(tt.in)),
				"with data": iotest.DataErrReader(strings.NewReader(tt.in)),
			} {
				r := NewReader(src)
				got, err := allFrames(r)
				if err != wantErr {
					t.Errorf("%s: %v, wanted %v", name, err, wantErr)
				}
				if diff := cmp.Diff(want, got); diff != "" {
					t.Errorf("%s (-want +got):\n%.500s", name, diff)
				}
				if _, again := r.Next(); again != wantErr || !r.Buffered() {
					t.Errorf("%s: then %v, buffered %v", name, again, r.Buffered())
				}
			}
		})
	}
}

func TestReadsAreBatches(t *testing.T) {
	src := splitInput("a\nbb\nc" + strings.Repeat("c", 3*4096) + "\nd")
	r := NewReader(src)
	for i, want := range []struct {
		frame    string
		reads    int
		buffered bool
	}{{"a", 1, true}, {"bb", 1, false}, {strings.Repeat("c", 3*4096+1), 4, false}} {
		frame, err := r.Next()
		if err != nil || string(frame) != want.frame {
			t.Fatalf("frame %d: %.20q %v", i, frame, err)
		}
		if src.reads != want.reads || r.Buffered() != want.buffered {
			t.Errorf("frame %d: %d reads, buffered %v; wanted %d, %v", i, src.reads, r.Buffered(), want.reads, want.buffered)
		}
	}
	if src.most != localagent.MaxReadBytes {
		t.Errorf("a read of %d bytes", src.most)
	}
	if r.Partial() != 1 {
		t.Errorf("%d bytes of the next frame, wanted 1", r.Partial())
	}
}

func TestOversizeIsFoundAtOnce(t *testing.T) {
	const limit = localagent.MaxFrameBytes
	src := splitInput(strings.Repeat("x", limit+1), limit)
	src.err = errors.New("read on")
	if _, err := NewReader(src).Next(); err != ErrTooLarge {
		t.Errorf("byte 65,537 gave %v", err)
	}
	src = splitInput(strings.Repeat("x", limit))
	src.err = errors.New("read on")
	if _, err := NewReader(src).Next(); err != src.err {
		t.Errorf("65,536 bytes gave %v", err)
	}
}

func TestErrorsOfTheSource(t *testing.T) {
	src := splitInput("a\npart")
	src.err = os.ErrDeadlineExceeded
	r := NewReader(src)
	if frame, err := r.Next(); string(frame) != "a" || err != nil {
		t.Fatal(string(frame), err)
	}
	for range 2 {
		if _, err := r.Next(); err != os.ErrDeadlineExceeded || r.Buffered() {
			t.Fatalf("%v, buffered %v", err, r.Buffered())
		}
	}
	src.parts = [][]byte{[]byte("ial\n")}
	if frame, err := r.Next(); string(frame) != "partial" || err != nil {
		t.Fatalf("behind the interruption: %q %v", frame, err)
	}
	src.err = io.ErrUnexpectedEOF
	if _, err := r.Next(); err != io.ErrUnexpectedEOF {
		t.Errorf("%v", err)
	}
}

// An error that comes with data is looked at behind the data, and not lost.
func TestErrorWithData(t *testing.T) {
	for _, want := range []error{io.EOF, os.ErrDeadlineExceeded} {
		once := false
		r := NewReader(readFunc(func(p []byte) (int, error) {
			if once {
				t.Fatal("read again before the error was told")
			}
			once = true
			return copy(p, "a\nb\n"), want
		}))
		frames, err := allFrames(r)
		if diff := cmp.Diff([]string{"a", "b"}, frames); diff != "" || err != want {
			t.Errorf("%v %s", err, diff)
		}
	}
}

type readFunc func(p []byte) (int, error)

func (f readFunc) Read(p []byte) (int, error) { return f(p) }

func TestSourceWithoutProgress(t *testing.T) {
	r := NewReader(readFunc(func([]byte) (int, error) { return 0, nil }))
	if _, err := r.Next(); err != io.ErrNoProgress {
		t.Errorf("%v", err)
	}
}

func TestBufferGrowsAndShrinks(t *testing.T) {
	small, large := "s\n", strings.Repeat("l", localagent.MaxFrameBytes)+"\n"
	src := splitInput("")
	r := NewReader(src)
	feed := func(in string, want int) {
		t.Helper()
		src.parts = append(src.parts, []byte(in))
		if frame, err := r.Next(); err != nil || len(frame)+1 != len(in) {
			t.Fatalf("%d bytes, %v", len(frame), err)
		}
		if len(r.buf) != want {
			t.Errorf("a buffer of %d bytes, wanted %d", len(r.buf), want)
		}
	}
	feed(small, smallBuffer)
	feed(large, largeBuffer)
	for range shrinkAfter - 1 {
		feed(small, largeBuffer)
	}
	feed(large, largeBuffer)
	for range shrinkAfter {
		feed(small, largeBuffer)
	}
	feed(small, smallBuffer)
	feed(large, largeBuffer)
}

func TestReaderDoesNotAllocate(t *testing.T) {
	in := bytes.Repeat([]byte(strings.Repeat("x", 99)+"\n"), 100)
	in = append(append(in, bytes.Repeat([]byte("y"), localagent.MaxFrameBytes)...), '\n')
	src := bytes.NewReader(in)
	r := NewReader(src)
	n := testing.AllocsPerRun(5, func() {
		src.Reset(in)
		for range 101 {
			if _, err := r.Next(); err != nil {
				t.Fatal(err)
			}
		}
	})
	if n > 2 { // the large buffer once, and the small one again
		t.Errorf("%v allocations for 101 frames", n)
	}
}

// FuzzReader cuts any input at any places; the frames never depend on them.
// Bytes 0xff in the input stand for 16,000 others, so that the bound is in reach.
func FuzzReader(f *testing.F) {
	f.Add([]byte("abc\n\ndef\r\nx"), []byte{1, 2, 3})
	f.Add([]byte("a\n\xff\xff\xff\xff\nb\n"), []byte{200, 0, 7})
	f.Add([]byte("\xff\xff\xff\xff\xff\n"), []byte{255})
	f.Add(bytes.Repeat([]byte("0123456789\n"), 900), []byte{255, 255, 1})
	f.Fuzz(func(t *testing.T, short, cuts []byte) {
		in := bytes.ReplaceAll(short, []byte{0xff}, bytes.Repeat([]byte("0123456789abcdef"), 1000))
		if len(in) > 300_000 {
			return
		}
		want, wantErr := naiveFrames(in)
		src := &inputParts{err: io.EOF}
		for rest := in; len(rest) > 0; {
			n := len(rest)
			if len(cuts) > 0 { // every second byte of cuts counts large steps
				n = min(n, 1+int(cuts[0])*(1+len(src.parts)%2*63))
				cuts = append(cuts[1:], cuts[0])
			}
			src.parts = append(src.parts, bytes.Clone(rest[:n]))
			rest = rest[n:]
		}
		r := NewReader(src)
		var got []string
		for {
			buffered, reads := r.Buffered(), src.reads
			frame, err := r.Next()
			if buffered && src.reads != reads {
				t.Fatal("read although a frame was there")
			}
			if err != nil {
				if err != wantErr {
					t.Fatalf("%v, wanted %v", err, wantErr)
				}
				break
			}
			if !buffered && src.reads == reads {
				t.Fatal("a frame was there although Buffered was false")
			}
			got = append(got, string(frame))
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Fatalf("(-want +got):\n%.2000s", diff)
		}
		if src.most > localagent.MaxReadBytes {
			t.Fatalf("a read of %d bytes", src.most)
		}
	})
}
