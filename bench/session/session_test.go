package session

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"magicode/bench/fixtures"
	"magicode/internal/lease"
	"magicode/internal/session"
	"magicode/internal/vfs"
	"magicode/internal/vfs/memfs"
)

func store(b *testing.B, fsys vfs.FS, root string) *session.Store {
	b.Helper()
	dir := filepath.Join(root, "sessions")
	if err := fsys.MkdirAll(dir, 0o700); err != nil {
		b.Fatal(err)
	}
	m := lease.New(lease.Options{FS: fsys})
	b.Cleanup(func() { _ = m.Close() })
	return session.NewStore(session.Options{
		FS: fsys, Leases: m, Dir: dir, RecoveredDir: filepath.Join(root, "recovered"), Cwd: fixtures.Cwd,
		SessionPath: func() string { return fixtures.Cwd }, NewID: func() string { return fixtures.SessionID }, Now: time.Now,
	})
}

// rotateAt keeps a benchmark's file far from the limits.
const rotateAt = 32 << 20

func BenchmarkSessionAppend(b *testing.B) {
	for _, size := range []int{1 << 10, 64 << 10} {
		text := strings.Repeat("a line of ordinary text with 40 letters\n", size/40)
		ev := session.Event{Kind: session.KindAssistantChunk, Payload: map[string]any{"text": text}}
		for _, c := range []struct {
			name string
			fs   func() vfs.FS
			d    session.Durability
		}{
			{"real", vfs.OS, session.Required}, {"ordered", vfs.OS, session.Ordered},
			{"none", func() vfs.FS { return memfs.New() }, session.Required},
		} {
			b.Run(fmt.Sprintf("size=%d/sync=%s", size, c.name), func(b *testing.B) {
				appendLoop(b, c.fs(), ev, c.d, size)
			})
		}
	}
}

func appendLoop(b *testing.B, fsys vfs.FS, ev session.Event, d session.Durability, size int) {
	s := store(b, fsys, b.TempDir())
	ctx := context.Background()
	h, err := s.Create(ctx)
	if err != nil {
		b.Fatal(err)
	}
	defer func() { _ = h.Close() }()
	b.SetBytes(int64(size))
	b.ReportAllocs()
	written := 0
	for b.Loop() {
		if o, err := h.Append(ctx, d, ev); !o.OK() {
			b.Fatal(o, err)
		}
		if written += size; written > rotateAt {
			b.StopTimer()
			written = 0
			r, err := h.BeginRotation(ctx, 0)
			if err != nil {
				b.Fatal(err)
			}
			if _, err := r.Commit(ctx, map[string]any{"summary": "s"}); err != nil {
				b.Fatal(err)
			}
			b.StartTimer()
		}
	}
}

// logOf is a session of about n MiB: prompts, answers, calls and results.
func logOf(mib int) []byte {
	var l fixtures.Log
	answer := strings.Repeat("An answer of some length, with \"quotes\" and ünïcode.\n", 40)
	result := strings.Repeat("drwxr-xr-x 2 user user 4096 file.txt\n", 200)
	for i := 0; l.Size() < mib<<20; i++ {
		l.User("Please look at this once more.")
		l.Call(fmt.Sprint("call-", i), "ls -l")
		l.Result(fmt.Sprint("call-", i), result)
		l.Chunk(answer)
		l.Output(answer)
	}
	return l.Bytes()
}

func BenchmarkSessionOpen(b *testing.B) {
	sizes := []int{1, 16, 51}
	if testing.Short() {
		sizes = sizes[:1]
	}
	for _, mib := range sizes {
		b.Run(fmt.Sprintf("stored=%dMiB", mib), func(b *testing.B) {
			root := b.TempDir()
			s := store(b, vfs.OS(), root)
			data := logOf(mib)
			path := filepath.Join(root, "sessions", fixtures.SessionID+".jsonl")
			if err := os.WriteFile(path, data, 0o600); err != nil {
				b.Fatal(err)
			}
			time.Sleep(200 * time.Millisecond) // settled: decision 28
			b.SetBytes(int64(len(data)))
			b.ReportAllocs()
			for b.Loop() {
				h, _, err := s.Open(context.Background(), fixtures.SessionID)
				if err != nil {
					b.Fatal(err)
				}
				if err := h.Close(); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func BenchmarkSessionUnchanged(b *testing.B) {
	size := 51
	if testing.Short() {
		size = 1
	}
	for _, read := range []bool{false, true} {
		b.Run(fmt.Sprintf("stored=%dMiB/read=%v", size, read), func(b *testing.B) {
			root := b.TempDir()
			s := store(b, vfs.OS(), root)
			path := filepath.Join(root, "sessions", fixtures.SessionID+".jsonl")
			if err := os.WriteFile(path, logOf(size), 0o600); err != nil {
				b.Fatal(err)
			}
			time.Sleep(200 * time.Millisecond)
			h, _, err := s.Open(context.Background(), fixtures.SessionID)
			if err != nil {
				b.Fatal(err)
			}
			defer func() { _ = h.Close() }()
			b.ReportAllocs()
			for b.Loop() {
				if read {
					if err := os.Chtimes(path, time.Now(), time.Now()); err != nil {
						b.Fatal(err)
					}
				}
				if err := h.Unchanged(context.Background()); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
