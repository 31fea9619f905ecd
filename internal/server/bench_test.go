package server

import (
	"context"
	"fmt"
	"io"
	"testing"
	"time"

	"github.com/google/uuid"

	"magicode/internal/admission"
)

// replayed is a transport that hands out one frame per read and takes every write.
type replayed struct {
	frames [][]byte
	out    []byte // the last write
}

func (r *replayed) Read(p []byte) (int, error) {
	if len(r.frames) == 0 {
		return 0, io.EOF
	}
	n := copy(p, r.frames[0])
	r.frames = r.frames[1:]
	return n, nil
}

func (r *replayed) TryWrite(p []byte) (int, error) {
	r.out = append(r.out[:0], p...)
	return len(p), nil
}
func (r *replayed) Write(p []byte) (int, error)      { return r.TryWrite(p) }
func (r *replayed) SetWriteDeadline(time.Time) error { return nil }
func (r *replayed) Close() error                     { return nil }

// BenchmarkStatus is the whole way of a status request without the kernel.
func BenchmarkStatus(b *testing.B) {
	frames := make([][]byte, admissionLimit)
	for i := range frames {
		frames[i] = fmt.Appendf(nil, `{"protocol": "magi-code.local-agent", "version": 1, "id": "s%d", "method": "status", "params": {}}`+"\n", i)
	}
	t := &replayed{}
	c := newConn(Config{Transport: t, Startup: &backend{}, NewID: uuid.NewString})
	c.startup, c.context = startupReady, fixtureInfo.ContextID
	c.choose(fixtureInfo.Provider, fixtureInfo.Model)
	ctx := context.Background()
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		if i%admissionLimit == 0 {
			c.ids = admission.Ledger{}
		}
		f := frames[i%admissionLimit]
		r := bufferedNone{}
		if !c.batch(ctx, r, f[:len(f)-1], nil) {
			b.Fatal("closed")
		}
	}
	if len(t.out) == 0 {
		b.Fatal("nothing was answered")
	}
}

const admissionLimit = 4096

type bufferedNone struct{}

func (bufferedNone) Next() ([]byte, error) { return nil, io.EOF }
func (bufferedNone) Buffered() bool        { return false }
