package inventory

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"

	"magicode/internal/lease"
	"magicode/internal/session"
	"magicode/internal/vfs"
	"magicode/internal/vfs/memfs"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const root = "/mc"

// The tests' clock: files are made at noon unless they say otherwise.
var noon = time.Date(2026, 6, 15, 12, 0, 0, 0, time.UTC)

// procs: only these processes live.
type procs []int

func (p procs) Alive(pid int) bool         { return slices.Contains(p, pid) }
func (procs) Start(pid int) (string, bool) { return fmt.Sprint(pid), true }

// world is a home in memory.
type world struct {
	*memfs.FS
	Home
	t  *testing.T
	at time.Time
}

func newWorld(t *testing.T) *world {
	w := &world{FS: memfs.New(), t: t, at: noon}
	w.FS.SetClock(func() time.Time { return w.at })
	leases := lease.New(lease.Options{FS: w.FS, PID: 100, Processes: procs{100, 200}})
	t.Cleanup(func() { _ = leases.Close() })
	w.Home = Home{FS: w.FS, Leases: leases, Root: root, UID: -1}
	for _, dir := range []string{"sessions", "sessions/subagents", "state/recovered", "checkpoints/ledgers", "checkpoints/blobs"} {
		w.must(w.MkdirAll(filepath.Join(root, dir), 0o700), w.Chmod(filepath.Join(root, dir), 0o700))
	}
	return w
}

func (w *world) must(errs ...error) {
	w.t.Helper()
	if err := errors.Join(errs...); err != nil {
		w.t.Fatal(err)
	}
}

// put writes a file below the home.
func (w *world) put(name, text string) {
	w.t.Helper()
	path := filepath.Join(root, name)
	w.must(w.MkdirAll(filepath.Dir(path), 0o700), vfs.Replace(w.FS, path, []byte(text), 0o600), w.Chtimes(path, w.at))
}

func line(id, kind string, at time.Time, payload string) string {
	return fmt.Sprintf(`{"event_type":%q,"timestamp":%q,"session_id":%q,"cwd":"/srv/p","session_path":"/srv/p","payload":%s}`+"\n", kind, at.Format(time.RFC3339), id, payload)
}

// session makes a log whose last record is days old.
func (w *world) session(id string, days int) {
	w.t.Helper()
	at := noon.AddDate(0, 0, -days)
	w.put("sessions/"+id+".jsonl", line(id, "user_input", at.Add(-time.Hour), `{"text":"first words of `+id+`"}`)+line(id, "assistant_output", at, `{"text":"hello"}`))
}

// tree lists the files below the home.
func (w *world) tree() []string {
	var out []string
	var walk func(dir string)
	walk = func(dir string) {
		list, err := w.ReadDir(dir)
		w.must(err)
		for _, e := range list {
			path := filepath.Join(dir, e.Name())
			if e.IsDir() {
				walk(path)
				continue
			}
			out = append(out, strings.TrimPrefix(path, root+"/"))
		}
	}
	walk(root)
	return out
}

func (w *world) lock(name string, pid int) {
	w.put("sessions/"+name, fmt.Sprintf("pid=%d\ntoken=%d-1\n", pid, pid))
}

