package ledger

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"

	"magicode/internal/tool"
	"magicode/internal/vfs"
	"magicode/internal/vfs/faultfs"
	"magicode/internal/vfs/memfs"
)

// TestFaults spoils each operation of three edits in turn, with every effect
// and, after a power cut, every way in which a disk may look then. What was not
// told as lost is in the ledger with its contents; what is in the ledger as
// captured can be brought back; the next edit is recorded again.
func TestFaults(t *testing.T) {
	for _, effect := range []faultfs.Effect{faultfs.Fail, faultfs.Shorten, faultfs.Late, faultfs.FailFrom, faultfs.PowerCut} {
		modes := []memfs.Mode{memfs.Keep}
		if effect == faultfs.PowerCut {
			modes = memfs.Modes()
		}
		for _, mode := range modes {
			n := 0
			for ; faulty(t, effect, mode, n); n++ {
			}
			if n < 40 {
				t.Errorf("%v %v: only %d operations were spoilt", effect, mode, n)
			}
		}
	}
}

func faulty(t *testing.T, effect faultfs.Effect, mode memfs.Mode, n int) (hit bool) {
	synctest.Test(t, func(t *testing.T) { // lock files that cannot be read are waited for
		m := newHome(t)
		ff := faultfs.New(m)
		p := newPlace(t, ff, home, work)
		edit(p, 0)
		if len(p.lost) != 0 {
			t.Fatalf("lost %q", p.lost)
		}
		ff.Inject(faultfs.Fault{N: n, Effect: effect})
		kept := []int{0}
		for i := 1; i <= 3; i++ {
			lost := len(p.lost)
			edit(p, i)
			if len(p.lost) == lost {
				kept = append(kept, i)
			}
		}
		var call faultfs.Call
		if call, hit = ff.Hit(); !hit {
			return
		}
		what := fmt.Sprintf("%v %v %d (%v)", effect, mode, n, call)
		ff.Heal()
		if effect == faultfs.PowerCut {
			m.Crash(mode)
		}
		check(t, m, what, kept)
		if effect == faultfs.PowerCut || strings.HasSuffix(call.Name, ".lock") {
			// Another process. What a fault leaves of lock files is internal/lease's.
			clearLocks(m)
			p = newPlace(t, m, home, work)
		}
		lost := len(p.lost)
		edit(p, 9)
		if len(p.lost) != lost {
			t.Errorf("%s: the next edit is lost too: %q", what, p.lost)
		}
		check(t, m, what+", next edit", append(kept, 9))
	})
	return hit
}

func edit(p *place, i int) {
	p.rec.Record(context.Background(), tool.Edit{Tool: "edit", Path: fmt.Sprint(work, "/", i), Before: file(fmt.Sprint("before ", i)), After: file(fmt.Sprint("after ", i))})
}

// clearLocks removes the lock files of a process that is gone.
func clearLocks(m *memfs.FS) {
	for _, name := range []string{home + "/.checkpoint-store.lock", home + "/checkpoints/.checkpoint-store.lock", home + "/checkpoints/ledgers/.s-1.jsonl.lock"} {
		_ = m.Remove(name)
	}
}

// check holds the disk against what was promised.
func check(t *testing.T, m vfs.FS, what string, kept []int) {
	t.Helper()
	all, bad := read(t, m, home)
	if bad > 1 {
		t.Errorf("%s: %d bad lines", what, bad)
	}
	found := map[string]bool{}
	for _, e := range all {
		if e.Status != captured {
			continue
		}
		pre, ok1 := content(t, m, home, e.Pre.SHA256)
		post, ok2 := content(t, m, home, e.Post.SHA256)
		if ok1 && ok2 && pre == "before "+e.RelativePath && post == "after "+e.RelativePath {
			found[e.RelativePath] = true
			continue
		}
		t.Errorf("%s: the contents of edit %s are %q %v and %q %v", what, e.RelativePath, pre, ok1, post, ok2)
	}
	for _, i := range kept {
		if !found[fmt.Sprint(i)] {
			t.Errorf("%s: edit %d was not told as lost and is not there", what, i)
		}
	}
}
