package reader

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"
)

// Queues is how full the queues were, out of 32 each.
type Queues struct {
	OutputPeak float64  `json:"output_peak"`
	OldestMS   float64  `json:"oldest_ms"` // the oldest frame that waited
	WorkerPeak float64  `json:"worker_peak"`
	NearMisses float64  `json:"near_misses"` // frames that left less than 500 ms before their deadline
	Deltas     float64  `json:"deltas"`
	Dropped    float64  `json:"deltas_dropped"`
	Rejected   float64  `json:"requests_rejected"`
	Depth      []Sample `json:"depth,omitempty"` // of the output, over time
	// RejectedBy is Rejected by the code that was answered.
	RejectedBy map[string]float64 `json:"requests_rejected_by"`
}

// refused is what was rejected, the most frequent code first.
func (q *Queues) refused() string {
	codes := slices.Sorted(maps.Keys(q.RejectedBy))
	slices.SortStableFunc(codes, func(x, y string) int { return cmp.Compare(q.RejectedBy[y], q.RejectedBy[x]) })
	var out []string
	for _, code := range codes {
		out = append(out, fmt.Sprintf("%s ×%.0f", code, q.RejectedBy[code]))
	}
	return strings.Join(out, ", ")
}

// share is how many of the deltas were dropped, in percent.
func (q *Queues) share() string {
	if q.Dropped <= 0 || q.Deltas <= 0 {
		return ""
	}
	return fmt.Sprintf(" (%.0f %%)", q.Dropped/q.Deltas*100)
}

// Sample is a value at a time.
type Sample struct {
	At    float64 `json:"at_ms"` // since the capture began
	Value float64 `json:"value"`
}

// queueLimit is the length of the output queue and of the worker's (protocol, "Bounds").
const queueLimit = 32

func (a *Analysis) queues(c *Capture) {
	q := &a.Queues
	at, depth := c.samples("magi.output.pending.peak")
	for i := range at {
		q.Depth = append(q.Depth, Sample{millis(at[i].Sub(a.began)), depth[i]})
		q.OutputPeak = max(q.OutputPeak, depth[i])
	}
	largest := func(name string) (out float64) {
		_, v := c.samples(name)
		for _, x := range v {
			out = max(out, x)
		}
		return out
	}
	q.OldestMS = largest("magi.output.oldest_age.peak") * float64(time.Second/time.Millisecond)
	q.WorkerPeak = largest("magi.worker.pending.peak")
	q.NearMisses = c.Total("magi.output.near_misses")
	q.Dropped = c.Total("magi.deltas", "magi.delta.outcome", "dropped")
	q.Deltas = c.Total("magi.deltas")
	q.Rejected = c.Total("magi.admission.rejections")
	q.RejectedBy = c.Split("magi.admission.rejections", "error.type")
	a.stalls(c)
}

// stalls know the peaks as well, where the metrics are missing or cut off.
func (a *Analysis) stalls(c *Capture) {
	for i := range c.Spans {
		s := &c.Spans[i]
		if s.Name != "magi.output.stall" {
			continue
		}
		if n, ok := s.Attributes["magi.output.peak"].(int64); ok {
			a.Queues.OutputPeak = max(a.Queues.OutputPeak, float64(n))
		}
		if n, ok := s.Attributes["magi.output.oldest_ms"].(int64); ok {
			a.Queues.OldestMS = max(a.Queues.OldestMS, float64(n))
		}
	}
}
