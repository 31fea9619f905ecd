package otlp

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"go.opentelemetry.io/otel/sdk/trace/tracetest"
	"go.uber.org/goleak"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"magicode/internal/racetest"
	"magicode/telemetry/config"
	"magicode/telemetry/otlp/otlptest"
	"magicode/telemetry/point"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// tally is what an exporter said of itself.
type tally struct {
	mu     sync.Mutex
	lost   map[string]uint64
	failed []string
}

func (c *tally) String() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return fmt.Sprint(c.lost, c.failed)
}

// exporter returns one that sends to url, open.
func exporter(t *testing.T, url string, change func(*config.OTLP)) (*Exporter, *tally) {
	t.Helper()
	counts := &tally{lost: map[string]uint64{}}
	o := testOptions()
	o.Config = config.OTLP{On: true, Timeout: 2 * time.Second, Traces: config.Target{URL: url + "/v1/traces"}, Metrics: config.Target{URL: url + "/v1/metrics"}}
	if change != nil {
		change(&o.Config)
	}
	o.Lost = func(s Signal, why Loss, n uint64) {
		counts.mu.Lock()
		defer counts.mu.Unlock()
		counts.lost[[]string{"spans", "points"}[s]+" "+[]string{"queue", "io", "breaker", "cap"}[why]] += n
	}
	o.Failed = func(code string) {
		counts.mu.Lock()
		defer counts.mu.Unlock()
		counts.failed = append(counts.failed, code)
	}
	e := New(o)
	if err := e.Open(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		e.Close(time.Now(), nil)
		<-e.Done()
	})
	return e, counts
}

// closed gives an exporter time to send.
func closed(e *Exporter, wait time.Duration) {
	e.Close(time.Now().Add(wait), nil)
	<-e.Done()
}

func snapshot() []Group {
	return []Group{{From: at, To: at.Add(1), Metrics: []point.Metric{{Name: "c", Points: []point.Point{{Value: 1}, {Value: 2}}}}}}
}

func TestBothTransports(t *testing.T) {
	for name, start := range map[string]func() *otlptest.Collector{
		"http": func() *otlptest.Collector { return otlptest.HTTP(t) },
		"grpc": func() *otlptest.Collector { return otlptest.GRPC(t) },
	} {
		for _, packed := range []bool{false, true} {
			t.Run(fmt.Sprint(name, packed), func(t *testing.T) {
				c := start()
				e, counts := exporter(t, c.URL, func(o *config.OTLP) {
					o.GRPC, o.Gzip = name == "grpc", packed
					o.Traces.Headers = config.Headers{"authorization": "Bearer t"}
				})
				const spans = 2*maxBatch + 3
				for range spans {
					e.Span(sample())
				}
				e.Metrics(snapshot())
				e.Close(time.Now().Add(10*time.Second), snapshot())
				<-e.Done()
				if n := len(c.Spans()); n != spans {
					t.Errorf("%d spans", n)
				}
				if m := c.Snapshots(); len(m) != 2 || len(m[0]) != 1 {
					t.Errorf("metrics: %v", m)
				}
				headers, _ := c.Requests()
				tokens := 0
				for _, h := range headers {
					if h.Get("Authorization") == "Bearer t" {
						tokens++
					}
					if !strings.HasPrefix(h.Get("User-Agent"), "magi-code/") {
						t.Errorf("agent %q", h.Get("User-Agent"))
					}
				}
				if tokens != 3 || len(headers) != 5 {
					t.Errorf("%d of %d requests have the header", tokens, len(headers))
				}
				if len(c.Failures()) != 0 || counts.String() != "map[] []" || e.State() != On {
					t.Errorf("%v, %v, %v", c.Failures(), counts, e.State())
				}
			})
		}
	}
}

