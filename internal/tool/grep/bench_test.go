package grep

import (
	"bytes"
	"regexp"
	"testing"
)

// BenchmarkScan scans 8 MiB of text in memory: what is left of a search without
// the files.
func BenchmarkScan(b *testing.B) {
	line := []byte("\tvalue, err := decode(request.Context(), buffer[offset:length]) // total\nif count == index {\n\n")
	data := bytes.Repeat(line, 8<<20/len(line))
	for _, tc := range []struct{ name, pattern string }{
		{"literal", "absent_needle"}, {"frequent", "return|total"}, {"anycase", "(?i)absent_needle"},
		{"class", "[0-9]{4}-[0-9]{2}"}, {"words", `\b[A-Z]\w+Error\b`}, {"dots", `a.*b.*c.*d.*zz`}, {"any", `.`},
	} {
		b.Run("pattern="+tc.name, func(b *testing.B) {
			m := newMatcher(&expression{source: tc.pattern, re: regexp.MustCompile(tc.pattern)}).clone()
			b.SetBytes(int64(len(data)))
			b.ReportAllocs()
			for b.Loop() {
				n := 0
				m.scan(data, true, func(span) bool { n++; return true })
			}
		})
	}
}
