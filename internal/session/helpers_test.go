package session

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"magicode/internal/jsonscan"
	"magicode/internal/lease"
	"magicode/internal/vfs"
	"magicode/internal/vfs/memfs"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const (
	dir  = "/mc/sessions"
	sid  = "s-1"
	file = dir + "/" + sid + ".jsonl"
	cwd  = "/srv/project"
)

// procs: every process lives but the ones named.
type procs map[int]bool

func (p procs) Alive(pid int) bool         { return !p[pid] }
func (procs) Start(pid int) (string, bool) { return fmt.Sprint(pid), true }

// newMem has the folders that startup makes, on disk.
func newMem(t testing.TB) *memfs.FS {
	t.Helper()
	m := memfs.New()
	must(t, m.MkdirAll(dir, 0o700), m.MkdirAll("/mc/state", 0o755), m.Chmod(dir, 0o700))
	m.SyncAll()
	return m
}

func must(t testing.TB, errs ...error) {
	t.Helper()
	for _, err := range errs {
		if err != nil {
			t.Fatal(err)
		}
	}
}

// options of a store that stands for a process.
func options(t testing.TB, fsys vfs.FS, pid int, dead procs) Options {
	m := lease.New(lease.Options{FS: fsys, PID: pid, Processes: dead})
	t.Cleanup(func() { _ = m.Close() })
	tick := int64(0)
	return Options{
		FS: fsys, Leases: m, Dir: dir, RecoveredDir: "/mc/state/recovered", Cwd: cwd,
		SessionPath: func() string { return cwd }, NewID: func() string { return sid },
		Now: func() time.Time { tick++; return time.Unix(1_800_000_000, tick) },
	}
}

func newStore(t testing.TB, fsys vfs.FS) *Store { return NewStore(options(t, fsys, 100, procs{})) }

// texts is a fold that remembers what it was given.
type texts struct {
	kinds []Kind
	texts []string
	index []int
	fail  error
	after int
}

func (f *texts) Apply(rec Record) error {
	if f.fail != nil && len(f.kinds) == f.after {
		return f.fail
	}
	s, _ := jsonscan.Value(rec.Payload).Get("text").Text()
	f.kinds, f.texts, f.index = append(f.kinds, rec.Kind), append(f.texts, s), append(f.index, rec.Index)
	return nil
}

func (f *texts) String() string { return strings.Join(f.texts, "|") }

func user(text string) Event {
	return Event{Kind: KindUserInput, Payload: map[string]any{"text": text, "origin": "user"}}
}

func chunk(text string) Event {
	return Event{Kind: KindAssistantChunk, Payload: map[string]any{"text": text}}
}

// line is a stored record of this session.
func line(kind, payload string) string {
	return fmt.Sprintf(`{"event_type":%q,"timestamp":"2026-01-02T03:04:05.000000001Z","session_id":%q,"cwd":%q,"session_path":%q,"payload":%s}`+"\n", kind, sid, cwd, cwd, payload)
}

func textLine(s string) string { return line("assistant_chunk", fmt.Sprintf(`{"text":%q}`, s)) }

// put makes a file that is on disk.
func put(t testing.TB, m vfs.FS, name, content string, perm fs.FileMode) {
	t.Helper()
	must(t, vfs.Replace(m, name, []byte(content), perm))
}

func content(t testing.TB, m vfs.FS, name string) string {
	t.Helper()
	data, err := vfs.ReadFile(m, name, MaxBytes)
	if err != nil && !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, vfs.ErrNotRegular) {
		t.Fatal(err)
	}
	return string(data)
}

func appendOK(t testing.TB, h *Handle, d Durability, evs ...Event) {
	t.Helper()
	if o, err := h.Append(context.Background(), d, evs...); o != Durable || err != nil {
		t.Fatalf("append: outcome %d, %v", o, err)
	}
}

// read opens the session anew, as another process after this one.
func read(t testing.TB, m vfs.FS) (*texts, ReadInfo, error) {
	t.Helper()
	f := &texts{}
	h, info, err := NewStore(options(t, m, 900, procs{100: true})).Open(context.Background(), sid, f)
	if err == nil {
		must(t, h.Close())
	}
	return f, info, err
}

func names(t testing.TB, m vfs.FS, dir string) []string {
	t.Helper()
	list, err := m.ReadDir(dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		t.Fatal(err)
	}
	out := []string{}
	for _, e := range list {
		out = append(out, e.Name())
	}
	return out
}
