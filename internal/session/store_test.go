package session

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"magicode/internal/vfs/faultfs"
	"magicode/internal/vfs/memfs"
)

func TestCreateWritesNothing(t *testing.T) {
	m := newMem(t)
	h, err := newStore(t, m).Create(t.Context())
	must(t, err)
	want := []string{".s-1.active.lock", ".s-1.writer.lock"}
	if diff := cmp.Diff(want, names(t, m, dir)); diff != "" {
		t.Error(diff)
	}
	if h.Durable() || h.ID() != sid {
		t.Error("durable without a file")
	}
	if info, err := h.Read(t.Context()); err != nil || info.Lines != 0 {
		t.Errorf("%+v %v", info, err)
	}
	must(t, h.Unchanged(t.Context()), h.Close(), h.Close())
	if got := names(t, m, dir); len(got) != 0 {
		t.Errorf("left %v", got)
	}
	if _, err := h.Append(t.Context(), Required, user("x")); !errors.Is(err, ErrClosed) {
		t.Errorf("append after close: %v", err)
	}
}

// TestRecordForm: the bytes of storage.md 6.1.
func TestRecordForm(t *testing.T) {
	m := newMem(t)
	h, err := newStore(t, m).Create(t.Context())
	must(t, err)
	appendOK(t, h, Required, user("say \"hi\""))
	appendOK(t, h, Ordered, chunk("a"), Event{Kind: "odd kind", Payload: json.RawMessage(`{}`)})
	must(t, h.Close())
	head := func(kind string, n int) string {
		return fmt.Sprintf(`{"event_type":"%s","timestamp":"2027-01-15T08:00:00.%09dZ","session_id":"s-1","cwd":"/srv/project","session_path":"/srv/project","payload":`, kind, n)
	}
	want := head("user_input", 1) + `{"origin":"user","text":"say \"hi\""}}` + "\n" + head("assistant_chunk", 2) + `{"text":"a"}}` + "\n" + head("odd kind", 3) + `{}}` + "\n"
	if diff := cmp.Diff(want, content(t, m, file)); diff != "" {
		t.Error(diff)
	}
	info, _ := m.Lstat(file)
	if info.Mode != 0o600 {
		t.Errorf("mode %v", info.Mode)
	}
	f, ri, err := read(t, m)
	if err != nil || f.String() != "say \"hi\"|a|" || ri.Lines != 3 || ri.Records != 3 || ri.Bytes != int64(len(want)) || ri.Torn || !cmp.Equal(ri.Cwds, []string{cwd}) {
		t.Errorf("%v %+v %v", f, ri, err)
	}
}

// TestSyncs: decision 17, counted.
func TestSyncs(t *testing.T) {
	m := newMem(t)
	ff := faultfs.New(m)
	syncs := func() int { return ff.Count(faultfs.Sync) + ff.Count(faultfs.SyncDir) }
	turn := func(h *Handle) (n int) {
		before := syncs()
		appendOK(t, h, Required, user("question"))
		appendOK(t, h, Ordered, Event{Kind: KindSessionUsage, Payload: map[string]any{"id": "u"}})
		appendOK(t, h, Optional, chunk("ans"), chunk("wer"))
		appendOK(t, h, Required, Event{Kind: KindAssistantOutput, Payload: map[string]any{"text": "answer", "usage": nil}})
		if o, err := h.WriteSidecar(t.Context()); o != Durable || err != nil {
			t.Error(o, err)
		}
		return syncs() - before
	}
	s := NewStore(options(t, ff, 100, procs{}))
	h, err := s.Create(t.Context())
	must(t, err)
	if n := turn(h); n != 3 {
		t.Errorf("first turn: %d syncs", n)
	}
	if n := turn(h); n != 2 {
		t.Errorf("second turn: %d syncs", n)
	}
	must(t, h.Close())
	h, _, err = s.Open(t.Context(), sid)
	must(t, err)
	if n := turn(h); n != 2 {
		t.Errorf("turn of an opened session: %d syncs", n)
	}
	before := syncs()
	appendOK(t, h, Required, Event{Kind: KindToolCall, Payload: map[string]any{"id": "c"}})
	appendOK(t, h, Ordered, Event{Kind: KindToolResult, Payload: map[string]any{"call_id": "c"}})
	if n := syncs() - before; n != 1 {
		t.Errorf("tool call: %d syncs", n)
	}
	if o, err := h.Sync(t.Context()); o != Durable || err != nil || syncs()-before != 2 {
		t.Errorf("sync: %v %v", o, err)
	}
	_, _ = h.Sync(t.Context())
	must(t, h.Close())
	if n := syncs() - before; n != 2 {
		t.Errorf("a sync with nothing to sync: %d", n)
	}
}

