package main

import (
	"bufio"
	"context"
	"os"
	"path/filepath"
	"strings"
	"time"

	"go.opentelemetry.io/collector/component"
	"go.opentelemetry.io/collector/consumer"
	"go.opentelemetry.io/collector/pdata/plog"
	"go.opentelemetry.io/collector/pdata/pmetric"
	"go.opentelemetry.io/collector/pdata/ptrace"
	"go.opentelemetry.io/collector/receiver"
)

// The collector's own otlpjsonfile receiver is in a module that not every
// registry has. This one stands in for it in the check: it takes those of its
// keys that deploy/otel-collector.yaml uses, reads the files from their
// beginning, once, and has every line decoded by the collector's own OTLP JSON
// reader. A line that this refuses ends the check.

type fileConfig struct {
	Include []string `mapstructure:"include"`
	Exclude []string `mapstructure:"exclude"`
	StartAt string   `mapstructure:"start_at"`
}

// maxLine is above the longest line of a capture, 300 KiB.
const maxLine = 1 << 20

func newFileFactory() receiver.Factory {
	kind := component.MustNewType("otlpjsonfile")
	return receiver.NewFactory(kind, func() component.Config { return &fileConfig{StartAt: "end"} },
		receiver.WithTraces(func(_ context.Context, s receiver.Settings, c component.Config, next consumer.Traces) (receiver.Traces, error) {
			return newReader(s, c, func(ctx context.Context, line []byte) error {
				data, err := (&ptrace.JSONUnmarshaler{}).UnmarshalTraces(line)
				if err != nil || data.SpanCount() == 0 {
					return err
				}
				return next.ConsumeTraces(ctx, data)
			}), nil
		}, component.StabilityLevelDevelopment),
		receiver.WithLogs(func(_ context.Context, s receiver.Settings, c component.Config, next consumer.Logs) (receiver.Logs, error) {
			return newReader(s, c, func(ctx context.Context, line []byte) error {
				data, err := (&plog.JSONUnmarshaler{}).UnmarshalLogs(line)
				if err != nil || data.LogRecordCount() == 0 {
					return err
				}
				return next.ConsumeLogs(ctx, data)
			}), nil
		}, component.StabilityLevelDevelopment),
		receiver.WithMetrics(func(_ context.Context, s receiver.Settings, c component.Config, next consumer.Metrics) (receiver.Metrics, error) {
			return newReader(s, c, func(ctx context.Context, line []byte) error {
				data, err := (&pmetric.JSONUnmarshaler{}).UnmarshalMetrics(line)
				if err != nil || data.MetricCount() == 0 {
					return err
				}
				return next.ConsumeMetrics(ctx, data)
			}), nil
		}, component.StabilityLevelDevelopment))
}

// reader hands the lines of files on.
type reader struct {
	config *fileConfig
	report func(error)
	line   func(context.Context, []byte) error
	stop   context.CancelFunc
	done   chan struct{}
}

func newReader(s receiver.Settings, c component.Config, line func(context.Context, []byte) error) *reader {
	return &reader{config: c.(*fileConfig), line: line, done: make(chan struct{}),
		report: func(err error) { s.Logger.Sugar().Errorf("otlpjsonfile: %v", err) }}
}

// Start reads in the background.
func (r *reader) Start(context.Context, component.Host) error {
	ctx, stop := context.WithCancel(context.Background())
	r.stop = stop
	go func() {
		defer close(r.done)
		seen := map[string]bool{}
		for tick := time.NewTicker(200 * time.Millisecond); ; {
			for _, file := range r.files() {
				if !seen[file] {
					seen[file] = true
					if err := r.read(ctx, file); err != nil {
						r.report(err)
					}
				}
			}
			select {
			case <-ctx.Done():
				tick.Stop()
				return
			case <-tick.C:
			}
		}
	}()
	return nil
}

// Shutdown waits for it.
func (r *reader) Shutdown(context.Context) error {
	if r.stop != nil {
		r.stop()
		<-r.done
	}
	return nil
}

func (r *reader) files() (out []string) {
	for _, pattern := range r.config.Include {
		found, _ := filepath.Glob(pattern)
		for _, file := range found {
			if !r.excluded(file) {
				out = append(out, file)
			}
		}
	}
	return out
}

func (r *reader) excluded(file string) bool {
	for _, pattern := range r.config.Exclude {
		if ok, _ := filepath.Match(pattern, file); ok {
			return true
		}
	}
	return false
}

func (r *reader) read(ctx context.Context, file string) error {
	f, err := os.Open(file)
	if err != nil {
		return err
	}
	defer f.Close()
	lines := bufio.NewScanner(f)
	lines.Buffer(nil, maxLine)
	for lines.Scan() {
		if text := strings.TrimSpace(lines.Text()); text != "" {
			if err := r.line(ctx, []byte(text)); err != nil {
				return err
			}
		}
	}
	return lines.Err()
}
