package proc

import (
	"errors"
	"syscall"
	"time"
)

// Errors of Start and Run.
var (
	// ErrUnsupported: this system has no process groups (Windows).
	ErrUnsupported = errors.New("child processes are not supported on this system")
	// ErrNotFound: the program to run does not exist or may not be executed.
	ErrNotFound = errors.New("program not found")
)

// Bounds of the end of a child: tools.md 1.8.
const (
	termWait   = 50 * time.Millisecond
	killWait   = time.Second
	drainWait  = 500 * time.Millisecond
	drainForce = 500 * time.Millisecond
)

// Keep says what happens at the limit of a captured stream.
type Keep uint8

const (
	// KeepHead keeps the first Limit bytes; one byte more ends the command.
	KeepHead Keep = iota
	// KeepTail keeps the last Limit bytes and reads on for the child's life.
	KeepTail
	// KeepNone leaves the stream to the caller, who must read it (Process.Stdout).
	// It is for stdout only.
	KeepNone
)

// Capture bounds one output stream. A zero Limit keeps nothing.
type Capture struct {
	Limit int // bytes
	Keep  Keep
}

// Spec says what to run.
type Spec struct {
	Path string   // absolute, or a name to look up in PATH
	Args []string // without the program's own name
	Dir  string
	Env  []string // nil: the program's own environment

	// Stdin is written and closed. Without it stdin is /dev/null, or, with
	// StdinPipe, a pipe that Process.Stdin writes.
	Stdin     []byte
	StdinPipe bool

	Stdout, Stderr Capture

	Timeout time.Duration // 0: none
	// Grace is how long Stop waits after it has closed a StdinPipe before it
	// sends SIGTERM.
	Grace time.Duration
}

// Reason says what ended a child first.
type Reason uint8

const (
	Exited    Reason = iota // by itself
	Stopped                 // by Stop, or by the end of Run's context
	TimedOut                // by Spec.Timeout
	OverLimit               // by a KeepHead stream that passed its limit
)

// Result tells how a child ended. Texts are valid UTF-8: a character that the
// limit cut is dropped, other invalid bytes become U+FFFD.
type Result struct {
	Reason   Reason
	ExitCode int            // -1 when a signal ended it
	Signal   syscall.Signal // 0 when it exited

	Stdout, Stderr                   string
	StdoutTruncated, StderrTruncated bool

	StdinErr error  // writing Spec.Stdin failed, a broken pipe excepted
	Warning  string // what could not be cleaned up; "" is the rule
}
