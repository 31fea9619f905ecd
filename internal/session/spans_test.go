package session

import (
	"testing"

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
