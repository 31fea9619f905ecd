package telemetry

import (
	"encoding/json"
	"os"
	"sync/atomic"
	"time"

	"magicode/telemetry/config"
	"magicode/telemetry/rawfile"
)

const statusName = "telemetry-status.json"

// statusFile tells a host or a user, who read it, which sinks are on and what
// was wrong (telemetry.md 2.5). The server never reads it.
type statusFile struct {
	dir     int
	isOpen  bool
	started time.Time
}

type statusDocument struct {
	Version    int                   `json:"version"`
	PID        int                   `json:"pid"`
	InstanceID string                `json:"instance_id"`
	Started    string                `json:"started"`
	Updated    string                `json:"updated"`
	State      string                `json:"state"`
	Capture    string                `json:"capture,omitempty"`
	Exit       *statusExit           `json:"exit,omitempty"`
	Sinks      map[string]statusSink `json:"sinks"`
	Problems   []config.Problem      `json:"problems"`
}

type statusExit struct {
	Code     int    `json:"code"`
	Reason   string `json:"reason"`
	Detached bool   `json:"detached"`
}

type statusSink struct {
	State   sinkState `json:"state"`
	Bytes   int64     `json:"bytes,omitempty"`
	Dropped uint64    `json:"dropped"`
}

func (s *statusFile) open(c *core, d *decision) {
	s.started = c.began
	if d.id.StateDir == "" {
		return
	}
	// A full disk and a folder that others may write to are what it has to tell of.
	dir, err := rawfile.OpenDir(d.id.StateDir, false, rawfile.Anyone)
	s.dir, s.isOpen = dir, err == nil
}

// report writes the status of a child that lives.
func (j *journal) report() { j.status.write(j, "on", nil) }

// exit writes the last status, "closed", or the last but one, "closing": the files
// are closed, and the endpoint has not said yet what it took.
func (s *statusFile) exit(j *journal, state string, e exitState) {
	s.write(j, state, &statusExit{Code: e.code, Reason: e.reason.text(), Detached: e.detached})
}

func (s *statusFile) close() {
	if s.isOpen {
		rawfile.Close(s.dir)
		s.isOpen = false
	}
}

func (s *statusFile) write(j *journal, state string, exit *statusExit) {
	if !s.isOpen {
		return
	}
	file := statusSink{State: j.file.state, Dropped: j.core.losses.dropped(sinkFile)}
	if j.file.on() {
		j.written = j.file.capture.Size()
	}
	file.Bytes = j.written
	sinks := map[string]statusSink{"file": file, "otlp": {State: j.otlp.word(), Dropped: j.core.losses.dropped(sinkOTLP)},
		"prometheus": {State: j.prom.state, Dropped: j.core.losses.dropped(sinkProm)}}
	doc := statusDocument{
		Version: 1, PID: os.Getpid(), InstanceID: j.d.id.InstanceID, State: state, Capture: j.file.stem, Exit: exit,
		Started: s.started.UTC().Format(time.RFC3339), Updated: time.Now().UTC().Format(time.RFC3339),
		Sinks:    sinks,
		Problems: append(append([]config.Problem{}, j.d.config.Problems...), j.core.losses.found()...),
	}
	data, err := json.Marshal(doc)
	if err == nil {
		_ = rawfile.Replace(s.dir, statusName, append(data, '\n'), 0o600) // it is about telemetry's failures and must not be one
	}
}

// vain tells that telemetry was asked for and that nothing came of it.
type vain struct {
	told atomic.Pointer[chan struct{}] // closed when that is done; nil: there is nothing to tell
}

// tell writes the status in a goroutine, as every file of telemetry is written:
// a start does not wait for it.
func (v *vain) tell(c *core, cfg config.Config, id Identity) {
	told := make(chan struct{})
	v.told.Store(&told)
	go func() {
		defer close(told)
		refused(c, cfg, id)
	}()
}

// wait is for a child that ends at once; it takes no longer than files may.
func (v *vain) wait(detached bool) {
	if v == nil {
		return
	}
	told := v.told.Load()
	if told == nil {
		return
	}
	wait := lastWait
	if detached {
		wait = detachedWait
	}
	select {
	case <-*told:
	case <-time.After(wait):
	}
}

func refused(c *core, cfg config.Config, id Identity) {
	j := newJournal(c, &decision{config: cfg, id: id})
	j.file.state, j.prom.state = sinkOff, sinkOff
	j.status.open(c, j.d)
	j.status.write(j, "off", nil)
	j.status.close()
}
