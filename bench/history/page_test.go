package history_test

import (
	"fmt"
	"testing"

	"magicode/bench/fixtures"
	"magicode/internal/history"
)

func snapshot(b *testing.B, data []byte) *history.Snapshot {
	b.Helper()
	s, err := project(fixtures.Records(data))
	if err != nil {
		b.Fatal(err)
	}
	return s
}

// BenchmarkHistoryPage serves one page; it must not depend on the session's size.
func BenchmarkHistoryPage(b *testing.B) {
	for _, mib := range sizes(63) {
		s := snapshot(b, fixtures.Stored(mib<<20))
		for _, pos := range []struct {
			name string
			page int
		}{{"first", 0}, {"middle", s.Pages() / 2}, {"last", s.Pages() - 1}} {
			b.Run(fmt.Sprintf("pos=%s/stored=%dMiB", pos.name, mib), func(b *testing.B) {
				cursor := fmt.Sprintf("%s.%d", s.Revision(), pos.page)
				var buf []byte
				b.ReportAllocs()
				for b.Loop() {
					at, err := s.Locate(cursor)
					if err != nil {
						b.Fatal(err)
					}
					buf = s.AppendPage(buf[:0], fixtures.SessionID, at)
				}
				b.SetBytes(int64(len(buf)))
			})
		}
	}
}

// BenchmarkHistoryPageAll serves a whole history.
func BenchmarkHistoryPageAll(b *testing.B) {
	for _, shape := range shapes() {
		if fixtures.Over(shape) {
			continue // there are no pages of it
		}
		b.Run("shape="+shape, func(b *testing.B) {
			s := snapshot(b, fixtures.Session(shape))
			var buf []byte
			size := 0
			b.ReportAllocs()
			for b.Loop() {
				size = 0
				for at := range s.Pages() {
					buf = s.AppendPage(buf[:0], fixtures.SessionID, at)
					size += len(buf)
				}
			}
			b.SetBytes(int64(size))
			b.ReportMetric(float64(s.Pages())*float64(b.N)/b.Elapsed().Seconds(), "pages/s")
		})
	}
}
