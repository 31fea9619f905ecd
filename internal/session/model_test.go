package session

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"magicode/internal/vfs/memfs"
)

// model is a session as it ought to be: what surely survives, and what was
// written after it.
type model struct {
	t       *rapid.T
	mem     *memfs.FS
	h       *Handle
	pid     int
	dead    procs
	safe    []string // synced
	loose   []string // written, not synced
	counter int
}

func (m *model) store(tb testing.TB) *Store { return NewStore(options(tb, m.mem, m.pid, m.dead)) }

// TestModel: any sequence of appends, syncs, power cuts, torn writes and
// rotations keeps what was synced, in order, and never more than was written.
func TestModel(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		m := &model{t: rt, mem: newMem(t), pid: 1000, dead: procs{}}
		h, err := m.store(t).Create(context.Background())
		must(t, err)
		m.h = h
		rt.Repeat(map[string]func(*rapid.T){
			"append": func(rt *rapid.T) { m.append(t, rt) },
			"sync": func(*rapid.T) {
				if o, err := m.h.Sync(context.Background()); o != Durable || err != nil {
					rt.Fatal(o, err)
				}
				m.settle()
			},
			"crash":  func(rt *rapid.T) { m.crash(t, rapid.SampledFrom(memfs.Modes()).Draw(rt, "mode")) },
			"rotate": func(rt *rapid.T) { m.rotate(rt) },
		})
		must(t, m.h.Unchanged(context.Background()), m.h.Close())
	})
}

func (m *model) settle() {
	m.safe = append(m.safe, m.loose...)
	m.loose = nil
}

func (m *model) append(tb testing.TB, rt *rapid.T) {
	d := rapid.SampledFrom([]Durability{Required, Ordered, Optional}).Draw(rt, "durability")
	var evs []Event
	for range rapid.IntRange(1, 3).Draw(rt, "events") {
		m.counter++
		s := fmt.Sprintf("t%d%s", m.counter, strings.Repeat(" x", rapid.IntRange(0, 40).Draw(rt, "size")))
		m.loose = append(m.loose, s)
		evs = append(evs, chunk(s))
	}
	appendOK(tb, m.h, d, evs...)
	if d == Required {
		m.settle()
	}
}

func (m *model) rotate(rt *rapid.T) {
	n := len(m.safe) + len(m.loose)
	carry := rapid.IntRange(0, 3).Draw(rt, "carry")
	r, err := m.h.BeginRotation(context.Background(), carry)
	if err != nil {
		rt.Fatal(err)
	}
	m.settle()
	if o, err := r.Commit(context.Background(), map[string]any{"text": "S"}); o != Durable || err != nil {
		rt.Fatal(o, err)
	}
	kept := m.safe[max(0, n-carry):]
	m.safe = append([]string{"S"}, kept...)
}

// crash ends the process and lets the next one open what is left.
func (m *model) crash(tb testing.TB, mode memfs.Mode) {
	m.mem.Crash(mode)
	for _, n := range []string{"writer", "active", "jsonl"} { // left behind with or without their content
		_ = m.mem.Remove(dir + "/.s-1." + n + ".lock")
	}
	m.dead[m.pid] = true
	m.pid++
	f := &texts{}
	h, info, err := m.store(tb).Open(context.Background(), sid, f)
	if errors.Is(err, ErrMissing) && len(m.safe) == 0 {
		m.loose = nil
		h, err = m.store(tb).Create(context.Background())
		must(tb, err)
		m.h = h
		return
	}
	if err != nil {
		m.t.Fatalf("%v: %v", mode, err)
	}
	m.h = h
	all := append(append([]string{}, m.safe...), m.loose...)
	if len(f.texts) < len(m.safe) || len(f.texts) > len(all) || strings.Join(all[:len(f.texts)], "|") != f.String() {
		m.t.Fatalf("%v: %q, wanted %q and perhaps %q (%+v)", mode, f.texts, m.safe, m.loose, info)
	}
	m.safe, m.loose = f.texts, nil // what was read is on disk: memfs says so after a crash
	if info.Torn {
		m.loose = append(m.loose, "") // the next append writes a diagnostic record first
		appendOK(tb, h, Required, chunk("healed"))
		m.loose = append(m.loose, "healed")
		m.settle()
	}
}
