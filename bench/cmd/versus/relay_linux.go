package main

import (
	"bytes"
	"errors"
	"io"
	"net"
	"os"
	"os/exec"
	"syscall"
	"time"
	"unsafe"
)

// relayFD is where a relay finds the connection.
const relayFD = 3

// relay passes on what comes over the connection, to standard output, and does
// nothing else: one thread, two system calls a piece. It is what single_cpu
// would be if a piece needed no work at all and the language no scheduler.
func relay() {
	var buf [32 << 10]byte
	at := uintptr(unsafe.Pointer(&buf[0]))
	for {
		n, _, errno := syscall.RawSyscall(syscall.SYS_READ, relayFD, at, uintptr(len(buf)))
		if errno != 0 || n == 0 {
			return
		}
		if _, _, errno := syscall.RawSyscall(syscall.SYS_WRITE, 1, at, n); errno != 0 {
			return
		}
	}
}

// relayFloor runs this program as a relay for as many pieces as single sends,
// of the size that an event of its reply has, and returns the processor time of
// each in microseconds. What the program takes to start is not in it: that is
// what a relay of no pieces took.
func relayFloor() (float64, error) {
	start, err := relayTime(0)
	if err != nil {
		return 0, err
	}
	all, err := relayTime(singleDeltas)
	return microseconds(all-start) / singleDeltas, err
}

// relayTime is the processor time of a relay that passes on so many pieces.
func relayTime(pieces int) (time.Duration, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return 0, err
	}
	defer func() { _ = l.Close() }()
	near, err := net.Dial("tcp", l.Addr().String())
	if err != nil {
		return 0, err
	}
	defer func() { _ = near.Close() }()
	far, err := l.Accept()
	if err != nil {
		return 0, err
	}
	defer func() { _ = far.Close() }()
	file, err := far.(*net.TCPConn).File() // it blocks, as a relay wants it
	if err != nil {
		return 0, err
	}
	defer func() { _ = file.Close() }()
	return timeRelay(near, file, pieces)
}

func timeRelay(near io.WriteCloser, file *os.File, pieces int) (time.Duration, error) {
	self, err := os.Executable()
	if err != nil {
		return 0, err
	}
	cmd := exec.Command(self, relayArg)
	cmd.ExtraFiles = []*os.File{file}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return 0, err
	}
	if err := cmd.Start(); err != nil {
		return 0, err
	}
	seen := make(chan error, 1)
	go func() {
		_, err := io.Copy(io.Discard, out)
		seen <- err
	}()
	piece := bytes.Repeat([]byte{'x'}, 180)
	for range pieces {
		if _, err = near.Write(piece); err != nil {
			break
		}
		time.Sleep(singleWait)
	}
	// The connection was handed over: only its end is the relay's end.
	err = errors.Join(err, near.Close(), <-seen, cmd.Wait())
	state := cmd.ProcessState
	return state.UserTime() + state.SystemTime(), err
}
