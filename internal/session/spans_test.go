package session

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"magicode/internal/vfs"
	"magicode/internal/vfs/faultfs"
	"magicode/telemetry"
	"magicode/telemetry/reader/spantest"
)

// slowFold takes 50 ms for its first record.
type slowFold struct{ delay func() }

func (f slowFold) Apply(Record) error { f.delay(); return nil }

// TestReadSpan: what reads the records takes 50 ms.
func TestReadSpan(t *testing.T) {
	p := spantest.New(t)
	m := newMem(t)
	put(t, m, dir+"/"+sid+".jsonl", line("user_input", `{"text":"Q","origin":"user"}`), 0o600)
	o := options(t, m, 100, procs{})
	o.Tel = p.Tel
	h, _, err := NewStore(o).Open(p.Context(), sid, slowFold{p.Once()})
	if err != nil {
		t.Fatal(err)
	}
	must(t, h.Close())
	p.Sees(telemetry.SpanHistoryRead)
}

// TestAppendOutcomes: what became of an append is in its span (T-16). The last of
// its steps, the metadata file, is made once for many of them: a span of its own
// says that it failed, and that it succeeded in the end.
func TestAppendOutcomes(t *testing.T) {
	p := spantest.New(t)
	ff := faultfs.New(newMem(t))
	o := options(t, ff, 100, procs{})
	o.Tel = p.Tel
	h, err := NewStore(o).Create(t.Context())
	must(t, err)
	ctx := p.Context()
	var want []string
	const sidecar = Durability(255)
	for _, step := range []struct {
		d     Durability
		fault faultfs.Fault // Any: none
		want  string
	}{
		{d: Required, want: "durable"},
		{Required, faultfs.Fault{Op: faultfs.Write}, "not_written"},
		{Required, faultfs.Fault{Op: faultfs.Sync}, "rolled_back"},
		{Required, faultfs.Fault{Op: faultfs.Write, Effect: faultfs.Shorten}, "rolled_back"},
		{d: Ordered, want: "durable"},
		{sidecar, faultfs.Fault{Op: faultfs.Rename}, "metadata_failed"},
		{d: sidecar, want: "durable"},
		// A sync that fails behind a record that was never synced proves nothing.
		{Required, faultfs.Fault{Op: faultfs.Sync}, "uncertain"},
	} {
		if step.fault.Op != faultfs.Any {
			step.fault.Match = func(name string) bool {
				return strings.HasSuffix(name, ".jsonl") || step.d == sidecar && strings.Contains(name, ".metadata.json")
			}
			ff.Inject(step.fault)
		}
		write := func() (Outcome, error) { return h.Append(ctx, step.d, user("x")) }
		if step.d == sidecar {
			write = func() (Outcome, error) { return h.WriteSidecar(ctx) }
		}
		if o, err := write(); outcomeWord(o) != step.want || (err == nil) != (step.want == "durable") {
			t.Errorf("%s: outcome %d, %v", step.want, o, err)
		}
		want = append(want, step.want)
	}
	must(t, h.Close())
	spans := p.Spans()
	if diff := cmp.Diff(want, p.Values("magi.session.append", "magi.append.outcome")); diff != "" {
		t.Error(diff)
	}
	for _, s := range spans {
		lost := s.Attributes["magi.append.outcome"] != "durable" && s.Attributes["magi.append.outcome"] != "metadata_failed"
		if s.Name == "magi.session.append" && s.Error != lost {
			t.Errorf("error %v: %v", s.Error, s.Attributes)
		}
	}
}

// TestAppendBytes: the size of an append is what was written of it, also where its
// buffer is given back at once.
func TestAppendBytes(t *testing.T) {
	p := spantest.New(t)
	m := newMem(t)
	o := options(t, m, 100, procs{})
	o.Tel = p.Tel
	h, err := NewStore(o).Create(t.Context())
	must(t, err)
	path := o.Dir + "/" + h.ID() + ".jsonl"
	ctx := p.Context()
	var want []string
	for _, size := range []int{1, maxKeptBuffer, 1} {
		before := h.Size()
		if _, err := h.Append(ctx, Ordered, user(strings.Repeat("x", size))); err != nil {
			t.Fatal(err)
		}
		want = append(want, fmt.Sprint(h.Size()-before))
	}
	put(t, m, path, strings.TrimSuffix(content(t, m, path), "\n"), 0o600) // the next one ends the line before
	before := h.Size() - 1
	if _, err := h.Append(ctx, Ordered, user("x")); err != nil {
		t.Fatal(err)
	}
	want = append(want, fmt.Sprint(h.Size()-before))
	must(t, h.Close())
	if diff := cmp.Diff(want, p.Values("magi.session.append", "magi.append.bytes")); diff != "" {
		t.Error(diff)
	}
}

