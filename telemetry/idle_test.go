package telemetry

import (
	"sync/atomic"
	"testing"
	"time"

	"magicode/telemetry/config"
)

// TestIdleJournalSleeps: with a capture alone, the journal of an idle child has no
// time to wake at; what happens then is counted as soon as it ever was.
func TestIdleJournalSleeps(t *testing.T) {
	c := newCore(nil, time.Now())
	d := &decision{config: config.Load([]string{"MC_TELEMETRY=file"}, nil, false), id: Identity{InstanceID: instance, StateDir: stateDir(t)},
		hi: make(chan item, hiQueue), lo: make(chan *openSpan, loQueue), wake: make(chan struct{}, 1)}
	d.tracer = newTracer(c, d)
	c.decided.Store(d)
	tel := Tel{p: new(atomic.Pointer[core])}
	tel.p.Store(c)
	j := newJournal(c, d)
	j.open()
	now := time.Now()
	step := func(by time.Duration) {
		now = now.Add(by)
		select {
		case <-d.wake:
			j.notice(now)
		default:
		}
		j.due(now)
	}
	settle := func() {
		t.Helper()
		for range 20 {
			if j.sleep(now) >= time.Hour {
				return
			}
			step(j.sleep(now))
		}
		t.Fatalf("it wakes again in %v", j.sleep(now))
	}
	c.begin(SpanChild, nil, c.began)
	j.notice(now) // as run does
	settle()
	counted := len(j.counted)
	for _, happens := range []func(){
		func() { c.begin(SpanRequest, nil, c.now()).finish(c.now(), false) },
		func() { tel.Rejected(WordOf("other"), CodeOf("invalid_request")) },
	} {
		j.counted = nil
		happens()
		step(0)
		if j.sleep(now) > lookAfter {
			t.Errorf("it is not woken: %v", j.sleep(now))
		}
		settle()
		if len(j.counted) < counted {
			t.Error("nothing is counted of it")
		}
	}
	run := c.begin(SpanRun, nil, c.now())
	for range 20 {
		step(j.sleep(now))
		if j.sleep(now) > d.config.MetricsInterval {
			t.Fatalf("during a run it sleeps %v", j.sleep(now))
		}
	}
	run.finish(c.now(), false)
	settle()
	j.finish(&barrier{done: make(chan struct{})})
}
