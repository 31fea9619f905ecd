//go:build unix

package frames

import (
	"bytes"
	"slices"
	"sync"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"magicode/internal/frame"
	"magicode/pkg/localagent"
	"magicode/telemetry"
)

// producer queues frames as fast as the queue takes them, and knows how long
// each was in it.
type producer struct {
	sync.Mutex
	room    *sync.Cond
	w       *frame.Writer
	pending []time.Time // when each queued frame was queued
	margins []time.Duration
	peak    int
	broken  error
}

func (p *producer) Drained() {
	p.account()
	p.room.Signal()
}

func (p *producer) Broken(err error) {
	p.broken = err
	p.room.Signal()
}

// account takes the time of the frames that have left.
func (p *producer) account() {
	now := time.Now()
	for len(p.pending) > p.w.Len() {
		p.margins = append(p.margins, localagent.OutputDeadline-now.Sub(p.pending[0]))
		p.pending = p.pending[1:]
	}
}

func (p *producer) queue(line []byte) error {
	p.Lock()
	defer p.Unlock()
	for p.w.Full() && p.broken == nil {
		p.room.Wait()
	}
	p.pending = append(p.pending, time.Now())
	p.w.Commit(append(p.w.Begin(), line...), telemetry.FrameResponse)
	p.peak = max(p.peak, p.w.Len())
	p.w.Flush()
	p.account()
	return p.broken
}

// BenchmarkWriter writes frames through a real pipe to a reader of each kind.
// margin-p1 is how far from its deadline the worst hundredth was written.
func BenchmarkWriter(b *testing.B) {
	readers := []struct {
		name  string
		pause func(reads int)
	}{
		{"fast", func(int) {}},
		{"slow", func(int) { time.Sleep(time.Millisecond) }},
		{"bursty", func(reads int) {
			if reads%64 == 0 {
				time.Sleep(50 * time.Millisecond)
			}
		}},
	}
	sizes := []struct {
		name string
		n    int
	}{{"200B", 200}, {"4KiB", 4096}, {"64KiB", 65536}}
	for _, reader := range readers {
		for _, size := range sizes {
			b.Run("reader="+reader.name+"/frame="+size.name, func(b *testing.B) {
				writeAll(b, append(bytes.Repeat([]byte("x"), size.n-1), '\n'), reader.pause)
			})
		}
	}
}

func writeAll(b *testing.B, line []byte, pause func(reads int)) {
	var in, out [2]int
	if err := unix.Pipe(in[:]); err != nil {
		b.Fatal(err)
	}
	if err := unix.Pipe(out[:]); err != nil {
		b.Fatal(err)
	}
	pipes, err := frame.OpenPipes(in[0], out[1])
	if err != nil {
		b.Fatal(err)
	}
	p := &producer{}
	p.room = sync.NewCond(p)
	p.w = frame.NewWriter(pipes, p, telemetry.Tel{})
	done := make(chan int)
	go func() { done <- readLoop(out[0], pause) }()
	b.SetBytes(int64(len(line)))
	b.ReportAllocs()
	n := 0
	for b.Loop() {
		if err := p.queue(line); err != nil {
			b.Fatal(err)
		}
		n += len(line)
	}
	p.Lock()
	for p.w.Len() > 0 && p.broken == nil {
		p.room.Wait()
	}
	p.Unlock()
	perSecond(b, "frames/s", b.N)
	pipes.Close()
	p.w.Wait()
	unix.Close(out[1]) // the end of the output, for the reader
	if got := <-done; got != n {
		b.Fatalf("the reader got %d of %d bytes", got, n)
	}
	for _, fd := range []int{in[1], out[0]} {
		unix.Close(fd)
	}
	slices.Sort(p.margins)
	b.ReportMetric(float64(p.margins[len(p.margins)/100].Milliseconds()), "margin-p1-ms")
	b.ReportMetric(float64(p.peak), "peak-queue")
}

// readLoop reads to the end and returns how much there was.
func readLoop(fd int, pause func(reads int)) (total int) {
	buf := make([]byte, 65536)
	for reads := 1; ; reads++ {
		n, err := unix.Read(fd, buf)
		switch {
		case err == unix.EINTR:
			continue
		case n <= 0:
			return total
		}
		total += n
		pause(reads)
	}
}
