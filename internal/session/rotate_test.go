package session

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"magicode/internal/vfs/memfs"
)

var checkpoint = map[string]any{"schema_version": 1, "text": "SUMMARY", "summary": "SUMMARY", "cutoff_event_count": 0}

func TestRotate(t *testing.T) {
	for _, c := range []struct {
		name, content string
		carry         int
		before, after string
	}{
		{"all", textLine("a") + textLine("b") + textLine("c"), 0, "a|b|c", "SUMMARY|new|more"},
		{"carry one", textLine("a") + textLine("b") + textLine("c"), 1, "a|b", "SUMMARY|c|new|more"},
		{"carry more than there is", textLine("a"), 5, "", "SUMMARY|a|new|more"},
		{"without line end", strings.TrimSpace(textLine("a") + textLine("b")), 1, "a", "SUMMARY|b|new|more"},
		{"without line end, all", strings.TrimSpace(textLine("a")), 0, "a", "SUMMARY|new|more"},
		{"torn", textLine("a") + "{", 0, "a|", "SUMMARY|new|more"},
		{"empty", "", 0, "", "SUMMARY|new|more"},
	} {
		t.Run(c.name, func(t *testing.T) {
			m := newMem(t)
			put(t, m, file, c.content, 0o600)
			put(t, m, dir+"/.s-1.jsonl.compact-1-1", "left by a crash", 0o600)
			h, _, err := newStore(t, m).Open(t.Context(), sid)
			must(t, err)
			seen := &texts{}
			r, err := h.BeginRotation(t.Context(), c.carry, seen)
			must(t, err)
			if seen.String() != c.before {
				t.Errorf("before the cutoff: %v", seen)
			}
			appendOK(t, h, Ordered, chunk("new"))
			whole := content(t, m, file)
			if o, err := r.Commit(t.Context(), checkpoint); o != Durable || err != nil {
				t.Fatalf("%v %v", o, err)
			}
			must(t, h.Unchanged(t.Context()))
			m.Crash(memfs.Keep) // files opened before are dead; the handle must not need them
			m.SyncAll()
			appendOK(t, h, Required, chunk("more"))
			must(t, h.Unchanged(t.Context()))
			f := &texts{}
			if _, err := h.Reload(t.Context(), f); err != nil || f.String() != c.after {
				t.Errorf("after: %v, want %s; %v", f, c.after, err)
			}
			must(t, h.Close())
			if diff := cmp.Diff(whole, content(t, m, dir+"/.history/s-1/1.jsonl")); diff != "" {
				t.Errorf("archive: %s", diff)
			}
			if diff := cmp.Diff([]string{".history", "s-1.jsonl"}, names(t, m, dir)); diff != "" {
				t.Error(diff)
			}
			for _, n := range []string{file, dir + "/.history/s-1/1.jsonl"} {
				if info, err := m.Lstat(n); err != nil || info.Mode != 0o600 {
					t.Errorf("%s: %v %v", n, info.Mode, err)
				}
			}
		})
	}
}

func TestRotateNumbers(t *testing.T) {
	m := newMem(t)
	must(t, m.MkdirAll(dir+"/.history/s-1", 0o755))
	put(t, m, dir+"/.history/s-1/9.jsonl", "", 0o600)
	put(t, m, dir+"/.history/s-1/.10.jsonl.compact-tmp", "left by a crash", 0o600)
	h, err := newStore(t, m).Create(t.Context())
	must(t, err)
	for range 2 {
		r, err := h.BeginRotation(t.Context(), 0)
		must(t, err)
		if o, err := r.Commit(t.Context(), checkpoint); o != Durable {
			t.Fatal(err)
		}
	}
	must(t, h.Close())
	if diff := cmp.Diff([]string{"10.jsonl", "11.jsonl", "9.jsonl"}, names(t, m, dir+"/.history/s-1")); diff != "" {
		t.Error(diff)
	}
}

// TestRotateOldLogStays: the log is not the one of step 1 any more.
func TestRotateOldLogStays(t *testing.T) {
	for name, change := range map[string]func(m *memfs.FS){
		"replaced": func(m *memfs.FS) { put(t, m, file, content(t, m, file), 0o600) },
		"cut":      func(m *memfs.FS) { must(t, truncate(m, file, 5)) },
		"removed":  func(m *memfs.FS) { must(t, m.Remove(file)) },
	} {
		m := newMem(t)
		put(t, m, file, textLine("a")+textLine("b"), 0o600)
		h, _, err := newStore(t, m).Open(t.Context(), sid)
		must(t, err)
		r, err := h.BeginRotation(t.Context(), 0)
		must(t, err)
		change(m)
		before := content(t, m, file)
		if o, err := r.Commit(t.Context(), checkpoint); o != NotWritten || !errors.Is(err, ErrStale) {
			t.Errorf("%s: %v %v", name, o, err)
		}
		if content(t, m, file) != before || len(names(t, m, dir+"/.history")) != 0 {
			t.Errorf("%s: something was written", name)
		}
		must(t, h.Close())
	}
}
