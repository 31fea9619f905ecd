package session

import (
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"magicode/internal/vfs"
	"magicode/internal/vfs/faultfs"
	"magicode/internal/vfs/memfs"
)

// opened is a session of two records whose file has settled, and a counter of
// the bytes' reads.
func opened(t *testing.T) (*memfs.FS, *faultfs.FS, *Handle) {
	m := newMem(t)
	put(t, m, file, textLine("a")+textLine("b"), 0o600)
	time.Sleep(time.Second)
	ff := faultfs.New(m)
	h, _, err := NewStore(options(t, ff, 100, procs{})).Open(t.Context(), sid)
	must(t, err)
	return m, ff, h
}

// TestUnchangedReadsLittle: decision 28.
func TestUnchangedReadsLittle(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m, ff, h := opened(t)
		reads := func(want int, what string) {
			t.Helper()
			before := ff.Count(faultfs.Open)
			must(t, h.Unchanged(t.Context()))
			if n := ff.Count(faultfs.Open) - before; n != want {
				t.Errorf("%s: the file was read %d times", what, n)
			}
		}
		reads(0, "settled")
		must(t, m.Chtimes(file, time.Unix(1, 0)))
		reads(1, "touched")
		reads(1, "within the clock's step")
		time.Sleep(settle)
		reads(1, "first look after it")
		reads(0, "settled again")
		data := content(t, m, file)
		put(t, m, file, data, 0o600)
		time.Sleep(settle)
		reads(1, "replaced by an identical file")
		reads(0, "settled again")
		appendOK(t, h, Required, chunk("c"))
		reads(1, "after an append")
		time.Sleep(settle)
		reads(1, "after an append, later")
		reads(0, "settled after an append")
		must(t, m.Chtimes(file, time.Now().Add(time.Hour)))
		reads(1, "a time in the future")
		reads(1, "a time in the future never settles")
		must(t, h.Close())
	})
}

func TestUnchangedFindsChanges(t *testing.T) {
	for name, change := range map[string]func(t *testing.T, m *memfs.FS){
		"appended": func(t *testing.T, m *memfs.FS) { put(t, m, file, content(t, m, file)+"\n", 0o600) },
		"same size and times": func(t *testing.T, m *memfs.FS) {
			info, err := m.Lstat(file)
			must(t, err)
			put(t, m, file, strings.Replace(content(t, m, file), `"b"`, `"B"`, 1), 0o600)
			must(t, m.Chtimes(file, info.Mtime))
		},
		"cut":         func(t *testing.T, m *memfs.FS) { put(t, m, file, textLine("a"), 0o600) },
		"removed":     func(t *testing.T, m *memfs.FS) { must(t, m.Remove(file)) },
		"a folder":    func(t *testing.T, m *memfs.FS) { must(t, m.Remove(file), m.Mkdir(file, 0o700)) },
		"open to all": func(t *testing.T, m *memfs.FS) { must(t, m.Chmod(file, 0o644)) },
		"hard link":   func(t *testing.T, m *memfs.FS) { must(t, m.Link(file, "/mc/x")) },
		"FIFO":        func(t *testing.T, m *memfs.FS) { must(t, m.Remove(file), m.Mkfifo(file, 0o600)) },
	} {
		synctest.Test(t, func(t *testing.T) {
			m, _, h := opened(t)
			before := content(t, m, file)
			must(t, h.Unchanged(t.Context()))
			change(t, m)
			if err := h.Unchanged(t.Context()); !errors.Is(err, ErrStale) {
				t.Errorf("%s: %v", name, err)
			}
			_ = m.Remove(file)
			_ = m.Remove("/mc/x")
			put(t, m, file, before, 0o600)
			if err := h.Unchanged(t.Context()); !errors.Is(err, ErrStale) {
				t.Errorf("%s: it does not stick: %v", name, err)
			}
			if _, err := h.Read(t.Context()); !errors.Is(err, ErrStale) {
				t.Errorf("%s: read: %v", name, err)
			}
			f := &texts{}
			if info, err := h.Reload(t.Context(), f); err != nil || f.String() != "a|b" || info.Records != 2 {
				t.Errorf("%s: reload: %v %v", name, f, err)
			}
			must(t, h.Unchanged(t.Context()), h.Close())
		})
	}
}