func TestOpenErrors(t *testing.T) {
	good := textLine("a")
	for _, c := range []struct {
		name string
		make func(m *memfs.FS)
		want error
	}{
		{"missing", func(m *memfs.FS) {}, ErrMissing},
		{"no folder", func(m *memfs.FS) { _ = m.Remove(dir) }, ErrMissing},
		{"FIFO", func(m *memfs.FS) { _ = m.Mkfifo(file, 0o600) }, ErrInvalid},
		{"link", func(m *memfs.FS) { put(t, m, "/mc/x", good, 0o600); _ = m.Symlink("/mc/x", file) }, ErrInvalid},
		{"dangling link", func(m *memfs.FS) { _ = m.Symlink("/none", file) }, ErrInvalid},
		{"directory", func(m *memfs.FS) { _ = m.Mkdir(file, 0o700) }, ErrInvalid},
		{"hard link", func(m *memfs.FS) { put(t, m, file, good, 0o600); _ = m.Link(file, "/mc/x") }, ErrInvalid},
		{"0644", func(m *memfs.FS) { put(t, m, file, good, 0o644) }, ErrInvalid},
		{"foreign owner", func(m *memfs.FS) { put(t, m, file, good, 0o600); _ = m.Chown(file, 12345) }, ErrInvalid},
		{"0400", func(m *memfs.FS) { put(t, m, file, good, 0o400) }, nil},
		{"empty", func(m *memfs.FS) { put(t, m, file, "", 0o600) }, nil},
		{"open folder", func(m *memfs.FS) { put(t, m, file, good, 0o600); _ = m.Chmod(dir, 0o750) }, ErrInvalid},
		{"malformed", func(m *memfs.FS) { put(t, m, file, good+"x\n", 0o600) }, ErrInvalid},
		{"blank line", func(m *memfs.FS) { put(t, m, file, good+"\n"+good, 0o600) }, ErrInvalid},
		{"NUL in the middle", func(m *memfs.FS) { put(t, m, file, good+"\x00\x00"+good, 0o600) }, ErrInvalid},
		{"glued records", func(m *memfs.FS) { put(t, m, file, strings.TrimSpace(good)+good, 0o600) }, ErrInvalid},
		{"foreign id", func(m *memfs.FS) { put(t, m, file, strings.Replace(good, sid, "other", 1), 0o600) }, ErrInvalid},
		{"foreign id without line end", func(m *memfs.FS) { put(t, m, file, strings.TrimSpace(strings.Replace(good, sid, "other", 1)), 0o600) }, ErrInvalid},
		{"other JSON without line end", func(m *memfs.FS) { put(t, m, file, `{"a":1}`, 0o600) }, ErrInvalid},
		{"lock is a folder", func(m *memfs.FS) { put(t, m, file, good, 0o600); _ = m.Mkdir(dir+"/.s-1.active.lock", 0o700) }, ErrInvalid},
		{"held", func(m *memfs.FS) { put(t, m, file, good, 0o600); put(t, m, dir+"/.s-1.active.lock", "pid=7\n", 0o644) }, ErrBusy},
		{"held by a dead owner", func(m *memfs.FS) { put(t, m, file, good, 0o600); put(t, m, dir+"/.s-1.active.lock", "pid=9\n", 0o644) }, nil},
	} {
		m := newMem(t)
		c.make(m)
		before := content(t, m, file)
		h, _, err := NewStore(options(t, m, 100, procs{9: true})).Open(t.Context(), sid)
		if !errors.Is(err, c.want) {
			t.Errorf("%s: %v", c.name, err)
		}
		if err == nil {
			must(t, h.Close())
		}
		for _, n := range names(t, m, dir) {
			if strings.HasSuffix(n, ".writer.lock") || err == nil && strings.HasSuffix(n, ".lock") {
				t.Errorf("%s: left %s", c.name, n)
			}
		}
		if content(t, m, file) != before {
			t.Errorf("%s: opening wrote", c.name)
		}
	}
	for _, id := range []string{"", "a.b", "../x", "a/b", "é"} {
		if _, _, err := newStore(t, newMem(t)).Open(t.Context(), id); !errors.Is(err, ErrInvalid) {
			t.Errorf("%q: %v", id, err)
		}
	}
}