// TestFailures holds how each kind of trouble is counted and told.
func TestFailures(t *testing.T) {
	refusing := otlptest.Refusing(t)
	hanging, _ := otlptest.Hanging(t)
	status429, _ := otlptest.Answering(t, 429, "Retry-After", "3600")
	status503, _ := otlptest.Answering(t, 503)
	_, secure := otlptest.HTTPS(t)
	short := func(o *config.OTLP) { o.Timeout = 100 * time.Millisecond }
	grpcShort := func(o *config.OTLP) { o.Timeout, o.GRPC = 100*time.Millisecond, true }
	full := otlptest.GRPC(t, grpc.MaxRecvMsgSize(1)).URL // answers RESOURCE_EXHAUSTED
	for name, c := range map[string]struct {
		url    string
		change func(*config.OTLP)
		code   string
	}{
		"refusing":       {refusing, nil, "otlp_unreachable"},
		"hanging":        {hanging, short, "otlp_unreachable"},
		"429":            {status429, nil, "otlp_rejected"},
		"503":            {status503, nil, "otlp_rejected"},
		"authority":      {secure.URL, nil, "otlp_tls"},
		"refusing, grpc": {refusing, grpcShort, "otlp_unreachable"},
		"hanging, grpc":  {hanging, grpcShort, "otlp_unreachable"},
		"http1, grpc":    {status429, grpcShort, "otlp_unreachable"},
		"status, grpc":   {full, func(o *config.OTLP) { o.GRPC = true }, "otlp_rejected"},
	} {
		t.Run(name, func(t *testing.T) {
			e, counts := exporter(t, c.url, c.change)
			e.Span(sample())
			e.Metrics(snapshot())
			closed(e, 10*time.Second)
			want := fmt.Sprintf("map[points io:2 spans io:1] [%s %s]", c.code, c.code)
			if counts.String() != want {
				t.Errorf("%s, want %s", counts, want)
			}
		})
	}
}

func TestGRPCStatus(t *testing.T) {
	for code, want := range map[codes.Code]failure{codes.OK: 0, codes.Unavailable: failedUnreachable, codes.DeadlineExceeded: failedTimeout, codes.PermissionDenied: failedRejected} {
		resp := &http.Response{Header: http.Header{"Content-Type": {"application/grpc+proto"}}, Trailer: http.Header{"Grpc-Status": {fmt.Sprint(uint32(status.New(code, "").Code()))}}}
		if _, f := grpcAnswer(resp, nil, nil); f != want {
			t.Errorf("%v: %d, want %d", code, f, want)
		}
	}
}

func TestPartial(t *testing.T) {
	for name, c := range map[string]*otlptest.Collector{"http": otlptest.HTTP(t), "grpc": otlptest.GRPC(t)} {
		c.Refuse(2)
		e, counts := exporter(t, c.URL, func(o *config.OTLP) { o.GRPC = name == "grpc" })
		for range 5 {
			e.Span(sample())
		}
		closed(e, 10*time.Second)
		if counts.String() != "map[spans io:2] [otlp_rejected]" || e.State() != On {
			t.Errorf("%s: %v, %v", name, counts, e.State())
		}
	}
}

// TestRedirect: what is sent, and the headers, go to no other place (T-39).
func TestRedirect(t *testing.T) {
	called := make(chan struct{}, 8)
	other := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { called <- struct{}{} }))
	t.Cleanup(other.Close)
	for _, code := range []int{301, 302, 303, 307, 308} {
		url, asked := otlptest.Answering(t, code, "Location", other.URL)
		e, counts := exporter(t, url, func(o *config.OTLP) { o.Traces.Headers = config.Headers{"authorization": "x"} })
		e.Span(sample())
		closed(e, 10*time.Second)
		if asked.Load() != 1 || counts.String() != "map[spans io:1] [otlp_rejected]" {
			t.Errorf("%d: asked %d times, %v", code, asked.Load(), counts)
		}
	}
	if len(called) != 0 {
		t.Error("a redirect was followed")
	}
}

// endless is an answer that never ends.
type endless struct{ read int }

func (b *endless) Read(p []byte) (int, error) {
	b.read += len(p)
	return len(p), nil
}

func (b *endless) Close() error { return nil }

type tripper func(*http.Request) (*http.Response, error)

