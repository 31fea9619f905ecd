package otlp

import (
	"context"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"go.opentelemetry.io/otel/attribute"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"

	"magicode/telemetry/config"
	"magicode/telemetry/otlpjson"
)

// Signal is what is sent.
type Signal uint8

// Signals.
const (
	Traces Signal = iota
	Metrics
	signals
)

// Loss is why records were not sent.
type Loss uint8

// Losses.
const (
	LossQueue   Loss = iota // there was no room
	LossIO                  // the request failed, or the endpoint did not take them
	LossBreaker             // the endpoint is left alone
	LossCap                 // too large for one request
)

// State is whether an exporter sends.
type State uint8

// States.
const (
	Off State = iota
	On
	Suspended // at least one signal's breaker is open
)

// Options say what to send where. The functions are called from any goroutine
// and must not wait.
type Options struct {
	Config   config.OTLP
	Resource []attribute.KeyValue
	Scope    string
	Version  string
	Allow    otlpjson.Allow
	Lost     func(s Signal, why Loss, records uint64)
	Failed   func(code string) // a problem code of the config package
}

func (o *Options) target(s Signal) config.Target {
	if s == Metrics {
		return o.Config.Metrics
	}
	return o.Config.Traces
}

// Bounds of the batches (telemetry.md 9.2).
const (
	spanQueue    = 2048
	metricQueue  = 2
	maxBatch     = 256
	batchesAfter = 5 * time.Second
)

// FirstAfter is when the first of each signal is sent, whatever there is by then:
// it makes the connection, which over TLS to another machine takes longer than an
// exit waits. Before it a child starts, which has better things to do.
const FirstAfter = 100 * time.Millisecond

// Exporter is the sink. Its methods may be called from any goroutine.
type Exporter struct {
	options Options
	encoder *encoder
	spans   chan sdktrace.ReadOnlySpan // a full one drops and counts
	metrics chan []Group               // for a full one see Room
	last    []Group                    // written before closing is closed
	flush   chan struct{}              // for the spans; a wish that is there already is enough
	closing chan struct{}
	changed chan struct{}
	done    chan struct{}
	ctx     context.Context // of every request
	cancel  context.CancelFunc

	off     atomic.Bool
	tripped [signals]atomic.Bool
	opened  atomic.Bool
	once    sync.Once
}

// New makes an exporter that takes records already, touches no file and starts
// nothing. Open or Close must follow.
func New(o Options) *Exporter {
	e := &Exporter{options: o, encoder: newEncoder(&o), spans: make(chan sdktrace.ReadOnlySpan, spanQueue), metrics: make(chan []Group, metricQueue),
		flush: make(chan struct{}, 1), closing: make(chan struct{}), changed: make(chan struct{}, 1), done: make(chan struct{})}
	e.ctx, e.cancel = context.WithCancel(context.Background())
	return e
}

// Open reads the files of the TLS set-up and starts a goroutine per signal, which
// Close ends. With an error, whose code went to Failed, nothing is ever sent.
func (e *Exporter) Open() error {
	secure, err := tlsConfig(&e.options.Config)
	if err != nil {
		e.off.Store(true)
		e.options.Failed(config.CodeTLS)
		e.cancel()
		close(e.done)
		return err
	}
	client := newClient(&e.options.Config, secure)
	var both sync.WaitGroup
	for s := range signals {
		if e.options.target(s).URL == "" {
			continue
		}
		p := &pipe{exporter: e, signal: s, send: newSender(s, &e.options, client).send}
		if s == Traces {
			both.Go(p.runSpans)
		} else {
			both.Go(p.runMetrics)
		}
	}
	e.opened.Store(true)
	go e.await(&both, client)
	return nil
}

// await ends when the senders have.
func (e *Exporter) await(both *sync.WaitGroup, client *http.Client) {
	both.Wait()
	e.cancel()
	client.CloseIdleConnections()
	close(e.done)
}

// Span queues an ended span. It never waits.
func (e *Exporter) Span(s sdktrace.ReadOnlySpan) {
	if e.off.Load() || e.options.Config.Traces.URL == "" {
		return
	}
	select {
	case e.spans <- s:
	default:
		e.options.Lost(Traces, LossQueue, 1)
	}
}

// Room reports whether Metrics would take a snapshot. One that is not made for
// want of room is no loss: the next one tells the same.
func (e *Exporter) Room() bool {
	return !e.off.Load() && e.options.Config.Metrics.URL != "" && len(e.metrics) < metricQueue
}

// Metrics queues a snapshot, which must not be changed after, if there is room.
// It never waits. It is for one goroutine, which also calls Close.
func (e *Exporter) Metrics(groups []Group) {
	if !e.Room() {
		return
	}
	select {
	case e.metrics <- groups:
	default: // cannot be: only senders take out
	}
}

// Flush asks that queued spans are sent now. It does not wait for that.
func (e *Exporter) Flush() {
	select {
	case e.flush <- struct{}{}:
	default:
	}
}

// Close takes nothing more but a last snapshot, nil for none, and sends what is
// queued, until a time; then requests that are under way are given up. It does
// not wait: see Done.
func (e *Exporter) Close(until time.Time, last []Group) {
	e.once.Do(func() {
		e.off.Store(true)
		e.last = last
		close(e.closing)
		wait := time.Until(until)
		if wait <= 0 {
			e.cancel()
			return
		}
		stop := time.AfterFunc(wait, e.cancel)
		context.AfterFunc(e.ctx, func() { stop.Stop() })
	})
}

// Done is closed when everything that Open started has ended.
func (e *Exporter) Done() <-chan struct{} { return e.done }

// Changed says that the State may be another. It is for one reader.
func (e *Exporter) Changed() <-chan struct{} { return e.changed }

// State is what the exporter does. A closed one tells how it was at the end.
func (e *Exporter) State() State {
	switch {
	case !e.opened.Load():
		return Off
	case e.tripped[Traces].Load() || e.tripped[Metrics].Load():
		return Suspended
	}
	return On
}

func (e *Exporter) tell() {
	select {
	case e.changed <- struct{}{}:
	default:
	}
}