func TestList(t *testing.T) {
	w := newWorld(t)
	w.session("old", 9)
	w.session("new", 1)
	w.session("used", 5)
	w.lock(".used.active.lock", 200)
	w.session("left", 6)
	w.lock(".left.writer.lock", 300) // its process is gone
	w.put("sessions/titled.jsonl", line("titled", "user_input", noon.AddDate(0, 0, -3), `{"text":"x"}`)+line("titled", "session_title", noon.AddDate(0, 0, -2), `{"title":"A \"title\"","provider":"p","model":"m"}`))
	w.put("sessions/bad.jsonl", "no record\n")
	w.put("sessions/torn.jsonl", line("torn", "user_input", noon.AddDate(0, 0, -4), `{"text":"whole"}`)+`{"event_`)
	w.put("sessions/open.jsonl", "")
	w.must(w.Chmod(w.log("open"), 0o644))
	w.put("sessions/no id.jsonl", "")
	w.put("sessions/empty.jsonl", "")
	entries, err := w.List(t.Context())
	w.must(err)
	var got []string
	for _, e := range entries {
		use := ""
		if e.InUse != nil {
			use = fmt.Sprint(" pid ", e.InUse.PID)
		}
		got = append(got, fmt.Sprintf("%s %s %q %q %s %d%s%s", e.ID, e.Latest.Format("01-02"), e.Title, e.FirstInput, e.Workspace, e.UserInputs, use, e.Problem))
	}
	want := []string{
		`bad 06-15 "" ""  0malformed records`,
		`empty 06-15 "" ""  0`,
		`open 06-15 "" ""  0a link, or open to others, or another user's`,
		`new 06-14 "" "first words of new" /srv/p 1`,
		`titled 06-13 "A title" "" /srv/p 1`,
		`torn 06-11 "" "whole" /srv/p 1`,
		`used 06-10 "" "first words of used" /srv/p 1 pid 200`,
		`left 06-09 "" "first words of left" /srv/p 1`,
		`old 06-06 "" "first words of old" /srv/p 1`,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	// Sidecars of what nobody uses and of what is whole, and no other file.
	for _, id := range []string{"old", "new", "left", "titled", "empty", "used", "torn", "bad"} {
		_, ok := session.ReadSidecar(w.FS, root+"/sessions", id)
		if want := !slices.Contains([]string{"used", "torn", "bad"}, id); ok != want {
			t.Errorf("sidecar of %s: %v", id, ok)
		}
	}
}

// TestListUsesSidecars: with a valid one the log is not read again.
func TestListUsesSidecars(t *testing.T) {
	w := newWorld(t)
	w.session("s", 1)
	_, err := w.List(t.Context())
	w.must(err)
	info, err := w.Lstat(w.log("s"))
	w.must(err, session.SaveMeta(w.FS, root+"/sessions", "s", session.Meta{Title: "of the sidecar"}, info))
	entries, err := w.List(t.Context())
	w.must(err)
	if len(entries) != 1 || entries[0].Title != "of the sidecar" {
		t.Errorf("%+v", entries)
	}
	w.session("s", 0) // longer ago than the sidecar knows
	w.must(w.Chtimes(w.log("s"), noon.Add(time.Second)))
	if entries, err = w.List(t.Context()); err != nil || entries[0].Title != "" {
		t.Errorf("a stale sidecar counts: %+v %v", entries, err)
	}
}

func TestListRefusesAnOpenFolder(t *testing.T) {
	w := newWorld(t)
	w.must(w.Chmod(root+"/sessions", 0o755))
	if _, err := w.List(t.Context()); !errors.Is(err, ErrNotPrivate) {
		t.Error(err)
	}
	if entries, err := (Home{FS: w.FS, Leases: w.Leases, Root: "/nowhere", UID: -1}).List(t.Context()); err != nil || len(entries) > 0 {
		t.Error(entries, err)
	}
	ctx, cancel := context.WithCancelCause(t.Context())
	cause := errors.New("stop")
	cancel(cause)
	w.must(w.Chmod(root+"/sessions", 0o700))
	w.session("s", 1)
	if _, err := w.List(ctx); !errors.Is(err, cause) {
		t.Error(err)
	}
}

// full is a home with something of every kind.
func full(t *testing.T) *world {
	w := newWorld(t)
	w.at = noon.AddDate(0, 0, -40)
	w.session("old", 40)
	for _, name := range []string{"old.metadata.json", "old.psm.ndjson", ".history/old/1.jsonl", ".history/old/2.jsonl"} {
		w.put("sessions/"+name, "{}")
	}
	w.put("state/recovered/old-1.torn", "x")
	w.put("state/recovered/old-er-1.torn", "x")
	w.session("used", 40)
	w.lock(".used.active.lock", 200)
	w.session("appending", 40)
	w.lock(".appending.jsonl.lock", 200)
	w.put("sessions/subagents/task.jsonl", line("task", "user_input", w.at, `{"text":"x"}`))
	w.put("sessions/lost.metadata.json", "{}")
	w.put("sessions/.history/gone/1.jsonl", "{}")
	w.must(w.Chtimes(root+"/sessions/.history/gone", w.at))
	shas := make([]string, 4)
	for i := range shas {
		shas[i] = strings.Repeat(fmt.Sprint(i), 64)
		w.put("checkpoints/blobs/"+shas[i], "blob")
	}
	for i, id := range []string{"old", "fresh", "stray"} {
		w.put("checkpoints/ledgers/"+id+".jsonl", `{"event":{"session_id":"`+id+`","pre":null,"post":{"sha256":"`+shas[i]+`"}}}`+"\n")
	}
	w.at = noon
	w.session("fresh", 1)
	w.put("sessions/.history/young/1.jsonl", "{}")
	return w
}

func (w *world) survey() Plan {
	w.t.Helper()
	p, err := w.Survey(w.t.Context(), noon.AddDate(0, 0, -30))
	w.must(err)
	return p
}

func TestSurvey(t *testing.T) {
	w := full(t)
	before := w.tree()
	p := w.survey()
	var got []string
	for _, i := range p.Items {
		got = append(got, string(i.Kind)+" "+i.Path)
	}
	slices.Sort(got)
	want := []string{
		"orphan checkpoints/ledgers/stray.jsonl", "orphan sessions/.history/gone", "orphan sessions/lost.metadata.json",
		"session sessions/appending.jsonl", "session sessions/old.jsonl", "task sessions/subagents/task.jsonl",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]Kept{{"used", "in use"}}, p.Kept); diff != "" {
		t.Error(diff)
	}
	noSidecars := func(names []string) []string {
		return slices.DeleteFunc(names, func(n string) bool { return strings.HasSuffix(n, sidecarSuffix) })
	}
	if diff := cmp.Diff(noSidecars(before), noSidecars(w.tree())); diff != "" {
		t.Errorf("looking changed something: %s", diff)
	}
}

