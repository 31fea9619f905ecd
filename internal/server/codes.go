package server

import (
	"context"
	"errors"

	"magicode/internal/event"
	"magicode/pkg/localagent"
)

// rule maps a sentinel to the code that the wire gets for it.
type rule struct {
	err  error
	code localagent.Code
}

// rules is the only table from sentinel to code. The first row that matches counts.
func rules() []rule {
	return []rule{
		{event.ErrUndeliverable, localagent.CodeOutputUnavailable},
		{ErrOutput, localagent.CodeOutputUnavailable},
	}
}

// domain is where an error comes from. It decides the codes of errors that no
// rule knows.
type domain struct {
	other     localagent.Code
	cancelled localagent.Code
	panicked  localagent.Code
}

var (
	startupErrors = domain{localagent.CodeStartupFailed, localagent.CodeStartupCancelled, localagent.CodeStartupFailed}
	sessionErrors = domain{localagent.CodeSessionInvalid, localagent.CodeOperationCancelled, localagent.CodeSessionInvalid}
	runErrors     = domain{localagent.CodeExecutionFailed, localagent.CodeExecutionFailed, localagent.CodeExecutionFailed}
)

// errPanic stands for a panic that a worker recovered.
var errPanic = errors.New("a worker panicked")

// codeError is a refusal whose code is known.
type codeError localagent.Code

func (e codeError) Error() string { return string(e) }

// code returns the code of an error of this domain, "" for nil.
func (d domain) code(err error) localagent.Code {
	switch {
	case err == nil:
		return ""
	case errors.Is(err, errPanic):
		return d.panicked
	}
	if coded := codeError(""); errors.As(err, &coded) {
		return localagent.Code(coded)
	}
	for _, r := range rules() {
		if errors.Is(err, r.err) {
			return r.code
		}
	}
	if errors.Is(err, context.Canceled) || errors.Is(err, ErrShutdown) {
		return d.cancelled
	}
	return d.other
}
