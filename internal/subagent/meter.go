package subagent

import (
	"context"

	"magicode/internal/provider"
	"magicode/internal/runner"
)

// counts is usage as results show it.
type counts struct {
	EffectiveInput int64 `json:"effective_input"`
	Output         int64 `json:"output"`
	CacheRead      int64 `json:"cache_read"`
	CacheKnown     bool  `json:"cache_known"`
}

func countsOf(u provider.Usage) counts {
	c := counts{EffectiveInput: u.Effective(), CacheKnown: u.CacheKnown()}
	if u.Output != nil {
		c.Output = *u.Output
	}
	if u.CacheRead != nil {
		c.CacheRead = *u.CacheRead
	}
	return c
}

func (c counts) plus(o counts) counts {
	return counts{c.EffectiveInput + o.EffectiveInput, c.Output + o.Output, c.CacheRead + o.CacheRead, c.CacheKnown && o.CacheKnown}
}

func (c counts) usage() provider.Usage {
	u := provider.Usage{Input: &c.EffectiveInput, Output: &c.Output}
	if c.CacheKnown {
		u.CacheRead = &c.CacheRead
	}
	return u
}

// meter sums up what a task's requests cost.
type meter struct {
	requests int
	before   counts // of the requests before the latest
	latest   counts
	final    bool
}

func (m *meter) whole() counts {
	switch m.requests {
	case 0:
		return counts{}
	case 1:
		return m.latest
	}
	return m.before.plus(m.latest)
}

// begin counts a new request. Until it reports anything, it costs nothing.
func (m *meter) begin() {
	m.before = m.whole()
	if m.requests == 0 {
		m.before.CacheKnown = true
	}
	m.requests++
	m.latest, m.final = counts{}, false
}

func (m *meter) spent(p runner.Path) runner.Spent {
	return runner.Spent{Path: p, Sequence: m.requests - 1, Usage: m.whole().usage(), Final: m.final}
}

// tap counts what a provider's streams cost, and what they say as signs of life.
type tap struct {
	inner provider.Provider
	task  *task
}

// Stream implements provider.Provider.
func (p *tap) Stream(ctx context.Context, req provider.Request, emit func(provider.Event) error) error {
	t := p.task
	t.watch.touch()
	t.meter.begin()
	if err := t.spent(ctx); err != nil {
		return err
	}
	complete := false
	err := p.inner.Stream(ctx, req, func(ev provider.Event) error {
		t.watch.touch()
		if ev.Kind == provider.EventUsage {
			t.meter.latest, complete = countsOf(*ev.Usage), ev.Usage.Output != nil
		}
		return emit(ev)
	})
	t.meter.final = err == nil && complete
	if e := t.spent(context.WithoutCancel(ctx)); err == nil {
		err = e
	}
	return err
}

// spent reports the sum to the run around the task, and to those around that.
func (t *task) spent(ctx context.Context) error {
	err := t.batch.nest.Emit(ctx, t.meter.spent(t.path))
	if err != nil && t.sink.fatal == nil {
		t.sink.fatal = err
	}
	return err
}