func TestDelete(t *testing.T) {
	w := full(t)
	outcomes := map[string]error{}
	blobs, err := w.Delete(t.Context(), w.survey(), func(i Item, err error) { outcomes[i.ID] = err })
	w.must(err)
	if !errors.Is(outcomes["appending"], ErrInUse) {
		t.Errorf("appending: %v", outcomes["appending"])
	}
	delete(outcomes, "appending")
	for id, err := range outcomes {
		if err != nil {
			t.Errorf("%s: %v", id, err)
		}
	}
	if blobs != 3 { // of old, of stray, and one that nobody named
		t.Errorf("%d blobs", blobs)
	}
	want := []string{
		"checkpoints/blobs/" + strings.Repeat("1", 64),
		"checkpoints/ledgers/fresh.jsonl",
		"sessions/.appending.jsonl.lock",
		"sessions/.history/young/1.jsonl",
		"sessions/.used.active.lock",
		"sessions/appending.jsonl",
		"sessions/appending.metadata.json",
		"sessions/fresh.jsonl",
		"sessions/fresh.metadata.json",
		"sessions/used.jsonl",
		"state/recovered/old-er-1.torn",
	}
	if diff := cmp.Diff(want, w.tree()); diff != "" {
		t.Error(diff)
	}
}

// TestDeleteOnlyWhatWasSurveyed: whatever changed since then stays.
func TestDeleteOnlyWhatWasSurveyed(t *testing.T) {
	for name, c := range map[string]struct {
		change func(w *world)
		want   error
	}{
		"appended":         {func(w *world) { w.session("old", 0) }, ErrChanged},
		"gone":             {func(w *world) { w.must(w.Remove(w.log("old"))) }, ErrChanged},
		"a link":           {func(w *world) { w.must(w.Remove(w.log("old")), w.Symlink(w.log("fresh"), w.log("old"))) }, ErrChanged},
		"taken":            {func(w *world) { w.lock(".old.writer.lock", 200) }, ErrInUse},
		"left by the dead": {func(w *world) { w.lock(".old.writer.lock", 300) }, nil},
	} {
		t.Run(name, func(t *testing.T) {
			w := full(t)
			p := w.survey()
			c.change(w)
			before, berr := vfs.ReadFile(w.FS, w.log("old"), 1<<20, vfs.Follow)
			var got error
			_, err := w.Delete(t.Context(), p, func(i Item, err error) {
				if i.Kind == KindSession && i.ID == "old" {
					got = err
				}
			})
			w.must(err)
			after, aerr := vfs.ReadFile(w.FS, w.log("old"), 1<<20, vfs.Follow)
			if !errors.Is(got, c.want) {
				t.Errorf("%v", got)
			}
			if c.want != nil && (string(before) != string(after) || (berr == nil) != (aerr == nil)) {
				t.Errorf("%q became %q (%v)", before, after, aerr)
			}
			for _, name := range w.tree() {
				if strings.Contains(name, "prune-") {
					t.Errorf("left: %s", name)
				}
			}
		})
	}
}

