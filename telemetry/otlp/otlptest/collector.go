package otlptest

import (
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"

	collectormetrics "go.opentelemetry.io/proto/slim/otlp/collector/metrics/v1"
	collectortrace "go.opentelemetry.io/proto/slim/otlp/collector/trace/v1"
	metricspb "go.opentelemetry.io/proto/slim/otlp/metrics/v1"
	resourcepb "go.opentelemetry.io/proto/slim/otlp/resource/v1"
	tracepb "go.opentelemetry.io/proto/slim/otlp/trace/v1"
	"google.golang.org/grpc"
	packed "google.golang.org/grpc/encoding/gzip"
	"google.golang.org/grpc/metadata"
	"google.golang.org/protobuf/proto"
)

// Collector keeps what it was sent. Its methods may be called from any goroutine.
type Collector struct {
	URL string // the endpoint

	mu       sync.Mutex
	traces   []*collectortrace.ExportTraceServiceRequest
	metrics  []*collectormetrics.ExportMetricsServiceRequest
	headers  []http.Header
	bodies   [][]byte // unpacked
	failures []error
	// refuse is what the answers say was not taken.
	refuse int64
}

// HTTP starts a collector that ends with the test.
func HTTP(t testing.TB) *Collector {
	t.Helper()
	c := new(Collector)
	s := httptest.NewServer(http.HandlerFunc(c.serveHTTP))
	t.Cleanup(s.Close)
	c.URL = s.URL
	return c
}

// HTTPS starts one behind TLS, and returns its server for its certificate.
func HTTPS(t testing.TB) (*Collector, *httptest.Server) {
	t.Helper()
	c := new(Collector)
	s := httptest.NewTLSServer(http.HandlerFunc(c.serveHTTP))
	t.Cleanup(s.Close)
	c.URL = s.URL
	return c, s
}

// GRPC starts a collector on the official server.
func GRPC(t testing.TB, options ...grpc.ServerOption) *Collector {
	t.Helper()
	c := new(Collector)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s := grpc.NewServer(options...)
	s.RegisterService(service("opentelemetry.proto.collector.trace.v1.TraceService", c.exportTraces), nil)
	s.RegisterService(service("opentelemetry.proto.collector.metrics.v1.MetricsService", c.exportMetrics), nil)
	ended := make(chan error, 1)
	go func() { ended <- s.Serve(l) }()
	t.Cleanup(func() {
		s.Stop()
		<-ended // nil, or that it was stopped
	})
	c.URL = "http://" + l.Addr().String()
	return c
}

// _ keeps the packer that registers itself with the server.
var _ = packed.Name

func service(name string, export func(context.Context, func(any) error) (any, error)) *grpc.ServiceDesc {
	return &grpc.ServiceDesc{ServiceName: name, HandlerType: (*any)(nil), Methods: []grpc.MethodDesc{{MethodName: "Export",
		Handler: func(_ any, ctx context.Context, decode func(any) error, _ grpc.UnaryServerInterceptor) (any, error) {
			return export(ctx, decode)
		}}}}
}

func (c *Collector) exportTraces(ctx context.Context, decode func(any) error) (any, error) {
	m := new(collectortrace.ExportTraceServiceRequest)
	if err := c.take(ctx, decode, m); err != nil {
		return nil, err
	}
	return c.tracesTaken(m), nil
}

func (c *Collector) exportMetrics(ctx context.Context, decode func(any) error) (any, error) {
	m := new(collectormetrics.ExportMetricsServiceRequest)
	if err := c.take(ctx, decode, m); err != nil {
		return nil, err
	}
	return c.metricsTaken(m), nil
}

// take decodes a message and remembers its bytes and what came along.
func (c *Collector) take(ctx context.Context, decode func(any) error, m proto.Message) error {
	if err := decode(m); err != nil {
		c.fail(err)
		return err
	}
	body, err := proto.Marshal(m)
	if err != nil {
		return err
	}
	md, _ := metadata.FromIncomingContext(ctx)
	h := http.Header{}
	for k, v := range md {
		h[http.CanonicalHeaderKey(k)] = v
	}
	c.remember(h, body)
	return nil
}

