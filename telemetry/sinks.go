package telemetry

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"magicode/telemetry/capture"
	"magicode/telemetry/point"
	"magicode/telemetry/promtext"
	"magicode/telemetry/rawfile"
)

// sinkState is a sink's word in the status file.
type sinkState string

const (
	sinkOff       sinkState = "off"
	sinkOn        sinkState = "on"
	sinkSuspended sinkState = "suspended"
)

// captureFiles is what a capture is to its sink.
type captureFiles interface {
	Write(s capture.Signal, lines []byte, items uint64, now time.Time) error
	RuntimeTrace(data []byte) error
	Size() int64
	Suspended() bool
	Close()
}

// openCapture opens one on the disk.
func openCapture(o capture.Options) (captureFiles, error) {
	c, err := capture.Open(o)
	if err != nil {
		return nil, err
	}
	return c, nil
}

// fileSink is the capture.
type fileSink struct {
	core    *core
	capture captureFiles
	stem    string
	state   sinkState
	peaks   peaks
	news    bool // something that the status file does not tell yet
}

// size is how many bytes the capture has.
func (f *fileSink) size() int64 {
	if f.capture == nil {
		return 0
	}
	return f.capture.Size()
}

func (f *fileSink) on() bool { return f.capture != nil }

func (f *fileSink) problem(code string) { f.core.losses.problem(sinkFile, code) }

func (f *fileSink) open(c *core, d *decision) {
	f.core, f.state = c, sinkOff
	o := d.config.File
	if !o.On {
		return
	}
	dir := o.Dir
	if dir == "" {
		if d.id.StateDir == "" {
			f.problem(string(rawfile.DirMissing))
			return
		}
		dir = filepath.Join(d.id.StateDir, "telemetry")
	}
	stem := capture.Stem(c.began, os.Getpid(), strings.ReplaceAll(d.id.InstanceID, "-", ""))
	file, err := c.openCapture(capture.Options{Dir: dir, Make: o.Dir == "", Stem: stem,
		MaxBytes: int64(o.MaxMB) << 20, Keep: o.Keep, TotalBytes: int64(o.TotalMB) << 20, Trace: o.RuntimeTrace != traceOff, Lost: f.outgrown})
	if err != nil {
		f.trouble(err)
		return
	}
	f.capture, f.stem, f.state = file, stem, sinkOn
}

// signalOf is what is in which file.
var signalOf = [...]signalID{capture.Traces: signalSpan, capture.Logs: signalLog, capture.Metrics: signalMetric}

// outgrown counts what was in a segment that the capture's bound has cost.
func (f *fileSink) outgrown(s capture.Signal, items uint64) {
	f.core.losses.drop(sinkFile, signalOf[s], dropQuota, items)
	f.problem("quota")
	f.news = true
}

func (f *fileSink) trouble(err error) {
	var t rawfile.Trouble
	if errors.As(err, &t) {
		f.problem(string(t))
	}
}

// write gives lines to the capture and leaves the batch empty. A full disk
// suspends the capture, lines that are too much for it are dropped, anything else
// ends it.
func (f *fileSink) write(j *journal, s capture.Signal, b *batch) {
	if f.capture == nil || len(b.lines) == 0 {
		return
	}
	defer b.empty()
	err := f.capture.Write(s, b.lines, b.count, time.Now())
	if err == nil {
		if f.state == sinkSuspended || f.news {
			f.state, f.news = sinkOn, false
			j.report()
		}
		return
	}
	signal := signalOf[s]
	if errors.Is(err, capture.ErrNoRoom) {
		j.core.losses.drop(sinkFile, signal, dropCap, b.count)
		return
	}
	j.core.losses.drop(sinkFile, signal, dropIO, b.count)
	if f.capture.Suspended() {
		if f.state != sinkSuspended {
			f.state = sinkSuspended
			f.trouble(err)
			j.report()
		}
		return
	}
	f.trouble(err)
	f.close()
	f.state = sinkOff
	j.report()
}

// close leaves the state as it is: what was on to the end is told as on.
func (f *fileSink) close() {
	if f.capture != nil {
		f.capture.Close()
		f.capture = nil
	}
}

