package otlp

import (
	"context"
	"time"

	sdktrace "go.opentelemetry.io/otel/sdk/trace"

	"magicode/telemetry/config"
)

// pipe is the goroutine that sends one signal.
type pipe struct {
	exporter *Exporter
	signal   Signal
	send     func(ctx context.Context, body []byte) (refused uint64, f failure)
	breaker  breaker

	records []byte // encoded, not sent yet
	n       uint64 // how many those are
	body    []byte
}

// runSpans sends spans in batches: when there are many, after a while, when
// somebody asks, and at the end.
func (p *pipe) runSpans() {
	e := p.exporter
	timer := time.NewTimer(batchesAfter)
	timer.Stop()
	defer timer.Stop()
	after := FirstAfter
	for {
		select {
		case s := <-e.spans:
			if p.n == 0 {
				timer.Reset(after)
				after = batchesAfter
			}
			p.add(s)
		case <-timer.C:
			p.export()
		case <-e.flush:
			p.drain()
		case <-e.closing:
			p.drain()
			return
		}
	}
}

// drain sends what is queued.
func (p *pipe) drain() {
	for {
		select {
		case s := <-p.exporter.spans:
			p.add(s)
		default:
			p.export()
			return
		}
	}
}

// add takes a span into the batch, which is sent when it is full.
func (p *pipe) add(s sdktrace.ReadOnlySpan) {
	before := len(p.records)
	p.records = p.exporter.encoder.span(p.records, s)
	if len(p.records) > maxRecords && p.n > 0 {
		p.records = p.records[:before]
		p.export()
		p.records = p.exporter.encoder.span(p.records, s)
	}
	p.n++
	if p.n >= maxBatch {
		p.export()
	}
}

// maxRecords leaves room for the resource in a request.
const maxRecords = maxRequest - 64<<10

// runMetrics sends snapshots as they come.
func (p *pipe) runMetrics() {
	e := p.exporter
	for {
		select {
		case groups := <-e.metrics:
			p.measure(groups)
		case <-e.closing:
			for len(e.metrics) > 0 {
				p.measure(<-e.metrics)
			}
			p.measure(e.last)
			return
		}
	}
}

// measure sends one snapshot.
func (p *pipe) measure(groups []Group) {
	for i := range groups {
		points := 0
		p.records, points = p.exporter.encoder.metrics(p.records, &groups[i])
		p.n += uint64(points)
	}
	p.export()
}

// export sends the batch, once, and begins a new one.
func (p *pipe) export() {
	n := p.n
	if n == 0 {
		return
	}
	o := &p.exporter.options
	switch {
	case len(p.records) > maxRecords:
		o.Lost(p.signal, LossCap, n)
	case p.breaker.open(time.Now()):
		o.Lost(p.signal, LossBreaker, n)
	default:
		p.body = p.exporter.encoder.request(p.body[:0], p.records)
		p.judge(p.send(p.exporter.ctx, p.body))
	}
	if cap(p.records) > keptBuffer {
		p.records, p.body = nil, nil
	}
	p.records, p.n = p.records[:0], 0
}

// keptBuffer is the largest buffer that is used again.
const keptBuffer = 1 << 20

// judge counts how a request went.
func (p *pipe) judge(refused uint64, f failure) {
	o := &p.exporter.options
	was := p.breaker.tripped()
	switch {
	case f == 0:
		p.breaker.good()
		if refused > 0 {
			o.Lost(p.signal, LossIO, min(refused, p.n))
			o.Failed(config.CodeRejected)
			p.exporter.tell()
		}
	case p.exporter.ctx.Err() != nil: // we have given up, not they
		o.Lost(p.signal, LossIO, p.n)
	default:
		o.Lost(p.signal, LossIO, p.n)
		o.Failed(f.code())
		p.breaker.bad(time.Now())
		p.exporter.tell()
	}
	if p.breaker.tripped() != was {
		p.exporter.tripped[p.signal].Store(p.breaker.tripped())
		p.exporter.tell()
	}
}
