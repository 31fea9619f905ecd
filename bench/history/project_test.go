package history_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"magicode/bench/fixtures"
	"magicode/internal/history"
	"magicode/internal/session"
)

// ids makes message ids of the real length, at no cost worth measuring.
func ids() func() string {
	n := 0
	return func() string { n++; return fmt.Sprintf("00000000-0000-4000-8000-%012d", n) }
}

// project takes all records and a snapshot.
func project(recs []session.Record) (*history.Snapshot, error) {
	f := history.New(ids())
	for i := range recs {
		if err := f.Apply(recs[i]); err != nil {
			return nil, err
		}
	}
	return f.Snapshot("10000000-0000-4000-8000-000000000000")
}

// shapes are those of the fixtures; without the largest with -short.
func shapes() []string {
	all := fixtures.Shapes()
	if testing.Short() {
		all = slices.DeleteFunc(all, func(s string) bool { return s == "stored64MiB" || s == "over_bytes" })
	}
	return all
}

// BenchmarkHistoryProject folds records that were read already and takes a
// snapshot: what a history costs beyond the JSON scan. MB/s are those of the file.
func BenchmarkHistoryProject(b *testing.B) {
	for _, shape := range shapes() {
		b.Run("shape="+shape, func(b *testing.B) {
			data := fixtures.Session(shape)
			recs := fixtures.Records(data)
			over := fixtures.Over(shape)
			b.SetBytes(int64(len(data)))
			b.ReportAllocs()
			for b.Loop() {
				s, err := project(recs)
				if over != errors.Is(err, history.ErrLimit) || !over && s == nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// BenchmarkHistoryRefresh is what a turn pays: its four records and a snapshot,
// in a session of the given size.
func BenchmarkHistoryRefresh(b *testing.B) {
	for _, mib := range sizes(63) {
		b.Run(fmt.Sprintf("stored=%dMiB", mib), func(b *testing.B) {
			f := history.New(ids())
			for _, r := range fixtures.Records(fixtures.Stored(mib << 20)) {
				if err := f.Apply(r); err != nil {
					b.Fatal(err)
				}
			}
			var l fixtures.Log
			l.User("question")
			l.Call("call", "ls")
			l.Result("call", strings.Repeat("x", 4000))
			l.Output(strings.Repeat("y", 1500))
			turn := fixtures.Records(l.Bytes())
			b.ReportAllocs()
			n := 0
			for b.Loop() {
				if n++; n > 500 {
					b.StopTimer() // the limits of a history end a long benchmark
					f.Reset()
					n = 0
					b.StartTimer()
				}
				for _, r := range turn {
					if err := f.Apply(r); err != nil {
						b.Fatal(err)
					}
				}
				if _, err := f.Snapshot("r"); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
