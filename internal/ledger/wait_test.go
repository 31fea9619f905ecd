package ledger

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"magicode/internal/lease"
	"magicode/internal/tool"
)

// TestHeldLocksDelayOneEdit: somebody who keeps a lock costs the first edit the
// wait, all locks together, and those after it nothing, until one is free again.
func TestHeldLocksDelayOneEdit(t *testing.T) {
	for _, target := range []string{home + "/checkpoint-store", home + "/checkpoints/checkpoint-store", home + "/checkpoints/ledgers/s-1.jsonl"} {
		synctest.Test(t, func(t *testing.T) {
			m := newHome(t)
			if err := m.Mkdir(home+"/checkpoints/ledgers", 0o700); err != nil {
				t.Fatal(err)
			}
			p := newPlace(t, m, home, work)
			other := lease.New(lease.Options{FS: m})
			defer other.Close()
			held, err := other.Acquire(context.Background(), target, time.Second)
			if err != nil {
				t.Fatal(err)
			}
			begin := time.Now()
			edit(p, 0)
			if d := time.Since(begin); d < lockWait || d > lockWait+lockWait/10 {
				t.Errorf("%s: the first edit waited %v", target, d)
			}
			begin = time.Now()
			for i := 1; i <= 100; i++ {
				edit(p, i)
			}
			if d := time.Since(begin); d > lockWait {
				t.Errorf("%s: a hundred more waited %v", target, d)
			}
			if len(p.lost) != 101 {
				t.Errorf("%s: %d were told as lost", target, len(p.lost))
			}
			if err := held.Release(); err != nil {
				t.Fatal(err)
			}
			edit(p, 101)
			if all, _ := read(t, m, home); len(all) != 1 || len(p.lost) != 101 {
				t.Errorf("%s: %d records, %d lost", target, len(all), len(p.lost))
			}
		})
	}
}

// TestLocksShareTheWait: two locks that come late, one after the other, are
// waited for no longer than one.
func TestLocksShareTheWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := newHome(t)
		p := newPlace(t, m, home, work)
		other := lease.New(lease.Options{FS: m})
		defer other.Close()
		first, err := other.TryAcquire(home + "/checkpoint-store")
		if err != nil {
			t.Fatal(err)
		}
		second, err := other.TryAcquire(home + "/checkpoints/checkpoint-store")
		if err != nil {
			t.Fatal(err)
		}
		defer second.Release()
		time.AfterFunc(lockWait*3/4, func() { _ = first.Release() })
		begin := time.Now()
		edit(p, 0)
		if d := time.Since(begin); d > lockWait+lockWait/10 {
			t.Errorf("an edit waited %v", d)
		}
	})
}

// TestSettingsFolderAsCwd: a project's settings are left out also where their
// folder is the working directory.
func TestSettingsFolderAsCwd(t *testing.T) {
	m := newHome(t)
	p := newPlace(t, m, home, "/w/.magi-code")
	for _, name := range []string{"settings.json", "Settings.JSON"} {
		p.rec.Record(t.Context(), tool.Edit{Tool: "edit", Path: "/w/.magi-code/" + name, Before: file("a"), After: file("b")})
	}
	all, _ := read(t, m, home)
	if len(all) != 2 {
		t.Fatalf("%d records", len(all))
	}
	for _, e := range all {
		if e.Status == captured || e.Pre != nil || e.Post != nil {
			t.Errorf("%s: %v", e.RelativePath, e.Status)
		}
	}
}
