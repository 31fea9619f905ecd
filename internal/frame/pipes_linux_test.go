//go:build !race

package frame

import (
	"bytes"
	"errors"
	"testing"

	"golang.org/x/sys/unix"
)

// TestPipesThatOthersMakeBlock: another process that shares a pipe's end may make
// it blocking, again and again. No call waits in the kernel for that: what fits is
// written, a full pipe is told, and a read that finds nothing ends with Close.
func TestPipesThatOthersMakeBlock(t *testing.T) {
	e := openPipes(t)
	stop, flipped := make(chan struct{}), make(chan error)
	go func() {
		for {
			select {
			case <-stop:
				flipped <- nil
				return
			default:
			}
			for _, fd := range []int{e.in, e.out} {
				if err := unix.SetNonblock(fd, false); err != nil {
					flipped <- err
					return
				}
			}
		}
	}()
	if _, err := unix.Write(e.toIn, []byte("in")); err != nil {
		t.Fatal(err)
	}
	if n, err := e.p.Read(make([]byte, 9)); n != 2 || err != nil {
		t.Fatal(n, err)
	}
	full := bytes.Repeat([]byte("x"), 1<<20)
	if n, err := e.p.TryWrite(full); n == 0 || n == len(full) || err != nil {
		t.Fatalf("wrote %d of %d: %v", n, len(full), err)
	}
	for range 2000 {
		if n, err := e.p.TryWrite(full); n != 0 || !errors.Is(err, ErrWouldBlock) {
			t.Fatalf("a full pipe took %d: %v", n, err)
		}
	}
	ended := make(chan error)
	go func() {
		_, err := e.p.Read(make([]byte, 9))
		ended <- err
	}()
	close(stop)
	if err := <-flipped; err != nil {
		t.Fatal(err)
	}
	if err := e.p.Close(); err != nil {
		t.Fatal(err)
	}
	if err := <-ended; !errors.Is(err, ErrClosed) {
		t.Errorf("a read of nothing ended with %v", err)
	}
}
