package reader

import (
	"fmt"
	"slices"
	"strings"
)

// lost is what the counts of telemetry itself say is not in the capture.
type lost struct {
	quota  float64 // was in segments that made room
	other  float64 // never came into the file
	points []*Point
}

// losses tells them apart. The heartbeats count everything that the file has lost;
// where the counts that tell why are gone themselves, the rest was in the segments
// that are gone with them.
func (a *Analysis) losses(c *Capture) (l lost) {
	l.points = c.points("magi.telemetry.dropped", func(p *Point) bool {
		return p.Value > 0 && p.Labels["magi.sink"] != "otlp" && p.Labels["magi.sink"] != "prometheus"
	})
	for _, p := range l.points {
		if p.Labels["magi.drop"] == "quota" {
			l.quota += p.Value
		} else {
			l.other += p.Value
		}
	}
	rest := max(float64(c.beatDropped())-l.quota-l.other, 0)
	if a.Capture.Rotated {
		l.quota += rest
	} else {
		l.other += rest
	}
	return l
}

// without is what does not follow from a capture that has lost a signal's file.
var without = map[string]string{
	"traces":  "what ended, how long it took and whether it failed is not known: no run, request or phase that ended is shown",
	"logs":    "why the child ended may not be known, and what never ended, what it waited for and what was dropped is not",
	"metrics": "how full the queues were, which deadlines were nearly missed and what was rejected or dropped is not known",
}

// missing reports a signal that has no file.
func (a *Analysis) missing(signal string) bool { return slices.Contains(a.Capture.Missing, signal) }

// loss says what is not in the capture, and what does not follow from it then.
func (a *Analysis) loss(c *Capture) {
	for _, signal := range a.Capture.Missing {
		v := a.add("telemetry-loss", false, fmt.Sprintf("the %s file is missing: %s", signal, without[signal]))
		v.Try = "get all files of the capture, and unpack what was packed: a child leaves a file of traces, one of logs and one of metrics"
	}
	l := a.losses(c)
	if l.quota > 0 || a.Capture.Rotated {
		a.outgrown(c, l)
	}
	if l.other > 0 {
		a.add("telemetry-loss", false, fmt.Sprintf("%.0f items were dropped: durations stand, counts are too low", l.other)).citePoints(c, l.points).cite(c.lastBeat()...)
	}
	full := c.points("magi.telemetry.errors", func(p *Point) bool {
		return p.Value > 0 && p.Labels["magi.sink"] == "file" && p.Labels["magi.problem"] == "disk_full"
	})
	if len(full) > 0 {
		a.add("telemetry-loss", false, "the capture was suspended while the disk was full: what happened then is not in it").citePoints(c, full)
	}
	for _, sink := range []struct{ label, text string }{
		{"otlp", "%.0f items did not reach the endpoint: traces and counts are not whole there, and are here"},
		{"prometheus", "the text file was not written %.0f times: the counts in it are old, and are whole here"},
	} {
		points := c.points("magi.telemetry.dropped", func(p *Point) bool { return p.Value > 0 && p.Labels["magi.sink"] == sink.label })
		if len(points) > 0 {
			a.add("telemetry-loss", false, fmt.Sprintf(sink.text, c.Total("magi.telemetry.dropped", "magi.sink", sink.label))).citePoints(c, points)
		}
	}
}

// outgrown: the capture was longer than max_mb.
func (a *Analysis) outgrown(c *Capture, l lost) {
	v := a.add("telemetry-loss", false, "the capture outgrew its bound: the middle of the story is missing, its beginning and its end are kept")
	if l.quota > 0 {
		var parts []string
		for _, signal := range []struct{ label, name string }{{"span", "spans"}, {"log", "records"}, {"metric", "lines of counts"}} {
			if n := c.Total("magi.telemetry.dropped", "magi.sink", "file", "magi.drop", "quota", "magi.signal", signal.label); n > 0 {
				parts = append(parts, fmt.Sprintf("%.0f %s", n, signal.name))
			}
		}
		say := fmt.Sprintf("given up: %.0f items", l.quota)
		if len(parts) > 0 {
			say += ", among them " + strings.Join(parts, ", ")
		}
		v.Details = append(v.Details, say)
	}
	v.Details = append(v.Details, "how it started and how it ended stands; runs and requests of the middle are not shown, counts are too low, medians and 95 % are those of what is left")
	if a.Exit == nil {
		v.Details = append(v.Details, "what began before the newest part and has no end may have ended: it is not shown as open")
	}
	v.citePoints(c, l.points).cite(c.lastBeat()...)
	for _, signal := range Signals() {
		if at, ok := c.gap[signal]; ok {
			v.cite(Evidence{File: c.names[at], Line: 1, Record: "first line behind what is missing"})
		}
	}
}

// beatDropped is how much the file has lost, as the records say.
func (c *Capture) beatDropped() (most int64) {
	for i := range c.Records {
		if n, ok := c.Records[i].Attributes["magi.telemetry.dropped"].(int64); ok {
			most = max(most, n)
		}
	}
	return most
}

// lastBeat is the last record that counts what was dropped.
func (c *Capture) lastBeat() []Evidence {
	for i := len(c.Records) - 1; i >= 0; i-- {
		if n, ok := c.Records[i].Attributes["magi.telemetry.dropped"].(int64); ok && n > 0 {
			return []Evidence{c.Records[i].evidence(c)}
		}
	}
	return nil
}
