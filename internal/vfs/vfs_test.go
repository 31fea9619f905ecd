//go:build linux || darwin

package vfs_test

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"magicode/internal/vfs"
	"magicode/internal/vfs/faultfs"
	"magicode/internal/vfs/memfs"
)

// maker knows what vfs.FS cannot make.
type maker interface {
	Symlink(target, name string) error
	Link(oldName, newName string) error
	Mkfifo(name string, perm fs.FileMode) error
}

type osMaker struct{}

func (osMaker) Symlink(target, name string) error          { return os.Symlink(target, name) }
func (osMaker) Link(oldName, newName string) error         { return os.Link(oldName, newName) }
func (osMaker) Mkfifo(name string, perm fs.FileMode) error { return syscall.Mkfifo(name, uint32(perm)) }

// both runs a test on the real file system and on the one in memory: what
// holds for one must hold for the other, or tests in memory prove nothing.
func both(t *testing.T, test func(t *testing.T, fsys vfs.FS, mk maker, dir string)) {
	t.Run("os", func(t *testing.T) {
		dir, err := filepath.EvalSymlinks(t.TempDir())
		if err != nil {
			t.Fatal(err)
		}
		test(t, vfs.OS(), osMaker{}, dir)
	})
	t.Run("mem", func(t *testing.T) {
		m := memfs.New()
		if err := m.MkdirAll("/w/d", 0o777); err != nil {
			t.Fatal(err)
		}
		test(t, m, m, "/w/d")
	})
}

func put(t *testing.T, fsys vfs.FS, name, text string, perm fs.FileMode) {
	t.Helper()
	f, err := fsys.Open(name, vfs.Write|vfs.Create|vfs.Truncate, perm)
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(vfs.WriteAll(f, []byte(text)), f.Chmod(perm), f.Close()); err != nil {
		t.Fatal(err)
	}
}

