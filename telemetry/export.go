package telemetry

import (
	"time"

	"magicode/telemetry/otlp"
	"magicode/telemetry/point"
)

// otlpSink is the journal's side of the export: it takes the snapshots of the
// metrics. Spans go to the exporter without passing through the journal.
type otlpSink struct {
	exporter *otlp.Exporter // nil when nothing is exported
	peaks    peaks
	// at is when the next snapshot is due.
	at time.Time
	// What was counted at the last one, where only what is new is asked for.
	counted   []point.Metric
	countedAt time.Time
	// As the status file has it.
	state    otlp.State
	problems int // of all sinks
}

// slowestExport is the shortest time between two snapshots (telemetry.md 9.2).
const slowestExport = 10 * time.Second

func newExporter(c *core, d *decision) *otlp.Exporter {
	if !d.config.OTLP.On {
		return nil
	}
	return otlp.New(otlp.Options{Config: d.config.OTLP, Resource: resourceAttributes(d.id), Scope: scopeName, Version: d.id.Version,
		Allow: allowed, Lost: c.exported, Failed: func(code string) { c.losses.problem(sinkOTLP, code) }})
}

func (s *otlpSink) open(c *core, d *decision, now time.Time) {
	s.countedAt = c.began
	if d.otlp == nil || d.otlp.Open() != nil { // the problem is noted
		return
	}
	s.exporter, s.state = d.otlp, otlp.On
	s.at = now.Add(otlp.FirstAfter)
}

func (s *otlpSink) on() bool { return s.exporter != nil }

// changed is never ready when nothing is exported.
func (s *otlpSink) changed() <-chan struct{} {
	if s.exporter == nil {
		return nil
	}
	return s.exporter.Changed()
}

// word is the sink's state as the status file has it.
func (s *otlpSink) word() sinkState {
	switch s.state {
	case otlp.On:
		return sinkOn
	case otlp.Suspended:
		return sinkSuspended
	case otlp.Off:
	}
	return sinkOff
}

// exportMetrics hands over a snapshot.
func (j *journal) exportMetrics(now time.Time) {
	if j.otlp.on() && j.otlp.exporter.Room() {
		j.otlp.exporter.Metrics(j.groups(now))
	}
}

// groups are what there is to be said about the metrics now.
func (j *journal) groups(now time.Time) []otlp.Group {
	s := &j.otlp
	fast, slow := j.measure(&s.peaks)
	to := j.core.clock(now)
	if !j.d.config.OTLP.Delta {
		return []otlp.Group{{Metrics: append(fast, slow...), From: j.core.began, To: to}}
	}
	news, from := difference(s.counted, slow), j.core.clock(s.countedAt)
	s.counted, s.countedAt = slow, now
	return []otlp.Group{{Metrics: fast, From: j.core.began, To: to}, {Metrics: news, From: from, To: to, Delta: true}}
}

// exportChanged writes down that the endpoint is left alone, or is not any more,
// or a new kind of trouble.
func (j *journal) exportChanged() {
	s := &j.otlp
	state, problems := s.exporter.State(), len(j.core.losses.found())
	if state != s.state || problems != s.problems {
		s.state, s.problems = state, problems
		j.report()
	}
}

// lastAnswer is how long after the end of its time an export may take to say
// what was lost. The exit does not wait for that.
const lastAnswer = 100 * time.Millisecond

// finishExport waits until everything has been sent, or its time is up.
func (j *journal) finishExport(until time.Time) {
	timer := time.NewTimer(time.Until(until) + lastAnswer)
	defer timer.Stop()
	select {
	case <-j.otlp.exporter.Done():
	case <-timer.C:
	}
	j.otlp.state = j.otlp.exporter.State()
}
