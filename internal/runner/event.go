package runner

import (
	"context"

	"magicode/internal/provider"
)

// Path names the scope of an event: an activity id such as "call_1",
// "call_1:inner:3" or "call_1/g1/call_7" (tools.md 2.2). "" is the run itself.
type Path string

// Event is one thing that a run reports. The sum is closed: a sink switches
// over the types of this file.
type Event interface{ event() }

// InputPersisted: the user's input is durable. It precedes every other event
// of the run but Notice.
type InputPersisted struct{ Text string }

// SegmentDone closes or reconciles the open assistant segment: Text is its
// whole authoritative text, control-stripped and redacted. Closed says that
// later text opens a new segment.
type SegmentDone struct {
	Segment int // 0-based, per run
	Text    string
	Closed  bool
}

// ActivityKind says what an activity is.
type ActivityKind uint8

const (
	ActivityTool ActivityKind = iota
	ActivitySubagent
	ActivityCompaction
)

// ActivityStarted begins an activity. It may come again for the same path.
type ActivityStarted struct {
	Path  Path
	Kind  ActivityKind
	Label string // redacted; the sink cuts it
}

// ActivityFinished ends it. OK is true only for success.
type ActivityFinished struct {
	Path Path
	OK   bool
}

// Notice is a diagnostic for the user: a recovery, a warning. Hook tells hook
// output from the runner's own.
type Notice struct {
	Summary string
	Hook    bool
}

// Delta is a piece of assistant text of the open segment: control-stripped,
// redacted, and a prefix of what SegmentDone will say. It is best effort.
type Delta struct {
	Segment int
	Text    string
}

// Spent tells what nested work has cost so far: the sum of all requests of the
// activity Path. A later one replaces those before it.
type Spent struct {
	Path     Path
	Sequence int // of the last request, 0-based within the activity
	Usage    provider.Usage
	Final    bool // the counters of the last request are complete
}

func (Spent) event()            {}
func (InputPersisted) event()   {}
func (SegmentDone) event()      {}
func (ActivityStarted) event()  {}
func (ActivityFinished) event() {}
func (Notice) event()           {}

// Sink takes a run's events, from one goroutine at a time. turn is one sink;
// demo, tests and the terminal front end are others.
type Sink interface {
	// Try offers a delta and never waits. false: not taken now; the runner
	// offers the same text again together with what follows (decision 31).
	Try(Delta) bool
	// Emit delivers an event that must not be lost. It may wait (bounded by the
	// sink); an error ends the run.
	Emit(context.Context, Event) error
}
