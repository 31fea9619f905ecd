package lease

import (
	"context"
	"errors"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"

	"magicode/internal/vfs"
	"magicode/internal/vfs/faultfs"
	"magicode/internal/vfs/memfs"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// fakeProcs: pid 1..99 are alive unless listed as dead; starts by pid.
type fakeProcs struct {
	dead, zombie map[int]bool
	start        map[int]string
}

func (f fakeProcs) Alive(pid int) bool           { return !f.dead[pid] }
func (f fakeProcs) Start(pid int) (string, bool) { return f.start[pid], !f.zombie[pid] }

func newMem(t *testing.T) *memfs.FS {
	t.Helper()
	m := memfs.New()
	if err := m.Mkdir("/s", 0o700); err != nil {
		t.Fatal(err)
	}
	return m
}

const target = "/s/abc.writer"

func write(t *testing.T, m vfs.FS, name, text string, age time.Duration) {
	t.Helper()
	if err := vfs.ReplaceCache(m, name, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := m.Chtimes(name, time.Now().Add(-age)); err != nil {
		t.Fatal(err)
	}
}

func names(t *testing.T, m vfs.FS) string {
	t.Helper()
	list, err := m.ReadDir("/s")
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, e := range list {
		out = append(out, e.Name())
	}
	return strings.Join(out, " ")
}

func TestLockFileIsTheReferences(t *testing.T) {
	m := newMem(t)
	le, err := New(Options{FS: m, PID: 77, Processes: fakeProcs{start: map[int]string{77: "123@abcd"}}}).TryAcquire(target)
	if err != nil {
		t.Fatal(err)
	}
	data, info, err := vfs.ReadFileInfo(m, "/s/.abc.writer.lock", 4096)
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(string(data), "\n")
	if len(lines) != 4 || lines[0] != "pid=77" || !strings.HasPrefix(lines[1], "token=77-") || lines[2] != "start=123@abcd" || lines[3] != "" || info.Mode != 0o644 {
		t.Errorf("%q %v", data, info.Mode)
	}
	if err := errors.Join(le.Release(), le.Release()); err != nil || names(t, m) != "" {
		t.Errorf("%v, left %q", err, names(t, m))
	}
}

// TestTakeover: what a contender does with a lock file that it finds.
func TestTakeover(t *testing.T) {
	procs := fakeProcs{dead: map[int]bool{5: true}, zombie: map[int]bool{7: true}, start: map[int]string{6: "100@aaaa", 7: "1"}}
	busy, broken := ErrBusy, errors.New("broken")
	for _, c := range []struct {
		name, text string
		age        time.Duration
		want       error
	}{
		{"alive", "pid=6\ntoken=6-1\n", 0, busy},
		{"alive and old", "pid=6\ntoken=6-1\n", time.Hour, busy},
		{"alive, from the future", "pid=6\ntoken=6-1\n", -time.Hour, busy},
		{"alive, same start", "pid=6\ntoken=6-1\nstart=100@aaaa\n", 0, busy},
		{"alive, boot unknown", "pid=6\ntoken=6-1\nstart=100\n", 0, busy},
		{"reused pid", "pid=6\ntoken=6-1\nstart=99@aaaa\n", 0, nil},
		{"reused pid after a reboot", "pid=6\ntoken=6-1\nstart=100@bbbb\n", 0, nil},
		{"start unknown here", "pid=8\ntoken=8-1\nstart=99\n", 0, busy},
		{"zombie of ours", "pid=7\ntoken=7-1\nstart=1\n", 0, nil},
		{"zombie of the reference", "pid=7\ntoken=7-1\n", 0, busy},
		{"dead", "pid=5\ntoken=5-1\n", 0, nil},
		{"dead, pid not first", "token=5-1\npid=5\n", 0, nil},
		{"first pid counts", "pid=6\npid=5\n", 0, busy},
		{"empty and fresh", "", time.Second, busy},
		{"empty and old", "", 6 * time.Second, nil},
		{"empty, from the near future", "", -time.Second, busy},
		{"empty, from the future", "", -time.Hour, nil},
		{"pid 0, old", "pid=0\n", time.Minute, nil},
		{"pid too large, fresh", "pid=99999999999\n", 0, busy},
		{"pid too large, old", "pid=99999999999\n", time.Minute, nil},
		{"not a number, fresh", "pid=x\n", 0, busy},
		{"4096 bytes", "pid=5\n" + strings.Repeat("x", 4090), 0, nil},
		{"4097 bytes", "pid=5\n" + strings.Repeat("x", 4091), 0, broken},
	} {
		t.Run(c.name, func(t *testing.T) {
			m := newMem(t)
			write(t, m, "/s/.abc.writer.lock", c.text, c.age)
			le, err := New(Options{FS: m, PID: 50, Processes: procs}).TryAcquire(target)
			switch {
			case c.want == broken:
				if err == nil || errors.Is(err, ErrBusy) {
					t.Fatal(err)
				}
			case !errors.Is(err, c.want):
				t.Fatalf("%v, want %v", err, c.want)
			case c.want == nil:
				if got := names(t, m); got != ".abc.writer.lock" {
					t.Errorf("left %q", got)
				}
			}
			if err := le.Release(); err != nil {
				t.Error(err)
			}
		})
	}
}

func TestLockPathsThatAreNoFiles(t *testing.T) {
	for name, put := range map[string]func(m *memfs.FS) error{
		"directory": func(m *memfs.FS) error { return m.Mkdir("/s/.abc.writer.lock", 0o700) },
		"fifo":      func(m *memfs.FS) error { return m.Mkfifo("/s/.abc.writer.lock", 0o600) },
		"link":      func(m *memfs.FS) error { return m.Symlink("elsewhere", "/s/.abc.writer.lock") },
		"no folder": func(m *memfs.FS) error { return m.Remove("/s") },
	} {
		m := newMem(t)
		if err := put(m); err != nil {
			t.Fatal(err)
		}
		if _, err := New(Options{FS: m}).TryAcquire(target); err == nil || errors.Is(err, ErrBusy) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestGuard(t *testing.T) {
	procs := fakeProcs{dead: map[int]bool{5: true}}
	for _, c := range []struct {
		name, guard string
		age         time.Duration
		want        error
	}{
		{"live", "pid=6\n", time.Hour, ErrBusy},
		{"dead", "pid=5\n", 0, nil},
		{"empty and fresh", "", 0, ErrBusy},
		{"empty and old", "", time.Minute, nil},
	} {
		m := newMem(t)
		write(t, m, "/s/.abc.writer.lock", "pid=5\n", 0)
		write(t, m, "/s/..abc.writer.lock.recovery", c.guard, c.age)
		le, err := New(Options{FS: m, PID: 50, Processes: procs}).TryAcquire(target)
		if !errors.Is(err, c.want) {
			t.Errorf("%s: %v", c.name, err)
		}
		if got := names(t, m); c.want == nil && got != ".abc.writer.lock" {
			t.Errorf("%s: left %q", c.name, got)
		}
		_ = le.Release()
	}
}

func TestReleaseLeavesForeignFiles(t *testing.T) {
	m := newMem(t)
	le, err := New(Options{FS: m}).TryAcquire(target)
	if err != nil {
		t.Fatal(err)
	}
	write(t, m, "/s/.abc.writer.lock", "pid=6\n", 0)
	if err := le.Release(); err != nil || names(t, m) != ".abc.writer.lock" {
		t.Errorf("%v %q", err, names(t, m))
	}
}

func TestSharing(t *testing.T) {
	m := newMem(t)
	mgr := New(Options{FS: m})
	a, err := mgr.Share(target)
	if err != nil {
		t.Fatal(err)
	}
	b, err := mgr.Share(target)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := mgr.TryAcquire(target); !errors.Is(err, ErrBusy) {
		t.Errorf("exclusive beside shared: %v", err)
	}
	if _, err := New(Options{FS: m}).TryAcquire(target); !errors.Is(err, ErrBusy) {
		t.Errorf("another owner: %v", err)
	}
	if err := errors.Join(a.Release(), a.Release()); err != nil || names(t, m) == "" {
		t.Errorf("the first release took the file: %v", err)
	}
	if err := b.Release(); err != nil || names(t, m) != "" {
		t.Errorf("%v %q", err, names(t, m))
	}
	c, err := mgr.TryAcquire(target)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := mgr.Share(target); !errors.Is(err, ErrBusy) {
		t.Errorf("shared beside exclusive: %v", err)
	}
	_ = c.Release()
}

func TestWaitEndsAtThirtySeconds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := newMem(t)
		write(t, m, "/s/.settings.json.lock", "pid=6\n", 0)
		mgr := New(Options{FS: m, Processes: fakeProcs{}})
		begin := time.Now()
		_, err := mgr.Acquire(t.Context(), "/s/settings.json", MaxWait)
		if took := time.Since(begin); !errors.Is(err, ErrBusy) || took != 30*time.Second {
			t.Errorf("%v after %v", err, took)
		}
	})
}

func TestWaitIsWoken(t *testing.T) {
	for name, other := range map[string]bool{"other process": true, "this process": false} {
		synctest.Test(t, func(t *testing.T) {
			m := newMem(t)
			mgr := New(Options{FS: m, PID: 50, Processes: fakeProcs{}})
			holder := mgr
			if other {
				holder = New(Options{FS: m, PID: 51, Processes: fakeProcs{}})
			}
			le, err := holder.TryAcquire(target)
			if err != nil {
				t.Fatal(err)
			}
			time.AfterFunc(1234*time.Millisecond, func() { _ = le.Release() })
			begin := time.Now()
			got, err := mgr.Acquire(t.Context(), target, MaxWait)
			took := time.Since(begin)
			limit := 1234 * time.Millisecond
			if other {
				limit = 1240 * time.Millisecond
			}
			if err != nil || took != limit {
				t.Errorf("%s: %v after %v", name, err, took)
			}
			_ = got.Release()
			for _, m := range []*Manager{mgr, holder} {
				if m.mu.Lock(); m.armed {
					t.Errorf("%s: the timer runs with nothing held", name)
				}
				m.mu.Unlock()
			}
		})
	}
}

func TestWaitObeysItsContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := newMem(t)
		mgr := New(Options{FS: m})
		le, err := mgr.TryAcquire(target)
		if err != nil {
			t.Fatal(err)
		}
		cause := errors.New("stop")
		ctx, cancel := context.WithCancelCause(t.Context())
		time.AfterFunc(time.Second, func() { cancel(cause) })
		if _, err := mgr.Acquire(ctx, target, MaxWait); !errors.Is(err, cause) {
			t.Error(err)
		}
		_ = le.Release()
	})
}

