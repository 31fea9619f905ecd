package exchange_test

import (
	"errors"
	"net/http"
	"testing"
	"time"

	"magicode/telemetry"
	"magicode/telemetry/reader/spantest"
)

// tripper is a function as a transport.
type tripper func(*http.Request) (*http.Response, error)

func (f tripper) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// TestRetryWaitSpan: the time between an attempt and the next, as the server
// sees it, is in the wait's span and not in an attempt's.
func TestRetryWaitSpan(t *testing.T) {
	p := spantest.New(t)
	h := newHarness()
	var last time.Time
	h.engine.Tel, h.engine.HTTP = p.Tel, tripper(func(*http.Request) (*http.Response, error) {
		const edge = 20 * time.Millisecond // what the attempts themselves need for their ends
		if now := time.Now(); !last.IsZero() {
			if now.Sub(last) < spantest.Delayed+2*edge {
				t.Errorf("the next attempt came after %v", now.Sub(last))
			}
			p.Waited(last.Add(edge), now.Add(-edge))
		}
		last = time.Now()
		return nil, errors.New("refused")
	})
	_ = h.do(p.Context())
	p.Sees(telemetry.SpanProviderRetryWait)
}
