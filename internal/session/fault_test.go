package session

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"magicode/internal/vfs"
	"magicode/internal/vfs/faultfs"
	"magicode/internal/vfs/memfs"
)

// promise is what an append said about its record.
type promise struct {
	text    string
	outcome Outcome
	synced  bool // a later Required or Sync covered it
}

// run is one scenario in progress.
type run struct {
	t       *testing.T
	s       *Store
	h       *Handle
	said    []promise
	rotated bool // the checkpoint may be in force
}

func (r *run) append(d Durability, texts ...string) {
	if r.h == nil {
		return
	}
	var evs []Event
	for _, s := range texts {
		evs = append(evs, chunk(s))
	}
	o, err := r.h.Append(context.Background(), d, evs...)
	if o.OK() != (err == nil) {
		r.t.Errorf("outcome %d with %v", o, err)
	}
	for _, s := range texts {
		r.said = append(r.said, promise{text: s, outcome: o})
	}
	if d == Required && o == Durable {
		r.covered()
	}
}

// covered marks what a successful sync has made safe.
func (r *run) covered() {
	for i := range r.said {
		r.said[i].synced = r.said[i].synced || r.said[i].outcome == Durable
	}
}

func (r *run) sync() {
	if r.h == nil {
		return
	}
	if o, err := r.h.Sync(context.Background()); o == Durable && err == nil {
		r.covered()
	}
}

func (r *run) open() {
	h, _, err := r.s.Open(context.Background(), sid)
	if err == nil {
		r.h = h
	}
}

func (r *run) create() {
	h, err := r.s.Create(context.Background())
	if err == nil {
		r.h = h
	}
}

func (r *run) close() {
	if r.h != nil {
		_ = r.h.Close()
	}
}

func (r *run) rotate() {
	if r.h == nil {
		return
	}
	rot, err := r.h.BeginRotation(context.Background(), 1)
	if err != nil {
		return
	}
	r.append(Ordered, "meanwhile")
	o, err := rot.Commit(context.Background(), checkpoint)
	r.rotated = o != NotWritten
	if o == Durable {
		r.covered()
	}
	if o.OK() != (err == nil) {
		r.t.Errorf("rotation: outcome %d with %v", o, err)
	}
}

// scenario is a fixture, which is on disk, and what is done to it.
type scenario struct {
	name  string
	setup func(t *testing.T, m *memfs.FS)
	old   []string // the texts of the fixture
	do    func(r *run)
}

func scenarios() []scenario {
	three := textLine("o1") + textLine("o2") + textLine("o3")
	write := func(content string) func(*testing.T, *memfs.FS) {
		return func(t *testing.T, m *memfs.FS) { put(t, m, file, content, 0o600) }
	}
	turn := func(r *run) {
		r.append(Required, "n1")
		r.append(Ordered, "n2")
		r.append(Optional, "n3", "n4")
		r.append(Required, "n5")
		r.append(Ordered, "n6")
		if r.h != nil {
			_, _ = r.h.WriteSidecar(context.Background())
			_ = r.h.Unchanged(context.Background())
		}
		r.sync()
		r.close()
	}
	opened := func(r *run) { r.open(); turn(r) }
	old := []string{"o1", "o2", "o3"}
	return []scenario{
		{"create", func(*testing.T, *memfs.FS) {}, nil, func(r *run) { r.create(); turn(r) }},
		{"first append not required", func(*testing.T, *memfs.FS) {}, nil, func(r *run) { r.create(); r.append(Ordered, "n1"); r.append(Required, "n2"); r.close() }},
		{"open", write(three), old, opened},
		{"no line end", write(strings.TrimSuffix(three, "\n")), old, opened},
		{"torn", write(three + `{"event_type":"assis`), old, opened},
		{"NUL tail", write(three + "\x00\x00\x00"), old, opened},
		{"event ids", func(t *testing.T, m *memfs.FS) { write(three)(t, m); put(t, m, dir+"/event-id-sequence", "7", 0o600) }, old, opened},
		{"dead owner", func(t *testing.T, m *memfs.FS) {
			write(three)(t, m)
			for _, n := range []string{"writer", "active", "jsonl"} {
				put(t, m, dir+"/.s-1."+n+".lock", "pid=9\n", 0o644)
			}
			put(t, m, dir+"/..s-1.writer.lock.recovery", "pid=9\n", 0o644)
		}, old, opened},
		{"rotate", write(three), old, func(r *run) { r.open(); r.append(Required, "n1"); r.rotate(); r.append(Required, "n2"); r.close() }},
		{"rotate torn", write(three + "{"), old, func(r *run) { r.open(); r.rotate(); r.append(Required, "n2"); r.close() }},
		{"reload", write(three), old, func(r *run) {
			r.open()
			if r.h != nil {
				_, _ = r.h.Read(context.Background())
				_, _ = r.h.Reload(context.Background())
			}
			r.append(Required, "n1")
			r.close()
		}},
	}
}

