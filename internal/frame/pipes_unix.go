//go:build unix

package frame

import (
	"errors"
	"fmt"
	"os"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"magicode/internal/fdio"
)

// Pipes is the transport over two inherited pipes.
//
// Waiting is the runtime poller's: against a poll of our own in the reader's
// thread it answers in half the time once another process wants the core
// (7 µs to 13 µs), because the poller looks around before it sleeps. Writing
// is ours: it does not wait, so it needs no poller.
//
// The parent, or whoever else has the pipes' ends from it, can take O_NONBLOCK
// away again. A call that then waited in the kernel would hold up the whole
// process, with all its deadlines: see fdio.Shared.
//
// The descriptors stay open: they belong to the process. Keep a Pipes until
// the process exits, or the collector will close them.
type Pipes struct {
	in, out     *os.File
	outFD       int
	rawOut      syscall.RawConn
	input       *fdio.Reader
	output      fdio.Shared
	restore     []func() error
	interrupted time.Time // a deadline that has passed
	close       func() error
	gone        atomic.Bool // the output has no reader
	calls       sync.WaitGroup

	mu     sync.Mutex
	closed bool
}

// OpenStdio takes standard input and output as the transport. Both must be
// pipes, else ErrEndpoint, before anything is touched. They are made
// nonblocking until Close.
func OpenStdio() (*Pipes, error) { return OpenPipes(0, 1) }

// OpenPipes is OpenStdio for other descriptors.
func OpenPipes(in, out int) (*Pipes, error) {
	for _, fd := range []int{in, out} {
		var st unix.Stat_t
		if err := unix.Fstat(fd, &st); err != nil || st.Mode&unix.S_IFMT != unix.S_IFIFO {
			return nil, ErrEndpoint
		}
	}
	p := &Pipes{outFD: out, interrupted: time.Unix(1, 0)}
	p.close = sync.OnceValue(p.shut)
	for _, fd := range []int{in, out} {
		restore, err := setNonblock(fd)
		if err != nil {
			return nil, errors.Join(err, p.putBack())
		}
		p.restore = append(p.restore, restore)
	}
	p.in, p.out = os.NewFile(uintptr(in), "input pipe"), os.NewFile(uintptr(out), "output pipe")
	if err := p.watch(); err != nil {
		return nil, errors.Join(err, p.Close())
	}
	return p, nil
}

// setNonblock sets O_NONBLOCK and returns what puts the flag back. The flag
// belongs to the open file description, which the parent may share.
func setNonblock(fd int) (restore func() error, err error) {
	flags, err := unix.FcntlInt(uintptr(fd), unix.F_GETFL, 0)
	if err != nil {
		return nil, fmt.Errorf("read descriptor flags: %w", err)
	}
	if err := unix.SetNonblock(fd, true); err != nil {
		return nil, fmt.Errorf("set nonblocking: %w", err)
	}
	return func() error { return unix.SetNonblock(fd, flags&unix.O_NONBLOCK != 0) }, nil
}

// watch waits in the poller for the end of the output's reader, and wakes the
// reader of the input then.
func (p *Pipes) watch() error {
	rawIn, err := p.in.SyscallConn()
	if err != nil {
		return fmt.Errorf("watch input: %w", err)
	}
	p.input = fdio.NewReader(rawIn, true)
	if p.rawOut, err = p.out.SyscallConn(); err != nil {
		return fmt.Errorf("watch output: %w", err)
	}
	p.calls.Go(func() {
		if err := p.rawOut.Read(func(fd uintptr) bool { return readerGone(int(fd)) }); err != nil {
			return // closed
		}
		p.gone.Store(true)
		// It fails only for a file that has no deadlines, and pipes have them.
		_ = p.in.SetReadDeadline(p.interrupted)
	})
	return nil
}

// Read reads input. It returns ErrOutputGone, before anything that is still to
// be read, once the output has no reader.
func (p *Pipes) Read(b []byte) (int, error) {
	if err := p.enter(); err != nil {
		return 0, err
	}
	defer p.calls.Done()
	if p.gone.Load() {
		return 0, ErrOutputGone
	}
	n, err := p.input.Read(b)
	switch {
	case !errors.Is(err, os.ErrDeadlineExceeded):
		return n, err
	case p.gone.Load():
		return n, ErrOutputGone
	}
	return n, ErrClosed
}

// enter begins a call, which Close waits for.
func (p *Pipes) enter() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed {
		return ErrClosed
	}
	p.calls.Add(1)
	return nil
}

// Write writes all of b or waits until the deadline.
func (p *Pipes) Write(b []byte) (int, error) {
	if err := p.enter(); err != nil {
		return 0, err
	}
	defer p.calls.Done()
	done := 0
	var failed error
	// Not os.File.Write: on descriptor 1 that raises SIGPIPE where nobody reads.
	err := p.rawOut.Write(func(uintptr) bool {
		for done < len(b) && failed == nil {
			n, err := p.write(b[done:])
			if errors.Is(err, ErrWouldBlock) {
				return false
			}
			done, failed = done+n, err
		}
		return true
	})
	return done, errors.Join(failed, err)
}

// TryWrite writes what fits.
func (p *Pipes) TryWrite(b []byte) (int, error) {
	if err := p.enter(); err != nil {
		return 0, err
	}
	defer p.calls.Done()
	return p.write(b)
}

func (p *Pipes) write(b []byte) (int, error) {
	for {
		n, err := p.output.Write(uintptr(p.outFD), b)
		switch {
		case err == nil && n > 0:
			return n, nil
		case errors.Is(err, unix.EINTR):
		case errors.Is(err, unix.EAGAIN):
			return 0, ErrWouldBlock
		case err == nil, errors.Is(err, unix.EPIPE):
			return 0, ErrOutputGone
		default:
			return 0, fmt.Errorf("write output: %w", err)
		}
	}
}

// SetWriteDeadline bounds the next Write.
func (p *Pipes) SetWriteDeadline(t time.Time) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed {
		return ErrClosed // or the deadline that ends a pending call would move
	}
	return p.out.SetWriteDeadline(t)
}

// Close ends pending calls, waits for them, and puts the descriptors' flags back.
func (p *Pipes) Close() error { return p.close() }

func (p *Pipes) shut() error {
	err := p.interrupt()
	p.calls.Wait()
	return errors.Join(err, p.putBack())
}

// interrupt ends pending calls and refuses later ones.
func (p *Pipes) interrupt() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.closed = true
	return errors.Join(p.in.SetReadDeadline(p.interrupted), p.out.SetDeadline(p.interrupted))
}

func (p *Pipes) putBack() error {
	var errs []error
	for _, f := range p.restore {
		errs = append(errs, f())
	}
	p.restore = nil
	return errors.Join(errs...)
}

// readerGone asks whether the pipe that fd writes to has lost its reader.
func readerGone(fd int) bool {
	fds := []unix.PollFd{{Fd: int32(fd), Events: watchEvents}}
	for {
		_, err := unix.Poll(fds, 0)
		if errors.Is(err, unix.EINTR) {
			continue
		}
		return err != nil || fds[0].Revents&(unix.POLLERR|unix.POLLHUP|unix.POLLNVAL) != 0
	}
}
