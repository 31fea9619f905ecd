package attach

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"magicode/internal/lease"
	"magicode/internal/provider"
	"magicode/internal/session"
	"magicode/internal/vfs"
	"magicode/internal/vfs/memfs"
)

// rig is a service on the real store in a memory file system.
type rig struct {
	t   *testing.T
	fs  *memfs.FS
	svc *Service
}

const sessionsDir = "/home/sessions"

// newRig makes a home whose workspace is cwd.
func newRig(t *testing.T, cwd string) *rig {
	t.Helper()
	m := memfs.New()
	for _, d := range []string{cwd, "/home/state/recovered"} {
		if err := m.MkdirAll(d, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if err := m.Mkdir(sessionsDir, 0o700); err != nil {
		t.Fatal(err)
	}
	return &rig{t, m, child(t, m, cwd)}
}

// child is another child on the same home.
func child(t *testing.T, m *memfs.FS, cwd string) *Service {
	t.Helper()
	leases := lease.New(lease.Options{FS: m})
	n := 0
	newID := func() string { n++; return fmt.Sprintf("00000000-0000-4000-8000-%012d", n) }
	store := session.NewStore(session.Options{FS: m, Leases: leases, Dir: sessionsDir, RecoveredDir: "/home/state/recovered",
		Cwd: cwd, SessionPath: func() string { return cwd }, NewID: newID, Now: time.Now})
	s := New(Options{Store: store, FS: m, Cwd: cwd, Startup: startup, NewID: newID,
		Models: fakeModels{ready: map[string]bool{"synthetic": true}, offers: map[string]bool{"synthetic/synthetic-large": true}}})
	t.Cleanup(func() {
		if err := errors.Join(s.Close(), leases.Close()); err != nil {
			t.Error(err)
		}
	})
	return s
}

func (r *rig) path(id string) string { return filepath.Join(sessionsDir, id+".jsonl") }

func (r *rig) write(id, content string) {
	r.t.Helper()
	if err := vfs.Replace(r.fs, r.path(id), []byte(content), 0o600); err != nil {
		r.t.Fatal(err)
	}
}

func (r *rig) content(id string) string {
	r.t.Helper()
	data, err := vfs.ReadFile(r.fs, r.path(id), 1<<26)
	if err != nil {
		r.t.Fatal(err)
	}
	return string(data)
}

func (r *rig) append(a *Attachment, kind session.Kind, payload string) {
	r.t.Helper()
	out, err := a.Handle().Append(r.t.Context(), session.Required, session.Event{Kind: kind, Payload: json.RawMessage(payload)})
	if err != nil || !out.OK() {
		r.t.Fatalf("%s: %v %v", kind, out, err)
	}
}

func line(id, cwd, kind, payload string) string {
	return fmt.Sprintf(`{"event_type":"%s","timestamp":"2026-01-02T03:04:05Z","session_id":"%s","cwd":"%s","session_path":null,"payload":%s}`+"\n", kind, id, cwd, payload)
}

type shownEntry struct {
	Kind    string `json:"kind"`
	Text    string `json:"text"`
	Partial bool   `json:"partial"`
}

// history pages through the attached session's history.
func (r *rig) history() (all []shownEntry, complete bool) {
	r.t.Helper()
	a, cursor := r.svc.Current(), ""
	for {
		raw, err := r.svc.Page(r.t.Context(), nil, a.ID(), a.Revision(), cursor)
		if err != nil {
			r.t.Fatal(err)
		}
		var p struct {
			Complete bool
			Entries  []struct {
				shownEntry
				Part int
			}
			Next *string `json:"next_cursor"`
		}
		if err := json.Unmarshal(raw, &p); err != nil {
			r.t.Fatal(err)
		}
		for _, e := range p.Entries {
			if e.Part > 0 {
				all[len(all)-1].Text += e.Text
				continue
			}
			all = append(all, e.shownEntry)
		}
		if p.Next == nil {
			return all, p.Complete
		}
		cursor = *p.Next
	}
}

// TestSyntheticHomeOpens: notices, durability, completeness and entries of the
// sample home, through the real store.
func TestSyntheticHomeOpens(t *testing.T) {
	raw, err := os.ReadFile("../history/testdata/synthetic/history.json")
	if err != nil {
		t.Fatal(err)
	}
	all := map[string]json.RawMessage{}
	if err := json.Unmarshal(raw, &all); err != nil {
		t.Fatal(err)
	}
	delete(all, "_note")
	for id, raw := range all {
		var want struct {
			Complete, Durable bool
			Entries           []shownEntry
			Notices           []string
		}
		if err := json.Unmarshal(raw, &want); err != nil {
			t.Fatal(err)
		}
		data, err := os.ReadFile("../history/testdata/synthetic/" + id + ".jsonl")
		if err != nil {
			t.Fatal(err)
		}
		r := newRig(t, "/tmp/magi-synthetic-project")
		r.write(id, string(data))
		a, err := r.svc.Open(t.Context(), id)
		if err != nil {
			t.Errorf("%s: %v", id, err)
			continue
		}
		got, complete := r.history()
		if d := cmp.Diff(want.Entries, got) + cmp.Diff(want.Notices, a.Notices()); d != "" || complete != want.Complete || a.Durable() != want.Durable {
			t.Errorf("%s: complete %v, durable %v, %s", id, complete, a.Durable(), d)
		}
		if r.content(id) != string(data) {
			t.Errorf("%s: opening wrote to the file", id)
		}
		if id == "6a0e5a7e-3d52-4c0e-9a53-8a6b5c1f0001" {
			if sel := a.Selection(); sel != (provider.Selection{Provider: "synthetic", Model: "synthetic-large", Level: "high"}) {
				t.Errorf("selection %+v", sel)
			}
			if a.Title() != "Demo file" || a.Prompts() != 3 || !a.TerminalRecorded() {
				t.Errorf("title %q, %d prompts", a.Title(), a.Prompts())
			}
		}
	}
}

// TestRecordedSessionsOpen: the sessions that the released program wrote.
func TestRecordedSessionsOpen(t *testing.T) {
	files, err := filepath.Glob("../history/testdata/sessions/*.jsonl")
	if err != nil || len(files) == 0 {
		t.Fatal(err)
	}
	for _, f := range files {
		var want struct {
			ID   string `json:"session_id"`
			Open struct {
				Durable bool
				Notices []string
			}
			Complete bool
			Entries  []shownEntry
		}
		raw, err := os.ReadFile(strings.TrimSuffix(f, ".jsonl") + ".expected.json")
		if err != nil {
			t.Fatal(err)
		}
		if err := json.Unmarshal(raw, &want); err != nil {
			t.Fatal(err)
		}
		data, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		r := newRig(t, "/srv/work")
		r.write(want.ID, strings.NewReplacer("@CWD@", "/srv/work", "@MC_HOME@", "/home", "@ROOT@", "/").Replace(string(data)))
		a, err := r.svc.Open(t.Context(), want.ID)
		if err != nil {
			t.Errorf("%s: %v", f, err)
			continue
		}
		got, complete := r.history()
		if d := cmp.Diff(want.Entries, got) + cmp.Diff(want.Open.Notices, a.Notices()); d != "" || complete != want.Complete || a.Durable() != want.Open.Durable {
			t.Errorf("%s: complete %v, %s", f, complete, d)
		}
	}
}

func TestLifeOfASession(t *testing.T) {
	r := newRig(t, "/w")
	a, err := r.svc.Create(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := r.fs.Stat(r.path(a.ID())); err == nil || a.Durable() {
		t.Error("a created session has a file")
	}
	r.append(a, session.KindUserInput, `{"origin":"user","text":"Q"}`)
	id, _, err := a.InputSnapshot(t.Context())
	if err != nil || id == "" || !a.Durable() || a.TerminalRecorded() {
		t.Fatalf("%q, %v", id, err)
	}
	r.append(a, session.KindAssistantOutput, `{"text":"A","usage":null}`)
	revision, err := a.Refresh(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	live, complete := r.history()
	if len(live) != 2 || !complete || a.Revision() != revision {
		t.Errorf("%v", live)
	}
	second := child(t, r.fs, "/w")
	if _, err := second.Open(t.Context(), a.ID()); !errors.Is(err, ErrBusy) {
		t.Errorf("two owners: %v", err)
	}
	if err := r.svc.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := second.Open(t.Context(), a.ID()); err != nil {
		t.Fatal(err)
	}
	fresh, _ := (&rig{t, r.fs, second}).history()
	if d := cmp.Diff(live, fresh); d != "" {
		t.Errorf("after a relaunch (-live +read):\n%s", d)
	}
}

func TestOpenErrors(t *testing.T) {
	r := newRig(t, "/w")
	r.write("junk", "not json\nmore\n")
	r.write("foreign", line("other", "/w", "user_input", `{"text":"Q"}`))
	r.write("elsewhere", line("elsewhere", "/home", "user_input", `{"text":"Q"}`))
	r.write("wrong", line("wrong", "/w", "user_input", `{"text":1}`))
	r.write("wrong-and-elsewhere", line("wrong-and-elsewhere", "/home", "user_input", `{"text":1}`))
	r.write("lines", strings.Repeat(line("lines", "/w", "session_title", `{}`), 100_001))
	r.write("open", line("open", "/w", "user_input", `{"text":"Q"}`))
	if err := r.fs.Chmod(r.path("open"), 0o644); err != nil {
		t.Fatal(err)
	}
	for id, want := range map[string]error{
		"missing": ErrMissing, "junk": ErrInvalid, "foreign": ErrInvalid, "elsewhere": ErrCwdMismatch, "wrong": ErrInvalid,
		"wrong-and-elsewhere": ErrCwdMismatch, "lines": ErrLimit, "open": ErrInvalid,
	} {
		if _, err := r.svc.Open(t.Context(), id); !errors.Is(err, want) || r.svc.Current() != nil {
			t.Errorf("%s: %v, want %v", id, err, want)
		}
		if _, err := r.fs.Lstat(filepath.Join(sessionsDir, "."+id+".writer.lock")); err == nil {
			t.Errorf("%s: a failed open left its lock", id)
		}
	}
}

func TestTornTailOpens(t *testing.T) {
	r := newRig(t, "/w")
	whole := line("s", "/w", "user_input", `{"text":"Q"}`) + line("s", "/w", "assistant_output", `{"text":"A"}`)
	r.write("s", whole+`{"event_type":"assist`)
	a, err := r.svc.Open(t.Context(), "s")
	if err != nil || len(a.Notices()) != 0 {
		t.Fatal(err)
	}
	got, complete := r.history()
	if len(got) != 3 || got[2].Kind != "diagnostic" || complete {
		t.Errorf("complete %v: %v", complete, got)
	}
	r.append(a, session.KindUserInput, `{"text":"R"}`)
	r.append(a, session.KindAssistantOutput, `{"text":"B"}`)
	if _, err := a.Refresh(t.Context()); err != nil {
		t.Fatal(err)
	}
	live, liveComplete := r.history()
	if len(live) != 5 || live[2].Kind != "diagnostic" || !liveComplete {
		t.Errorf("complete %v: %v", liveComplete, live)
	}
	if err := r.svc.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := r.svc.Open(t.Context(), "s"); err != nil {
		t.Fatal(err)
	}
	read, _ := r.history()
	if d := cmp.Diff(live, read); d != "" {
		t.Errorf("-live +read:\n%s", d)
	}
}

// TestContentCounts: names and times do not make a snapshot stale, content does.
func TestContentCounts(t *testing.T) {
	r := newRig(t, "/w")
	text := line("s", "/w", "user_input", `{"text":"Q"}`) + line("s", "/w", "assistant_output", `{"text":"A"}`)
	r.write("s", text)
	a, err := r.svc.Open(t.Context(), "s")
	if err != nil {
		t.Fatal(err)
	}
	if err := r.fs.Chtimes(r.path("s"), time.Unix(1, 0)); err != nil {
		t.Fatal(err)
	}
	if err := a.Check(t.Context()); err != nil {
		t.Errorf("touched: %v", err)
	}
	r.write("s", text)
	if err := a.Check(t.Context()); err != nil {
		t.Errorf("replaced by the same: %v", err)
	}
	r.write("s", strings.Replace(text, `"A"`, `"B"`, 1))
	if err := a.Check(t.Context()); !errors.Is(err, ErrStale) {
		t.Errorf("changed: %v", err)
	}
	r.write("s", text)
	if err := a.Check(t.Context()); !errors.Is(err, ErrStale) {
		t.Errorf("changed back: %v", err)
	}
	if _, err := r.svc.Open(t.Context(), "s"); err != nil {
		t.Fatal(err)
	}
	if got, _ := r.history(); len(got) != 2 {
		t.Errorf("%v", got)
	}
}

// TestLostTerminalRecord: when the end of a run could not be stored, the file
// decides what the history is: one that is gone gives no revision.
func TestLostTerminalRecord(t *testing.T) {
	r := newRig(t, "/w")
	a, err := r.svc.Create(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	r.append(a, session.KindUserInput, `{"text":"Q"}`)
	if _, err := a.Refresh(t.Context()); err != nil {
		t.Errorf("without a terminal record: %v", err)
	}
	if err := r.fs.Rename(r.path(a.ID()), "/home/moved"); err != nil {
		t.Fatal(err)
	}
	if err := r.fs.Mkdir(r.path(a.ID()), 0o700); err != nil {
		t.Fatal(err)
	}
	if _, err := a.Handle().Append(t.Context(), session.Required, session.Event{Kind: session.KindAssistantOutput, Payload: json.RawMessage(`{"text":"A"}`)}); err == nil {
		t.Fatal("appended to a folder")
	}
	if rev, err := a.Refresh(t.Context()); !errors.Is(err, ErrInvalid) || rev != "" {
		t.Errorf("%q, %v", rev, err)
	}
	if _, err := r.svc.Page(t.Context(), nil, a.ID(), a.Revision(), ""); !errors.Is(err, ErrStale) {
		t.Errorf("the old snapshot: %v", err)
	}
}

// TestReplacedDuringARun: a handle that knows the file changed makes Refresh
// read it.
func TestReplacedDuringARun(t *testing.T) {
	r := newRig(t, "/w")
	a, err := r.svc.Create(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	r.append(a, session.KindUserInput, `{"text":"Q"}`)
	r.write(a.ID(), r.content(a.ID())+line(a.ID(), "/w", "diagnostic", `{"message":"from outside"}`))
	r.append(a, session.KindAssistantOutput, `{"text":"A"}`)
	if _, err := a.Refresh(t.Context()); err != nil {
		t.Fatal(err)
	}
	got, complete := r.history()
	want := []shownEntry{{"user", "Q", false}, {"diagnostic", "from outside", false}, {"assistant", "A", false}}
	if d := cmp.Diff(want, got); d != "" || !complete {
		t.Errorf("complete %v:\n%s", complete, d)
	}
}

// TestLostDuringARun: a turn whose records somebody took away is not durable,
// even if its end was stored. The next one is.
func TestLostDuringARun(t *testing.T) {
	for name, c := range map[string]struct {
		change   func(whole string) string
		terminal bool
	}{
		"removed": {func(string) string { return "" }, false},
		"emptied": {func(string) string { return "" }, false},
		"cut":     {func(whole string) string { return whole[:len(whole)-9] }, false},
		"other":   {func(whole string) string { return strings.Replace(whole, "Q", "q", 1) }, true},
		"longer":  {func(whole string) string { return whole + whole[strings.LastIndex(whole[:len(whole)-1], "\n")+1:] }, true},
	} {
		r := newRig(t, "/w")
		a, err := r.svc.Create(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		r.append(a, session.KindUserInput, `{"text":"Q"}`)
		r.append(a, session.KindAssistantChunk, `{"text":"A"}`)
		r.write(a.ID(), c.change(r.content(a.ID())))
		if name == "removed" {
			if err := r.fs.Remove(r.path(a.ID())); err != nil {
				t.Fatal(err)
			}
		}
		r.append(a, session.KindAssistantOutput, `{"text":"A"}`)
		if got := a.TerminalRecorded(); got != c.terminal {
			t.Errorf("%s: terminal recorded: %v", name, got)
		}
		if _, err := a.Refresh(t.Context()); err != nil || a.TerminalRecorded() != c.terminal {
			t.Errorf("%s: refresh: %v", name, err)
		}
		r.append(a, session.KindUserInput, `{"text":"next"}`)
		r.append(a, session.KindAssistantOutput, `{"text":"B"}`)
		if _, err := a.Refresh(t.Context()); err != nil || !a.TerminalRecorded() || a.Check(t.Context()) != nil {
			t.Errorf("%s: the next turn: %v", name, err)
		}
	}
}

// TestCompaction: the folds follow the log into its new file, also when nobody
// told the attachment.
func TestCompaction(t *testing.T) {
	for _, told := range []bool{true, false} {
		r := newRig(t, "/w")
		a, err := r.svc.Create(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		r.append(a, session.KindUserInput, `{"text":"Q"}`)
		r.append(a, session.KindAssistantOutput, `{"text":"A"}`)
		r.append(a, session.KindUserInput, `{"text":"R"}`)
		rot, err := a.Handle().BeginRotation(t.Context(), 1)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := rot.Commit(t.Context(), json.RawMessage(`{"summary":"S","aggregate":{"user_input_count":1}}`)); err != nil {
			t.Fatal(err)
		}
		if told {
			if err := a.Rebase(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
		r.append(a, session.KindAssistantOutput, `{"text":"B"}`)
		if _, err := a.Refresh(t.Context()); err != nil {
			t.Fatal(err)
		}
		got, complete := r.history()
		want := []shownEntry{{"compaction", "S", false}, {"user", "R", false}, {"assistant", "B", false}}
		if d := cmp.Diff(want, got); d != "" || !complete || a.Prompts() != 2 || !a.TerminalRecorded() {
			t.Errorf("told %v: complete %v, %d prompts:\n%s", told, complete, a.Prompts(), d)
		}
	}
}

// TestRefreshReadsNothing: a turn costs what its records cost.
func TestRefreshReadsNothing(t *testing.T) {
	r := newRig(t, "/w")
	a, err := r.svc.Create(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	r.append(a, session.KindUserInput, `{"text":"Q"}`)
	r.append(a, session.KindAssistantOutput, `{"text":"A"}`)
	ended, end := context.WithCancel(t.Context())
	end()
	if _, err := a.Refresh(ended); err != nil {
		t.Errorf("a refresh looked at the file: %v", err)
	}
}

// TestAppendsFromOthers: a title may be stored while the attachment is looked
// at (the race detector judges).
func TestAppendsFromOthers(t *testing.T) {
	r := newRig(t, "/w")
	a, err := r.svc.Create(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	r.append(a, session.KindUserInput, `{"text":"Q"}`)
	var wg sync.WaitGroup
	wg.Go(func() {
		for range 20 {
			if _, err := a.Handle().Append(t.Context(), session.Ordered, session.Event{Kind: session.KindSessionTitle, Payload: json.RawMessage(`{"title":"T"}`)}); err != nil {
				t.Error(err)
			}
		}
	})
	for range 20 {
		if _, _, err := a.InputSnapshot(t.Context()); err != nil || a.Prompts() != 1 || a.TerminalRecorded() || a.Scope() != nil {
			t.Errorf("%v", err)
		}
	}
	wg.Wait()
	if a.Title() != "T" {
		t.Errorf("title %q", a.Title())
	}
}