func (f tripper) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// TestLongAnswer: of an answer no more than 64 KiB are read (T-42).
func TestLongAnswer(t *testing.T) {
	for _, grpc := range []bool{false, true} {
		body := new(endless)
		o := testOptions()
		o.Config = config.OTLP{GRPC: grpc, Timeout: time.Minute, Traces: config.Target{URL: "http://localhost/v1/traces"}}
		s := newSender(Traces, &o, &http.Client{Transport: tripper(func(r *http.Request) (*http.Response, error) {
			return &http.Response{StatusCode: 200, Body: body, Header: http.Header{"Content-Type": {"application/grpc"}}, Request: r}, nil
		})})
		if _, f := s.send(t.Context(), []byte("x")); grpc != (f == failedRejected) {
			t.Errorf("grpc %v: failure %d", grpc, f)
		}
		if body.read > maxResponse {
			t.Errorf("%d bytes were read", body.read)
		}
	}
}

// TestExitIsBounded: whatever the endpoint does, Close is over when its time is (T-41).
func TestExitIsBounded(t *testing.T) {
	refusing := otlptest.Refusing(t)
	hanging, _ := otlptest.Hanging(t)
	busy, _ := otlptest.Answering(t, 503, "Retry-After", "60")
	for name, url := range map[string]string{"refusing": refusing, "hanging": hanging, "503": busy, "slow TLS": strings.Replace(hanging, "http", "https", 1)} {
		for _, grpc := range []bool{false, true} {
			soonest := time.Hour
			for range 8 { // a machine that has something else to do
				e, _ := exporter(t, url, func(o *config.OTLP) { o.GRPC, o.Timeout = grpc, 10*time.Second })
				for range spanQueue {
					e.Span(sample())
				}
				e.Metrics(snapshot())
				began := time.Now()
				closed(e, 50*time.Millisecond)
				if soonest = min(soonest, time.Since(began)); soonest <= 100*time.Millisecond {
					break
				}
			}
			most := 100 * time.Millisecond // the time it has, and 50 ms for two thousand spans
			if racetest.On {
				most *= 2 // up to 135 ms were measured
			}
			if soonest > most {
				t.Errorf("%s, grpc %v: %v", name, grpc, soonest)
			}
		}
	}
}

// TestQueues: what does not fit is dropped and counted, and nobody waits.
func TestQueues(t *testing.T) {
	hanging, asked := otlptest.Hanging(t)
	e, counts := exporter(t, hanging, func(o *config.OTLP) { o.Timeout = 10 * time.Second })
	e.Span(sample())
	e.Flush()
	e.Metrics(snapshot())
	for deadline := time.Now().Add(10 * time.Second); asked.Load() < 2; time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("nobody asks")
		}
	}
	began := time.Now()
	const more = 100
	for range spanQueue + more {
		e.Span(sample())
	}
	for range metricQueue + 1 {
		e.Metrics(snapshot())
	}
	if e.Room() {
		t.Error("there is room in a full queue")
	}
	if took := time.Since(began); took > time.Second {
		t.Errorf("it took %v", took)
	}
	if want := fmt.Sprintf("map[spans queue:%d] []", more); counts.String() != want {
		t.Errorf("%v, want %s", counts, want)
	}
	e.Close(time.Now(), nil)
	<-e.Done()
	if want := fmt.Sprintf("map[points io:6 spans io:%d spans queue:%d] []", spanQueue+1, more); counts.String() != want {
		t.Errorf("given up: %v, want %s", counts, want)
	}
	e.Span(sample()) // after the end nothing happens
	e.Metrics(snapshot())
	if len(e.metrics) != 0 || len(e.spans) != 0 {
		t.Error("a closed exporter takes more")
	}
}

func TestBreakerFigures(t *testing.T) {
	b, now := breaker{}, time.Unix(0, 0)
	for range failuresToOpen - 1 {
		b.bad(now)
	}
	if b.open(now) || b.tripped() {
		t.Error("open before the third failure")
	}
	for _, pause := range []time.Duration{30, 60, 120, 240, 300, 300} {
		b.bad(now)
		if !b.open(now) || !b.open(now.Add(pause*time.Second-1)) || b.open(now.Add(pause*time.Second)) {
			t.Errorf("not %d s: %v", pause, b.pause)
		}
		now = now.Add(pause * time.Second)
	}
	b.good()
	if b.tripped() || b.open(now) {
		t.Error("open after a success")
	}
}

