package provider_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"testing"

	"magicode/internal/httpx"
	"magicode/internal/provider"
	"magicode/internal/provider/exchange"
	"magicode/internal/provider/openai"
)

// BenchmarkRequest is one whole generation over loopback HTTP with a short
// answer: what the client adds to a turn, the server of the test included.
// "closed" is a server that closes each connection.
func BenchmarkRequest(b *testing.B) {
	answer := "data: {\"type\":\"response.output_text.delta\",\"item_id\":\"m\",\"delta\":\"A short answer.\"}\n\n" +
		"data: {\"type\":\"response.completed\",\"response\":{\"status\":\"completed\",\"model\":\"m1\",\"output\":[]}}\n\n"
	for _, c := range []struct{ name, header string }{{"kept", "keep-alive"}, {"closed", "close"}} {
		b.Run("connection="+c.name, func(b *testing.B) {
			srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				_, _ = io.Copy(io.Discard, r.Body)
				w.Header().Set("Connection", c.header)
				w.Header().Set("Content-Type", "text/event-stream")
				_, _ = io.WriteString(w, answer)
			}))
			defer srv.Close()
			client := httpx.New(httpx.Options{})
			defer client.Close()
			p, err := openai.New(openai.Config{BaseURL: srv.URL}, &exchange.Engine{HTTP: client, Limits: exchange.NewLimits()})
			if err != nil {
				b.Fatal(err)
			}
			req := provider.Request{Model: "m1", Items: []provider.Item{{Kind: provider.ItemMessage, Role: "user", Text: "q"}}}
			b.ReportAllocs()
			for b.Loop() {
				n := 0
				err := p.Stream(b.Context(), req, func(ev provider.Event) error {
					n += len(ev.Text)
					return nil
				})
				if err != nil || n == 0 {
					b.Fatalf("%d bytes of text, error %v", n, err)
				}
			}
		})
	}
}
