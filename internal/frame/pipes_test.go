//go:build unix

package frame

import (
	"bytes"
	"errors"
	"io"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/sys/unix"
)

// ends are the host's ends of a Pipes.
type ends struct {
	p           *Pipes
	in, out     int // ours
	toIn, fromO int // the host's
}

func pipe(t *testing.T) (r, w int) {
	t.Helper()
	var fds [2]int
	if err := unix.Pipe(fds[:]); err != nil {
		t.Fatal(err)
	}
	return fds[0], fds[1]
}

func openPipes(t *testing.T) *ends {
	t.Helper()
	e := &ends{}
	e.in, e.toIn = pipe(t)
	e.fromO, e.out = pipe(t)
	p, err := OpenPipes(e.in, e.out)
	if err != nil {
		t.Fatal(err)
	}
	e.p = p
	t.Cleanup(func() {
		if err := p.Close(); err != nil {
			t.Error(err)
		}
		// The two descriptors belong to the files now.
		p.in.Close()
		p.out.Close()
		for _, fd := range []int{e.toIn, e.fromO} {
			if fd >= 0 {
				unix.Close(fd)
			}
		}
	})
	return e
}

func (e *ends) closeHost(fd *int) {
	unix.Close(*fd)
	*fd = -1
}

func nonblocking(t *testing.T, fd int) bool {
	t.Helper()
	flags, err := unix.FcntlInt(uintptr(fd), unix.F_GETFL, 0)
	if err != nil {
		t.Fatal(err)
	}
	return flags&unix.O_NONBLOCK != 0
}

func TestPipesCarryBytes(t *testing.T) {
	e := openPipes(t)
	if _, err := unix.Write(e.toIn, []byte("to the child")); err != nil {
		t.Fatal(err)
	}
	b := make([]byte, 64)
	n, err := e.p.Read(b)
	if err != nil || string(b[:n]) != "to the child" {
		t.Fatalf("read %q, %v", b[:n], err)
	}
	if n, err := e.p.TryWrite([]byte("to the host")); n != 11 || err != nil {
		t.Fatalf("wrote %d, %v", n, err)
	}
	if n, _ := unix.Read(e.fromO, b); string(b[:n]) != "to the host" {
		t.Fatalf("the host got %q", b[:n])
	}
	e.closeHost(&e.toIn)
	if _, err := e.p.Read(b); err != io.EOF {
		t.Errorf("at the end of input: %v", err)
	}
}

func TestPipesRestoreFlags(t *testing.T) {
	for _, before := range []bool{false, true} {
		e := &ends{}
		e.in, e.toIn = pipe(t)
		e.fromO, e.out = pipe(t)
		for _, fd := range []int{e.in, e.out} {
			if err := unix.SetNonblock(fd, before); err != nil {
				t.Fatal(err)
			}
		}
		p, err := OpenPipes(e.in, e.out)
		if err != nil {
			t.Fatal(err)
		}
		if !nonblocking(t, e.in) || !nonblocking(t, e.out) {
			t.Error("a descriptor is blocking while it serves")
		}
		for range 2 {
			if err := p.Close(); err != nil {
				t.Errorf("close: %v", err)
			}
		}
		if got := []bool{nonblocking(t, e.in), nonblocking(t, e.out)}; got[0] != before || got[1] != before {
			t.Errorf("nonblocking %v after, %v before", got, before)
		}
		p.in.Close()
		p.out.Close()
		unix.Close(e.toIn)
		unix.Close(e.fromO)
	}
}

// TestPipesWouldBlock: a full pipe takes nothing at once, a part before a
// deadline, and all of it once somebody reads.
func TestPipesWouldBlock(t *testing.T) {
	e := openPipes(t)
	big := bytes.Repeat([]byte("x"), 1<<20)
	n, err := e.p.TryWrite(big)
	if n == 0 || n == len(big) || err != nil {
		t.Fatalf("a pipe took %d of %d bytes, %v", n, len(big), err)
	}
	if n, err := e.p.TryWrite(big); n != 0 || !errors.Is(err, ErrWouldBlock) {
		t.Fatalf("a full pipe took %d bytes, %v", n, err)
	}
	if err := e.p.SetWriteDeadline(time.Now().Add(20 * time.Millisecond)); err != nil {
		t.Fatal(err)
	}
	if n, err := e.p.Write(big); n != 0 || !errors.Is(err, os.ErrDeadlineExceeded) {
		t.Fatalf("a full pipe took %d bytes, %v", n, err)
	}
	host := os.NewFile(uintptr(e.fromO), "host")
	e.fromO = -1
	defer host.Close()
	got := make(chan int, 1)
	go func() {
		c, _ := io.CopyN(io.Discard, host, int64(n+len(big)))
		got <- int(c)
	}()
	if err := e.p.SetWriteDeadline(time.Now().Add(time.Minute)); err != nil {
		t.Fatal(err)
	}
	if n, err := e.p.Write(big); n != len(big) || err != nil {
		t.Fatalf("wrote %d bytes, %v", n, err)
	}
	if c := <-got; c != n+len(big) {
		t.Errorf("the host got %d bytes", c)
	}
}

