//go:build unix

package frame

import (
	"errors"
	"fmt"
	"io"
	"os"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// Pipes is the transport over two inherited pipes.
//
// Waiting is the runtime poller's: against a poll of our own in the reader's
// thread it answers in half the time once another process wants the core
// (7 µs to 13 µs), because the poller looks around before it sleeps. Writing
// is ours: it does not wait, so it needs no poller.
//
// The descriptors stay open: they belong to the process. Keep a Pipes until
// the process exits, or the collector will close them.
type Pipes struct {
	in, out     *os.File
	outFD       int
	rawOut      syscall.RawConn
	restore     []func() error
	closed      atomic.Bool
	gone        atomic.Bool
	watcher     sync.WaitGroup
	close       func() error
	reading     sync.Mutex // held during a read
	writing     sync.Mutex // held during a write
	deadlines   sync.Mutex // orders SetWriteDeadline and Close
	interrupted time.Time  // a deadline that has passed
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
	var err error
	if p.rawOut, err = p.out.SyscallConn(); err != nil {
		return fmt.Errorf("watch output: %w", err)
	}
	p.watcher.Go(func() {
		err := p.rawOut.Read(func(fd uintptr) bool { return readerGone(int(fd)) })
		if err != nil || p.closed.Load() {
			return
		}
		p.gone.Store(true)
		p.interruptRead()
	})
	return nil
}

// Read reads input. It returns ErrOutputGone, before anything that is still to
// be read, once the output has no reader.
func (p *Pipes) Read(b []byte) (int, error) {
	p.reading.Lock()
	defer p.reading.Unlock()
	if err := p.stopped(); err != nil {
		return 0, err
	}
	n, err := p.in.Read(b)
	if err == nil || errors.Is(err, io.EOF) {
		return n, err
	}
	if stop := p.stopped(); stop != nil {
		return n, stop
	}
	return n, err
}

func (p *Pipes) stopped() error {
	switch {
	case p.closed.Load():
		return ErrClosed
	case p.gone.Load():
		return ErrOutputGone
	}
	return nil
}

// Write writes all of b or waits until the deadline.
func (p *Pipes) Write(b []byte) (int, error) {
	p.writing.Lock()
	defer p.writing.Unlock()
	if p.closed.Load() {
		return 0, ErrClosed
	}
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
	p.writing.Lock()
	defer p.writing.Unlock()
	if p.closed.Load() {
		return 0, ErrClosed
	}
	return p.write(b)
}

func (p *Pipes) write(b []byte) (int, error) {
	for {
		n, err := unix.Write(p.outFD, b)
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
	p.deadlines.Lock()
	defer p.deadlines.Unlock()
	if p.closed.Load() {
		return ErrClosed
	}
	return p.out.SetWriteDeadline(t)
}

// Close ends pending calls, waits for them, and puts the descriptors' flags back.
func (p *Pipes) Close() error { return p.close() }

func (p *Pipes) shut() error {
	p.deadlines.Lock()
	p.closed.Store(true)
	err := p.out.SetDeadline(p.interrupted)
	p.deadlines.Unlock()
	err = errors.Join(err, p.in.SetReadDeadline(p.interrupted))
	p.reading.Lock()
	defer p.reading.Unlock()
	p.writing.Lock()
	defer p.writing.Unlock()
	p.watcher.Wait()
	return errors.Join(err, p.putBack())
}

func (p *Pipes) interruptRead() {
	// It fails only for a file that has no deadlines, and pipes have them.
	_ = p.in.SetReadDeadline(p.interrupted)
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