// TestDeleteGoesOn: a deletion that a crash cut off is finished by the next.
func TestDeleteGoesOn(t *testing.T) {
	w := newWorld(t)
	w.put("sessions/.s.jsonl.prune-1/s.jsonl", "{}\n")
	w.put("sessions/.t.jsonl.prune-1/other", "{}\n")
	var failed []string
	_, err := w.Delete(t.Context(), w.survey(), func(i Item, err error) {
		if err != nil {
			failed = append(failed, i.ID+": "+err.Error())
		}
	})
	w.must(err)
	if diff := cmp.Diff([]string{`t: sessions/.t.jsonl.prune-1 holds a name that is not known: "other"`}, failed); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]string{"sessions/.t.jsonl.prune-1/other"}, w.tree()); diff != "" {
		t.Error(diff)
	}
}

// TestUnreadableLedgerKeepsSnapshots: what cannot be understood may need them.
func TestUnreadableLedgerKeepsSnapshots(t *testing.T) {
	w := full(t)
	w.must(w.Mkfifo(root+"/checkpoints/ledgers/odd.jsonl", 0o600))
	blobs, err := w.Delete(t.Context(), w.survey(), func(Item, error) {})
	if blobs != 0 || err == nil {
		t.Errorf("%d %v", blobs, err)
	}
}

func TestRepairPermissions(t *testing.T) {
	w := full(t)
	loose := map[string]fs.FileMode{
		"sessions": 0o755, "sessions/subagents": 0o770, "sessions/old.jsonl": 0o644, "sessions/fresh.jsonl": 0o400,
		"sessions/.history/old/1.jsonl": 0o640, "sessions/lost.metadata.json": 0o604, "sessions/used.jsonl": 0o066,
		"sessions/.used.active.lock": 0o644,
	}
	for name, mode := range loose {
		w.must(w.Chmod(filepath.Join(root, name), mode))
	}
	want := []Change{
		{"sessions", 0o755, 0o700}, {"sessions/.history/old/1.jsonl", 0o640, 0o600}, {"sessions/lost.metadata.json", 0o604, 0o600},
		{"sessions/old.jsonl", 0o644, 0o600}, {"sessions/subagents", 0o770, 0o700}, {"sessions/used.jsonl", 0o066, 0o600},
	}
	for _, try := range []bool{true, false, false} {
		changes, err := w.RepairPermissions(try)
		if diff := cmp.Diff(want, changes); err != nil || diff != "" {
			t.Errorf("try %v: %v %s", try, err, diff)
		}
		if !try {
			want = nil // the second time there is nothing left
		}
	}
	for name, mode := range map[string]fs.FileMode{"sessions": 0o700, "sessions/old.jsonl": 0o600, "sessions/fresh.jsonl": 0o400, "sessions/.used.active.lock": 0o644} {
		if info, err := w.Lstat(filepath.Join(root, name)); err != nil || info.Mode.Perm() != mode {
			t.Errorf("%s: %v %v", name, info.Mode, err)
		}
	}
}