func TestReadLimits(t *testing.T) {
	quiet := line("session_title", `{}`)
	big := line("session_title", `{"t":"`+strings.Repeat("m", 1<<20)+`"}`)
	fill := func(n int) string { // a file of exactly n bytes
		body := strings.Repeat(big, (n-2000)/len(big))
		rest := n - len(body) - len(line("x", `{"t":""}`))
		return body + line("x", `{"t":"`+strings.Repeat("m", rest)+`"}`)
	}
	for _, c := range []struct {
		name, content string
		want          error
	}{
		{"100,000 lines", strings.Repeat(quiet, MaxLines), nil},
		{"one more", strings.Repeat(quiet, MaxLines+1), ErrLimit},
		{"one more, without line end", strings.Repeat(quiet, MaxLines) + "{", ErrLimit},
		{"one more, the first malformed", "x\n" + strings.Repeat(quiet, MaxLines), ErrLimit},
		{"64 MiB", fill(MaxBytes), nil},
		{"one byte more", fill(MaxBytes + 1), ErrLimit},
	} {
		m := newMem(t)
		put(t, m, file, c.content, 0o600)
		if _, info, err := read(t, m); !errors.Is(err, c.want) || err == nil && info.Bytes != int64(len(c.content)) {
			t.Errorf("%s: %+v %v", c.name, info, err)
		}
	}
}

func TestFoldErrors(t *testing.T) {
	mine := errors.New("fold refuses")
	m := newMem(t)
	put(t, m, file, strings.Repeat(textLine("a"), 5), 0o600)
	bad, other := &texts{fail: mine, after: 2}, &texts{}
	_, info, err := newStore(t, m).Open(t.Context(), sid, bad, other)
	if !errors.Is(err, mine) || info.Records != 5 || len(bad.texts) != 2 || len(other.texts) != 2 {
		t.Errorf("%v %+v %v %v", err, info, bad, other)
	}
	put(t, m, file, strings.Repeat(textLine("a"), 5)+"x\n", 0o600)
	if _, _, err := newStore(t, m).Open(t.Context(), sid, &texts{fail: mine}); !errors.Is(err, ErrInvalid) {
		t.Errorf("a malformed file comes before what a fold says: %v", err)
	}
}

func TestCancellation(t *testing.T) {
	m := newMem(t)
	put(t, m, file, textLine("a"), 0o600)
	cause := errors.New("stop")
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(cause)
	s := newStore(t, m)
	_, _, err := s.Open(ctx, sid)
	_, cerr := s.Create(ctx)
	if !errors.Is(err, cause) || !errors.Is(cerr, cause) {
		t.Errorf("%v %v", err, cerr)
	}
	h, _, err := s.Open(t.Context(), sid)
	must(t, err)
	h.turn <- struct{}{}
	if _, err := h.Append(ctx, Required, user("x")); !errors.Is(err, cause) {
		t.Errorf("append: %v", err)
	}
	h.unlock()
	if _, err := h.Read(ctx); !errors.Is(err, cause) {
		t.Errorf("read: %v", err)
	}
	if err := h.Unchanged(ctx); !errors.Is(err, cause) {
		t.Errorf("unchanged: %v", err)
	}
	if err := h.Unchanged(t.Context()); err != nil {
		t.Errorf("a cancelled check stuck: %v", err)
	}
	must(t, h.Close())
}

func TestFollowSeesAppends(t *testing.T) {
	m := newMem(t)
	put(t, m, file, textLine("a")+textLine("b"), 0o600)
	first := &texts{}
	h, _, err := newStore(t, m).Open(t.Context(), sid, first)
	must(t, err)
	weak := &texts{fail: errors.New("enough"), after: 1}
	h.Follow(weak)
	h.Follow(first)
	appendOK(t, h, Required, chunk("c"), chunk("d"))
	appendOK(t, h, Ordered, chunk("e"))
	must(t, h.Close())
	if first.String() != "a|b|c|d|e" || !cmp.Equal(first.index, []int{0, 1, 2, 3, 4}) || weak.String() != "c" {
		t.Errorf("%v %v %v", first, first.index, weak)
	}
}

// TestSameIDSharesLocks: a failed open keeps the old attachment, a second open
// of the same id needs no lock, and the locks go with the last handle.
func TestSameIDSharesLocks(t *testing.T) {
	m := newMem(t)
	put(t, m, file, textLine("a"), 0o600)
	s := newStore(t, m)
	a, _, err := s.Open(t.Context(), sid)
	must(t, err)
	b, _, err := s.Open(t.Context(), sid)
	must(t, err)
	must(t, a.Close())
	other := NewStore(options(t, m, 200, procs{}))
	if _, _, err := other.Open(t.Context(), sid); !errors.Is(err, ErrBusy) {
		t.Errorf("the session was given away: %v", err)
	}
	if _, err := other.CreateAs(t.Context(), sid); !errors.Is(err, ErrBusy) {
		t.Errorf("the session was given away: %v", err)
	}
	appendOK(t, b, Required, chunk("b"))
	must(t, b.Close())
	if f, _, err := read(t, m); err != nil || f.String() != "a|b" {
		t.Errorf("%v %v", f, err)
	}
}