// TestSyncsAreCounted: each sync of the file system that the store asks for is in
// the metric, by what it was of: of appends, of a write that is taken back, of a
// torn tail that is set aside, of a rotation, of the ids of records and of the
// handle's end.
func TestSyncsAreCounted(t *testing.T) {
	p := spantest.New(t)
	m := newMem(t)
	ff := faultfs.New(m)
	put(t, m, dir+"/event-id-sequence", "7", 0o600)
	put(t, m, file, textLine("a")+"{", 0o600)
	o := options(t, ff, 100, procs{})
	o.Tel = p.Tel
	s := NewStore(o)
	ctx := p.Context()
	step := func(name string, files, folders uint64, do func()) {
		t.Helper()
		data, dirs := ff.Count(faultfs.Sync), ff.Count(faultfs.SyncDir)
		if do(); uint64(ff.Count(faultfs.Sync)-data) != files || uint64(ff.Count(faultfs.SyncDir)-dirs) != folders {
			t.Errorf("%s: %d syncs of files, %d of folders", name, ff.Count(faultfs.Sync)-data, ff.Count(faultfs.SyncDir)-dirs)
		}
	}
	h, _, err := s.Open(ctx, sid)
	must(t, err)
	// The reserved ids, the tail that is set aside, the cut, and the record.
	step("append", 4, 3, func() { appendOK(t, h, Required, user("x")) })
	step("rollback", 1, 0, func() {
		ff.Inject(faultfs.Fault{Op: faultfs.Write, Effect: faultfs.Shorten, Match: func(name string) bool { return name == file }})
		if o, err := h.Append(ctx, Ordered, user("x")); o != RolledBack || err == nil {
			t.Errorf("outcome %d, %v", o, err)
		}
	})
	step("rotation", 2, 4, func() {
		r, err := h.BeginRotation(ctx, 0)
		must(t, err)
		if o, err := r.Commit(ctx, checkpoint); o != Durable || err != nil {
			t.Errorf("outcome %d, %v", o, err)
		}
	})
	step("end", 1, 0, func() {
		appendOK(t, h, Ordered, user("x"))
		must(t, h.Close())
	})
	want := map[string]uint64{"metadata": 1, "data": uint64(ff.Count(faultfs.Sync)) - 1, "directory": uint64(ff.Count(faultfs.SyncDir))}
	if diff := cmp.Diff(want, p.Counts("magi.session.fsync.duration", "magi.fsync.target")); diff != "" {
		t.Error(diff)
	}
}

// TestSyncSpan: what an append waits for the disk, the tail that it has to set
// aside first among it, is told in its span.
func TestSyncSpan(t *testing.T) {
	p := spantest.New(t)
	m := newMem(t)
	put(t, m, file, textLine("a")+"{", 0o600)
	o := options(t, slowSync{m, p.Delay}, 100, procs{})
	o.Tel = p.Tel
	h, _, err := NewStore(o).Open(t.Context(), sid)
	must(t, err)
	if _, err := h.Append(p.Context(), Ordered, user("x")); err != nil { // nothing but the tail is synced
		t.Fatal(err)
	}
	must(t, h.Close())
	p.Sees(telemetry.SpanSessionAppend)
	if ms := p.Values("magi.session.append", "magi.append.fsync_ms"); len(ms) != 1 || len(ms[0]) != 3 { // two folders, 50 ms each
		t.Errorf("%v ms", ms)
	}
}

// slowSync takes 50 ms to sync a folder.
type slowSync struct {
	vfs.FS
	delay func()
}

func (s slowSync) SyncDir(name string) error { s.delay(); return s.FS.SyncDir(name) }
