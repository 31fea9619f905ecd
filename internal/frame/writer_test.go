package frame

import (
	"bytes"
	"errors"
	"io"
	"math"
	"net"
	"os"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"magicode/pkg/localagent"
	"magicode/telemetry"
	"magicode/telemetry/reader/spantest"
)

// owner is the connection of these tests: a lock, and what it was told when.
type owner struct {
	sync.Mutex
	w       *Writer
	began   time.Time
	drained int
	broken  error
	after   time.Duration // from began to Broken
}

func (o *owner) Drained() { o.drained++ }
func (o *owner) Broken(err error) {
	o.broken, o.after = err, time.Since(o.began)
}

func newOwner(t *testing.T, tr Transport) *owner {
	t.Helper()
	return observedOwner(tr, telemetry.Tel{})
}

func observedOwner(tr Transport, tel telemetry.Tel) *owner {
	o := &owner{began: time.Now()}
	o.w = NewWriter(tr, o, tel)
	return o
}

// queue queues and flushes frames of these sizes, each of one letter and an LF.
func (o *owner) queue(sizes ...int) {
	o.Lock()
	defer o.Unlock()
	for i, size := range sizes {
		o.w.Commit(append(o.w.Begin(), line(i, size)...), telemetry.FrameResponse)
	}
	o.w.Flush()
}

func (o *owner) state() (pending int, broken error) {
	o.Lock()
	defer o.Unlock()
	return o.w.Len(), o.broken
}

func line(i, size int) string {
	return strings.Repeat(string(rune('a'+i%26)), size-1) + "\n"
}

// piped gives the server's and the client's end of an output that has no
// buffer, and no way to tell whether there is room.
func piped(t *testing.T) (server, client net.Conn) {
	server, client = net.Pipe()
	t.Cleanup(func() { server.Close(); client.Close() })
	return server, client
}

func read(t *testing.T, r io.Reader, n int) string {
	t.Helper()
	b := make([]byte, n)
	if _, err := io.ReadFull(r, b); err != nil {
		t.Fatalf("read %d bytes: %v", n, err)
	}
	return string(b)
}

func TestWriterKeepsOrder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server, client := piped(t)
		o := newOwner(t, server)
		o.queue(10, 20, 30)
		want := line(0, 10) + line(1, 20) + line(2, 30)
		if got := read(t, client, 60); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
		synctest.Wait()
		if n, err := o.state(); n != 0 || err != nil {
			t.Errorf("%d frames pending, %v", n, err)
		}
		if o.drained == 0 {
			t.Error("the owner was not told about room")
		}
	})
}

func TestWriterDeadline(t *testing.T) {
	tests := []struct {
		name string
		// read is what the client reads, and when; the frames are queued at 0.
		sizes []int
		// A transport with a buffer takes one byte more than was read.
		read  func(t *testing.T, client io.Reader, buffer int)
		err   error
		after time.Duration
		left  int
	}{
		{"full write at 1,999 ms", []int{100}, func(t *testing.T, client io.Reader, _ int) {
			time.Sleep(1999 * time.Millisecond)
			read(t, client, 100)
		}, nil, 0, 0},
		{"full write at 2,001 ms", []int{100}, func(t *testing.T, client io.Reader, _ int) {
			time.Sleep(2001 * time.Millisecond)
		}, ErrDeadline, 2000 * time.Millisecond, 1},
		{"partial progress does not move it", []int{100}, func(t *testing.T, client io.Reader, buffer int) {
			for range 99 - buffer {
				time.Sleep(20 * time.Millisecond)
				read(t, client, 1)
			}
			time.Sleep(time.Second)
		}, ErrDeadline, 2000 * time.Millisecond, 1},
		{"all but the last byte", []int{100}, func(t *testing.T, client io.Reader, buffer int) {
			read(t, client, 99-buffer)
			time.Sleep(2001 * time.Millisecond)
		}, ErrDeadline, 2000 * time.Millisecond, 1},
		{"the second frame has its own, from when it was queued", []int{100, 100}, func(t *testing.T, client io.Reader, _ int) {
			time.Sleep(1999 * time.Millisecond)
			read(t, client, 100)
			time.Sleep(time.Second)
		}, ErrDeadline, 2000 * time.Millisecond, 1},
		{"both at 1,999 ms", []int{100, 100}, func(t *testing.T, client io.Reader, _ int) {
			time.Sleep(1999 * time.Millisecond)
			read(t, client, 200)
		}, nil, 0, 0},
	}
	for _, test := range tests {
		for _, kind := range []string{"pipe", "buffered"} {
			t.Run(test.name+"/"+kind, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					var tr Transport
					var client io.Reader
					buffer := 0
					if kind == "pipe" {
						tr, client = piped(t)
					} else {
						b := newBuffered(1)
						tr, client, buffer = b, b.client(), 1
						b.fill()
						defer func() { b.Close() }()
					}
					o := newOwner(t, tr)
					o.queue(test.sizes...)
					test.read(t, client, buffer)
					synctest.Wait()
					if !errors.Is(o.broken, test.err) || o.broken != nil && o.after != test.after {
						t.Errorf("ended with %v after %v, want %v after %v", o.broken, o.after, test.err, test.after)
					}
					if n, _ := o.state(); n != test.left {
						t.Errorf("%d frames left, want %d", n, test.left)
					}
				})
			})
		}
	}
}