// TestBreaker plays minutes of an endpoint that fails and recovers (T-40).
func TestBreaker(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		counts := &tally{lost: map[string]uint64{}}
		o := testOptions()
		o.Config.Traces.URL = "x"
		o.Lost = func(_ Signal, why Loss, n uint64) { counts.lost[fmt.Sprint(why)] += n }
		o.Failed = func(code string) { counts.failed = append(counts.failed, code) }
		e := New(o)
		e.opened.Store(true)
		var sent []time.Duration
		began, answer := time.Now(), failedUnreachable
		p := &pipe{exporter: e, send: func(context.Context, []byte) (uint64, failure) {
			sent = append(sent, time.Since(began).Round(time.Second))
			return 0, answer
		}}
		ended := make(chan struct{})
		go func() { defer close(ended); p.runSpans() }()
		next := func(d time.Duration) {
			time.Sleep(d)
			e.Span(sample())
			synctest.Wait()
		}
		for range 12 {
			next(10 * time.Second) // exported 5 s later, but for the first
		}
		time.Sleep(6 * time.Second)
		synctest.Wait()
		// Three failures, the first at once, 30 s of rest, one attempt, 60 s of rest.
		if got := fmt.Sprint(sent); got != "[10s 25s 35s 1m5s 2m5s]" || e.State() != Suspended {
			t.Errorf("%s, %v", got, e.State())
		}
		select {
		case <-e.Changed():
		default:
			t.Error("nobody was told")
		}
		if got := fmt.Sprint(counts.lost, len(counts.failed)); got != "map[1:5 2:7] 5" {
			t.Error(got)
		}
		answer = 0
		next(2 * time.Minute)
		time.Sleep(6 * time.Second)
		synctest.Wait()
		if e.State() != On || counts.lost["1"] != 5 {
			t.Errorf("%v %v", e.State(), counts.lost)
		}
		select {
		case <-e.Changed():
		default:
			t.Error("nobody was told of the recovery")
		}
		close(e.closing)
		<-ended
		e.cancel()
	})
}

// TestBatchIsBounded: spans that do not fit into one request go into the next.
func TestBatchIsBounded(t *testing.T) {
	o := testOptions()
	o.Config.Traces.URL = "x"
	e := New(o)
	sizes, spans := []int{}, uint64(0)
	p := &pipe{exporter: e}
	p.send = func(_ context.Context, b []byte) (uint64, failure) {
		sizes, spans = append(sizes, len(b)), spans+p.n
		return 0, 0
	}
	big := tracetest.SpanStub{Name: strings.Repeat("x", 1<<20)}.Snapshot()
	for range 9 {
		p.add(big)
	}
	p.export()
	for _, n := range sizes {
		if n > maxRequest {
			t.Errorf("a request of %d bytes", n)
		}
	}
	if spans != 9 || len(sizes) != 3 {
		t.Errorf("%d spans in %v", spans, sizes)
	}
	e.cancel()
}

// far puts an endpoint behind connections that take this long to be made.
func far(t *testing.T, address string, away time.Duration) (there string) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	var all sync.WaitGroup
	link := func(from net.Conn) {
		time.Sleep(away)
		to, err := net.Dial("tcp", address)
		if err != nil {
			_ = from.Close()
			return
		}
		for _, pair := range [][2]net.Conn{{from, to}, {to, from}} {
			all.Go(func() {
				_, _ = io.Copy(pair[0], pair[1]) // until one of them is closed
				_, _ = pair[0].Close(), pair[1].Close()
			})
		}
	}
	all.Go(func() {
		for {
			from, err := l.Accept()
			if err != nil {
				return
			}
			all.Go(func() { link(from) })
		}
	})
	t.Cleanup(func() { l.Close(); all.Wait() })
	return l.Addr().String()
}