// TestRenewal: every lock's time follows the clock, one timer for all, none
// when nothing is held.
func TestRenewal(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ff := faultfs.New(newMem(t))
		mgr := New(Options{FS: ff})
		a, err := mgr.TryAcquire(target)
		if err != nil {
			t.Fatal(err)
		}
		b, err := mgr.Share("/s/abc.active")
		if err != nil {
			t.Fatal(err)
		}
		time.Sleep(10*time.Second + time.Millisecond)
		synctest.Wait()
		for _, n := range []string{"/s/.abc.writer.lock", "/s/.abc.active.lock"} {
			if info, err := ff.Lstat(n); err != nil || time.Since(info.Mtime) > time.Second {
				t.Errorf("%s: %v old, %v", n, time.Since(info.Mtime), err)
			}
		}
		if n := ff.Count(faultfs.Chtimes); n != 20 {
			t.Errorf("%d touches in 10 s", n)
		}
		if err := errors.Join(a.Release(), b.Release()); err != nil {
			t.Error(err)
		}
		n := ff.Count(faultfs.Any)
		time.Sleep(time.Minute)
		if ff.Count(faultfs.Any) != n {
			t.Error("an idle manager works")
		}
		c, err := mgr.TryAcquire(target)
		if err != nil {
			t.Fatal(err)
		}
		time.Sleep(1500 * time.Millisecond)
		if ff.Count(faultfs.Chtimes) != 21 {
			t.Error("the timer did not start again")
		}
		_ = c
		if err := errors.Join(mgr.Close(), mgr.Close(), c.Release()); err != nil || names(t, ff) != "" {
			t.Errorf("%v %q", err, names(t, ff))
		}
		if _, err := mgr.TryAcquire(target); err == nil {
			t.Error("a closed manager gives locks")
		}
	})
}

