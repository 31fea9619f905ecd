package telemetry

import (
	"time"

	"magicode/telemetry/capture"
)

// slowDisk is a capture on a disk that does not answer while slow returns true.
type slowDisk struct {
	captureFiles
	slow   func() bool
	answer <-chan struct{}
}

func (d slowDisk) Write(s capture.Signal, lines []byte, now time.Time) error {
	if d.slow() {
		<-d.answer
	}
	return d.captureFiles.Write(s, lines, now)
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
