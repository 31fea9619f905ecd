// Package spantest holds spans against real time: a test delays the subject of a
// span by 50 ms, and sees the delay in that span and in none of its siblings.
// Only tests import it.
package spantest

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"magicode/telemetry"
	"magicode/telemetry/reader"
)

// Delayed is how long a subject is delayed.
const Delayed = 50 * time.Millisecond

// Probe is telemetry of one test, into a capture in a folder of its own.
type Probe struct {
	Tel telemetry.Tel

	t     *testing.T
	began time.Time
	state string
	child telemetry.Span

	mu    sync.Mutex
	waits []interval
}

type interval struct{ from, to time.Time }

// New starts telemetry. A build without it has nothing to see: the test is skipped.
func New(t *testing.T) *Probe {
	t.Helper()
	if !telemetry.Compiled {
		t.Skip("built without telemetry")
	}
	p := &Probe{t: t, began: time.Now(), state: filepath.Join(t.TempDir(), "state")}
	if err := os.Mkdir(p.state, 0o700); err != nil {
		t.Fatal(err)
	}
	p.Tel = telemetry.New([]string{"MC_TELEMETRY=file"}, p.began)
	p.Tel.Start(nil, telemetry.Identity{InstanceID: "6f1c5f0e-0000-4000-8000-000000000001", StateDir: p.state, Version: "1"})
	return p
}

// Context is the test's, inside a span that stands for the child or the run
// around the subject.
func (p *Probe) Context() context.Context {
	ctx, span := p.Tel.Begin(p.t.Context(), telemetry.SpanChild)
	p.child = span
	return ctx
}

// Delay is what a subject does for 50 ms. It may be called from any goroutine.
func (p *Probe) Delay() {
	from := time.Now()
	time.Sleep(Delayed)
	p.Waited(from, time.Now())
}

// Waited is a delay that the test has seen and not made.
func (p *Probe) Waited(from, to time.Time) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.waits = append(p.waits, interval{p.clock(from), p.clock(to)})
}

// Once is Delay for the first call only.
func (p *Probe) Once() func() { return sync.OnceFunc(p.Delay) }

// clock is a time as captures have it: on the monotonic clock, from the start.
func (p *Probe) clock(t time.Time) time.Time { return p.began.Add(t.Sub(p.began)) }

// Sees ends telemetry and holds the delays against the spans of a kind; a name
// tells those of one kind apart that have several. Each delay must lie in one of
// them, and in no span beside it.
func (p *Probe) Sees(kind telemetry.Kind, name ...string) {
	p.t.Helper()
	spans := p.Spans()
	if len(p.waits) == 0 {
		p.t.Fatal("the subject was never delayed")
	}
	for _, w := range p.waits {
		if err := Check(spans, w.from, w.to, kind, strings.Join(name, "")); err != nil {
			p.t.Error(err)
		}
	}
}

// Values ends telemetry and lists what a key has in the spans of a name, in the
// order of their ends.
func (p *Probe) Values(name, key string) (out []string) {
	p.t.Helper()
	for _, s := range p.Spans() {
		if s.Name == name {
			out = append(out, fmt.Sprint(s.Attributes[key]))
		}
	}
	return out
}

// Check tells whether a delay lies in a span of a kind and in none beside it. A
// name, if not "", is that of the span.
func Check(spans []reader.Span, from, to time.Time, k telemetry.Kind, name string) error {
	w, kind := interval{from, to}, k.String()
	var found *reader.Span
	for i := range spans {
		s := &spans[i]
		if (name != "" && s.Name == name || name == "" && (s.Name == kind || strings.HasPrefix(s.Name, kind+" "))) && covers(s, w) {
			found = s
		}
	}
	if found == nil {
		return fmt.Errorf("the delay is in no span %s%s:%s", kind, name, list(spans, w))
	}
	for i := range spans {
		if s := &spans[i]; s.ID != found.ID && s.Parent == found.Parent && s.Trace == found.Trace && covers(s, w) {
			return fmt.Errorf("the delay is in %s and in %s beside it:%s", found.Name, s.Name, list(spans, w))
		}
	}
	return nil
}

func covers(s *reader.Span, w interval) bool {
	return s.Start.UnixNano() <= w.from.UnixNano() && s.End.UnixNano() >= w.to.UnixNano()
}

func list(spans []reader.Span, w interval) string {
	var b strings.Builder
	for _, s := range spans {
		fmt.Fprintf(&b, "\n  %s: from %v before the delay to %v behind it", s.Name, w.from.Sub(s.Start).Round(time.Microsecond), s.End.Sub(w.to).Round(time.Microsecond))
	}
	return b.String()
}

// Spans ends telemetry and reads the spans that it has left.
func (p *Probe) Spans() []reader.Span {
	p.t.Helper()
	return p.read("traces").Spans
}

// Counts ends telemetry and tells how many samples a histogram has, by what a key
// is in them.
func (p *Probe) Counts(metric, key string) map[string]uint64 {
	p.t.Helper()
	out := map[string]uint64{}
	for _, at := range p.Points(metric) {
		out[at.Labels[key]] += at.Count
	}
	return out
}

// Points ends telemetry and reads what a metric has counted, from one line of the
// capture to the next.
func (p *Probe) Points(metric string) (out []reader.Point) {
	p.t.Helper()
	for _, at := range p.read("metrics").Points {
		if at.Name == metric {
			out = append(out, at)
		}
	}
	return out
}

// Ready waits until telemetry has opened its files: names in metrics can be hashed
// from then on.
func (p *Probe) Ready() {
	p.t.Helper()
	p.await(`"state"`)
}

// await waits for what the status file says.
func (p *Probe) await(word string) {
	p.t.Helper()
	status := filepath.Join(p.state, "telemetry-status.json")
	for deadline := time.Now().Add(20 * time.Second); ; time.Sleep(time.Millisecond) {
		if b, err := os.ReadFile(status); err == nil && bytes.Contains(b, []byte(word)) {
			return
		}
		if time.Now().After(deadline) {
			p.t.Fatalf("the status file never has %s", word)
		}
	}
}

// read ends telemetry and reads one signal of its capture.
func (p *Probe) read(signal string) *reader.Capture {
	p.t.Helper()
	p.child.End()
	p.Tel.Exit(0, telemetry.WordOf("shutdown"), false)
	p.await(`"closed"`)
	c := new(reader.Capture)
	names, err := filepath.Glob(filepath.Join(p.state, "telemetry", "*."+signal+"*.jsonl"))
	if err != nil || len(names) == 0 {
		p.t.Fatalf("%v %v", names, err)
	}
	for _, name := range names {
		b, err := os.ReadFile(name)
		if err == nil {
			err = c.Read(bytes.NewReader(b), signal)
		}
		if err != nil {
			p.t.Fatal(err)
		}
	}
	return c
}