// long asks for the full matrix: MAGI_TORTURE=1.
func long() bool { return os.Getenv("MAGI_TORTURE") != "" }

// crashes are the kinds of crash after fault n: all of them in the long form,
// one after the other in the short one.
func crashes(n int) []memfs.Mode {
	modes := memfs.Modes()
	if long() || n < 0 {
		return modes
	}
	return modes[n%len(modes) : n%len(modes)+1]
}

// TestFaultMatrix spoils every single file operation of every scenario, in
// every way, and looks at what is left after every kind of crash: what was
// called durable is there, the rest told the truth, the session opens and goes
// on. It runs the product's own code on a file system that forgets.
func TestFaultMatrix(t *testing.T) {
	effects := []faultfs.Effect{faultfs.Fail, faultfs.Shorten, faultfs.Late, faultfs.PowerCut}
	causes := []error{syscall.EIO}
	if long() {
		causes = append(causes, syscall.ENOSPC, syscall.EDQUOT, syscall.EROFS, syscall.EFBIG)
	}
	total, checks := 0, 0
	for _, sc := range scenarios() {
		faults := 0
		for _, effect := range effects {
			for i, cause := range causes {
				if i > 0 && effect != faultfs.Fail && effect != faultfs.Shorten {
					continue
				}
				for n, hit := -1, true; hit; n++ {
					for _, mode := range crashes(n) {
						synctest.Test(t, func(t *testing.T) { hit = spoil(t, sc, faultfs.Fault{N: n, Effect: effect, Err: cause}, mode) })
						checks++
					}
					if hit && n >= 0 {
						faults++
					}
				}
			}
		}
		t.Logf("%-26s %5d faults", sc.name, faults)
		total += faults
	}
	t.Logf("%d faults injected, %d crashes looked at, nothing lost", total, checks)
}

// TestDyingDisk fails every operation of one kind from the n-th on: a full
// disk, a quota, a read-only remount.
func TestDyingDisk(t *testing.T) {
	faults := 0
	for _, sc := range scenarios() {
		for _, op := range []faultfs.Op{faultfs.Write, faultfs.Sync, faultfs.SyncDir, faultfs.Truncate, faultfs.Rename, faultfs.Open} {
			for n, hit := -1, true; hit; n++ {
				for _, mode := range crashes(n) {
					synctest.Test(t, func(t *testing.T) {
						hit = spoil(t, sc, faultfs.Fault{N: n, Op: op, Effect: faultfs.FailFrom, Err: syscall.ENOSPC}, mode)
					})
				}
				if hit && n >= 0 {
					faults++
				}
			}
		}
	}
	t.Logf("%d faults injected, nothing lost", faults)
}