func TestAppendRefusals(t *testing.T) {
	for _, c := range []struct {
		name   string
		change func(m *memfs.FS)
		want   error
	}{
		{"hard link", func(m *memfs.FS) { must(t, m.Link(file, "/mc/second")) }, ErrInvalid},
		{"0644", func(m *memfs.FS) { must(t, m.Chmod(file, 0o644)) }, ErrInvalid},
		{"open folder", func(m *memfs.FS) { must(t, m.Chmod(dir, 0o755)) }, ErrInvalid},
		{"folder gone", func(m *memfs.FS) { must(t, m.Rename(dir, "/mc/moved")) }, ErrInvalid},
		{"folder is a link", func(m *memfs.FS) { must(t, m.Rename(dir, "/mc/moved"), m.Symlink("moved", dir)) }, ErrInvalid},
		{"folder in its place", func(m *memfs.FS) { must(t, m.Rename(file, file+".moved"), m.Mkdir(file, 0o700)) }, ErrInvalid},
	} {
		m := newMem(t)
		put(t, m, file, textLine("a"), 0o600)
		h, _, err := newStore(t, m).Open(t.Context(), sid)
		must(t, err)
		c.change(m)
		if o, err := h.Append(t.Context(), Required, chunk("b")); o != NotWritten || !errors.Is(err, c.want) {
			t.Errorf("%s: %v %v", c.name, o, err)
		}
		must(t, h.Close())
	}
	m := newMem(t)
	h, err := newStore(t, m).Create(t.Context())
	must(t, err)
	if o, err := h.Append(t.Context(), Required, Event{Kind: "x", Payload: json.RawMessage("{")}); o != NotWritten || !errors.Is(err, ErrPayload) {
		t.Errorf("%v %v", o, err)
	}
	if o, err := h.Append(t.Context(), Required); o != Durable || err != nil || h.Durable() {
		t.Errorf("nothing to append: %v %v", o, err)
	}
	must(t, h.Close())
}

func TestNestedBudgets(t *testing.T) {
	m := newMem(t)
	h, err := newStore(t, m).Create(t.Context())
	must(t, err)
	nested := func(n int) Event {
		return Event{Kind: KindCodeModeToolResult, Payload: map[string]any{"x": strings.Repeat("x ", n/2)}}
	}
	plain := nested(9 << 20)
	plain.Kind = KindToolResult
	if o, err := h.Append(t.Context(), Ordered, nested(8<<20)); o != NotWritten || !errors.Is(err, ErrBudget) {
		t.Errorf("a batch over the budget: %v %v", o, err)
	}
	for range 3 {
		appendOK(t, h, Ordered, plain)
	}
	appendOK(t, h, Ordered, nested(4<<20))
	if o, err := h.Append(t.Context(), Ordered, nested(2<<20)); o != NotWritten || !errors.Is(err, ErrBudget) {
		t.Errorf("a file over the budget: %v %v", o, err)
	}
	must(t, h.Close())
}

// TestRecorded: sessions of the released program open, keep their bytes, and go on.
func TestRecorded(t *testing.T) {
	paths, err := filepath.Glob("testdata/*/*.jsonl")
	if err != nil || len(paths) < 20 {
		t.Fatal(paths, err)
	}
	for _, path := range paths {
		data, err := os.ReadFile(path)
		must(t, err)
		var first struct {
			SessionID string `json:"session_id"`
		}
		line, _, _ := strings.Cut(string(data), "\n")
		must(t, json.Unmarshal([]byte(line), &first))
		id, name := first.SessionID, dir+"/"+first.SessionID+".jsonl"
		m := newMem(t)
		put(t, m, name, string(data), 0o600)
		f := &texts{}
		h, info, err := newStore(t, m).Open(t.Context(), id, f)
		if err != nil {
			t.Errorf("%s: %v", path, err)
			continue
		}
		if info.Lines != strings.Count(string(data), "\n") || info.Torn || content(t, m, name) != string(data) {
			t.Errorf("%s: %+v", path, info)
		}
		checkCanonical(t, path, string(data))
		appendOK(t, h, Required, chunk("more"))
		must(t, h.Close())
		if got := content(t, m, name); !strings.HasPrefix(got, string(data)) || strings.Count(got, "\n") != info.Lines+1 {
			t.Errorf("%s: not continued", path)
		}
	}
}