// TestPipesReaderGone: a host that closes its end is seen without a write, also
// by a child that waits for input.
func TestPipesReaderGone(t *testing.T) {
	t.Run("while idle", func(t *testing.T) {
		e := openPipes(t)
		done := make(chan error, 1)
		go func() {
			_, err := e.p.Read(make([]byte, 1))
			done <- err
		}()
		e.closeHost(&e.fromO)
		if err := <-done; !errors.Is(err, ErrOutputGone) {
			t.Errorf("read: %v", err)
		}
		if _, err := e.p.TryWrite([]byte("x")); !errors.Is(err, ErrOutputGone) {
			t.Errorf("try write: %v", err)
		}
		if _, err := e.p.Write([]byte("x")); !errors.Is(err, ErrOutputGone) {
			t.Errorf("write: %v", err)
		}
	})
	t.Run("while a write waits", func(t *testing.T) {
		e := openPipes(t)
		done := make(chan error, 1)
		go func() {
			_, err := e.p.Write(make([]byte, 1<<20))
			done <- err
		}()
		e.closeHost(&e.fromO)
		if err := <-done; !errors.Is(err, ErrOutputGone) {
			t.Errorf("write: %v", err)
		}
	})
	t.Run("before the child starts", func(t *testing.T) {
		in, toIn := pipe(t)
		fromO, out := pipe(t)
		unix.Close(fromO)
		p, err := OpenPipes(in, out)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := p.Read(make([]byte, 1)); !errors.Is(err, ErrOutputGone) {
			t.Errorf("read: %v", err)
		}
		p.Close()
		p.in.Close()
		p.out.Close()
		unix.Close(toIn)
	})
}

func TestPipesClose(t *testing.T) {
	e := openPipes(t)
	reads, writes := make(chan error, 1), make(chan error, 1)
	go func() {
		_, err := e.p.Read(make([]byte, 1))
		reads <- err
	}()
	go func() {
		_, err := e.p.Write(make([]byte, 1<<20))
		writes <- err
	}()
	// The write has begun once there is something to read.
	if _, err := unix.Read(e.fromO, make([]byte, 1)); err != nil {
		t.Fatal(err)
	}
	if err := e.p.Close(); err != nil {
		t.Fatal(err)
	}
	if err := <-reads; !errors.Is(err, ErrClosed) {
		t.Errorf("pending read: %v", err)
	}
	if err := <-writes; err == nil {
		t.Error("pending write: no error")
	}
	_, readErr := e.p.Read(make([]byte, 1))
	_, writeErr := e.p.Write([]byte("x"))
	_, tryErr := e.p.TryWrite([]byte("x"))
	for _, err := range []error{readErr, writeErr, tryErr, e.p.SetWriteDeadline(time.Now())} {
		if !errors.Is(err, ErrClosed) {
			t.Errorf("after close: %v", err)
		}
	}
}

// TestPipesEndpoints: only pipes serve, and what is refused is left untouched.
func TestPipesEndpoints(t *testing.T) {
	dir := t.TempDir()
	socket := func(t *testing.T) int {
		fds, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM, 0)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { unix.Close(fds[0]); unix.Close(fds[1]) })
		return fds[0]
	}
	open := func(t *testing.T, name string) int {
		fd, err := unix.Open(name, unix.O_RDWR|unix.O_CREAT, 0o600)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { unix.Close(fd) })
		return fd
	}
	for name, bad := range map[string]func(*testing.T) int{
		"socket":       socket,
		"/dev/null":    func(t *testing.T) int { return open(t, "/dev/null") },
		"regular file": func(t *testing.T) int { return open(t, filepath.Join(dir, "file")) },
		"closed":       func(*testing.T) int { return 1 << 20 },
	} {
		t.Run(name, func(t *testing.T) {
			r, w := pipe(t)
			defer unix.Close(r)
			defer unix.Close(w)
			fd := bad(t)
			for _, pair := range [][2]int{{fd, w}, {r, fd}} {
				if _, err := OpenPipes(pair[0], pair[1]); !errors.Is(err, ErrEndpoint) {
					t.Errorf("OpenPipes: %v", err)
				}
			}
			got := []bool{nonblocking(t, r), nonblocking(t, w)}
			if diff := cmp.Diff([]bool{false, false}, got); diff != "" {
				t.Errorf("a refused endpoint was changed: %s", diff)
			}
		})
	}
	t.Run("named pipe", func(t *testing.T) {
		name := filepath.Join(dir, "fifo")
		if err := unix.Mkfifo(name, 0o600); err != nil {
			t.Fatal(err)
		}
		var fds [2]int
		for i := range fds {
			fd, err := unix.Open(name, unix.O_RDWR, 0)
			if err != nil {
				t.Fatal(err)
			}
			fds[i] = fd
		}
		p, err := OpenPipes(fds[0], fds[1])
		if err != nil {
			t.Fatal(err)
		}
		p.Close()
		p.in.Close()
		p.out.Close()
	})
}

func TestCheckPlatform(t *testing.T) {
	for goos, refused := range map[string]bool{"linux": false, "darwin": false, "windows": true} {
		if err := CheckPlatform(goos); errors.Is(err, ErrUnsupported) != refused {
			t.Errorf("%s: %v", goos, err)
		}
	}
}