func (c *Collector) serveHTTP(rw http.ResponseWriter, r *http.Request) {
	answer, err := c.takeHTTP(r)
	if err != nil {
		c.fail(err)
		http.Error(rw, err.Error(), http.StatusBadRequest)
		return
	}
	rw.Header().Set("Content-Type", "application/x-protobuf")
	b, err := proto.Marshal(answer)
	if err != nil {
		c.fail(err)
	}
	_, _ = rw.Write(b) // whoever asked may be gone
}

func (c *Collector) takeHTTP(r *http.Request) (proto.Message, error) {
	if r.Method != http.MethodPost || r.Header.Get("Content-Type") != "application/x-protobuf" {
		return nil, fmt.Errorf("%s with %q", r.Method, r.Header.Get("Content-Type"))
	}
	var in io.Reader = r.Body
	if r.Header.Get("Content-Encoding") == "gzip" {
		z, err := gzip.NewReader(r.Body)
		if err != nil {
			return nil, err
		}
		in = z
	}
	body, err := io.ReadAll(in)
	if err != nil {
		return nil, err
	}
	c.remember(r.Header, body)
	switch r.URL.Path {
	case "/v1/traces":
		m := new(collectortrace.ExportTraceServiceRequest)
		if err := proto.Unmarshal(body, m); err != nil {
			return nil, err
		}
		return c.tracesTaken(m), nil
	case "/v1/metrics":
		m := new(collectormetrics.ExportMetricsServiceRequest)
		if err := proto.Unmarshal(body, m); err != nil {
			return nil, err
		}
		return c.metricsTaken(m), nil
	}
	return nil, errors.New("no such path: " + r.URL.Path)
}

func (c *Collector) tracesTaken(m *collectortrace.ExportTraceServiceRequest) proto.Message {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.traces = append(c.traces, m)
	return &collectortrace.ExportTraceServiceResponse{PartialSuccess: &collectortrace.ExportTracePartialSuccess{RejectedSpans: c.refuse}}
}

func (c *Collector) metricsTaken(m *collectormetrics.ExportMetricsServiceRequest) proto.Message {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.metrics = append(c.metrics, m)
	return &collectormetrics.ExportMetricsServiceResponse{PartialSuccess: &collectormetrics.ExportMetricsPartialSuccess{RejectedDataPoints: c.refuse}}
}

func (c *Collector) remember(h http.Header, body []byte) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.headers, c.bodies = append(c.headers, h.Clone()), append(c.bodies, body)
}

func (c *Collector) fail(err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.failures = append(c.failures, err)
}

// Refuse makes the answers say that some records were not taken.
func (c *Collector) Refuse(n int64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.refuse = n
}

// Spans are all spans that came.
func (c *Collector) Spans() (out []*tracepb.Span) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, m := range c.traces {
		for _, r := range m.ResourceSpans {
			for _, s := range r.ScopeSpans {
				out = append(out, s.Spans...)
			}
		}
	}
	return out
}

// Snapshots are the metrics that came, request by request.
func (c *Collector) Snapshots() (out [][]*metricspb.Metric) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, m := range c.metrics {
		for _, r := range m.ResourceMetrics {
			for _, s := range r.ScopeMetrics {
				out = append(out, s.Metrics)
			}
		}
	}
	return out
}

// Resources are those of all requests.
func (c *Collector) Resources() (out []*resourcepb.Resource) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, m := range c.traces {
		for _, r := range m.ResourceSpans {
			out = append(out, r.Resource)
		}
	}
	for _, m := range c.metrics {
		for _, r := range m.ResourceMetrics {
			out = append(out, r.Resource)
		}
	}
	return out
}

// Requests are the headers and the unpacked bodies that came.
func (c *Collector) Requests() (headers []http.Header, bodies [][]byte) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return append(headers, c.headers...), append(bodies, c.bodies...)
}

// Failures is what could not be read.
func (c *Collector) Failures() []error {
	c.mu.Lock()
	defer c.mu.Unlock()
	return append([]error(nil), c.failures...)
}
