package script

import (
	"fmt"
	"time"
)

// Limits bound one batch: capabilities.tools.code_mode.limits. All are above 0.
type Limits struct {
	SourceBytes      int
	InnerCalls       int
	Runtime          time.Duration // of the script alone; tools are not counted
	MemoryBytes      int
	InnerResultBytes int // of one reply to the script
	TotalResultBytes int // of all replies
	ReturnBytes      int
}

// Kind names a limit (tools.md 3.4).
type Kind string

// The kinds of limits.
const (
	SourceLimit         Kind = "source"
	InnerCallLimit      Kind = "inner calls"
	ReturnLimit         Kind = "return bytes"
	TimeLimit           Kind = "JavaScript execution time"
	MemoryLimit         Kind = "memory"
	InnerResultLimit    Kind = "inner result bytes"
	TotalResultLimit    Kind = "total result bytes"
	BatchHistoryLimit   Kind = "batch persisted history bytes"
	SessionHistoryLimit Kind = "session persisted history bytes"
)

// LimitError ends a batch with a result; the turn goes on. Options.Call returns
// it for the limits of the history.
type LimitError struct {
	Kind  Kind
	Limit int64 // in the unit of the kind; time in milliseconds
}

func (e *LimitError) Error() string {
	return fmt.Sprintf("Code Mode reached its limit of %s (%d)", e.Kind, e.Limit)
}

// recovery tells the model what to do about a limit.
func (e *LimitError) recovery() string {
	switch e.Kind {
	case SourceLimit:
		return "Send a shorter script, or split the work over several."
	case InnerCallLimit:
		return "Do the rest in another script; execution lists what is done."
	case ReturnLimit:
		return "Return a summary or a part of the data."
	case TimeLimit:
		return "Use less computation: filter early, avoid nested loops over large data."
	case MemoryLimit:
		return "Keep less data at a time: read parts, drop what is not needed."
	case InnerResultLimit:
		return "Ask the tool for less: fewer files, a line range, a narrower pattern."
	case TotalResultLimit:
		return "Split the work over several scripts, or ask the tools for less."
	case BatchHistoryLimit:
		return "Do the rest in another script with smaller arguments and results."
	case SessionHistoryLimit:
		return "This session's file is full for scripts: call the tools directly, or go on in a new session."
	}
	return ""
}

// Gauge is a budget of which something is used.
type Gauge struct{ Used, Limit int64 }

type gaugeJSON struct {
	Used      int64 `json:"used"`
	Limit     int64 `json:"limit"`
	Remaining int64 `json:"remaining"`
}

func (g Gauge) json() *gaugeJSON {
	return &gaugeJSON{g.Used, g.Limit, max(g.Limit-g.Used, 0)}
}

// History tells how full the records of the batch and of the session are.
type History struct{ Batch, Session Gauge }
