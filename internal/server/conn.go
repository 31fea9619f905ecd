package server

import (
	"os"
	"sync"
	"time"

	"magicode/internal/admission"
	"magicode/internal/event"
	"magicode/internal/frame"
	"magicode/internal/worker"
	"magicode/pkg/localagent"
	"magicode/telemetry"
)

// startupState is how far the child's one startup has come.
type startupState uint8

const (
	startupNone startupState = iota // no initialize was admitted
	startupPending
	startupReady
	startupFailed
)

// conn owns everything there is to know about the connection. mu guards all
// fields below it; it is held while a batch of frames is admitted, and never
// across anything that waits.
type conn struct {
	cfg Config
	ops []operation
	// child is the span of the whole connection.
	child telemetry.Span

	mu    sync.Mutex
	env   *Envelope
	out   *frame.Writer
	ids   admission.Ledger
	slot  worker.Slot
	query call // reused for each request

	startup  startupState
	failure  localagent.Code // of a failed startup
	context  string          // the context id, "" while it is unknown
	selected []byte          // the beginning of the status object, see choose
	runtime  Runtime
	init     pending // initialize, while startup is pending
	work     pending // a session or history operation
	session  string  // "" while nothing is attached
	run      *run

	ending   telemetry.Span // of the cleanup, with what precedes it
	draining telemetry.Span
	joins    Worker // whose job was running at the end

	closing bool
	reason  Reason // why closing began
	signal  os.Signal
	expiry  *time.Timer // of the closing deadline
	exit    Exit
	over    bool
	ended   chan struct{} // closed when over becomes true
}

// pending is a request that a job will answer.
type pending struct {
	pending bool
	id      string
	span    telemetry.Span
}

// run is the active turn, until its run.finished is queued.
type run struct {
	id        string
	session   string
	job       Run
	events    *event.Queue
	span      telemetry.Span
	spoke     bool // a delta was queued
	ref       event.Ref
	persisted bool // input.persisted was queued
	ended     bool // the worker has ended, finished holds its result
	finished  event.Finished
}

func newConn(cfg Config) *conn {
	c := &conn{
		cfg:   cfg,
		ops:   operations(),
		env:   NewEnvelope(instanceID(cfg)),
		ended: make(chan struct{}),
	}
	c.choose("", "")
	c.out = frame.NewWriter(cfg.Transport, (*output)(c), cfg.Tel)
	return c
}

func instanceID(cfg Config) string {
	if cfg.InstanceID != "" {
		return cfg.InstanceID
	}
	return cfg.NewID()
}

// output is what the frame writer sees of a conn.
type output conn

func (o *output) Lock()   { o.mu.Lock() }
func (o *output) Unlock() { o.mu.Unlock() }

// Drained takes events into the room that was made, and leaves if that was all.
func (o *output) Drained() {
	c := (*conn)(o)
	c.pump()
	c.leaveIfDone()
}

// Broken ends the child.
func (o *output) Broken(err error) {
	c := (*conn)(o)
	c.child.Event(telemetry.EventOutputFailed)
	c.end(1, outputReason(err))
}

// runs reports whether this run is active.
func (c *conn) runs(sessionID, runID string) bool {
	return c.run != nil && c.run.session == sessionID && c.run.id == runID
}

// settle brings the state to rest at the end of each change: what is queued is
// written, what waits for room takes it, and a closing child that is done leaves.
func (c *conn) settle() {
	if c.over {
		return
	}
	c.pump()
	c.out.Flush()
	c.leaveIfDone()
}
