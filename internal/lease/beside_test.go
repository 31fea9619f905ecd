package lease

import (
	"errors"
	"strings"
	"syscall"
	"testing"
	"time"

	"magicode/internal/vfs"
	"magicode/internal/vfs/faultfs"
)

const (
	standing     = "/s/abc.active"
	standingLock = "/s/.abc.active.lock"
	again        = "/s/abc.jsonl"
	againLock    = "/s/.abc.jsonl.lock"
)

var besideProcs = fakeProcs{dead: map[int]bool{5: true}, start: map[int]string{77: "123@abcd"}}

// besides is a manager that holds the standing lock.
func besides(t *testing.T, fsys vfs.FS) (*Manager, *Lease) {
	t.Helper()
	m := New(Options{FS: fsys, PID: 77, Processes: besideProcs})
	le, err := m.Share(standing)
	if err != nil {
		t.Fatal(err)
	}
	return m, le
}

func TestBesideIsASecondName(t *testing.T) {
	mem := newMem(t)
	m, standing := besides(t, mem)
	for range 3 {
		le, err := m.AcquireBeside(t.Context(), again, standing, MaxWait)
		if err != nil {
			t.Fatal(err)
		}
		a, errA := mem.Lstat(standingLock)
		b, errB := mem.Lstat(againLock)
		if errA != nil || errB != nil || a.Ino != b.Ino || a.Nlink != 2 {
			t.Fatalf("%v %v: %+v and %+v are not one file", errA, errB, a, b)
		}
		if _, err := m.TryAcquire(again); !errors.Is(err, ErrBusy) {
			t.Errorf("taken twice: %v", err)
		}
		if pid, held, err := New(Options{FS: mem, PID: 78, Processes: besideProcs}).Holder(again); pid != 77 || !held || err != nil {
			t.Errorf("another process sees %d, %v, %v", pid, held, err)
		}
		if err := le.Release(); err != nil || names(t, mem) != ".abc.active.lock" {
			t.Fatalf("%v, left %q", err, names(t, mem))
		}
	}
	if err := standing.Release(); err != nil || names(t, mem) != "" {
		t.Errorf("%v, left %q", err, names(t, mem))
	}
}

// TestBesideAndOthers: a lock file of another process counts as for any lock.
func TestBesideAndOthers(t *testing.T) {
	for _, c := range []struct {
		name, text string
		want       error
	}{
		{"alive", "pid=6\ntoken=6-1\n", ErrBusy},
		{"dead", "pid=5\ntoken=5-1\n", nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			mem := newMem(t)
			m, standing := besides(t, mem)
			write(t, mem, againLock, c.text, time.Hour)
			le, err := m.AcquireBeside(t.Context(), again, standing, time.Millisecond)
			if !errors.Is(err, c.want) {
				t.Fatalf("%v, want %v", err, c.want)
			}
			if err := errors.Join(le.Release(), standing.Release()); err != nil {
				t.Error(err)
			}
			if left := names(t, mem); (left == "") != (c.want == nil) {
				t.Errorf("left %q", left)
			}
		})
	}
}

// TestBesideWithoutNames: a file system that adds no names gets a file.
func TestBesideWithoutNames(t *testing.T) {
	mem := newMem(t)
	bad := faultfs.New(mem)
	m, standing := besides(t, bad)
	bad.Inject(faultfs.Fault{Op: faultfs.Link, Effect: faultfs.FailFrom, Err: syscall.EPERM})
	le, err := m.AcquireBeside(t.Context(), again, standing, MaxWait)
	if err != nil {
		t.Fatal(err)
	}
	data, info, err := vfs.ReadFileInfo(mem, againLock, maxLockBytes)
	if err != nil || info.Nlink != 1 || !strings.HasPrefix(string(data), "pid=77\n") {
		t.Errorf("%v: %+v %q", err, info, data)
	}
	if err := errors.Join(le.Release(), standing.Release()); err != nil || names(t, mem) != "" {
		t.Errorf("%v, left %q", err, names(t, mem))
	}
}

// TestBesideOfAStolenFile: what stands at the other lock's place is not ours any
// more, so its name is not taken for ours either.
func TestBesideOfAStolenFile(t *testing.T) {
	mem := newMem(t)
	m, standing := besides(t, mem)
	write(t, mem, standingLock, "pid=6\ntoken=6-1\n", 0)
	le, err := m.AcquireBeside(t.Context(), again, standing, MaxWait)
	if err != nil {
		t.Fatal(err)
	}
	data, _, err := vfs.ReadFileInfo(mem, againLock, maxLockBytes)
	if err != nil || !strings.HasPrefix(string(data), "pid=77\n") {
		t.Errorf("%v: the lock names another owner: %q", err, data)
	}
	if err := le.Release(); err != nil || names(t, mem) != ".abc.active.lock" {
		t.Errorf("%v, left %q", err, names(t, mem))
	}
}

// TestBesideWithEveryFault: whatever fails, once or from then on, the lock can be
// had afterwards, and nothing that stays keeps others out once we are gone.
func TestBesideWithEveryFault(t *testing.T) {
	for _, effect := range []faultfs.Effect{faultfs.Fail, faultfs.Late, faultfs.Shorten} {
		for n := 0; ; n++ {
			mem := newMem(t)
			bad := faultfs.New(mem)
			m, standing := besides(t, bad)
			bad.Inject(faultfs.Fault{N: n, Effect: effect})
			le, err := m.AcquireBeside(t.Context(), again, standing, time.Millisecond)
			if err == nil {
				err = le.Release()
			}
			hit, was := bad.Hit()
			bad.Heal()
			if !was {
				if err != nil || names(t, mem) != ".abc.active.lock" {
					t.Fatalf("without a fault: %v, left %q", err, names(t, mem))
				}
				break
			}
			second := errors.Join(acquireAndRelease(t, m, standing), standing.Release())
			if second != nil || names(t, mem) != "" {
				t.Errorf("%v %v (first: %v): %v, left %q", effect, hit, err, second, names(t, mem))
			}
			_ = m.Close()
		}
	}
}

func acquireAndRelease(t *testing.T, m *Manager, beside *Lease) error {
	le, err := m.AcquireBeside(t.Context(), again, beside, time.Millisecond)
	if err != nil {
		return err
	}
	return le.Release()
}

func BenchmarkAcquire(b *testing.B) {
	dir := b.TempDir()
	m := New(Options{})
	standing, err := m.Share(dir + "/abc.active")
	if err != nil {
		b.Fatal(err)
	}
	for name, beside := range map[string]*Lease{"file=own": nil, "file=shared": standing} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				le, err := m.AcquireBeside(b.Context(), dir+"/abc.jsonl", beside, MaxWait)
				if err != nil {
					b.Fatal(err)
				}
				if err := le.Release(); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
	if err := m.Close(); err != nil {
		b.Fatal(err)
	}
}