// TestMargin: what is left of a frame's 2,000 ms counts from when it was queued to
// its last byte, whatever was written of it in between, and less than 500 ms is a
// near miss (T-20).
func TestMargin(t *testing.T) {
	for left, near := range map[time.Duration]float64{499 * time.Millisecond: 1, 501 * time.Millisecond: 0} {
		synctest.Test(t, func(t *testing.T) {
			p := spantest.New(t)
			b := newBuffered(30)
			defer b.Close()
			o := observedOwner(b, p.Tel)
			o.queue(100, 100)
			time.Sleep(time.Second)
			read(t, b.client(), 80) // then the first frame is written, and a part of the second
			time.Sleep(time.Second - left)
			read(t, b.client(), 120)
			synctest.Wait()
			if n, err := o.state(); n != 0 || err != nil {
				t.Fatalf("%d frames pending, %v", n, err)
			}
			margin, misses := p.Points("magi.output.deadline.margin"), 0.0
			for _, at := range p.Points("magi.output.near_misses") {
				misses += at.Value
			}
			if len(margin) != 1 || margin[0].Count != 2 || time.Duration(math.Round(margin[0].Sum*1e9)) != time.Second+left || misses != near {
				t.Errorf("%v left: %v near misses, margins %+v", left, misses, margin)
			}
		})
	}
}

// TestWriterLaterFrame: a frame that is queued during a stall has 2,000 ms of its own.
func TestWriterLaterFrame(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server, client := piped(t)
		o := newOwner(t, server)
		o.queue(100)
		time.Sleep(1500 * time.Millisecond)
		o.queue(100)
		time.Sleep(499 * time.Millisecond)
		read(t, client, 100)
		time.Sleep(1500 * time.Millisecond) // 3,499 ms
		read(t, client, 100)
		synctest.Wait()
		if n, err := o.state(); n != 0 || err != nil {
			t.Errorf("%d frames pending, %v", n, err)
		}
	})
}

func TestWriterBounds(t *testing.T) {
	many := func(n int) []int { return slicesRepeat(100, n) }
	tests := []struct {
		name  string
		sizes []int
		err   error
	}{
		{"32 frames", many(32), nil},
		{"33 frames", many(33), ErrOverflow},
		{"65,536 bytes", []int{65536}, nil},
		{"65,537 bytes", []int{65537}, ErrFrameBound},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				server, client := piped(t)
				o := newOwner(t, server)
				o.queue(test.sizes...)
				if _, err := o.state(); !errors.Is(err, test.err) {
					t.Fatalf("ended with %v, want %v", err, test.err)
				}
				if test.err != nil {
					server.Close()
					if rest, _ := io.ReadAll(client); len(rest) != 0 {
						t.Errorf("%d bytes were written after the end", len(rest))
					}
					return
				}
				var want strings.Builder
				for i, size := range test.sizes {
					want.WriteString(line(i, size))
				}
				if diff := cmp.Diff(want.String(), read(t, client, want.Len())); diff != "" {
					t.Error(diff)
				}
			})
		})
	}
}

// TestWriterQueuesBehindAStall: the queue holds 32 whole frames beside what is
// being written, and the 33rd ends it.
func TestWriterQueuesBehindAStall(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server, _ := piped(t)
		o := newOwner(t, server)
		for i := range 32 {
			o.queue(100)
			synctest.Wait()
			if n, err := o.state(); n != i+1 || err != nil {
				t.Fatalf("%d pending, %v", n, err)
			}
		}
		o.queue(100)
		if _, err := o.state(); !errors.Is(err, ErrOverflow) {
			t.Errorf("ended with %v", err)
		}
	})
}

func TestWriterBrokenTransport(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server, client := piped(t)
		client.Close()
		o := newOwner(t, server)
		o.queue(10)
		synctest.Wait()
		if _, err := o.state(); !errors.Is(err, io.ErrClosedPipe) {
			t.Errorf("ended with %v", err)
		}
		o.queue(10) // nothing happens any more
		if n, _ := o.state(); n != 1 {
			t.Errorf("%d pending", n)
		}
	})
}

// TestWriterDirect: while there is room, all queued frames go out with one
// write of the caller, and no goroutine exists.
func TestWriterDirect(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBuffered(1000)
		o := newOwner(t, b)
		o.queue(100, 200, 300)
		if n, err := o.state(); n != 0 || err != nil {
			t.Fatalf("%d pending, %v", n, err)
		}
		if diff := cmp.Diff([]int{600}, b.tried); diff != "" {
			t.Errorf("writes: %s", diff)
		}
		if o.w.stalled || b.waited != 0 {
			t.Error("a goroutine was started")
		}
		b.Close()
	})
}

// TestWriterFullQueueMakesRoom: a full queue is written before it overflows.
func TestWriterFullQueueMakesRoom(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBuffered(100000)
		o := newOwner(t, b)
		o.queue(slicesRepeat(50, 100)...)
		if n, err := o.state(); n != 0 || err != nil {
			t.Errorf("%d pending, %v", n, err)
		}
		b.Close()
	})
}