// spoil runs one scenario with one fault and one crash. It reports whether the
// fault was reached; number -1 is the run without one.
func spoil(t *testing.T, sc scenario, fault faultfs.Fault, mode memfs.Mode) bool {
	m := newMem(t)
	sc.setup(t, m)
	m.SyncAll()
	ff := faultfs.New(m)
	r := &run{t: t, s: NewStore(options(t, ff, 100, procs{9: true}))}
	ff.Inject(fault)
	sc.do(r)
	call, hit := ff.Hit()
	ff.Heal()
	if !hit && fault.N >= 0 {
		return false
	}
	m.Crash(mode)
	time.Sleep(6 * time.Second) // a lock file whose content was lost is old enough then
	where := fmt.Sprintf("%s: %v at %v (operation %d), %v", sc.name, fault.Effect, call, fault.N, mode)
	r.check(m, sc, mode, where)
	return true
}

// check looks at the disk as the next process finds it.
func (r *run) check(m *memfs.FS, sc scenario, mode memfs.Mode, where string) {
	t := r.t
	got := &texts{}
	s := NewStore(options(t, m, 200, procs{9: true, 100: true}))
	h, info, err := s.Open(context.Background(), sid, got)
	if errors.Is(err, ErrMissing) {
		if len(sc.old) > 0 || r.anySafe() {
			t.Errorf("%s: the session is gone", where)
		}
		return
	}
	if err != nil {
		t.Errorf("%s: unopenable: %v\n%q", where, err, content(t, m, file))
		return
	}
	r.compare(got, mode, sc.old, where, archived(t, m))
	if o, err := h.Append(context.Background(), Required, chunk("after")); o != Durable {
		t.Errorf("%s: does not go on: %v", where, err)
	}
	must(t, h.Close())
	m.Crash(memfs.Lose)
	time.Sleep(6 * time.Second)
	again := &texts{}
	h, info2, err := NewStore(options(t, m, 300, procs{9: true, 100: true, 200: true})).Open(context.Background(), sid, again)
	if err != nil {
		t.Fatalf("%s: unopenable after going on: %v", where, err)
	}
	must(t, h.Close())
	if n := len(again.texts); info2.Torn || n == 0 || again.texts[n-1] != "after" {
		t.Errorf("%s: %v then %v %+v", where, got, again, info2)
	}
	if info.Torn && len(names(t, m, "/mc/state/recovered")) == 0 {
		t.Errorf("%s: torn bytes were thrown away", where)
	}
}

func (r *run) anySafe() bool {
	for _, p := range r.said {
		if p.synced {
			return true
		}
	}
	return false
}

// archived returns all logs that a rotation has put away.
func archived(t *testing.T, m *memfs.FS) string {
	var all strings.Builder
	for _, n := range names(t, m, dir+"/.history/s-1") {
		data, err := vfs.ReadFile(m, dir+"/.history/s-1/"+n, MaxBytes)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			t.Fatal(err)
		}
		all.Write(data)
	}
	return all.String()
}

func (r *run) compare(got *texts, mode memfs.Mode, old []string, where, archive string) {
	t := r.t
	count := map[string]int{}
	for _, s := range got.texts {
		count[s]++
	}
	rotated := len(got.texts) > 0 && got.kinds[0] == KindCompaction
	if rotated && !r.rotated {
		t.Errorf("%s: a rotation that was called off is in force", where)
	}
	there := func(s string) bool {
		return count[s] == 1 || rotated && count[s] == 0 && strings.Contains(archive, `"`+s+`"`)
	}
	for _, s := range old {
		if !there(s) {
			t.Errorf("%s: lost %q of before: %v", where, s, got)
		}
	}
	last := -1
	for _, p := range r.said {
		switch {
		case count[p.text] > 1:
			t.Errorf("%s: %q is there %d times", where, p.text, count[p.text])
		case p.outcome == Durable && (p.synced || mode == memfs.Keep) && !there(p.text):
			t.Errorf("%s: lost %q, which was called durable (synced %v): %v", where, p.text, p.synced, got)
		case (p.outcome == NotWritten || p.outcome == RolledBack) && count[p.text] > 0:
			t.Errorf("%s: %q is there, and was said not to be (%d): %v", where, p.text, p.outcome, got)
		}
		for i, s := range got.texts {
			if s == p.text {
				if i < last {
					t.Errorf("%s: out of order: %v", where, got)
				}
				last = i
			}
		}
	}
}
