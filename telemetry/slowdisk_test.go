package telemetry

import (
	"testing"
	"time"

	"magicode/telemetry/capture"
)

// slowDisk is a capture on a disk that does not answer while slow returns true.
type slowDisk struct {
	captureFiles
	slow   func() bool
	answer <-chan struct{}
}

func (d slowDisk) Write(s capture.Signal, lines []byte, items uint64, now time.Time) error {
	if d.slow() {
		<-d.answer
	}
	return d.captureFiles.Write(s, lines, items, now)
}

// SlowDisk puts a child that has not started on such a disk, until answer is closed.
func SlowDisk(t Tel, slow func() bool, answer <-chan struct{}) {
	c := t.core()
	open := c.openCapture
	c.openCapture = func(o capture.Options) (captureFiles, error) {
		files, err := open(o)
		return slowDisk{files, slow, answer}, err
	}
}

// smallShare is a capture that has no room for metrics.
type smallShare struct{ captureFiles }

func (c smallShare) Write(s capture.Signal, lines []byte, items uint64, now time.Time) error {
	if s == capture.Metrics {
		return capture.ErrNoRoom
	}
	return c.captureFiles.Write(s, lines, items, now)
}

// TestNoRoom: what a capture has no room for is dropped and counted, and the
// capture goes on.
func TestNoRoom(t *testing.T) {
	dir := stateDir(t)
	tel := New([]string{"MC_TELEMETRY=file"}, time.Now())
	c := tel.core()
	c.openCapture = func(o capture.Options) (captureFiles, error) {
		files, err := openCapture(o)
		return smallShare{files}, err
	}
	tel.Start(nil, Identity{InstanceID: instance, StateDir: dir, Version: "1"})
	conversation(tel)
	files := stop(t, tel, dir)
	if status := readStatus(t, dir); status.Sinks["file"].State != sinkOn || status.Sinks["file"].Dropped != 1 || len(status.Problems) != 0 {
		t.Errorf("%+v", status)
	}
	if files["metrics"] != "" || len(capturedSpans(t, files["traces"])) < int(kindCount) {
		t.Error("the rest suffers")
	}
}
