package telemetry

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"magicode/telemetry/capture"
	"magicode/telemetry/config"
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

// fileSink is the capture.
type fileSink struct {
	capture  *capture.Capture
	stem     string
	state    sinkState
	problems []config.Problem
	peaks    peaks
}

// size is how many bytes the capture has.
func (f *fileSink) size() int64 {
	if f.capture == nil {
		return 0
	}
	return f.capture.Size()
}

func (f *fileSink) on() bool { return f.capture != nil }

func (f *fileSink) problem(code string) {
	f.problems = append(f.problems, config.Problem{Code: code, Key: "telemetry.file"})
}

func (f *fileSink) open(c *core, d *decision) {
	f.state = sinkOff
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
	file, err := capture.Open(capture.Options{Dir: dir, Make: o.Dir == "", Stem: stem,
		MaxBytes: int64(o.MaxMB) << 20, Keep: o.Keep, TotalBytes: int64(o.TotalMB) << 20})
	if err != nil {
		f.trouble(err)
		return
	}
	f.capture, f.stem, f.state = file, stem, sinkOn
}

func (f *fileSink) trouble(err error) {
	var t rawfile.Trouble
	if errors.As(err, &t) {
		f.problem(string(t))
	}
}

// write gives lines to the capture. A full disk suspends it, anything else ends it.
func (f *fileSink) write(j *journal, s capture.Signal, lines []byte) {
	if f.capture == nil || len(lines) == 0 {
		return
	}
	err := f.capture.Write(s, lines, time.Now())
	if err == nil {
		if f.state == sinkSuspended {
			f.state = sinkOn
			j.report()
		}
		return
	}
	j.core.drop(dropIO)
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
	j.report()
}

func (f *fileSink) close() {
	if f.capture == nil {
		return
	}
	f.capture.Close()
	f.capture, f.state = nil, sinkOff
}

// promSink is the text file.
type promSink struct {
	file     *promtext.File
	problems []config.Problem
	peaks    peaks
}

func (p *promSink) on() bool { return p.file != nil }

func (p *promSink) problem(code string) {
	p.problems = append(p.problems, config.Problem{Code: code, Key: "telemetry.prometheus.path"})
}

func (p *promSink) open(_ *core, d *decision) {
	o := d.config.Prometheus
	if !o.On {
		return
	}
	file, err := promtext.Open(o.Path, o.Mode)
	if err != nil {
		p.trouble(err)
		return
	}
	p.file = file
}

func (p *promSink) trouble(err error) {
	code := "prom_io"
	var t rawfile.Trouble
	if errors.As(err, &t) && t != rawfile.FileIO && t != rawfile.FileOpen {
		code = string(t)
	}
	p.problem(code)
}

func (p *promSink) close() {
	if p.file != nil {
		p.file.Close()
		p.file = nil
	}
}

// metrics is everything counted so far, as one reader sees it.
func (j *journal) metrics(p *peaks) []point.Metric {
	c := j.core
	c.hot.raise(&j.file.peaks, &j.prom.peaks)
	out := append(c.hot.metrics(p), c.slow.metrics()...)
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
	drops := point.Metric{Name: keyDropped, Unit: "{item}", Type: point.Counter}
	for why := range dropCount {
		drops.Points = append(drops.Points, point.Point{Value: float64(c.drops[why].Load()),
			Labels: []point.Label{{Key: keyDrop, Value: dropTexts[why]}}})
	}
	out = append(out, drops, one("magi.request.ids", "{id}", point.Gauge, float64(c.requests.Load())),
		one("magi.runs.active", "{run}", point.Gauge, running),
		one("magi.approvals.pending", "{approval}", point.Gauge, asking),
		one("magi.approvals.queued", "{approval}", point.Gauge, float64(c.queued.Load())),
		one("magi.subagents.active", "{agent}", point.Gauge, tasks))
	if j.file.on() {
		out = append(out, one(nameFileSize, "By", point.Gauge, float64(j.file.capture.Size())))
	}
	return append(out, runtimeMetrics(c.began)...)
}

// writeMetrics writes what was counted since the last time.
func (j *journal) writeMetrics(now time.Time) {
	current := j.metrics(&j.file.peaks)
	changes := difference(j.counted, current)
	if !slices.ContainsFunc(changes, ofTheChild) {
		return // an idle child writes nothing: what changes by itself waits
	}
	line := j.encoder.AppendMetrics(nil, changes, j.core.clock(j.countedAt), j.core.clock(now))
	j.counted, j.countedAt = current, now
	j.file.write(j, capture.Metrics, line)
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
		j.prom.trouble(err)
		j.prom.close()
		j.report()
	}
}