// TestFaults spoils every operation of take, takeover and release. Whatever
// happened, five seconds later this process or the next can have the lock.
func TestFaults(t *testing.T) {
	faults := 0
	for _, found := range []string{"", "pid=5\n"} {
		for _, effect := range []faultfs.Effect{faultfs.Fail, faultfs.Shorten, faultfs.Late, faultfs.PowerCut} {
			for n, more := 0, true; more; n++ {
				synctest.Test(t, func(t *testing.T) {
					if more = oneFault(t, found, effect, n); more {
						faults++
					}
				})
			}
		}
	}
	t.Logf("%d faults injected", faults)
}

func oneFault(t *testing.T, found string, effect faultfs.Effect, n int) bool {
	m := newMem(t)
	if found != "" {
		write(t, m, "/s/.abc.writer.lock", found, 0)
	}
	m.SyncAll()
	ff := faultfs.New(m)
	procs := fakeProcs{dead: map[int]bool{5: true}}
	mgr := New(Options{FS: ff, PID: 50, Processes: procs})
	ff.Inject(faultfs.Fault{N: n, Effect: effect})
	le, err := mgr.TryAcquire(target)
	rerr := le.Release()
	call, hit := ff.Hit()
	ff.Heal()
	if !hit {
		if err := errors.Join(err, rerr); err != nil {
			t.Error(err)
		}
		return false
	}
	time.Sleep(ownerlessAge)
	next := mgr
	if effect == faultfs.PowerCut {
		m.Crash(memfs.Keep)
		procs.dead[50] = true
		next = New(Options{FS: m, PID: 51, Processes: procs})
	}
	again, err := next.TryAcquire(target)
	if err != nil {
		t.Errorf("%v at %v (found %q): %v; left %s", effect, call, found, err, names(t, m))
	}
	if err := errors.Join(again.Release(), mgr.Close(), next.Close()); err != nil {
		t.Error(err)
	}
	if strings.Contains(names(t, m), ".abc.writer.lock ") || strings.HasSuffix(names(t, m), "writer.lock") {
		t.Errorf("%v at %v: the lock stayed: %s", effect, call, names(t, m))
	}
	return true
}

// TestOneOwner: many contenders in two processes, never two inside.
func TestOneOwner(t *testing.T) {
	m := newMem(t)
	write(t, m, "/s/.abc.writer.lock", "pid=5\n", 0)
	procs := fakeProcs{dead: map[int]bool{5: true}}
	var inside atomic.Int32
	var wg sync.WaitGroup
	for pid := 50; pid < 52; pid++ {
		mgr := New(Options{FS: m, PID: pid, Processes: procs})
		for range 4 {
			wg.Go(func() {
				for range 25 {
					le, err := mgr.Acquire(t.Context(), target, MaxWait)
					if err != nil {
						t.Error(err)
						return
					}
					if inside.Add(1) != 1 {
						t.Error("two owners")
					}
					inside.Add(-1)
					if err := le.Release(); err != nil {
						t.Error(err)
					}
				}
			})
		}
	}
	wg.Wait()
}

func TestThisProcess(t *testing.T) {
	s := newSystem()
	a, running := s.Start(1)
	b, _ := s.Start(1)
	if !running || a == "" || a != b || !s.Alive(1) {
		t.Errorf("%q %q %v", a, b, running)
	}
}