// TestRepairRefuses: one thing that does not belong there, and nothing changes.
func TestRepairRefuses(t *testing.T) {
	for name, c := range map[string]struct {
		make func(w *world)
		want string
	}{
		"unknown name":   {func(w *world) { w.put("sessions/notes.txt", "") }, "not a name that belongs there"},
		"unknown folder": {func(w *world) { w.put("sessions/more/s.jsonl", "") }, "not a name that belongs there"},
		"bad id":         {func(w *world) { w.put("sessions/a b.jsonl", "") }, "not a name that belongs there"},
		"deep":           {func(w *world) { w.put("sessions/.history/s/x.jsonl", "") }, "not a name that belongs there"},
		"link":           {func(w *world) { w.must(w.Symlink("/etc/passwd", root+"/sessions/l.jsonl")) }, "a link or special file"},
		"link to a folder": {func(w *world) {
			w.must(w.Mkdir(root+"/sessions/.history", 0o700), w.Chown(root+"/sessions/.history", 1000), w.Symlink("/", root+"/sessions/.history/l"))
		}, "a link or special file"},
		"FIFO":             {func(w *world) { w.must(w.Mkfifo(root+"/sessions/f.jsonl", 0o600)) }, "a link or special file"},
		"hard link":        {func(w *world) { w.must(w.Link(w.log("fresh"), "/elsewhere")) }, "has a second name (hard link)"},
		"another owner":    {func(w *world) { w.UID = 1000; w.must(w.Chown(w.log("fresh"), 7)) }, "owned by another user"},
		"a file as folder": {func(w *world) { w.must(w.Remove(root + "/sessions/subagents")); w.put("sessions/subagents", "") }, "not a name that belongs there"},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			w.session("fresh", 1)
			w.session("loose", 1)
			w.must(w.Chmod(w.log("loose"), 0o644))
			for _, path := range []string{"", "/subagents", "/loose.jsonl", "/fresh.jsonl"} {
				w.must(w.Chown(root+"/sessions"+path, 1000))
			}
			c.make(w)
			changes, err := w.RepairPermissions(false)
			var layout *LayoutError
			if !errors.As(err, &layout) || changes != nil || len(layout.Found) != 1 || !strings.HasSuffix(layout.Found[0], ": "+c.want) {
				t.Errorf("%v %v", changes, err)
			}
			if info, _ := w.Lstat(w.log("loose")); info.Mode.Perm() != 0o644 {
				t.Error("changed all the same")
			}
		})
	}
}

// TestRepairWhileASessionWrites: the locks of a session may be names of one file.
func TestRepairWhileASessionWrites(t *testing.T) {
	w := newWorld(t)
	w.put("sessions/.s.active.lock", "")
	w.must(w.Link(root+"/sessions/.s.active.lock", root+"/sessions/.s.jsonl.lock"))
	if changes, err := w.RepairPermissions(true); err != nil || changes != nil {
		t.Errorf("%v %v", changes, err)
	}
}

// TestKnownNames: everything that this program or the released one puts there.
func TestKnownNames(t *testing.T) {
	w := newWorld(t)
	for _, name := range []string{
		"s.jsonl", "s.metadata.json", ".s.writer.lock", ".s.active.lock", ".s.jsonl.lock", "..s.writer.lock.recovery", ".s.jsonl.compact-12-3",
		".history/s/1.jsonl", ".history/s/.2.jsonl.compact-tmp", ".s.metadata.json.12.345.tmp", ".s.jsonl.prune-1/s.jsonl", "event-id-sequence",
		".event-id-sequence.lock", ".event-id-sequence.1.2.tmp", "s.psm.ndjson", "s.psm.status.json", "summaries/anything", "subagents/c.jsonl", "subagents/.history/c/1.jsonl",
	} {
		w.put("sessions/"+name, "")
	}
	if changes, err := w.RepairPermissions(true); err != nil || changes != nil {
		t.Errorf("%v %v", changes, err)
	}
}
