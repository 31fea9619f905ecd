package telemetry

import (
	"bytes"
	"runtime/trace"
	"time"

	"magicode/telemetry/capture"
)

// recorder is the runtime's flight recorder (telemetry.md 5.6): what the
// scheduler did in the last seconds, in the form of go tool trace. It is the
// journal's. Nothing of ours is ever logged into it: it knows functions, files
// and lines of the program, goroutines and times.
type recorder struct {
	flight *trace.FlightRecorder // nil: not armed
	done   bool                  // it has been, or cannot be
}

// Bounds of the window (telemetry.md 5.6). The runtime keeps more than the bytes
// where a single moment has more: what is written is bounded by the capture.
const (
	recorderAge   = 3 * time.Second
	recorderBytes = 1 << 20
)

// Words of telemetry.file.runtime_trace.
const (
	traceOff     = "off"
	traceCleanup = "cleanup"
	traceAlways  = "always"
)

// arm starts it when its time has come: with the capture, or with the cleanup.
// It takes up to 14 ms, in which nobody waits for the journal.
func (j *journal) arm() {
	r, when := &j.recorder, j.d.config.File.RuntimeTrace
	if r.done || r.flight != nil || when != traceAlways && (when != traceCleanup || !j.d.hurry.Load()) {
		return
	}
	if !j.file.on() {
		r.done = true
		return
	}
	flight := trace.NewFlightRecorder(trace.FlightRecorderConfig{MinAge: recorderAge, MaxBytes: recorderBytes})
	if flight.Start() != nil {
		r.done = true
		j.file.problem("internal")
		return
	}
	r.flight = flight
}

// writeTrace writes what the recorder has, once, into a file of its own. What
// cannot be written changes nothing for the rest of the capture.
func (j *journal) writeTrace() {
	r := &j.recorder
	if r.flight == nil || r.done || !j.file.on() {
		return
	}
	r.done = true
	var b bytes.Buffer
	b.Grow(recorderBytes / 8)
	_, err := r.flight.WriteTo(&b)
	if err == nil {
		err = j.file.capture.RuntimeTrace(b.Bytes())
	}
	if err != nil {
		j.core.losses.drop(sinkFile, signalLog, traceLoss(err), 1)
		j.file.trouble(err)
	}
}

// traceLoss: what was too large was dropped for its size.
func traceLoss(err error) dropReason {
	if err == capture.ErrTraceTooLarge {
		return dropCap
	}
	return dropIO
}

// stop ends it. A process that exits does not wait for that.
func (r *recorder) stop() {
	if r.flight != nil {
		r.flight.Stop()
		r.flight = nil
	}
	r.done = true
}
