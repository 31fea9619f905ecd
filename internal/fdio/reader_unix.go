//go:build unix

package fdio

import (
	"io"
	"os"
	"syscall"
)

// Reader reads a descriptor that the runtime's poller watches: with Read what
// is there, else it waits in the poller, which keeps deadlines and Close. One
// goroutine at a time.
type Reader struct {
	raw  syscall.RawConn
	once func(fd uintptr, p []byte) (int, error)
	look func(fd uintptr) bool // try, made once
	p    []byte
	n    int
	err  error
}

// NewReader returns a Reader of a descriptor that is ours alone, or else shared:
// see Shared.
func NewReader(raw syscall.RawConn, shared bool) *Reader {
	r := &Reader{raw: raw, once: Read}
	if shared {
		r.once = new(Shared).Read
	}
	r.look = r.try
	return r
}

// Read reads at least one byte, unless p is empty. The error is io.EOF, an
// *os.SyscallError, or what the wait ended with: the descriptor was closed, or
// its deadline has passed.
func (r *Reader) Read(p []byte) (int, error) {
	r.p, r.n, r.err = p, 0, nil
	err := r.raw.Read(r.look)
	r.p = nil
	switch {
	case err != nil:
		return 0, err
	case r.err != nil:
		return 0, os.NewSyscallError("read", r.err)
	case r.n == 0 && len(p) > 0:
		return 0, io.EOF
	}
	return r.n, nil
}

// try reads once; false: there is nothing yet.
func (r *Reader) try(fd uintptr) bool {
	for {
		n, err := r.once(fd, r.p)
		switch err {
		case syscall.EINTR:
			continue
		case syscall.EAGAIN:
			return false
		}
		r.n, r.err = n, err
		return true
	}
}
