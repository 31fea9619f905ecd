package server

import (
	"errors"
	"fmt"
	"os"

	"magicode/internal/event"
)

// Exit is how the child ends. It is decided once.
type Exit struct {
	// Code is the process's exit code: 0, or 1 for a transport failure.
	Code int
	// Reason tells telemetry why.
	Reason Reason
	// Signal is the signal that ended the child, else nil. The process is to
	// die of it: see Raise.
	Signal os.Signal
	// Detached says that the teardown was not over when the wait for it was.
	Detached bool
}

// Reason is a closed word for an end.
type Reason string

// Reasons. Those of a closing child end with code 1 if its deadline passes.
const (
	ReasonEOF             Reason = "eof"
	ReasonShutdown        Reason = "shutdown"
	ReasonMismatch        Reason = "protocol_mismatch"
	ReasonRequestLimit    Reason = "request_limit"
	ReasonOversize        Reason = "frame_too_large"
	ReasonSignal          Reason = "signal"
	ReasonClosingDeadline Reason = "closing_deadline"
	ReasonOutputDeadline  Reason = "output_deadline"
	ReasonOverflow        Reason = "output_overflow"
	ReasonOutputBroken    Reason = "output_broken"
	ReasonInput           Reason = "input_error"
)

// Causes with which jobs are cancelled.
var (
	// ErrUser: the client sent turn.cancel.
	ErrUser = errors.New("cancelled by the client")
	// ErrShutdown: shutdown, end of input, a signal, or a protocol error that closes.
	ErrShutdown = errors.New("the child is closing")
	// ErrOutput: the output has ended, or a run's events found no room. It is an
	// event.ErrUndeliverable.
	ErrOutput = fmt.Errorf("output is unavailable: %w", event.ErrUndeliverable)
)
