package session

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

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

// TestAppendOutcomes: what became of an append is in its span (T-16). The fifth
// word, metadata_failed, belongs to the metadata file, which no append writes.
func TestAppendOutcomes(t *testing.T) {
	p := spantest.New(t)
	ff := faultfs.New(newMem(t))
	o := options(t, ff, 100, procs{})
	o.Tel = p.Tel
	h, err := NewStore(o).Create(t.Context())
	must(t, err)
	ctx := p.Context()
	var want []string
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
		// A sync that fails behind a record that was never synced proves nothing.
		{Required, faultfs.Fault{Op: faultfs.Sync}, "uncertain"},
	} {
		if step.fault.Op != faultfs.Any {
			step.fault.Match = func(name string) bool { return strings.HasSuffix(name, ".jsonl") }
			ff.Inject(step.fault)
		}
		if o, err := h.Append(ctx, step.d, user("x")); (err == nil) != (step.want == "durable") {
			t.Errorf("%s: outcome %d, %v", step.want, o, err)
		}
		want = append(want, step.want)
	}
	must(t, h.Close())
	if diff := cmp.Diff(want, p.Values("magi.session.append", "magi.append.outcome")); diff != "" {
		t.Error(diff)
	}
}
