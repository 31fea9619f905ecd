//go:build unix

package fdio

import (
	"bytes"
	"errors"
	"os"
	"syscall"
	"testing"
)

// TestShared: a descriptor that somebody makes block reads and writes what there
// is and says EAGAIN when it would have to wait; the kernel is asked in the one
// way or the other, and a file that cannot be asked is found out.
func TestShared(t *testing.T) {
	for name, prepare := range shares {
		t.Run(name, func(t *testing.T) {
			r, w, err := os.Pipe()
			if err != nil {
				t.Fatal(err)
			}
			defer func() { _, _ = r.Close(), w.Close() }()
			in, out := r.Fd(), w.Fd() // they block from here on
			s := prepare()
			b := make([]byte, 64)
			if _, err := s.Read(in, b); !errors.Is(err, syscall.EAGAIN) {
				t.Fatalf("nothing to read: %v", err)
			}
			if n, err := s.Write(out, []byte("some text")); n != 9 || err != nil {
				t.Fatal(n, err)
			}
			block(t, in, out)
			if n, err := s.Read(in, b); string(b[:n]) != "some text" || err != nil {
				t.Fatalf("%q, %v", b[:n], err)
			}
			block(t, in, out)
			if n, err := s.Write(out, bytes.Repeat([]byte("x"), 1<<20)); n <= 0 || n == 1<<20 || err != nil {
				t.Fatalf("more than fits: %d, %v", n, err)
			}
			block(t, in, out)
			if _, err := s.Write(out, []byte("x")); !errors.Is(err, syscall.EAGAIN) {
				t.Fatalf("no room: %v", err)
			}
			_ = w.Close()
			for {
				n, err := s.Read(in, b)
				if err != nil {
					t.Fatal(err)
				}
				if n == 0 {
					break
				}
			}
		})
	}
}

func block(t *testing.T, fds ...uintptr) {
	t.Helper()
	for _, fd := range fds {
		if err := syscall.SetNonblock(int(fd), false); err != nil {
			t.Fatal(err)
		}
	}
}

func TestSharedFailsAsAnyOther(t *testing.T) {
	for name, prepare := range shares {
		s := prepare()
		if _, err := s.Read(^uintptr(0)>>1, make([]byte, 1)); !errors.Is(err, syscall.EBADF) {
			t.Errorf("%s: no descriptor: %v", name, err)
		}
	}
}