func get(t *testing.T, fsys vfs.FS, name string) string {
	t.Helper()
	data, err := vfs.ReadFile(fsys, name, 1<<20)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

func TestOpenRules(t *testing.T) {
	both(t, func(t *testing.T, fsys vfs.FS, mk maker, dir string) {
		put(t, fsys, dir+"/f", "x", 0o600)
		must(t, mk.Symlink("f", dir+"/l"), mk.Symlink("none", dir+"/dangling"), mk.Symlink("loop", dir+"/loop"),
			mk.Mkfifo(dir+"/p", 0o600), fsys.Mkdir(dir+"/sub", 0o700), mk.Symlink("sub", dir+"/ls"))
		put(t, fsys, dir+"/sub/g", "y", 0o600)
		for _, c := range []struct {
			name  string
			flags vfs.Flag
			want  error
		}{
			{"f", vfs.Read, nil},
			{"none", vfs.Read, fs.ErrNotExist},
			{"f", vfs.Write | vfs.Create | vfs.Exclusive, fs.ErrExist},
			{"l", vfs.Write | vfs.Create | vfs.Exclusive, fs.ErrExist},
			{"dangling", vfs.Write | vfs.Create | vfs.Exclusive, fs.ErrExist},
			{"l", vfs.Read, nil},
			{"l", vfs.Read | vfs.NoFollow, syscall.ELOOP},
			{"loop", vfs.Read, syscall.ELOOP},
			{"dangling", vfs.Read, fs.ErrNotExist},
			{"ls/g", vfs.Read | vfs.NoFollow, nil},
			{"p", vfs.Read | vfs.NonBlock, nil},
			{"p", vfs.Write | vfs.NonBlock, syscall.ENXIO},
			{"sub", vfs.Write, syscall.EISDIR},
			{"sub", vfs.Read, nil},
			{"f", vfs.Read | vfs.Directory, syscall.ENOTDIR},
			{"f/x", vfs.Read, syscall.ENOTDIR},
		} {
			f, err := fsys.Open(dir+"/"+c.name, c.flags, 0o600)
			if !errors.Is(err, c.want) {
				t.Errorf("%s %v: %v, want %v", c.name, c.flags, err, c.want)
			}
			if _, ok := errors.AsType[*fs.PathError](err); err != nil && !ok {
				t.Errorf("%s: %T", c.name, err)
			}
			if f != nil {
				must(t, f.Close(), f.Close())
			}
		}
	})
}

func must(t *testing.T, errs ...error) {
	t.Helper()
	for _, err := range errs {
		if err != nil {
			t.Fatal(err)
		}
	}
}

func TestFileOperations(t *testing.T) {
	both(t, func(t *testing.T, fsys vfs.FS, _ maker, dir string) {
		name := dir + "/a"
		f, err := fsys.Open(name, vfs.Read|vfs.Append|vfs.Create|vfs.Exclusive, 0o600)
		must(t, err, vfs.WriteAll(f, []byte("hello ")), vfs.WriteAll(f, []byte("world")), f.Sync(), f.Truncate(7), vfs.WriteAll(f, []byte("W")))
		buf := make([]byte, 4)
		n, err := f.ReadAt(buf, 5)
		if string(buf[:n]) != " wW" || !errors.Is(err, io.EOF) {
			t.Errorf("ReadAt: %q %v", buf[:n], err)
		}
		info, err := f.Stat()
		if err != nil || info.Size != 8 || info.Nlink != 1 || info.Mode != 0o600 || info.UID != uint32(os.Geteuid()) {
			t.Errorf("%+v %v", info, err)
		}
		put(t, fsys, dir+"/b", "old", 0o644)
		must(t, fsys.Rename(name, dir+"/b"))
		moved, err := fsys.Lstat(dir + "/b")
		must(t, err)
		if moved.Ino != info.Ino || moved.Dev != info.Dev {
			t.Errorf("a rename changed the inode: %+v %+v", info, moved)
		}
		if now, _ := f.Stat(); now.Ino != moved.Ino {
			t.Errorf("the open file is %+v", now)
		}
		must(t, f.Close(), fsys.Remove(dir+"/b"))
		if _, err := fsys.Lstat(dir + "/b"); !errors.Is(err, fs.ErrNotExist) {
			t.Error(err)
		}
		if _, err := f.Write([]byte("x")); err == nil {
			t.Error("wrote to a closed file")
		}
	})
}

func TestNamesAndTimes(t *testing.T) {
	both(t, func(t *testing.T, fsys vfs.FS, mk maker, dir string) {
		must(t, fsys.MkdirAll(dir+"/x/y", 0o755), fsys.MkdirAll(dir+"/x/y", 0o755), mk.Symlink("x/y", dir+"/s"))
		put(t, fsys, dir+"/x/y/f", "1", 0o600)
		if err := fsys.MkdirAll(dir+"/x/y/f/z", 0o755); !errors.Is(err, syscall.ENOTDIR) {
			t.Errorf("a directory below a file: %v", err)
		}
		if err := fsys.Remove(dir + "/x"); !errors.Is(err, syscall.ENOTEMPTY) {
			t.Errorf("removed a full directory: %v", err)
		}
		got, err := fsys.EvalSymlinks(dir + "/s/../y/f")
		if err != nil || got != dir+"/x/y/f" {
			t.Errorf("%q %v", got, err)
		}
		list, err := fsys.ReadDir(dir)
		must(t, err)
		var names []string
		for _, e := range list {
			names = append(names, e.Name()+" "+e.Type().String())
		}
		if diff := cmp.Diff([]string{"s L---------", "x d---------"}, names); diff != "" {
			t.Error(diff)
		}
		must(t, mk.Link(dir+"/x/y/f", dir+"/f2"))
		at := time.Unix(1_000_000_000, 123_456_789)
		must(t, fsys.Chtimes(dir+"/f2", at), fsys.Chmod(dir+"/f2", 0o640))
		info, err := fsys.Stat(dir + "/s/f")
		must(t, err)
		if info.Nlink != 2 || !info.Mtime.Equal(at) || info.Mode != 0o640 || info.Ctime.Before(at) {
			t.Errorf("%+v", info)
		}
		must(t, fsys.SyncDir(dir))
	})
}

func TestReadFile(t *testing.T) {
	both(t, func(t *testing.T, fsys vfs.FS, mk maker, dir string) {
		put(t, fsys, dir+"/ten", "0123456789", 0o600)
		put(t, fsys, dir+"/open", "x", 0o644)
		put(t, fsys, dir+"/two", "x", 0o600)
		must(t, mk.Symlink("ten", dir+"/l"), mk.Mkfifo(dir+"/p", 0o600), fsys.Mkdir(dir+"/d", 0o700), mk.Link(dir+"/two", dir+"/two2"))
		for _, c := range []struct {
			name  string
			limit int64
			opt   vfs.ReadOption
			want  error
		}{
			{"ten", 10, vfs.Private | vfs.Owned, nil},
			{"ten", 9, 0, vfs.ErrTooLarge},
			{"l", 10, 0, vfs.ErrNotRegular},
			{"l", 10, vfs.Follow, nil},
			{"p", 10, 0, vfs.ErrNotRegular},
			{"d", 10, 0, vfs.ErrNotRegular},
			{"none", 10, 0, fs.ErrNotExist},
			{"open", 10, 0, nil},
			{"open", 10, vfs.Private, vfs.ErrNotPrivate},
			{"two", 10, vfs.Private, nil},
			{"two", 10, vfs.Owned, vfs.ErrNotPrivate},
		} {
			data, err := vfs.ReadFile(fsys, dir+"/"+c.name, c.limit, c.opt)
			if !errors.Is(err, c.want) || err == nil && len(data) == 0 {
				t.Errorf("%s limit %d opt %d: %q %v, want %v", c.name, c.limit, c.opt, data, err, c.want)
			}
		}
	})
}

// Files of /proc say that they are empty.
func TestReadFileOfUnknownSize(t *testing.T) {
	data, err := vfs.ReadFile(vfs.OS(), "/proc/self/stat", 4096)
	if runtime.GOOS == "linux" && (err != nil || len(data) == 0) {
		t.Errorf("%q %v", data, err)
	}
}

func TestReplace(t *testing.T) {
	both(t, func(t *testing.T, fsys vfs.FS, _ maker, dir string) {
		for _, c := range []struct {
			name string
			perm fs.FileMode
			want fs.FileMode
		}{{"a/b/new", 0o600, 0o600}, {"plain", 0, 0o644}, {"old", 0, 0o640}, {"old", 0o600, 0o600}} {
			if c.name == "old" {
				put(t, fsys, dir+"/old", "before", 0o640)
			}
			must(t, vfs.Replace(fsys, dir+"/"+c.name, []byte("text"), c.perm))
			info, err := fsys.Lstat(dir + "/" + c.name)
			if err != nil || info.Mode != c.want || get(t, fsys, dir+"/"+c.name) != "text" {
				t.Errorf("%s: %+v %v", c.name, info, err)
			}
		}
		must(t, vfs.ReplaceCache(fsys, dir+"/old", []byte("again"), 0o600))
		if get(t, fsys, dir+"/old") != "again" {
			t.Error("cache not replaced")
		}
	})
}

// TestReplaceFaults fails, shortens and cuts each operation: the file is
// always whole, old or new, and nothing is left behind but by a power cut.
func TestReplaceFaults(t *testing.T) {
	faults := 0
	for _, effect := range []faultfs.Effect{faultfs.Fail, faultfs.Shorten, faultfs.Late, faultfs.PowerCut} {
		for _, mode := range memfs.Modes() {
			for n := 0; ; n++ {
				m := memfs.New()
				must(t, m.MkdirAll("/d", 0o700))
				put(t, m, "/d/f", "old", 0o600)
				m.SyncAll()
				ff := faultfs.New(m)
				ff.Inject(faultfs.Fault{N: n, Effect: effect})
				err := vfs.Replace(ff, "/d/f", []byte("new"), 0o600)
				call, hit := ff.Hit()
				if !hit {
					must(t, err)
					break
				}
				faults++
				m.Crash(mode)
				checkReplaced(t, m, effect, mode, call, err)
			}
		}
	}
	t.Logf("%d faults injected", faults)
}

func checkReplaced(t *testing.T, m *memfs.FS, effect faultfs.Effect, mode memfs.Mode, call faultfs.Call, err error) {
	t.Helper()
	got := get(t, m, "/d/f")
	switch {
	case got != "old" && got != "new":
		t.Errorf("%v %v at %v: torn: %q", effect, mode, call, got)
	case err == nil && got != "new":
		t.Errorf("%v %v at %v: lost", effect, mode, call)
	case errors.Is(err, vfs.ErrUndurable) && mode == memfs.Keep && got != "new":
		t.Errorf("%v at %v: called undurable, and not there", effect, call)
	}
	list, _ := m.ReadDir("/d")
	if len(list) != 1 && effect != faultfs.PowerCut && (effect != faultfs.Late || call.Op != faultfs.Open) {
		t.Errorf("%v %v at %v: left %v", effect, mode, call, list)
	}
}

func TestCrash(t *testing.T) {
	for _, c := range []struct {
		mode memfs.Mode
		a, b string // "-" means gone
	}{
		{memfs.Lose, "1234", "-"}, {memfs.LoseData, "1234", ""}, {memfs.ZeroTail, "1234\x00\x00\x00\x00", "\x00\x00"},
		{memfs.HalfTail, "123456", "b"}, {memfs.Keep, "12345678", "bb"},
	} {
		m := memfs.New()
		must(t, m.Mkdir("/d", 0o700))
		put(t, m, "/d/a", "1234", 0o600)
		m.SyncAll()
		f, err := m.Open("/d/a", vfs.Append, 0)
		must(t, err, vfs.WriteAll(f, []byte("5678")))
		put(t, m, "/d/b", "bb", 0o600)
		m.Crash(c.mode)
		if _, err := f.Write([]byte("x")); !errors.Is(err, syscall.EIO) {
			t.Errorf("%v: an open file survived: %v", c.mode, err)
		}
		if got := get(t, m, "/d/a"); got != c.a {
			t.Errorf("%v: a is %q", c.mode, got)
		}
		if _, err := m.Lstat("/d/b"); c.b == "-" {
			if !errors.Is(err, fs.ErrNotExist) {
				t.Errorf("%v: b: %v", c.mode, err)
			}
		} else if got := get(t, m, "/d/b"); got != c.b {
			t.Errorf("%v: b is %q", c.mode, got)
		}
	}
}

func TestFaultCounters(t *testing.T) {
	m := memfs.New()
	ff := faultfs.New(m)
	ff.Inject(faultfs.Fault{N: 1, Op: faultfs.Write, Effect: faultfs.Shorten, Err: syscall.ENOSPC, Match: func(n string) bool { return strings.HasSuffix(n, "b") }})
	for _, name := range []string{"/a", "/b", "/a", "/b"} {
		f, err := ff.Open(name, vfs.Append|vfs.Create, 0o600)
		must(t, err)
		_, err = f.Write([]byte("abcd"))
		if call, hit := ff.Hit(); hit != (err != nil) || hit && (call.Name != "/b" || !errors.Is(err, syscall.ENOSPC)) {
			t.Errorf("%s: %v %v", name, call, err)
		}
		must(t, f.Close())
	}
	if got := get(t, m, "/b"); got != "abcdab" {
		t.Errorf("%q", got)
	}
	if ff.Count(faultfs.Write) != 4 || ff.Count(faultfs.Any) != 12 {
		t.Errorf("%d %d", ff.Count(faultfs.Write), ff.Count(faultfs.Any))
	}
}
