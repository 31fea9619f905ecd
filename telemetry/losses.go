package telemetry

import (
	"sync"
	"sync/atomic"

	"magicode/telemetry/config"
	"magicode/telemetry/otlp"
	"magicode/telemetry/point"
)

// sinkID is one of the sinks.
type sinkID uint8

const (
	sinkFile sinkID = iota
	sinkOTLP
	sinkProm
	sinkCount
)

var sinkTexts = [sinkCount]string{"file", "otlp", "prometheus"}

// signalID is what a sink takes.
type signalID uint8

const (
	signalSpan signalID = iota
	signalLog
	signalMetric
	signalCount
)

var signalTexts = [signalCount]string{"span", "log", "metric"}

// dropReason is why something was not recorded.
type dropReason uint8

const (
	dropQueue dropReason = iota
	dropQuota            // was written, and went with the oldest segment
	dropIO
	dropBreaker
	dropCap
	dropCount
)

var dropTexts = [dropCount]string{"queue", "quota", "io", "breaker", "cap"}

// possible are the reasons that a sink can have to drop a signal.
var possible = [sinkCount][signalCount][]dropReason{
	sinkFile: {signalSpan: {dropQueue, dropQuota, dropIO, dropCap}, signalLog: {dropQueue, dropQuota, dropIO, dropCap}, signalMetric: {dropQuota, dropIO, dropCap}},
	sinkOTLP: {signalSpan: {dropQueue, dropIO, dropBreaker, dropCap}, signalMetric: {dropIO, dropBreaker, dropCap}},
	sinkProm: {signalMetric: {dropIO}},
}

// losses is what the sinks did not record, and what went wrong with them. It is
// safe for concurrent use.
type losses struct {
	drops [sinkCount][signalCount][dropCount]atomic.Uint64

	mu       sync.Mutex
	errors   map[sinkError]uint64
	problems [sinkCount][]config.Problem // each code once
}

type sinkError struct {
	sink sinkID
	code string
}

func (l *losses) drop(sink sinkID, signal signalID, why dropReason, n uint64) {
	l.drops[sink][signal][why].Add(n)
}

// dropped is everything that a sink did not record.
func (l *losses) dropped(sink sinkID) (n uint64) {
	for signal := range l.drops[sink] {
		for why := range l.drops[sink][signal] {
			n += l.drops[sink][signal][why].Load()
		}
	}
	return n
}

// problemKeys are the keys that the problems of running sinks concern.
var problemKeys = [sinkCount]string{"telemetry.file", "telemetry.otlp", "telemetry.prometheus.path"}

// problem notes one that a sink met, and reports whether it is new.
func (l *losses) problem(sink sinkID, code string) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.errors == nil {
		l.errors = map[sinkError]uint64{}
	}
	l.errors[sinkError{sink, code}]++
	if l.errors[sinkError{sink, code}] > 1 {
		return false
	}
	l.problems[sink] = append(l.problems[sink], config.Problem{Code: code, Key: problemKeys[sink]})
	return true
}

// found are the problems of all sinks.
func (l *losses) found() (out []config.Problem) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, p := range l.problems {
		out = append(out, p...)
	}
	return out
}

// metrics are the instruments of telemetry itself (telemetry.md 6.8).
func (l *losses) metrics(c *config.Config) []point.Metric {
	drops := point.Metric{Name: keyDropped, Unit: "{item}", Type: point.Counter}
	on := [sinkCount]bool{c.File.On, c.OTLP.On, c.Prometheus.On}
	for sink := range sinkCount {
		for signal := range signalCount {
			for _, why := range possible[sink][signal] {
				if on[sink] {
					drops.Points = append(drops.Points, point.Point{Value: float64(l.drops[sink][signal][why].Load()), Labels: []point.Label{
						{Key: keySignal, Value: signalTexts[signal]}, {Key: keySink, Value: sinkTexts[sink]}, {Key: keyDrop, Value: dropTexts[why]}}})
				}
			}
		}
	}
	errors := point.Metric{Name: nameErrors, Unit: "{error}", Type: point.Counter}
	l.mu.Lock()
	defer l.mu.Unlock()
	for e, n := range l.errors {
		errors.Points = append(errors.Points, point.Point{Value: float64(n), Labels: []point.Label{
			{Key: keySink, Value: sinkTexts[e.sink]}, {Key: keyProblem, Value: e.code}}})
	}
	return []point.Metric{drops, errors}
}

// dropSpan counts a span, or a part of one, that a bound has kept out of every
// sink that takes spans.
func (c *core) dropSpan() {
	d := c.decided.Load()
	if d == nil || d.config.File.On {
		c.losses.drop(sinkFile, signalSpan, dropCap, 1)
	}
	if d != nil && d.otlp != nil {
		c.losses.drop(sinkOTLP, signalSpan, dropCap, 1)
	}
}

// exported counts what the OTLP sink did not send.
func (c *core) exported(s otlp.Signal, why otlp.Loss, n uint64) {
	signal := signalSpan
	if s == otlp.Metrics {
		signal = signalMetric
	}
	reason := [...]dropReason{otlp.LossQueue: dropQueue, otlp.LossIO: dropIO, otlp.LossBreaker: dropBreaker, otlp.LossCap: dropCap}[why]
	c.losses.drop(sinkOTLP, signal, reason, n)
}
