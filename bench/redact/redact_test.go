package redact

import (
	"encoding/json"
	"strings"
	"testing"

	"magicode/internal/redact"
	"magicode/internal/redact/redacttest"
)

const size = 256 << 10

// BenchmarkRedact: floors 300 MB/s on clean text and 50 on text full of secrets
// (decision 41), 100 and 15 times the plain form.
func BenchmarkRedact(b *testing.B) {
	texts := []struct{ name, text string }{
		{"clean", redacttest.Clean(1, size)},
		{"secrets", redacttest.Dense(1, size)},
	}
	forms := []struct {
		name string
		text func(string) string
	}{
		{"own", redact.Text},
		{"seven_regexps", redacttest.PlainSeven},
	}
	for _, t := range texts {
		for _, f := range forms {
			b.Run("text="+t.name+"/form="+f.name, func(b *testing.B) {
				b.SetBytes(int64(len(t.text)))
				b.ReportAllocs()
				for b.Loop() {
					if (f.text(t.text) == t.text) != (t.name == "clean") {
						b.Fatal("wrong text changed")
					}
				}
			})
		}
	}
}

// BenchmarkStream writes a text of 20,000 deltas; ns/delta is the figure.
func BenchmarkStream(b *testing.B) {
	const deltas = 20_000
	for _, t := range []struct{ name, text string }{
		{"clean", redacttest.Clean(1, 5*deltas)},
		{"secrets", redacttest.Dense(1, 5*deltas)},
		{"one_word", strings.Repeat("a1B2c", deltas)},
		{"private_key", "-----BEGIN " + "PRIVATE KEY-----\n" + strings.Repeat("a1B2c3D4e5F6g7H8i9J0a1B2c3D4e5F6g7H8i9J0\n", deltas/8)},
		{"open_quote", `password: "` + strings.Repeat("a word\n", deltas*5/7)},
	} {
		b.Run("text="+t.name, func(b *testing.B) {
			b.SetBytes(int64(len(t.text)))
			b.ReportAllocs()
			for b.Loop() {
				var s redact.Stream
				for at := 0; at < len(t.text); at += 5 {
					s.Write(t.text[at:min(at+5, len(t.text))])
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(len(t.text)/5), "ns/delta")
		})
	}
}

// BenchmarkAppendJSON measures the payload of an appended event.
func BenchmarkAppendJSON(b *testing.B) {
	for _, t := range []struct{ name, text string }{{"clean", redacttest.Clean(1, size)}, {"secrets", redacttest.Dense(1, size)}} {
		b.Run("text="+t.name, func(b *testing.B) {
			value, err := json.Marshal(map[string]any{"content": t.text, "n": 1, "list": []string{"a", "b"}})
			if err != nil {
				b.Fatal(err)
			}
			var dst []byte
			b.SetBytes(int64(len(value)))
			b.ReportAllocs()
			for b.Loop() {
				dst = redact.AppendJSON(dst[:0], value)
			}
		})
	}
}

// BenchmarkStrip measures the removal of escape sequences.
func BenchmarkStrip(b *testing.B) {
	for _, t := range []struct{ name, text string }{
		{"clean", redacttest.Clean(1, size)},
		{"coloured", strings.Repeat("\x1b[32mok\x1b[0m  internal/redact  0.21s\r\n", size/40)},
	} {
		b.Run("text="+t.name, func(b *testing.B) {
			b.SetBytes(int64(len(t.text)))
			b.ReportAllocs()
			for b.Loop() {
				redact.Strip(t.text)
			}
		})
	}
}
