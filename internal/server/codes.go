package server

import (
	"context"
	"errors"
	"slices"

	"magicode/internal/attach"
	"magicode/internal/event"
	"magicode/internal/runner"
	"magicode/internal/startup"
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
		{startup.ErrConfiguration, localagent.CodeConfigurationInvalid},
		{startup.ErrProvider, localagent.CodeProviderUnavailable},
		{startup.ErrProfile, localagent.CodeProfileInvalid},
		{startup.ErrMCP, localagent.CodeMCPUnavailable},

		{attach.ErrMissing, localagent.CodeSessionMissing},
		{attach.ErrOtherSession, localagent.CodeStaleSession},
		{attach.ErrBusy, localagent.CodeSessionBusy},
		{attach.ErrInvalid, localagent.CodeSessionInvalid},
		{attach.ErrCwdMismatch, localagent.CodeCwdMismatch},
		{attach.ErrLimit, localagent.CodeHistoryLimit},
		{attach.ErrContent, localagent.CodeContentLimit},
		{attach.ErrStale, localagent.CodeStaleRevision},
		{attach.ErrCursor, localagent.CodeInvalidParams},

		{runner.ErrInputAppend, localagent.CodePersistenceFailed},
		{runner.ErrContentLimit, localagent.CodeContentLimit},
		{event.ErrUndeliverable, localagent.CodeOutputUnavailable},
	}
}

// domain is where an error comes from. It decides the codes of errors that no
// rule knows, and which codes may come from there at all.
type domain struct {
	other     localagent.Code
	cancelled localagent.Code
	known     []localagent.Code
}

// The domains, with their codes by the protocol's lists of errors and runner.md 23.
func startupErrors() domain {
	return domain{localagent.CodeStartupFailed, localagent.CodeStartupCancelled, []localagent.Code{
		localagent.CodeConfigurationInvalid, localagent.CodeProviderUnavailable, localagent.CodeProfileInvalid,
		localagent.CodeMCPUnavailable,
	}}
}

func sessionErrors() domain {
	return domain{localagent.CodeSessionInvalid, localagent.CodeOperationCancelled, []localagent.Code{
		localagent.CodeSessionMissing, localagent.CodeStaleSession, localagent.CodeSessionBusy, localagent.CodeSessionInvalid,
		localagent.CodeCwdMismatch, localagent.CodeHistoryLimit, localagent.CodeContentLimit, localagent.CodeStaleRevision,
		localagent.CodeInvalidParams,
	}}
}

func runErrors() domain {
	return domain{localagent.CodeExecutionFailed, localagent.CodeExecutionFailed, []localagent.Code{
		localagent.CodeStaleRevision, localagent.CodeHistoryLimit, localagent.CodeSessionInvalid, localagent.CodeContentLimit,
		localagent.CodePersistenceFailed, localagent.CodeOutputUnavailable,
	}}
}

// errPanic stands for a panic that a worker recovered.
var errPanic = errors.New("a worker panicked")

// codeError is a refusal whose code is known.
type codeError localagent.Code

func (e codeError) Error() string { return string(e) }

// code returns the code of an error of this domain, "" for nil.
func (d domain) code(err error) localagent.Code {
	if err == nil {
		return ""
	}
	if coded := codeError(""); errors.As(err, &coded) {
		return localagent.Code(coded)
	}
	for _, r := range rules() {
		if errors.Is(err, r.err) && slices.Contains(d.known, r.code) {
			return r.code
		}
	}
	if errors.Is(err, context.Canceled) || errors.Is(err, ErrShutdown) {
		return d.cancelled
	}
	return d.other
}
