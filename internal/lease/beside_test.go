package lease

import (
	"errors"
	"io/fs"
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

// numbered gives files the numbers it is told to: some file systems make one up for
// each name, and others give a removed file's number to the next one that is made.
type numbered struct {
	vfs.FS
	ino func(name string) uint64
}

func (n numbered) Lstat(name string) (vfs.Info, error) {
	info, err := n.FS.Lstat(name)
	info.Ino = n.ino(name)
	return info, err
}

func (n numbered) Open(name string, flags vfs.Flag, perm fs.FileMode) (vfs.File, error) {
	f, err := n.FS.Open(name, flags, perm)
	if err != nil {
		return nil, err
	}
	return numberedFile{f, n.ino(name)}, nil
}

type numberedFile struct {
	vfs.File
	ino uint64
}

func (f numberedFile) Stat() (vfs.Info, error) {
	info, err := f.File.Stat()
	info.Ino = f.ino
	return info, err
}

// TestBesideWithANumberPerName: two names of a file need not look like one file.
func TestBesideWithANumberPerName(t *testing.T) {
	mem := newMem(t)
	m, standing := besides(t, numbered{mem, func(name string) uint64 { return uint64(len(name)) }})
	for range 2 {
		if err := acquireAndRelease(t, m, standing); err != nil || names(t, mem) != ".abc.active.lock" {
			t.Fatalf("%v, left %q", err, names(t, mem))
		}
	}
	if err := standing.Release(); err != nil || names(t, mem) != "" {
		t.Errorf("%v, left %q", err, names(t, mem))
	}
}

// TestBesideOfAFileWithOurNumber: somebody removed our file, and another's got its
// number. Neither lock is ours then.
func TestBesideOfAFileWithOurNumber(t *testing.T) {
	const foreign = "pid=6\ntoken=6-1\n"
	for name, other := range map[string]string{"the standing lock": standingLock, "the lock": againLock} {
		t.Run(name, func(t *testing.T) {
			mem := newMem(t)
			m, standing := besides(t, numbered{mem, func(string) uint64 { return 7 }})
			write(t, mem, other, foreign, 0)
			le, err := m.AcquireBeside(t.Context(), again, standing, time.Millisecond)
			data, _, rerr := vfs.ReadFileInfo(mem, againLock, maxLockBytes)
			if rerr != nil {
				t.Fatal(err, rerr)
			}
			if ours := strings.HasPrefix(string(data), "pid=77\n"); (err == nil) != ours || !errors.Is(err, ErrBusy) != ours {
				t.Errorf("%v: the lock names %q", err, data)
			}
			_ = le.Release()
			if data, _, err := vfs.ReadFileInfo(mem, other, maxLockBytes); err != nil || string(data) != foreign {
				t.Errorf("%v: the other's file became %q", err, data)
			}
		})
	}
}

// onLink calls f before a name is added.
type onLink struct {
	vfs.FS
	f func()
}

func (o onLink) Link(oldName, newName string) error {
	o.f()
	return o.FS.Link(oldName, newName)
}

// TestBesideOfALockGivenBack: its file may be another owner's by now, who would
// take a name of it for his own.
func TestBesideOfALockGivenBack(t *testing.T) {
	mem := newMem(t)
	m, standing := besides(t, onLink{mem, func() { t.Error("another owner's file got a name") }})
	if err := standing.Release(); err != nil {
		t.Fatal(err)
	}
	write(t, mem, standingLock, "pid=6\ntoken=6-1\n", 0)
	if err := acquireAndRelease(t, m, standing); err != nil || names(t, mem) != ".abc.active.lock" {
		t.Errorf("%v, left %q", err, names(t, mem))
	}
}

// TestBesideOfALockBeingGivenBack: the file stays until its second name is there.
func TestBesideOfALockBeingGivenBack(t *testing.T) {
	mem := newMem(t)
	var standing *Lease
	var m *Manager
	m, standing = besides(t, onLink{mem, func() {
		if err := standing.Release(); err != nil || names(t, mem) != ".abc.active.lock" {
			t.Errorf("%v, left %q", err, names(t, mem))
		}
	}})
	le, err := m.AcquireBeside(t.Context(), again, standing, MaxWait)
	if err != nil || names(t, mem) != ".abc.jsonl.lock" {
		t.Errorf("%v, left %q", err, names(t, mem))
	}
	if err := le.Release(); err != nil || names(t, mem) != "" {
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
