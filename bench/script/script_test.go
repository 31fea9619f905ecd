package script

import (
	"context"
	"encoding/json"
	"fmt"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	"magicode/internal/lease"
	"magicode/internal/provider"
	"magicode/internal/runner"
	"magicode/internal/script"
	"magicode/internal/session"
	"magicode/internal/tool"
	"magicode/internal/tool/listfiles"
	"magicode/internal/vfs"
	"magicode/internal/vfs/memfs"
)

func limits() script.Limits {
	return script.Limits{SourceBytes: 65536, InnerCalls: 200, Runtime: time.Minute, MemoryBytes: 32 << 20,
		InnerResultBytes: 1 << 20, TotalResultBytes: 8 << 20, ReturnBytes: 256 << 10}
}

// BenchmarkCodeModeEngine is one batch without calls: at most 1 ms.
func BenchmarkCodeModeEngine(b *testing.B) {
	args := json.RawMessage(`{"code":"return 1"}`)
	b.ReportAllocs()
	for b.Loop() {
		if res, err := script.Run(b.Context(), args, script.Options{Limits: limits()}); err != nil || !res.Success {
			b.Fatal(err, res.Content)
		}
	}
}

// BenchmarkCodeModeCompute is script work alone: so many loop steps.
func BenchmarkCodeModeCompute(b *testing.B) {
	sizes := []int{100_000, 10_000_000}
	if testing.Short() {
		sizes = sizes[:1]
	}
	for _, steps := range sizes {
		b.Run(fmt.Sprintf("steps=%d", steps), func(b *testing.B) {
			args := json.RawMessage(fmt.Sprintf(`{"code":"let s = 0; for (let i = 0; i < %d; i++) s = (s + i) %% 1000; return s"}`, steps))
			b.ReportAllocs()
			for b.Loop() {
				if res, err := script.Run(b.Context(), args, script.Options{Limits: limits()}); err != nil || !res.Success {
					b.Fatal(err, res.Content)
				}
			}
		})
	}
}

// BenchmarkCodeModeBatch is a run with one script of 100 list_files, its
// records on disk (as decision 17 has them synced) and without syncs.
func BenchmarkCodeModeBatch(b *testing.B) {
	for _, log := range []struct {
		name string
		fs   func() vfs.FS
	}{{"real", vfs.OS}, {"memory", func() vfs.FS { return memfs.New() }}} {
		b.Run("log="+log.name, func(b *testing.B) { batches(b, log.fs()) })
	}
}

func batches(b *testing.B, fs vfs.FS) {
	dir := filepath.Join(b.TempDir(), "sessions")
	if err := fs.MkdirAll(dir, 0o700); err != nil {
		b.Fatal(err)
	}
	m := lease.New(lease.Options{FS: fs})
	defer m.Close()
	n := 0
	store := session.NewStore(session.Options{FS: fs, Leases: m, Dir: dir, RecoveredDir: dir + "-recovered", Cwd: b.TempDir(),
		SessionPath: func() string { return dir }, NewID: func() string { n++; return fmt.Sprintf("00000000-0000-4000-8000-%012d", n) }, Now: time.Now})
	work := b.TempDir()
	for i := range 20 {
		f, err := vfs.OS().Open(filepath.Join(work, "file"+strconv.Itoa(i)), vfs.Write|vfs.Create, 0o600)
		if err != nil {
			b.Fatal(err)
		}
		f.Close()
	}
	inner := tool.New([]tool.Tool{listfiles.New(vfs.OS(), true)}, tool.Options{})
	b.ReportAllocs()
	for b.Loop() {
		h, err := store.Create(b.Context())
		if err != nil {
			b.Fatal(err)
		}
		model := &twoReplies{}
		res := runner.Run(b.Context(), runner.Config{
			Recorder: h, Provider: model, Tools: inner, Script: &runner.Script{Tools: inner, Limits: limits(), Size: h.Size}, Sink: sink{},
			Env: tool.Env{Cwd: work, CanonicalCwd: work}, NewID: func() string { return "id" }, RunID: "run",
			Limits: runner.Limits{ContentBytes: 1 << 23, Segments: 512, Activities: 4096, ActivityIDBytes: 4096},
		}, "list")
		if res.Err != nil || !model.ok {
			b.Fatal(res.Err)
		}
		if err := h.Close(); err != nil {
			b.Fatal(err)
		}
	}
}

type sink struct{}

func (sink) Try(runner.Delta) bool                    { return true }
func (sink) Emit(context.Context, runner.Event) error { return nil }

// twoReplies calls the script, then answers.
type twoReplies struct {
	calls int
	ok    bool
}

func (p *twoReplies) Stream(_ context.Context, req provider.Request, emit func(provider.Event) error) error {
	p.calls++
	if p.calls == 1 {
		const code = `{"code":"let n = 0; for (let i = 0; i < 100; i++) n += tools.call('list_files', {path: '.'}).content.text.length; return n"}`
		return emit(provider.Event{Kind: provider.EventCall, Call: &provider.Call{ID: "c1", Name: "code_mode", Arguments: code}})
	}
	last := req.Items[len(req.Items)-1]
	p.ok = last.Kind == provider.ItemResult && last.Success
	return emit(provider.Event{Kind: provider.EventText, Text: "done"})
}