// promSink is the text file.
type promSink struct {
	core  *core
	file  *promtext.File
	state sinkState
	peaks peaks
}

func (p *promSink) on() bool { return p.file != nil }

func (p *promSink) open(c *core, d *decision) {
	p.core, p.state = c, sinkOff
	o := d.config.Prometheus
	if !o.On {
		return
	}
	file, err := promtext.Open(o.Path, o.Mode)
	if err != nil {
		p.trouble(err)
		return
	}
	p.file, p.state = file, sinkOn
}

func (p *promSink) trouble(err error) {
	code := "prom_io"
	var t rawfile.Trouble
	if errors.As(err, &t) && t != rawfile.FileIO && t != rawfile.FileOpen {
		code = string(t)
	}
	p.core.losses.problem(sinkProm, code)
}

// close leaves the state as it is, as that of a capture does.
func (p *promSink) close() {
	if p.file != nil {
		p.file.Close()
		p.file = nil
	}
}

// metrics is everything counted so far, as one reader sees it.
func (j *journal) metrics(p *peaks) []point.Metric {
	fast, slow := j.measure(p)
	return append(fast, slow...)
}

// measure is the same in two parts: what is always cumulative, and what can also
// be told as what is new. Spans that have ended and wait count.
func (j *journal) measure(p *peaks) (fast, slow []point.Metric) {
	c := j.core
	j.drain(func() bool { return true })
	c.hot.raise(&j.file.peaks, &j.prom.peaks, &j.otlp.peaks)
	out := c.hot.metrics(p)
	*p = peaks{}
	one := func(name, unit string, t point.Type, v float64) point.Metric {
		return point.Metric{Name: name, Unit: unit, Type: t, Points: []point.Point{{Value: v}}}
	}
	running, asking, tasks := 0.0, 0.0, 0.0
	for _, o := range c.openSpans() {
		switch o.kind {
		case SpanRun:
			running++
		case SpanApprovalWait:
			asking++
		case SpanSubagent:
			tasks++
		}
	}
	out = append(out, c.losses.metrics(&j.d.config)...)
	out = append(out, one("magi.request.ids", "{id}", point.Gauge, float64(c.requests.Load())),
		one("magi.runs.active", "{run}", point.Gauge, running),
		one("magi.approvals.pending", "{approval}", point.Gauge, asking),
		one("magi.approvals.queued", "{approval}", point.Gauge, float64(c.queued.Load())),
		one("magi.subagents.active", "{agent}", point.Gauge, tasks))
	if j.file.on() {
		out = append(out, one(nameFileSize, "By", point.Gauge, float64(j.file.capture.Size())))
	}
	return append(out, j.runtime.metrics(c.began)...), c.slow.metrics(p == &j.otlp.peaks)
}

// writeMetrics writes what was counted since the last time, and reports whether
// there was anything.
func (j *journal) writeMetrics(now time.Time) bool {
	current := j.metrics(&j.file.peaks)
	changes := difference(j.counted, current)
	if !slices.ContainsFunc(changes, ofTheChild) {
		return false // an idle child writes nothing: what changes by itself waits
	}
	lines := j.encoder.AppendMetrics(nil, changes, j.core.clock(j.countedAt), j.core.clock(now))
	j.counted, j.countedAt = current, now
	for line := range bytes.Lines(lines) { // a segment ends between two of them
		j.file.write(j, capture.Metrics, &batch{lines: line, count: 1})
	}
	return true
}

// ofTheChild tells what a child did from what its runtime and its files do anyway.
func ofTheChild(m point.Metric) bool {
	return !strings.HasPrefix(m.Name, "go.") && !strings.HasPrefix(m.Name, "process.") && m.Name != nameFileSize
}

// nameFileSize is the metric of the capture's own size.
const nameFileSize = "magi.telemetry.file.size"

// writeProm replaces the text file. up is false in the last one.
func (j *journal) writeProm(up bool) {
	if err := j.prom.file.Write(j.metrics(&j.prom.peaks), up, j.d.id.Version); err != nil {
		j.core.losses.drop(sinkProm, signalMetric, dropIO, 1)
		j.prom.trouble(err)
		j.prom.close()
		j.prom.state = sinkOff
		j.report()
	}
}