// TestLastExport: what an exit sends finds its connections made, though they take
// longer to be made than the exit has.
func TestLastExport(t *testing.T) {
	c, server := otlptest.HTTPS(t)
	address := far(t, server.Listener.Addr().String(), 300*time.Millisecond)
	ca := filepath.Join(t.TempDir(), "ca.pem")
	if err := os.WriteFile(ca, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw}), 0o600); err != nil {
		t.Fatal(err)
	}
	e, counts := exporter(t, "https://"+address, func(o *config.OTLP) { o.Certificate = ca })
	e.Span(sample())
	e.Metrics(snapshot())
	for deadline := time.Now().Add(3 * time.Second); len(c.Spans()) == 0 || len(c.Snapshots()) == 0; time.Sleep(5 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("nothing is sent before the exit: %d spans, %d snapshots, %v", len(c.Spans()), len(c.Snapshots()), counts)
		}
	}
	e.Span(sample())
	e.Close(time.Now().Add(250*time.Millisecond), snapshot())
	<-e.Done()
	if s, m := len(c.Spans()), len(c.Snapshots()); s != 2 || m != 2 {
		t.Errorf("%d spans and %d snapshots; lost: %v", s, m, counts)
	}
}

func TestTLS(t *testing.T) {
	c, server := otlptest.HTTPS(t)
	dir := t.TempDir()
	write := func(name string, data []byte) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, data, 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	ca := write("ca.pem", pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw}))
	e, counts := exporter(t, c.URL, func(o *config.OTLP) { o.Certificate = ca })
	e.Span(sample())
	closed(e, 10*time.Second)
	if len(c.Spans()) != 1 {
		t.Errorf("the authority is not trusted: %v", counts)
	}
	key, err := x509.MarshalPKCS8PrivateKey(server.TLS.Certificates[0].PrivateKey)
	if err != nil {
		t.Fatal(err)
	}
	keyFile := write("key.pem", pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: key}))
	if _, err := tlsConfig(&config.OTLP{ClientCertificate: ca, ClientKey: keyFile}); err != nil {
		t.Errorf("a pair is refused: %v", err)
	}
	link, fifo := filepath.Join(dir, "link"), filepath.Join(dir, "fifo")
	if err := os.Symlink(ca, link); err != nil {
		t.Fatal(err)
	}
	if err := exec.Command("mkfifo", "-m", "600", fifo).Run(); err != nil {
		t.Fatal(err)
	}
	for name, o := range map[string]config.OTLP{
		"missing": {Certificate: dir + "/no"}, "link": {Certificate: link}, "fifo": {Certificate: fifo}, "folder": {Certificate: dir}, "relative": {Certificate: "ca.pem"},
		"no PEM": {Certificate: write("x", []byte("CANARY"))}, "too large": {Certificate: write("y", make([]byte, maxPEM+1))},
		"no key": {ClientCertificate: ca}, "no certificate": {ClientKey: keyFile}, "wrong key": {ClientCertificate: ca, ClientKey: ca},
	} {
		o.Traces.URL = "https://x"
		options := testOptions()
		var failed []string
		options.Config, options.Failed = o, func(code string) { failed = append(failed, code) }
		bad := New(options)
		err := bad.Open()
		if err == nil || strings.Contains(err.Error(), dir) || fmt.Sprint(failed) != "[otlp_tls]" || bad.State() != Off {
			t.Errorf("%s: %v %v %v", name, err, failed, bad.State())
		}
		<-bad.Done()
		bad.Span(sample())
		if len(bad.spans) != 0 {
			t.Errorf("%s: it still takes spans", name)
		}
	}
}

// TestTLSIsNew: nothing below TLS 1.2, and certificates are checked.
func TestTLSIsNew(t *testing.T) {
	c, err := tlsConfig(&config.OTLP{})
	if err != nil || c.MinVersion != tls.VersionTLS12 || c.InsecureSkipVerify {
		t.Errorf("%+v, %v", c, err)
	}
}
