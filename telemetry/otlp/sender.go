package otlp

import (
	"bytes"
	"compress/gzip"
	"context"
	"crypto/tls"
	"encoding/binary"
	"errors"
	"io"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"magicode/telemetry/config"
)

// Bounds of an exchange (telemetry.md 9.2).
const (
	maxRequest  = 4 << 20
	maxResponse = 64 << 10
	dialTimeout = time.Second
	maxIdle     = 2
)

// sender makes the requests of one signal. It is for one goroutine.
type sender struct {
	client  *http.Client
	target  config.Target
	grpc    bool
	gzip    bool
	timeout time.Duration
	agent   string

	packed bytes.Buffer
	zip    *gzip.Writer
}

// newClient is the one client of an exporter. Over gRPC it speaks HTTP/2 only,
// also where there is no TLS.
func newClient(o *config.OTLP, secure *tls.Config) *http.Client {
	var protocols http.Protocols
	protocols.SetHTTP2(true)
	if o.GRPC {
		protocols.SetUnencryptedHTTP2(true)
	} else {
		protocols.SetHTTP1(true)
	}
	return &http.Client{
		Timeout: o.Timeout,
		// A redirect would get the body and the headers; by default they are repeated.
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		Transport: &http.Transport{
			Proxy:                  http.ProxyFromEnvironment,
			DialContext:            (&net.Dialer{Timeout: dialTimeout}).DialContext,
			TLSClientConfig:        secure,
			Protocols:              &protocols,
			MaxIdleConns:           maxIdle,
			MaxIdleConnsPerHost:    maxIdle,
			IdleConnTimeout:        time.Minute,
			DisableCompression:     true, // an answer is small; unpacked it might not be
			MaxResponseHeaderBytes: maxResponse,
		},
	}
}

// gRPC names a signal's method by its path.
var methods = [signals]string{
	Traces:  "/opentelemetry.proto.collector.trace.v1.TraceService/Export",
	Metrics: "/opentelemetry.proto.collector.metrics.v1.MetricsService/Export",
}

func newSender(s Signal, o *Options, client *http.Client) *sender {
	out := &sender{client: client, target: o.target(s), grpc: o.Config.GRPC, gzip: o.Config.Gzip, timeout: o.Config.Timeout, agent: "magi-code/" + o.Version}
	if u, err := url.Parse(out.target.URL); err == nil && out.grpc {
		u.Path = methods[s]
		out.target.URL = u.String()
	}
	return out
}

// send makes one attempt. It returns how many records the other side says it did
// not take.
func (s *sender) send(ctx context.Context, body []byte) (refused uint64, f failure) {
	ctx, cancel := context.WithTimeout(ctx, s.timeout)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, s.target.URL, bytes.NewReader(s.frame(body)))
	if err != nil {
		return 0, failedUnreachable
	}
	s.describe(req.Header)
	resp, err := s.client.Do(req)
	if err != nil {
		return 0, classify(err)
	}
	defer func() { _ = resp.Body.Close() }() // what it says is of no use any more
	answer, err := io.ReadAll(io.LimitReader(resp.Body, maxResponse))
	if resp.StatusCode < 200 || resp.StatusCode > 299 {
		return 0, failedRejected
	}
	if s.grpc {
		return grpcAnswer(resp, answer, err)
	}
	return rejected(answer), 0
}

// frame is the body as it is sent: packed, and over gRPC with the five bytes
// that begin a message.
func (s *sender) frame(body []byte) []byte {
	s.packed.Reset()
	if s.grpc {
		s.packed.Write([]byte{0, 0, 0, 0, 0})
	}
	switch {
	case s.gzip && s.zip == nil:
		s.zip, _ = gzip.NewWriterLevel(&s.packed, gzip.BestSpeed) // the level is one
	case s.gzip:
		s.zip.Reset(&s.packed)
	}
	if s.gzip {
		_, _ = s.zip.Write(body) // into memory
		_ = s.zip.Close()
	} else {
		s.packed.Write(body)
	}
	out := s.packed.Bytes()
	if s.grpc {
		if s.gzip {
			out[0] = 1
		}
		binary.BigEndian.PutUint32(out[1:], uint32(len(out)-5))
	}
	return out
}

func (s *sender) describe(h http.Header) {
	for name, value := range s.target.Headers {
		h.Set(name, value)
	}
	h.Set("User-Agent", s.agent)
	if !s.grpc {
		h.Set("Content-Type", "application/x-protobuf")
		if s.gzip {
			h.Set("Content-Encoding", "gzip")
		}
		return
	}
	h.Set("Content-Type", "application/grpc")
	h.Set("Te", "trailers")
	h.Set("Grpc-Timeout", strconv.FormatInt(s.timeout.Milliseconds(), 10)+"m")
	if s.gzip {
		h.Set("Grpc-Encoding", "gzip")
	}
}

// Status codes of gRPC that are no refusal.
const (
	grpcOK          = "0"
	grpcDeadline    = "4"
	grpcUnavailable = "14"
)

// grpcAnswer reads the status, which comes behind the message, or before it when
// there is none.
func grpcAnswer(resp *http.Response, answer []byte, err error) (refused uint64, f failure) {
	if !strings.HasPrefix(resp.Header.Get("Content-Type"), "application/grpc") {
		return 0, failedRejected
	}
	status := resp.Trailer.Get("Grpc-Status")
	if status == "" {
		status = resp.Header.Get("Grpc-Status")
	}
	switch status {
	case grpcOK:
	case grpcUnavailable:
		return 0, failedUnreachable
	case grpcDeadline:
		return 0, failedTimeout
	case "":
		if err != nil {
			return 0, classify(err)
		}
		return 0, failedRejected
	default:
		return 0, failedRejected
	}
	const head = 5
	if len(answer) < head || answer[0] != 0 {
		return 0, 0 // packed, though we did not ask for that
	}
	return rejected(answer[head:]), 0
}

// failure is why a request came to nothing; zero: it did not.
type failure uint8

const (
	failedUnreachable failure = iota + 1
	failedTimeout
	failedRejected
	failedTLS
)

// code is the problem code of a failure.
func (f failure) code() string {
	switch f {
	case failedRejected:
		return config.CodeRejected
	case failedTLS:
		return config.CodeTLS
	}
	return config.CodeUnreachable
}

// classify keeps of an error what may be said.
func classify(err error) failure {
	var certificate *tls.CertificateVerificationError
	var alert tls.AlertError
	var record tls.RecordHeaderError
	var wait net.Error
	switch {
	case errors.As(err, &certificate), errors.As(err, &alert), errors.As(err, &record):
		return failedTLS
	case errors.Is(err, context.DeadlineExceeded), errors.As(err, &wait) && wait.Timeout():
		return failedTimeout
	}
	return failedUnreachable
}