// checkCanonical: our writer gives the released program's own payload bytes.
func checkCanonical(t *testing.T, path, data string) {
	var l liner
	w := writer{plain: true}
	for line := range strings.Lines(data) {
		rec, err := l.parse([]byte(strings.TrimSpace(line)))
		must(t, err)
		if strings.Contains(path, "home") {
			continue // hand-made, with keys in another order
		}
		got, err := w.value(nil, json.RawMessage(rec.Payload), 0, false)
		if err != nil || string(got) != string(rec.Payload) {
			t.Errorf("%s: %s: %s", path, rec.Kind, cmp.Diff(string(rec.Payload), string(got)))
		}
	}
}

func TestEventIDs(t *testing.T) {
	m := newMem(t)
	put(t, m, dir+"/event-id-sequence", "1000\n", 0o600)
	h, err := newStore(t, m).Create(t.Context())
	must(t, err)
	appendOK(t, h, Required, user("a"), chunk("b"))
	appendOK(t, h, Ordered, chunk("c"))
	if got := content(t, m, dir+"/event-id-sequence"); got != "2024" {
		t.Errorf("sequence %q", got)
	}
	many := make([]Event, 1500)
	for i := range many {
		many[i] = chunk("x")
	}
	appendOK(t, h, Ordered, many...)
	if got := content(t, m, dir+"/event-id-sequence"); got != "4072" {
		t.Errorf("sequence %q", got)
	}
	must(t, h.Close())
	var ids []string
	for line := range strings.Lines(content(t, m, file)) {
		var e struct {
			ID string `json:"event_id"`
		}
		must(t, json.Unmarshal([]byte(line), &e))
		ids = append(ids, e.ID)
	}
	if !cmp.Equal(ids[:4], []string{"3e9", "3ea", "3eb", "7e9"}) || ids[1502] != "dc4" {
		t.Errorf("%v %v", ids[:4], ids[1502])
	}
	if _, err := m.Lstat(dir + "/.event-id-sequence.lock"); err == nil {
		t.Error("the lock stayed")
	}
	put(t, m, dir+"/event-id-sequence", "garbage", 0o600)
	h, _, err = newStore(t, m).Open(t.Context(), sid)
	must(t, err)
	appendOK(t, h, Required, chunk("without"))
	must(t, h.Close())
}

func TestChildStore(t *testing.T) {
	m := newMem(t)
	must(t, m.Mkdir(dir+"/subagents", 0o700))
	put(t, m, dir+"/event-id-sequence", "5", 0o600)
	o := options(t, m, 100, procs{})
	o.Dir, o.Child = dir+"/subagents", true
	h, err := NewStore(o).Create(t.Context())
	must(t, err)
	appendOK(t, h, Required, chunk("a"))
	if diff := cmp.Diff([]string{".s-1.active.lock", "s-1.jsonl"}, names(t, m, o.Dir)); diff != "" {
		t.Error(diff)
	}
	if !strings.Contains(content(t, m, o.Dir+"/s-1.jsonl"), `"event_id":"6"`) {
		t.Error("no id from the parent's sequence")
	}
	must(t, h.Close())
}

// TestAppendsTakeTurns: many writers, one order, one index each.
func TestAppendsTakeTurns(t *testing.T) {
	m := newMem(t)
	h, err := newStore(t, m).Create(t.Context())
	must(t, err)
	f := &texts{}
	h.Follow(f)
	var wg sync.WaitGroup
	for i := range 8 {
		wg.Go(func() {
			for j := range 20 {
				appendOK(t, h, Durability(j%3), chunk(fmt.Sprint(i, " ", j)), chunk("second"))
				if err := h.Unchanged(t.Context()); err != nil {
					t.Error(err)
				}
				_ = h.Durable()
			}
		})
	}
	wg.Wait()
	must(t, h.Close())
	got, info, err := read(t, m)
	if err != nil || info.Records != 320 || got.String() != f.String() || f.index[319] != 319 {
		t.Errorf("%+v %v", info, err)
	}
	for i, s := range got.texts {
		if (i%2 == 1) != (s == "second") {
			t.Fatalf("batches mixed at %d", i)
		}
	}
}

// TestReadOnlyHome: nothing can be written, and that is all.
func TestReadOnlyHome(t *testing.T) {
	m := newMem(t)
	put(t, m, file, textLine("a"), 0o600)
	must(t, m.Chmod(dir, 0o500), m.Chmod(file, 0o400))
	if _, _, err := newStore(t, m).Open(t.Context(), sid); !errors.Is(err, ErrInvalid) || !errors.Is(err, fs.ErrPermission) {
		t.Errorf("%v", err)
	}
}
