package reader

import (
	"encoding/json"
	"slices"
	"strconv"
	"time"
)

// Point is what one metric counted between two times, for one set of labels.
type Point struct {
	Name     string
	Labels   map[string]string
	From, To time.Time
	Gauge    bool
	Value    float64 // of a gauge or a counter
	Count    uint64  // of a histogram, as Sum, Bounds and Buckets are
	Sum      float64
	Bounds   []float64
	Buckets  []uint64

	at place
}

func (p *Point) evidence(c *Capture) Evidence { return c.evidence(p.at, p.Name, "") }

type wirePoint struct {
	Attributes                      wireAttributes
	StartTimeUnixNano, TimeUnixNano string
	AsDouble                        float64
	Count                           json.RawMessage
	Sum                             float64
	BucketCounts                    []json.RawMessage
	ExplicitBounds                  []float64
}

type wireMetrics struct {
	Resource     wireResource
	ScopeMetrics []struct {
		Metrics []struct {
			Name      string
			Sum       *struct{ DataPoints []wirePoint }
			Gauge     *struct{ DataPoints []wirePoint }
			Histogram *struct{ DataPoints []wirePoint }
		}
	}
}

func (c *Capture) metrics(w *wireMetrics) {
	c.resource(w.Resource)
	for _, scope := range w.ScopeMetrics {
		for _, m := range scope.Metrics {
			switch {
			case m.Sum != nil:
				c.keep(m.Name, false, m.Sum.DataPoints)
			case m.Gauge != nil:
				c.keep(m.Name, true, m.Gauge.DataPoints)
			case m.Histogram != nil:
				c.keep(m.Name, false, m.Histogram.DataPoints)
			}
		}
	}
}

func (c *Capture) keep(name string, gauge bool, points []wirePoint) {
	for i := range points {
		w := &points[i]
		p := Point{Name: name, Gauge: gauge, From: nanos(w.StartTimeUnixNano), To: nanos(w.TimeUnixNano), Value: counted(w.AsDouble),
			Count: unsigned(w.Count), Sum: counted(w.Sum), Bounds: w.ExplicitBounds, Labels: map[string]string{}, at: c.here()}
		for k, v := range c.values(w.Attributes) {
			if s, ok := v.(string); ok {
				p.Labels[k] = s
			}
		}
		p.Buckets = slices.Grow(p.Buckets, len(w.BucketCounts))
		for _, b := range w.BucketCounts {
			p.Buckets = append(p.Buckets, unsigned(b))
		}
		c.inside += (len(w.BucketCounts) + len(w.ExplicitBounds)) / bucketsInside
		c.Points = append(c.Points, p)
		c.seen(p.To)
	}
}

// mostCounted is more than a child counts between two lines, and no sum of it over
// all records overflows.
const mostCounted = 1e12

// bucketsInside is how many buckets or their bounds take the room of one attribute.
const bucketsInside = 5

// counted bounds a number: a line may hold any.
func counted(v float64) float64 { return min(max(v, -mostCounted), mostCounted) }

func unsigned(raw json.RawMessage) uint64 {
	s := string(raw)
	if unquoted, err := strconv.Unquote(s); err == nil {
		s = unquoted
	}
	n, _ := strconv.ParseUint(s, 10, 64) // what is no number counts nothing
	return n
}

// Total is what a counter has come to, or how often a histogram was fed, over
// the points that have all these labels: keys and values in turn.
func (c *Capture) Total(name string, labels ...string) float64 {
	total := 0.0
	for i := range c.Points {
		if p := &c.Points[i]; p.Name == name && !p.Gauge && p.has(labels) {
			total += p.Value + float64(p.Count)
		}
	}
	return total
}

// Split is Total for each value of one label.
func (c *Capture) Split(name, label string) map[string]float64 {
	out := map[string]float64{}
	for i := range c.Points {
		if p := &c.Points[i]; p.Name == name && !p.Gauge {
			if v, ok := p.Labels[label]; ok {
				out[v] += p.Value + float64(p.Count)
			}
		}
	}
	return out
}

func (p *Point) has(labels []string) bool {
	for i := 0; i+1 < len(labels); i += 2 {
		if p.Labels[labels[i]] != labels[i+1] {
			return false
		}
	}
	return true
}

// points are those of a metric that fit.
func (c *Capture) points(name string, fit func(*Point) bool) (out []*Point) {
	for i := range c.Points {
		if p := &c.Points[i]; p.Name == name && fit(p) {
			out = append(out, p)
		}
	}
	return out
}

// samples are the values of a gauge over time.
func (c *Capture) samples(name string) (at []time.Time, values []float64) {
	for i := range c.Points {
		if p := &c.Points[i]; p.Name == name && p.Gauge {
			at, values = append(at, p.To), append(values, p.Value)
		}
	}
	return at, values
}
