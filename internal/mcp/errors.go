package mcp

import (
	"errors"
	"fmt"
	"strings"

	"magicode/internal/mcp/oauth"
	"magicode/internal/redact"
)

// Phase says how far the connection to a server came (telemetry.md 4.3).
type Phase string

// Phases, in their order. For an HTTP server spawn means making the client.
const (
	PhaseSpawn      Phase = "spawn"
	PhaseInitialize Phase = "initialize"
	PhaseList       Phase = "tools_list"
	PhaseRoutes     Phase = "routes"
	PhaseDone       Phase = "done"
)

// Sentinels that callers tell apart.
var (
	// ErrLoginNeeded: only `magi-code mcp login NAME` helps.
	ErrLoginNeeded = oauth.ErrLoginNeeded
	// errClosed: the connection was closed by us.
	errClosed = errors.New("the connection is closed")
	// errTimeout: no answer within the definition's timeout.
	errTimeout = errors.New("no answer in time")
	// errProtocol: the server broke the protocol.
	errProtocol = errors.New("protocol error")
)

// Error says which server could not be connected, in which phase, and why. Its
// text is redacted and at most maxReason bytes a part.
type Error struct {
	Server string
	Phase  Phase
	Reason string
	Stderr string // the end of what a stdio server wrote there, redacted
	cause  error
}

// ScopeError: the login does not cover a request; it is an ErrLoginNeeded.
type ScopeError struct {
	Scopes []string // what the server asks for, safe to show; empty: not said
}

func (e *ScopeError) Error() string {
	text := ErrLoginNeeded.Error() + ": the login does not cover this"
	if len(e.Scopes) > 0 {
		text += ", which needs: " + strings.Join(e.Scopes, " ")
	}
	return text
}

// Unwrap is ErrLoginNeeded.
func (e *ScopeError) Unwrap() error { return ErrLoginNeeded }

// scopesOf takes the scopes of a challenge that can be shown and typed.
func scopesOf(s string) []string {
	var out []string
	for _, scope := range strings.Fields(s) {
		unsafe := strings.IndexFunc(scope, func(r rune) bool { return r <= ' ' || r > '~' || strings.ContainsRune(`"'\$;&|<>()*?`+"`", r) }) >= 0
		if len(scope) <= 128 && len(out) < 32 && !unsafe {
			out = append(out, scope)
		}
	}
	return out
}

// loginCommand is what the user can run about it.
func loginCommand(server string, err error) string {
	text := "magi-code mcp login " + server
	var scope *ScopeError
	if errors.As(err, &scope) {
		for _, s := range scope.Scopes {
			text += " --scope " + s
		}
	}
	return text
}

// maxReason bounds a shown reason, in bytes.
const maxReason = 1024

func (e *Error) Error() string {
	return fmt.Sprintf("MCP server %s: %s: %s", e.Server, e.Phase, e.Reason)
}

// Unwrap gives what errors.Is is asked about: ErrLoginNeeded, a context's error.
func (e *Error) Unwrap() error { return e.cause }

// Place names the definition and the phase, in words that hold no value: what
// may be written down about a failed start.
func (e *Error) Place() (key, reason string) {
	return "mcpServers." + e.Server, "the server failed in the phase " + string(e.Phase) + "; see magi-code mcp test " + e.Server
}

func failure(server string, phase Phase, err error) *Error {
	var known *Error
	if errors.As(err, &known) {
		return known
	}
	return &Error{Server: server, Phase: phase, Reason: shown(err.Error()), cause: err}
}

// shown makes text of a server, or an error's, fit to be shown: one line, redacted.
func shown(s string) string {
	return redact.Cut(strings.Join(strings.Fields(redact.Display(s)), " "), maxReason)
}

// rpcError is an error answer of a server.
type rpcError struct {
	code    int64
	message string
}

func (e *rpcError) Error() string {
	if e.message == "" {
		return fmt.Sprintf("the server answered with error %d", e.code)
	}
	return fmt.Sprintf("the server answered with error %d: %s", e.code, e.message)
}

// codeMethodNotFound is JSON-RPC's code for a method that there is not.
const codeMethodNotFound = -32601
