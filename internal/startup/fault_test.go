package startup

import (
	"context"
	"errors"
	"io"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"magicode/internal/config"
	"magicode/internal/lease"
	"magicode/internal/vfs"
	"magicode/internal/vfs/faultfs"
)

// TestEveryFault fails each operation of a start in turn. Whatever fails, the
// start either works or says which of its sentinels it is; nothing of a user's
// is changed, no server stays connected, no temporary file is left, and the
// next start works.
func TestEveryFault(t *testing.T) {
	for _, effect := range []faultfs.Effect{faultfs.Fail, faultfs.Shorten} {
		failed := 0
		for n := 0; ; n++ {
			w := newWorld(t)
			w.write(root+"/auth.json", "{}")
			w.write(root+"/AGENTS.md", "A")
			w.write(root+"/skills/s/SKILL.md", "S")
			w.write(root+"/subagents/p.md", "---\nname: a\ndescription: d\n---\nB")
			w.write(cwd+"/.magi-code/settings.json", "{}")
			w.mcp(`{"command":"x"}`, true)
			c, connected := new(closer), 0
			w.env.Connect = func(context.Context, []config.MCPServer) (io.Closer, error) { connected++; return c, nil }
			before := contents(w)
			spoilt := faultfs.New(w.fs)
			spoilt.Inject(faultfs.Fault{N: n, Effect: effect})
			locks := lease.New(lease.Options{FS: spoilt})
			w.env.FS, w.env.Locks = spoilt, locks
			_, _, err := Start(t.Context(), w.env)
			call, hit := spoilt.Hit()
			spoilt.Heal()
			if !hit {
				break
			}
			if err != nil {
				failed++
				if codeOf(err) == "" {
					t.Errorf("%v of %v: %v", effect, call, err)
				}
				if c.closed != connected {
					t.Errorf("%v of %v: a server stays", effect, call)
				}
			}
			for name, text := range contents(w) {
				if old, ok := before[name]; ok && old != text {
					t.Errorf("%v of %v: %s was changed", effect, call, name)
				}
				if strings.HasSuffix(name, ".tmp") {
					t.Errorf("%v of %v: %s is left", effect, call, name)
				}
			}
			if err := locks.Close(); err != nil {
				t.Errorf("%v of %v: locks: %v", effect, call, err)
			}
			w.env.FS, w.env.Locks = w.fs, lease.New(lease.Options{FS: w.fs})
			if _, _, err := Start(t.Context(), w.env); err != nil {
				t.Errorf("%v of %v: the next start: %v", effect, call, err)
			}
		}
		if failed < 10 {
			t.Errorf("only %d starts failed", failed)
		}
	}
}

// contents gives the text of every file below the home and the project.
func contents(w *world) map[string]string {
	out := map[string]string{}
	var walk func(dir string)
	walk = func(dir string) {
		entries, _ := w.fs.ReadDir(dir)
		for _, e := range entries {
			name := dir + "/" + e.Name()
			if e.IsDir() {
				walk(name)
			} else if data, err := vfs.ReadFile(w.fs, name, 1<<20); err == nil {
				out[name] = string(data)
			}
		}
	}
	walk(root)
	walk(cwd)
	return out
}

// living says of every process that it lives.
type living struct{}

func (living) Alive(int) bool           { return true }
func (living) Start(int) (string, bool) { return "", true }

// TestSettingsLockIsWaitedFor: 30 s, then the configuration is invalid; a lock
// that comes free before is taken.
func TestSettingsLockIsWaitedFor(t *testing.T) {
	const file = root + "/.settings.json.lock"
	for _, c := range []struct {
		free time.Duration // when the owner lets go; 0 for never
		took time.Duration
		ok   bool
	}{{0, config.SettingsLockWait, false}, {config.SettingsLockWait - time.Second, config.SettingsLockWait - time.Second, true}} {
		synctest.Test(t, func(t *testing.T) {
			w := newWorld(t)
			locks := lease.New(lease.Options{FS: w.fs, PID: 50, Processes: living{}})
			defer locks.Close()
			w.env.Locks = locks
			w.write(file, "pid=77\ntoken=77-1\n")
			if c.free > 0 {
				time.AfterFunc(c.free, func() { _ = w.fs.Remove(file) })
			}
			began := time.Now()
			_, _, err := Start(t.Context(), w.env)
			took := time.Since(began)
			if took < c.took || took > c.took+20*time.Millisecond {
				t.Errorf("waited %v", took)
			}
			if (err == nil) != c.ok || err != nil && (!errors.Is(err, ErrConfiguration) || w.note().File != root+"/settings.json") {
				t.Errorf("%v %+v", err, w.note())
			}
		})
	}
}

// TestCancelledWhileTheLockIsWaitedFor: at once, with the cause.
func TestCancelledWhileTheLockIsWaitedFor(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		locks := lease.New(lease.Options{FS: w.fs, PID: 50, Processes: living{}})
		defer locks.Close()
		w.env.Locks = locks
		w.write(root+"/.settings.json.lock", "pid=77\ntoken=77-1\n")
		why := errors.New("shutdown")
		ctx, cancel := context.WithCancelCause(t.Context())
		time.AfterFunc(time.Second, func() { cancel(why) })
		began := time.Now()
		_, _, err := Start(ctx, w.env)
		if !errors.Is(err, why) || codeOf(err) != "" || w.note() != (Note{}) || time.Since(began) > time.Second+20*time.Millisecond {
			t.Errorf("%v after %v", err, time.Since(began))
		}
	})
}
