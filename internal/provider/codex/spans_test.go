package codex_test

import (
	"context"
	"testing"

	"magicode/internal/auth"
	"magicode/internal/provider/codex"
	"magicode/internal/provider/exchange"
	"magicode/telemetry"
	"magicode/telemetry/reader/spantest"
)

// renewing is a store whose login is always stale.
type renewing struct{}

func (renewing) Refresh(ctx context.Context, _ string, _ bool, exchange auth.Exchange) (auth.Record, error) {
	return exchange(ctx, "refresh")
}

// TestRefreshSpan: renewing the login takes 50 ms.
func TestRefreshSpan(t *testing.T) {
	p := spantest.New(t)
	_, err := codex.New(p.Context(), codex.Config{Store: renewing{}, Exchange: func(context.Context, auth.Secret) (auth.Record, error) {
		p.Delay()
		return login("tok", "acct"), nil
	}}, &exchange.Engine{Limits: exchange.NewLimits(), Tel: p.Tel})
	if err != nil {
		t.Fatal(err)
	}
	p.Sees(telemetry.SpanAuthRefresh)
}
