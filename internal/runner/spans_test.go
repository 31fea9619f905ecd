package runner

import (
	"context"
	"fmt"
	"testing"

	"magicode/internal/provider"
	"magicode/telemetry"
	"magicode/telemetry/reader/spantest"
)

// TestPreflightSpan: making room before the first request takes 50 ms.
func TestPreflightSpan(t *testing.T) {
	p := spantest.New(t)
	b, log, _ := room()
	b.cfg.Tel, b.cfg.History = p.Tel, []provider.Item{message("user", xs(900))}
	b.cfg.Compaction.Begin = func(ctx context.Context, carry int) (Rotation, error) {
		p.Delay()
		return log.Begin(ctx, carry)
	}
	b.prov.replies = []reply{says(text("answer"))}
	if res := b.run(t, p.Context()); res.Err != nil {
		t.Fatal(res.Err)
	}
	p.Sees(telemetry.SpanRunPreflight)
}

// TestCompactionSpan: the summary takes 50 ms.
func TestCompactionSpan(t *testing.T) {
	p := spantest.New(t)
	summary := says(text("summary"), usage(3, 2))
	b, _, _ := room(func(ctx context.Context, req provider.Request, emit func(provider.Event) error) error {
		p.Delay()
		return summary(ctx, req, emit)
	})
	b.cfg.Tel, b.cfg.History = p.Tel, []provider.Item{message("user", xs(900))}
	b.prov.replies = []reply{says(text("answer"))}
	if res := b.run(t, p.Context()); res.Err != nil {
		t.Fatal(res.Err)
	}
	p.Sees(telemetry.SpanCompaction)
}

// TestRunTokens: a run's span has what all its requests have cost, the summary of
// a compaction among them.
func TestRunTokens(t *testing.T) {
	p := spantest.New(t)
	b, _, _ := room(says(text("summary"), usage(3, 2)))
	b.cfg.Tel, b.cfg.History = p.Tel, []provider.Item{message("user", xs(900))}
	b.prov.replies = []reply{says(text("answer"), usage(40, 7))}
	ctx, span := p.Tel.Begin(p.Context(), telemetry.SpanRun)
	if res := b.run(t, ctx); res.Err != nil {
		t.Fatal(res.Err)
	}
	span.End()
	var got []string
	for _, s := range p.Spans() {
		if s.Name == telemetry.SpanRun.String() {
			for _, key := range []string{"input", "output"} {
				got = append(got, fmt.Sprint(s.Attributes["gen_"+"ai.usage."+key+"_tokens"]))
			}
		}
	}
	if fmt.Sprint(got) != "[43 9]" {
		t.Errorf("tokens %v", got)
	}
}
