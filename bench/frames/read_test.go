package frames

import (
	"fmt"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"magicode/internal/admission"
	"magicode/internal/frame"
	"magicode/pkg/localagent"
)

// endless repeats its bytes for ever, size of them a read.
type endless struct {
	data []byte
	at   int
	size int
}

func (e *endless) Read(p []byte) (int, error) {
	n := min(len(p), e.size, len(e.data)-e.at)
	copy(p, e.data[e.at:e.at+n])
	if e.at += n; e.at == len(e.data) {
		e.at = 0
	}
	return n, nil
}

// BenchmarkFrameRead cuts a stream of small, middle and large frames.
// chunk=frame delivers each whole in as few reads as the batch size allows.
func BenchmarkFrameRead(b *testing.B) {
	status := envelope("status", "{}")
	sizes := []struct{ name, frame string }{
		{"status", status},
		{"turnstart16KiB", turnStart("x", 16384)},
		{"max65536", fill(localagent.MaxFrameBytes, `{"s":"`, "x", "", `"}`)},
	}
	for _, chunk := range []string{"1B", "4096B", "frame"} {
		for _, s := range sizes {
			b.Run("chunk="+chunk+"/frame="+s.name, func(b *testing.B) {
				benchRead(b, frame.NewReader(source(chunk, s.frame+"\n")), len(s.frame))
			})
		}
	}
}

// source repeats a frame for ever, in reads of a kind.
func source(chunk, line string) io.Reader {
	switch chunk {
	case "1B":
		return iotest.OneByteReader(&endless{data: []byte(line), size: 1})
	case "4096B": // frames and batches do not coincide
		return &endless{data: []byte(strings.Repeat(line, 64)), size: 4096}
	}
	return &endless{data: []byte(line), size: len(line)}
}

func benchRead(b *testing.B, r *frame.Reader, size int) {
	b.SetBytes(int64(size) + 1)
	b.ReportAllocs()
	for b.Loop() {
		got, err := r.Next()
		if err != nil || len(got) != size {
			b.Fatalf("%d bytes, %v", len(got), err)
		}
	}
	perSecond(b, "frames/s", b.N)
}

// BenchmarkAdmission admits a status frame with its id, as a child does that
// has kept so many ids.
func BenchmarkAdmission(b *testing.B) {
	for _, ids := range []int{0, 2048, 4095} {
		b.Run(fmt.Sprintf("ids=%d/kind=new", ids), func(b *testing.B) { benchNew(b, ids) })
		b.Run(fmt.Sprintf("ids=%d/kind=duplicate", ids), func(b *testing.B) { benchDuplicate(b, ids) })
	}
}

func filled(b *testing.B, ids int) *admission.Ledger {
	l := new(admission.Ledger)
	for i := range ids {
		if rej := l.Record(fmt.Sprintf("request.%d", i)); rej != nil {
			b.Fatal(rej.Code)
		}
	}
	return l
}

// benchNew records up to 512 ids in a row, the last of them with so many kept: a
// ledger is filled for each row. With 0 ids, the first allocations of a ledger
// are included.
func benchNew(b *testing.B, ids int) {
	row := make([][]byte, min(512, ids+1))
	for i := range row {
		row[i] = []byte(strings.Replace(envelope("status", "{}"), "bench.1", fmt.Sprintf("bench.%03d", i), 1))
	}
	var l *admission.Ledger
	b.SetBytes(int64(len(row[0])))
	b.ReportAllocs()
	for i := range b.N {
		at := i % len(row)
		if at == 0 {
			b.StopTimer()
			l = filled(b, ids+1-len(row))
			b.StartTimer()
		}
		req, rej := admission.Parse(row[at])
		if rej != nil || l.Record(req.ID) != nil {
			b.Fatal("refused")
		}
	}
	perSecond(b, "frames/s", b.N)
}

func benchDuplicate(b *testing.B, ids int) {
	data := []byte(envelope("status", "{}"))
	l := filled(b, max(ids-1, 0))
	l.Record("bench.1")
	b.SetBytes(int64(len(data)))
	b.ReportAllocs()
	for b.Loop() {
		req, rej := admission.Parse(data)
		if rej != nil {
			b.Fatal(rej.Code)
		}
		if rej := l.Record(req.ID); rej == nil || rej.Code != localagent.CodeDuplicateID {
			b.Fatal("a duplicate was recorded")
		}
	}
	perSecond(b, "frames/s", b.N)
}
