package telemetry

import (
	"sync/atomic"
	"time"

	"github.com/go-logr/logr"
	"go.opentelemetry.io/otel"

	"magicode/telemetry/config"
)

// Tel is a handle that is copied freely. The zero value is off.
type Tel struct {
	p    *atomic.Pointer[core]
	vain *vain // what to wait for where telemetry was asked for in vain
}

// Identity is what is known of the child when telemetry is decided on.
type Identity struct {
	InstanceID string // the wire's
	StateDir   string // the home's state folder; "" when there is none: only sinks with a folder of their own can be on
	Version    string
	// Project: a project tried to say something about telemetry. It is ignored,
	// and the status file says so.
	Project bool
}

// New returns a dormant handle: values are counted in memory, nothing is opened
// and no goroutine runs. environ is the child's own environment; start is when
// the process began. It silences OpenTelemetry's loggers, which write to stderr
// by default, one of them the values of variables (telemetry.md 2.6).
func New(environ []string, start time.Time) Tel {
	silence()
	t := Tel{new(atomic.Pointer[core]), new(vain)}
	if !config.Killed(environ) {
		t.p.Store(newCore(environ, start))
	}
	return t
}

func silence() {
	otel.SetErrorHandler(otel.ErrorHandlerFunc(func(error) {}))
	otel.SetLogger(logr.Discard())
}

// Start decides, once, which sinks are on: from the environment and the raw
// "telemetry" value of the global settings, nil for none. It touches no file;
// what it starts does, in a goroutine that ends with Exit. A second call does nothing.
func (t Tel) Start(global []byte, id Identity) {
	c := t.core()
	if c == nil || !c.starting.CompareAndSwap(false, true) {
		return
	}
	cfg := config.Load(c.environ, global, id.Project)
	if cfg.On() {
		c.decide(cfg, id)
		return
	}
	t.p.Store(nil)
	if cfg.Asked {
		t.vain.tell(c, cfg, id)
	}
}

// Detach cuts every span that is still open but the child's own: the cleanup
// was not over when the wait for it was (telemetry.md 5.4).
func (t Tel) Detach() {
	if c := t.core(); c != nil {
		c.cut(time.Now())
	}
}

// Snapshot writes down what is still open and what all goroutines do, while the
// wait for the cleanup goes on.
func (t Tel) Snapshot() {
	if c := t.core(); c != nil {
		c.snapshot(time.Now())
	}
}

// CleanupBegin makes the capture urgent: from now on each record is written at
// once and there are ten heartbeats a second. What is exported is sent now.
func (t Tel) CleanupBegin() {
	if c := t.core(); c != nil {
		c.urgent()
	}
}

// CleanupUntil tells when the wait for the cleanup ends: Exit waits no longer.
func (t Tel) CleanupUntil(deadline time.Time) {
	if c := t.core(); c != nil {
		until := deadline // a parameter whose address is taken is an allocation, also when off
		c.deadline.Store(&until)
	}
}

// Exit writes and sends what is left and ends the goroutine. It waits for files
// at most 50 ms and for an endpoint at most what the user set (50 ms), both at
// once, and 10 ms in all after a detached cleanup. It is the last call.
func (t Tel) Exit(code int, reason Word, detached bool) {
	c := t.core()
	if c == nil {
		t.vain.wait(detached)
		return
	}
	c.exit(exitState{code: code, reason: reason, detached: detached})
	t.p.Store(nil)
}
