package history_test

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"magicode/bench/fixtures"
	"magicode/internal/history"
	"magicode/internal/lease"
	"magicode/internal/session"
	"magicode/internal/vfs"
)

// sizes are the MiB of sessions; the smallest alone with -short.
func sizes(largest int) []int {
	if testing.Short() {
		return []int{1}
	}
	return []int{1, 16, largest}
}

// stored puts a session file into a home of its own and returns a store on it.
func stored(b *testing.B, data []byte) (store *session.Store, file string) {
	b.Helper()
	root := b.TempDir()
	dir := filepath.Join(root, "sessions")
	if err := os.Mkdir(dir, 0o700); err != nil {
		b.Fatal(err)
	}
	file = filepath.Join(dir, fixtures.SessionID+".jsonl")
	if err := os.WriteFile(file, data, 0o600); err != nil {
		b.Fatal(err)
	}
	leases := lease.New(lease.Options{FS: vfs.OS()})
	b.Cleanup(func() {
		if err := leases.Close(); err != nil {
			b.Error(err)
		}
	})
	return session.NewStore(session.Options{FS: vfs.OS(), Leases: leases, Dir: dir, RecoveredDir: filepath.Join(root, "recovered"), Cwd: fixtures.Cwd,
		SessionPath: func() string { return fixtures.Cwd }, NewID: ids(), Now: time.Now}), file
}

// BenchmarkHistoryRead opens a session: locks, one pass over the file with the
// history and its snapshot, and the fingerprint. "scan" is the same without a fold.
func BenchmarkHistoryRead(b *testing.B) {
	for _, mib := range sizes(64) {
		for _, fold := range []bool{false, true} {
			name := fmt.Sprintf("stored=%dMiB/fold=%v", mib, fold)
			b.Run(name, func(b *testing.B) {
				data := fixtures.Stored(mib << 20)
				store, _ := stored(b, data)
				b.SetBytes(int64(len(data)))
				b.ReportAllocs()
				for b.Loop() {
					var folds []session.Fold
					f := history.New(ids())
					if fold {
						folds = append(folds, f)
					}
					h, _, err := store.Open(b.Context(), fixtures.SessionID, folds...)
					if err != nil {
						b.Fatal(err)
					}
					if _, err := f.Snapshot("r"); err != nil {
						b.Fatal(err)
					}
					if err := h.Close(); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}

// BenchmarkHistoryFingerprint finds out whether the file is the one that was
// read: by content where it was just touched, by stat where it has rested.
func BenchmarkHistoryFingerprint(b *testing.B) {
	for _, mib := range sizes(64) {
		for _, touched := range []bool{true, false} {
			b.Run(fmt.Sprintf("stored=%dMiB/touched=%v", mib, touched), func(b *testing.B) {
				data := fixtures.Stored(mib << 20)
				store, file := stored(b, data)
				h, _, err := store.Open(b.Context(), fixtures.SessionID)
				if err != nil {
					b.Fatal(err)
				}
				defer h.Close()
				if touched {
					b.SetBytes(int64(len(data)))
				} else {
					for time.Since(opened(b, file)) < 150*time.Millisecond {
						time.Sleep(10 * time.Millisecond) // until file times can be trusted
					}
				}
				at := time.Unix(1, 0)
				b.ReportAllocs()
				for b.Loop() {
					if touched {
						at = at.Add(time.Second)
						if err := os.Chtimes(file, at, at); err != nil {
							b.Fatal(err)
						}
					}
					if err := h.Unchanged(b.Context()); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}

func opened(b *testing.B, file string) time.Time {
	info, err := os.Stat(file)
	if err != nil {
		b.Fatal(err)
	}
	return info.ModTime()
}