func TestUnchangedOfNothing(t *testing.T) {
	m := newMem(t)
	h, err := newStore(t, m).Create(t.Context())
	must(t, err, h.Unchanged(t.Context()))
	put(t, m, file, "", 0o600)
	if err := h.Unchanged(t.Context()); !errors.Is(err, ErrStale) {
		t.Errorf("a file appeared: %v", err)
	}
	must(t, h.Close())
}

// TestReadNoticesItself: a changed file that nobody has checked.
func TestReadNoticesItself(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m, _, h := opened(t)
		f := &texts{}
		if _, err := h.Read(t.Context(), f); err != nil || f.String() != "a|b" {
			t.Errorf("%v %v", f, err)
		}
		appendOK(t, h, Ordered, chunk("c"))
		f = &texts{}
		if _, err := h.Read(t.Context(), f); err != nil || f.String() != "a|b|c" {
			t.Errorf("%v %v", f, err)
		}
		put(t, m, file, textLine("other"), 0o600)
		if _, err := h.Read(t.Context(), f); !errors.Is(err, ErrStale) {
			t.Error(err)
		}
		if err := h.Unchanged(t.Context()); !errors.Is(err, ErrStale) {
			t.Error(err)
		}
		must(t, h.Close())
	})
}

// TestReplacedUnderTheHandle: appending goes on with the file that is there.
func TestReplacedUnderTheHandle(t *testing.T) {
	for _, c := range []struct {
		name   string
		change func(m *memfs.FS)
		want   string
		stale  bool
	}{
		{"identical", func(m *memfs.FS) { put(t, m, file, content(t, m, file), 0o600) }, "a|b|c|d", false},
		{"touched", func(m *memfs.FS) { must(t, m.Chtimes(file, time.Unix(5, 0))) }, "a|b|c|d", false},
		{"shorter", func(m *memfs.FS) { put(t, m, file, textLine("x"), 0o600) }, "x|d", true},
		{"longer", func(m *memfs.FS) { put(t, m, file, content(t, m, file)+textLine("x"), 0o600) }, "a|b|c|x|d", true},
		{"in place, without line end", func(m *memfs.FS) {
			info, err := m.Lstat(file)
			must(t, err)
			must(t, truncate(m, file, info.Size-1))
		}, "a|b|c|d", true},
		{"in place, torn", func(m *memfs.FS) {
			info, err := m.Lstat(file)
			must(t, err)
			must(t, truncate(m, file, info.Size-9))
		}, "a|b||d", true},
		{"removed", func(m *memfs.FS) { must(t, m.Remove(file)) }, "d", true},
	} {
		synctest.Test(t, func(t *testing.T) {
			m, _, h := opened(t)
			f := &texts{}
			h.Follow(f)
			appendOK(t, h, Required, chunk("c"))
			c.change(m)
			appendOK(t, h, Required, chunk("d"))
			if err := h.Unchanged(t.Context()); errors.Is(err, ErrStale) != c.stale {
				t.Errorf("%s: %v", c.name, err)
			}
			must(t, h.Close())
			got, info, err := read(t, m)
			if err != nil || got.String() != c.want || info.Torn {
				t.Errorf("%s: %v %+v %v", c.name, got, info, err)
			}
			m.Crash(memfs.Lose)
			time.Sleep(6 * time.Second) // lock files without their content come back
			if got, _, err := read(t, m); err != nil || got.String() != c.want {
				t.Errorf("%s: after a power cut: %v %v", c.name, got, err)
			}
		})
	}
}

func truncate(m *memfs.FS, name string, size int64) error {
	f, err := m.Open(name, vfs.Write, 0)
	if err != nil {
		return err
	}
	return errors.Join(f.Truncate(size), f.Close())
}

// TestVanishedDuringOpen: step 10 of storage.md 8.1.
func TestChangedDuringOpen(t *testing.T) {
	for name, want := range map[string]error{"removed": ErrMissing, "replaced": ErrStale} {
		m := newMem(t)
		put(t, m, file, textLine("a"), 0o600)
		change := foldFunc(func(Record) error {
			if name == "removed" {
				return m.Remove(file)
			}
			put(t, m, file, textLine("z"), 0o600)
			return nil
		})
		if _, _, err := newStore(t, m).Open(t.Context(), sid, change); !errors.Is(err, want) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

type foldFunc func(Record) error

func (f foldFunc) Apply(r Record) error { return f(r) }
