//go:build linux || darwin

package tool

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"magicode/internal/lease"
	"magicode/internal/vfs"
)

// place is a workspace with a directory outside of it.
//
//	root/w (cwd)  a.txt d/b.txt  in -> d  out -> ../o  outfile -> ../o/c.txt  dangling -> nowhere  fifo
//	root/o        c.txt
func place(t testing.TB) (Env, string) {
	t.Helper()
	root, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	w, o := filepath.Join(root, "w"), filepath.Join(root, "o")
	for _, err := range []error{
		os.MkdirAll(filepath.Join(w, "d"), 0o755), os.Mkdir(o, 0o755),
		os.WriteFile(filepath.Join(w, "a.txt"), []byte("a"), 0o644),
		os.WriteFile(filepath.Join(w, "d", "b.txt"), []byte("b"), 0o644),
		os.WriteFile(filepath.Join(o, "c.txt"), []byte("c"), 0o644),
		os.Symlink("d", filepath.Join(w, "in")), os.Symlink("../o", filepath.Join(w, "out")),
		os.Symlink("../o/c.txt", filepath.Join(w, "outfile")), os.Symlink("nowhere", filepath.Join(w, "dangling")),
		os.Symlink("w", filepath.Join(root, "link")), syscall.Mkfifo(filepath.Join(w, "fifo"), 0o600),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	return Env{Cwd: filepath.Join(root, "link"), CanonicalCwd: w}, o
}

func TestExistingPaths(t *testing.T) {
	env, o := place(t)
	w := env.CanonicalCwd
	for _, tc := range []struct {
		arg      string
		absolute bool
		want     string // canonical, or "" for an error
		err      error
	}{
		{"a.txt", false, w + "/a.txt", nil}, {"./d/../a.txt", false, w + "/a.txt", nil}, {".", false, w, nil}, {"in/b.txt", false, w + "/d/b.txt", nil},
		{"in/../a.txt", false, w + "/a.txt", nil}, {w + "/a.txt", false, w + "/a.txt", nil}, {env.Cwd + "/a.txt", false, w + "/a.txt", nil},
		{"out/c.txt", true, "", ErrEscapes}, {"out/c.txt", false, "", ErrEscapes}, {"..", true, "", ErrEscapes}, {"../o/c.txt", true, "", ErrEscapes}, {"outfile", true, "", ErrEscapes},
		{"out/../w/a.txt", true, w + "/a.txt", nil}, // the kernel's meaning
		{o + "/c.txt", true, o + "/c.txt", nil}, {o + "/c.txt", false, "", ErrEscapes}, {w + "/out/c.txt", true, o + "/c.txt", nil}, {w + "/out/c.txt", false, "", ErrEscapes},
		{"nope", true, "", ErrNotFound}, {"dangling", true, "", ErrNotFound}, {"a.txt/x", true, "", nil}, {"", true, "", nil}, {"a\x00b", true, "", nil},
	} {
		got, err := Policy{"read", tc.absolute}.Existing(vfs.OS(), env, tc.arg)
		if tc.want == "" {
			if err == nil || tc.err != nil && !errors.Is(err, tc.err) {
				t.Errorf("%q %v: %v %v", tc.arg, tc.absolute, got, err)
			}
			if tc.err == ErrEscapes && !strings.Contains(err.Error(), "capabilities.tools.read.absolute_paths") {
				t.Errorf("%q: %v", tc.arg, err)
			}
			continue
		}
		if err != nil || got.Canonical != tc.want || got.Inside != strings.HasPrefix(tc.want, w) {
			t.Errorf("%q %v: %+v %v", tc.arg, tc.absolute, got, err)
		}
	}
}

func TestNewPaths(t *testing.T) {
	env, o := place(t)
	w := env.CanonicalCwd
	for _, tc := range []struct {
		arg      string
		absolute bool
		want     string
		err      error
	}{
		{"n.txt", false, w + "/n.txt", nil}, {"a.txt", false, w + "/a.txt", nil}, {"x/y/n.txt", false, w + "/x/y/n.txt", nil}, {"in/n.txt", false, w + "/d/n.txt", nil},
		{w + "/n.txt", false, w + "/n.txt", nil}, {env.Cwd + "/n.txt", false, w + "/n.txt", nil}, {o + "/n.txt", true, o + "/n.txt", nil},
		{"out/n.txt", true, "", ErrEscapes}, {"out/x/n.txt", true, "", ErrEscapes}, {"../n.txt", true, "", ErrEscapes}, {"x/../../n.txt", true, "", ErrEscapes}, {o + "/n.txt", false, "", ErrEscapes},
		{w + "/out/n.txt", false, "", ErrEscapes}, {w + "/out/n.txt", true, o + "/n.txt", nil},
		{"outfile", true, "", ErrEscapesOrLink}, {"dangling", true, "", ErrLink}, {"in", true, "", ErrLink}, {"dangling/n.txt", true, "", nil},
		{"d", true, "", ErrNotRegular}, {"fifo", true, "", ErrNotRegular}, {"n/", true, "", nil}, {".", true, "", nil}, {"a.txt/n", true, "", nil}, {"", true, "", nil},
	} {
		got, err := Policy{"write", tc.absolute}.New(vfs.OS(), env, tc.arg)
		if tc.want == "" {
			if err == nil || tc.err != nil && tc.err != ErrEscapesOrLink && !errors.Is(err, tc.err) {
				t.Errorf("%q %v: %v %v", tc.arg, tc.absolute, got.Path(), err)
			}
			continue
		}
		if err != nil || got.Path() != tc.want {
			t.Errorf("%q %v: %v %v", tc.arg, tc.absolute, got.Path(), err)
		}
	}
}

// ErrEscapesOrLink accepts either refusal.
var ErrEscapesOrLink = errors.New("either")

func testFiles(t testing.TB, fsys vfs.FS) Files {
	m := lease.New(lease.Options{})
	t.Cleanup(func() { m.Close() })
	return Files{FS: fsys, Locks: LeaseLocks{m}}
}

func TestWriteFile(t *testing.T) {
	env, _ := place(t)
	files := testFiles(t, vfs.OS())
	old := syscall.Umask(0o027)
	defer syscall.Umask(old)
	os.Chmod(filepath.Join(env.CanonicalCwd, "a.txt"), 0o755)
	for _, tc := range []struct {
		arg  string
		mode os.FileMode
	}{{"a.txt", 0o755}, {"new.txt", 0o640}, {"x/y/z/n.txt", 0o640}} {
		target, err := Policy{"write", false}.New(vfs.OS(), env, tc.arg)
		if err != nil {
			t.Fatal(err)
		}
		path, err := files.Write(context.Background(), target, []byte("text"))
		if err != nil {
			t.Fatal(err)
		}
		info, err := os.Stat(path)
		data, _ := os.ReadFile(path)
		if err != nil || string(data) != "text" || info.Mode().Perm() != tc.mode || path != filepath.Join(env.CanonicalCwd, tc.arg) {
			t.Errorf("%s: %q %v %v", path, data, info.Mode(), err)
		}
	}
	if left, _ := filepath.Glob(env.CanonicalCwd + "/.*"); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
}

// TestWritersTakeTurns: many writers of one file, one lock.
func TestWritersTakeTurns(t *testing.T) {
	env, _ := place(t)
	files := testFiles(t, vfs.OS())
	var wg sync.WaitGroup
	for i := range 8 {
		wg.Go(func() {
			target, err := Policy{"write", false}.New(vfs.OS(), env, "a.txt")
			if err == nil {
				_, err = files.Write(context.Background(), target, fmt.Append(nil, "writer ", i))
			}
			if err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	data, _ := os.ReadFile(env.CanonicalCwd + "/a.txt")
	if !strings.HasPrefix(string(data), "writer ") || len(data) != 8 {
		t.Errorf("%q", data)
	}
}

// swapFS exchanges a directory for a link out of the workspace at the worst
// moments: before a directory is made, before a temporary file is opened,
// before it is renamed.
type swapFS struct {
	vfs.FS
	at   string
	swap func()
}

func (f *swapFS) hit(op string) {
	if f.at == op {
		f.at = ""
		f.swap()
	}
}

func (f *swapFS) Mkdir(name string, perm os.FileMode) error {
	err := f.FS.Mkdir(name, perm)
	f.hit("mkdir")
	return err
}

func (f *swapFS) Open(name string, flags vfs.Flag, perm os.FileMode) (vfs.File, error) {
	if flags&vfs.Create != 0 && strings.HasSuffix(name, ".tmp") {
		f.hit("open")
	}
	return f.FS.Open(name, flags, perm)
}

func (f *swapFS) Rename(from, to string) error {
	f.hit("rename")
	return f.FS.Rename(from, to)
}

func TestLinksUnderTheHand(t *testing.T) {
	for _, at := range []string{"mkdir", "open", "rename", "lock"} {
		t.Run(at, func(t *testing.T) {
			env, o := place(t)
			w := env.CanonicalCwd
			fsys := &swapFS{FS: vfs.OS(), at: at, swap: func() {
				os.Rename(w+"/new", w+"/moved")
				if err := os.Symlink(o, w+"/new"); err != nil {
					t.Error(err)
				}
			}}
			files := testFiles(t, fsys)
			if at != "mkdir" {
				os.Mkdir(w+"/new", 0o755)
			}
			target, err := Policy{"write", true}.New(fsys, env, "new/n.txt")
			if err != nil {
				t.Fatal(err)
			}
			fsys.hit("lock")
			_, err = files.Write(context.Background(), target, []byte("text"))
			if _, serr := os.Lstat(o + "/n.txt"); serr == nil {
				t.Fatalf("written outside of the workspace (%v)", err)
			}
		})
	}
}

func TestReadFile(t *testing.T) {
	env, _ := place(t)
	w := env.CanonicalCwd
	os.WriteFile(w+"/bad.txt", []byte("a\xff"), 0o644)
	os.WriteFile(w+"/big.txt", []byte("12345"), 0o644)
	files := testFiles(t, vfs.OS())
	for _, tc := range []struct {
		path string
		err  error
	}{
		{w + "/a.txt", nil}, {w + "/fifo", ErrNotRegular}, {w + "/d", ErrNotRegular}, {w + "/bad.txt", ErrNotUTF8}, {w + "/big.txt", ErrTooLarge},
		{w + "/outfile", ErrNotRegular}, {"/dev/null", ErrNotRegular}, {w + "/nope", ErrNotFound}, {w + "/in/b.txt", errAny},
	} {
		begin := time.Now()
		data, _, err := files.Read(tc.path, 4)
		if tc.err == nil && (err != nil || string(data) != "a") || tc.err != nil && err == nil || tc.err != nil && tc.err != errAny && !errors.Is(err, tc.err) {
			t.Errorf("%s: %q %v", tc.path, data, err)
		}
		if time.Since(begin) > time.Second {
			t.Errorf("%s: waited", tc.path)
		}
	}
}

var errAny = errors.New("any")

func TestDisplay(t *testing.T) {
	env := Env{Cwd: "/w", CanonicalCwd: "/w"}
	for in, want := range map[string]string{"/w": ".", "/w/a/b": "a/b", "/wx/a": "/wx/a", "/": "/"} {
		if got := Display(env, in); got != want {
			t.Errorf("%s: %s", in, got)
		}
	}
	root := Env{Cwd: "/", CanonicalCwd: "/"}
	if got := Display(root, "/etc/x"); got != "etc/x" || !Inside("/", "/etc") {
		t.Error(got)
	}
	for in, want := range map[string]string{"a b": "a b", "a\nb": `"a\nb"`, "a\xff": `"a\xff"`} {
		if got := ShowName(in); got != want {
			t.Errorf("%q: %s", in, got)
		}
	}
}
