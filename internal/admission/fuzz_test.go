package admission

import (
	"bytes"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/google/go-cmp/cmp"

	"magicode/internal/frame"
)

func checkVerdict(t *testing.T, data []byte) {
	t.Helper()
	if diff := cmp.Diff(wanted(string(data)), verdictOf(data)); diff != "" {
		t.Fatalf("frame %q (-want +got):\n%s", data, diff)
	}
}

func TestTheOracleAgrees(t *testing.T) {
	for _, tt := range parseTests() {
		if diff := cmp.Diff(tt.want, wanted(tt.in)); diff != "" {
			t.Errorf("%s: frame %q (-want +got):\n%s", tt.name, tt.in, diff)
		}
	}
}

// TestDamagedFrames puts each of some bytes in each place of a frame.
func TestDamagedFrames(t *testing.T) {
	base := `{"protocol":"magi-code.local-agent","version":1,"id":"r1","method":"status","params":{"a":["\u00e9",-0.5e3,null]}}`
	for i := range len(base) {
		checkVerdict(t, []byte(base[:i]))
		checkVerdict(t, []byte(base[:i]+base[i+1:]))
		for _, c := range []byte("{}[]\",:\\ 0e.-u\x00\x1f\x7f\xff\xc3") {
			checkVerdict(t, []byte(base[:i]+string([]byte{c})+base[i:]))
			checkVerdict(t, []byte(base[:i]+string([]byte{c})+base[i+1:]))
		}
	}
}

func FuzzEnvelope(f *testing.F) {
	for _, tt := range parseTests() {
		f.Add([]byte(tt.in))
	}
	f.Fuzz(checkVerdict)
}

// FuzzFields builds envelopes of parts that are near the rules.
func FuzzFields(f *testing.F) {
	parts := []string{
		"{", "}", ",", ":", " ", "\r", `"protocol":"magi-code.local-agent"`, `"version":1`, `"id":"r1"`, `"method":"status"`, `"params":{}`,
		`"protocol":"other"`, `"version":2`, `"version":1.0`, `"version":4294967296`, `"id":""`, `"\u0069d":"r2"`, `"ID":"r1"`, "\"\u212ad\":1",
		`"method":"\u0073tatus"`, `"params":[[{"a":"\ud800"}]]`, `"params":`, strings.Repeat("[", 30), strings.Repeat("]", 30), `"`, `\`, "\xff", "1e999", "null",
	}
	f.Add([]byte{0, 6, 2, 7, 2, 8, 2, 9, 2, 10, 1})
	f.Add([]byte{0, 6, 2, 7, 2, 8, 2, 9, 2, 21, 22, 23, 1})
	f.Add([]byte{0, 11, 2, 12, 2, 16, 2, 19, 2, 20, 1, 5})
	f.Fuzz(func(t *testing.T, picks []byte) {
		var b bytes.Buffer
		for _, p := range picks {
			b.WriteString(parts[int(p)%len(parts)])
		}
		checkVerdict(t, b.Bytes())
	})
}

// FuzzSplit sends the same input in one piece and in many: the verdicts of its
// frames are the oracle's both times.
func FuzzSplit(f *testing.F) {
	f.Add([]byte(valid+"\n"+with("r1", "r2")+"\r\n\n"+inParams("[[")+"\n"), uint8(3))
	for _, tt := range parseTests() {
		f.Add([]byte(tt.in+"\n"+valid+"\n"), uint8(1))
	}
	f.Fuzz(func(t *testing.T, in []byte, step uint8) {
		for _, src := range []io.Reader{bytes.NewReader(in), iotest.OneByteReader(bytes.NewReader(in)), &steps{in, int(step) + 1}} {
			lines := bytes.Split(in, []byte("\n"))
			r := frame.NewReader(src)
			for _, line := range lines[:len(lines)-1] {
				data, err := r.Next()
				if len(line) > 65536 {
					if err != frame.ErrTooLarge {
						t.Fatal(err)
					}
					return
				}
				if err != nil || !bytes.Equal(data, line) {
					t.Fatalf("%q, %v, wanted %q", data, err, line)
				}
				checkVerdict(t, data)
			}
		}
	})
}

// steps hands out its bytes in pieces of one size.
type steps struct {
	in   []byte
	size int
}

func (s *steps) Read(p []byte) (int, error) {
	if len(s.in) == 0 {
		return 0, io.EOF
	}
	n := copy(p, s.in[:min(s.size, len(s.in))])
	s.in = s.in[n:]
	return n, nil
}

// FuzzParams holds the params decoders against the oracle.
func FuzzParams(f *testing.F) {
	for _, tt := range paramsTests() {
		f.Add(tt.in)
	}
	f.Fuzz(func(t *testing.T, in string) {
		if n, ok := decode(in); ok && bracketsFit(in) {
			checkParams(t, in, n)
		}
	})
}