// TestWriterStallAndRecover: a stalled writer takes the frames over, and gives
// the way back.
func TestWriterStallAndRecover(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBuffered(250)
		o := newOwner(t, b)
		var want bytes.Buffer
		for round := range 3 {
			o.queue(100, 100, 100, 100)
			for i := range 4 {
				want.WriteString(line(i, 100))
			}
			synctest.Wait()
			if n, _ := o.state(); n != 2 {
				t.Fatalf("round %d: %d pending", round, n)
			}
			time.Sleep(1900 * time.Millisecond)
			if got := read(t, b.client(), 400); got != want.String() {
				t.Fatalf("round %d: got %q", round, got)
			}
			want.Reset()
			synctest.Wait()
			if n, err := o.state(); n != 0 || err != nil || o.w.stalled {
				t.Fatalf("round %d: %d pending, %v", round, n, err)
			}
		}
		b.Close()
	})
}

// TestWriterBufferStaysSmall: a stall of the largest frames gives its memory back.
func TestWriterBufferStaysSmall(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server, client := piped(t)
		o := newOwner(t, server)
		for range 10 {
			o.queue(slicesRepeat(localagent.MaxFrameBytes, 32)...)
			read(t, client, 32*localagent.MaxFrameBytes)
			synctest.Wait()
			if c := cap(o.w.buf); c > keepBytes {
				t.Fatalf("%d bytes kept", c)
			}
		}
	})
}

// TestWriterStaysBoundedWhileStalled: a client that is always late by some
// frames does not make the buffer grow.
func TestWriterStaysBoundedWhileStalled(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server, client := piped(t)
		o := newOwner(t, server)
		o.queue(localagent.MaxFrameBytes, localagent.MaxFrameBytes)
		for range 200 {
			o.queue(localagent.MaxFrameBytes)
			read(t, client, localagent.MaxFrameBytes)
			synctest.Wait()
		}
		if c := cap(o.w.buf); c > 12*localagent.MaxFrameBytes {
			t.Errorf("%d bytes for 3 frames", c)
		}
		read(t, client, 2*localagent.MaxFrameBytes)
	})
}

func slicesRepeat(v, n int) []int {
	s := make([]int, n)
	for i := range s {
		s[i] = v
	}
	return s
}

// buffered is an output with a buffer, as a pipe has one, in a bubble.
type buffered struct {
	mu       sync.Mutex
	size     int
	buf      []byte
	deadline time.Time
	closed   bool
	changed  chan struct{} // replaced and closed at each change
	tried    []int         // what each TryWrite took
	waited   int           // calls of Write
}

func newBuffered(size int) *buffered {
	return &buffered{size: size, changed: make(chan struct{})}
}

// fill leaves no room, as if something had been written that nobody will read.
func (b *buffered) fill() { b.size = 0 }

func (b *buffered) change() {
	close(b.changed)
	b.changed = make(chan struct{})
}

func (b *buffered) TryWrite(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.take(p)
}

func (b *buffered) take(p []byte) (int, error) {
	if b.closed {
		return 0, ErrClosed
	}
	n := min(len(p), b.size-len(b.buf))
	if n <= 0 {
		return 0, ErrWouldBlock
	}
	b.buf = append(b.buf, p[:n]...)
	b.tried = append(b.tried, n)
	b.change()
	return n, nil
}

func (b *buffered) Write(p []byte) (done int, err error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.waited++
	for done < len(p) {
		n, err := b.take(p[done:])
		if done += n; err == nil {
			continue
		}
		if !errors.Is(err, ErrWouldBlock) {
			return done, err
		}
		if !b.wait(b.deadline) {
			return done, os.ErrDeadlineExceeded
		}
	}
	return done, nil
}

// wait waits for a change, without the lock.
func (b *buffered) wait(deadline time.Time) bool {
	changed := b.changed
	b.mu.Unlock()
	defer b.mu.Lock()
	timer := time.NewTimer(time.Until(deadline))
	defer timer.Stop()
	select {
	case <-changed:
		return true
	case <-timer.C:
		return false
	}
}

func (b *buffered) Read([]byte) (int, error) { return 0, io.EOF }

func (b *buffered) SetWriteDeadline(t time.Time) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.deadline = t
	return nil
}

func (b *buffered) Close() error {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.closed = true
	b.change()
	return nil
}

// client reads what was written. Each read makes room for what it asks for.
func (b *buffered) client() io.Reader { return bufferedClient{b} }

type bufferedClient struct{ b *buffered }

func (c bufferedClient) Read(p []byte) (int, error) {
	b := c.b
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.size == 0 {
		b.size = 1 // the pipe of a stalled test takes a byte at a time
		b.change()
	}
	for len(b.buf) == 0 {
		if !b.wait(time.Now().Add(time.Minute)) {
			return 0, io.ErrNoProgress
		}
	}
	n := copy(p, b.buf)
	b.buf = b.buf[n:]
	b.change()
	return n, nil
}
