package config

import (
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"

	"magicode/internal/vfs"
	"magicode/internal/vfs/memfs"
)

func TestRoot(t *testing.T) {
	for name, c := range map[string]struct {
		set  bool
		root string
		make func(*world)
		ok   bool
	}{
		"unset":          {false, "", nil, true},
		"empty":          {true, "", nil, false},
		"relative":       {true, "relative/path", nil, false},
		"tilde":          {true, "~/x", nil, false},
		"new":            {true, "/new/deep", nil, true},
		"a file":         {true, "/f", func(w *world) { w.write("/f", "x") }, false},
		"link to a file": {true, "/l", func(w *world) { w.write("/f", "x"); _ = w.fs.Symlink("/f", "/l") }, false},
		"link":           {true, "/l", func(w *world) { w.mkdir("/real"); _ = w.fs.Symlink("/real", "/l") }, true},
		"dangling":       {true, "/l", func(w *world) { _ = w.fs.Symlink("/nowhere", "/l") }, false},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			if c.set {
				w.vars["MC_HOME"] = c.root
			}
			if c.make != nil {
				c.make(w)
			}
			if !c.ok {
				w.refuse()
				return
			}
			l := w.load()
			if c.set && l.Paths.Root != c.root {
				t.Errorf("root %q", l.Paths.Root)
			}
			if name == "link" && l.Paths.CanonicalRoot != "/real" {
				t.Errorf("canonical %q", l.Paths.CanonicalRoot)
			}
		})
	}
}

func TestUserHome(t *testing.T) {
	w := newWorld(t)
	w.vars["HOME"] = ""
	w.refuse()
	w.env.PasswordHome = func() (string, error) { return "/home/pw", nil }
	if l := w.load(); l.Paths.Root != "/home/pw/.magi-code" {
		t.Errorf("%+v", l.Paths)
	}
	w.env.PasswordHome = func() (string, error) { return "", errors.New("none") }
	w.refuse()
	w.vars["MC_HOME"] = "/mc" // then nobody needs a home directory
	if l := w.load(); l.Paths.Home != "" {
		t.Errorf("%+v", l.Paths)
	}
}

func TestSessionsFolder(t *testing.T) {
	for name, c := range map[string]struct {
		make func(*world)
		ok   bool
	}{
		"open":     {func(w *world) { _ = w.fs.Mkdir(rootDir+"/sessions", 0o755) }, false},
		"group":    {func(w *world) { _ = w.fs.Mkdir(rootDir+"/sessions", 0o710) }, false},
		"private":  {func(w *world) { _ = w.fs.Mkdir(rootDir+"/sessions", 0o700) }, true},
		"link":     {func(w *world) { _ = w.fs.Mkdir("/s", 0o700); _ = w.fs.Symlink("/s", rootDir+"/sessions") }, false},
		"dangling": {func(w *world) { _ = w.fs.Symlink("/nowhere", rootDir+"/sessions") }, false},
		"file":     {func(w *world) { w.write(rootDir+"/sessions", "x") }, false},
		"stranger": {func(w *world) {
			_ = w.fs.Mkdir(rootDir+"/sessions", 0o700)
			_ = w.fs.Chown(rootDir+"/sessions", uint32(w.env.UID)+1)
		}, false},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			w.mkdir(rootDir)
			c.make(w)
			if c.ok {
				w.load()
				return
			}
			before, _ := w.fs.Lstat(rootDir + "/sessions")
			if e := w.refuse(); e.File != rootDir+"/sessions" {
				t.Errorf("%+v", e)
			}
			if after, _ := w.fs.Lstat(rootDir + "/sessions"); after.Mode != before.Mode {
				t.Errorf("mode repaired: %v", after.Mode)
			}
		})
	}
}

func TestBlockedFolders(t *testing.T) {
	for _, dir := range []string{"cache", "state", "checkpoints"} {
		w := newWorld(t)
		w.write(rootDir+"/"+dir, "x")
		w.refuse()
		w = newWorld(t)
		w.mkdir(rootDir)
		if err := w.fs.Symlink("/nowhere", rootDir+"/"+dir); err != nil {
			t.Fatal(err)
		}
		w.refuse()
	}
}

// stubborn refuses some renames.
type stubborn struct {
	*memfs.FS
	refuse map[string]bool
	before func(oldName, newName string)
}

func (s *stubborn) Rename(oldName, newName string) error {
	if s.before != nil {
		s.before(oldName, newName)
	}
	if s.refuse[oldName] {
		return errors.New("cross-device link")
	}
	return s.FS.Rename(oldName, newName)
}

func oldHome(w *world) {
	w.write(homeDir+"/.mc/settings.json", `{"schema_version":2}`)
	w.write(homeDir+"/.mc/sessions/a.jsonl", "line\n")
	if err := w.fs.Chmod(homeDir+"/.mc/sessions", 0o700); err != nil {
		w.t.Fatal(err)
	}
}

func TestHomeMigration(t *testing.T) {
	for name, c := range map[string]struct {
		make     func(*world, *stubborn)
		migrated bool
		oldStays bool
		refused  bool
	}{
		"renamed":        {func(w *world, _ *stubborn) { oldHome(w) }, true, false, false},
		"both":           {func(w *world, _ *stubborn) { oldHome(w); w.mkdir(rootDir) }, false, true, false},
		"no folder":      {func(w *world, _ *stubborn) { w.write(homeDir+"/.mc", "x") }, false, true, false},
		"MC_HOME is set": {func(w *world, _ *stubborn) { oldHome(w); w.vars["MC_HOME"] = rootDir }, false, true, false},
		"copied":         {func(w *world, s *stubborn) { oldHome(w); s.refuse[homeDir+"/.mc"] = true }, true, false, false},
		"holds a link": {func(w *world, s *stubborn) {
			oldHome(w)
			_ = w.fs.Symlink("/x", homeDir+"/.mc/l")
			s.refuse[homeDir+"/.mc"] = true
		}, false, true, true},
		"neither works": {func(w *world, s *stubborn) {
			oldHome(w)
			s.refuse[homeDir+"/.mc"], s.refuse[rootDir+".tmp-4242"] = true, true
		}, false, true, true},
		"another was it":  {func(w *world, s *stubborn) { oldHome(w); s.before = rival(w, homeDir+"/.mc", rootDir) }, false, false, false},
		"nothing to move": {func(*world, *stubborn) {}, false, false, false},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			s := &stubborn{FS: w.fs, refuse: map[string]bool{}}
			w.env.FS = s
			c.make(w, s)
			if c.refused {
				w.refuse()
			} else if l := w.load(); l.Migrated != c.migrated {
				t.Errorf("migrated %v", l.Migrated)
			}
			if exists(w.fs, homeDir+"/.mc") != c.oldStays {
				t.Errorf("old folder there: %v", !c.oldStays)
			}
			if exists(w.fs, rootDir+".tmp-4242") {
				t.Error("a temporary copy is left")
			}
			if c.migrated && w.read(rootDir+"/sessions/a.jsonl") != "line\n" {
				t.Error("content lost")
			}
		})
	}
}

// rival does the same rename just before.
func rival(w *world, oldName, newName string) func(string, string) {
	done := false
	return func(o, n string) {
		if !done && o == oldName && n == newName {
			done = true
			if err := w.fs.Rename(oldName, newName); err != nil {
				w.t.Error(err)
			}
		}
	}
}

func TestAgentsMigration(t *testing.T) {
	const old, name = rootDir + "/primary-agents", rootDir + "/agents"
	for label, c := range map[string]struct {
		make     func(*world, *stubborn)
		migrated bool
		refused  bool
	}{
		"renamed":        {func(w *world, _ *stubborn) { w.write(old+"/a.md", "x") }, true, false},
		"a link":         {func(w *world, _ *stubborn) { w.mkdir("/pa"); _ = w.fs.Symlink("/pa", old) }, false, false},
		"both":           {func(w *world, _ *stubborn) { w.mkdir(old); w.mkdir(name) }, false, false},
		"dangling new":   {func(w *world, _ *stubborn) { w.mkdir(old); _ = w.fs.Symlink("/nowhere", name) }, false, false},
		"refused":        {func(w *world, s *stubborn) { w.mkdir(old); s.refuse[old] = true }, false, true},
		"another was it": {func(w *world, s *stubborn) { w.mkdir(old); s.before = rival(w, old, name) }, false, false},
	} {
		t.Run(label, func(t *testing.T) {
			w := newWorld(t)
			w.mkdir(rootDir)
			s := &stubborn{FS: w.fs, refuse: map[string]bool{}}
			w.env.FS = s
			c.make(w, s)
			if c.refused {
				w.refuse()
				return
			}
			if l := w.load(); l.Migrated != c.migrated {
				t.Errorf("migrated %v", l.Migrated)
			}
			if c.migrated && (w.read(name+"/a.md") != "x" || exists(w.fs, old)) {
				t.Error("not renamed")
			}
		})
	}
}

func TestContextID(t *testing.T) {
	// SHA-256 of the 31 bytes ["/srv/p","/home/u/.magi-code"] (storage.md 1.3), by sha256sum.
	if got := ContextID("/srv/p", "/home/u/.magi-code"); got != "d9f48f21d3e8525c2b9d35d7bb89ad7909f65a6e165f7bcb22bcd7fb22381f4f" {
		t.Error(got)
	}
	for in, want := range map[string]string{
		`a"b\c/d`: `"a\"b\\c/d"`, "\b\t\n\f\r": `"\b\t\n\f\r"`, "\x00\x1f\x7f": "\"\\u0000\\u001f\x7f\"", "é\u2028\u2029<>&": "\"é\u2028\u2029<>&\"",
	} {
		if got := string(appendJSON(nil, in)); got != want {
			t.Errorf("%q: %s", in, got)
		}
	}
}

func TestPathsThatAreNotUTF8(t *testing.T) {
	w := newWorld(t)
	w.vars["MC_HOME"] = "/r\xff"
	w.refuse()
	w = newWorld(t)
	w.env.CWD = "/srv/\xff"
	w.mkdir(w.env.CWD)
	w.refuse()
}

func TestPathNames(t *testing.T) {
	p := Paths{Root: "/r", CWD: "/w"}
	got := []string{p.Settings(), p.ProjectSettings(), p.State(), p.Sessions(), p.Cache(), p.Auth()}
	want := []string{"/r/settings.json", "/w/.magi-code/settings.json", "/r/state", "/r/sessions", "/r/cache", "/r/auth.json"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

var _ vfs.FS = (*stubborn)(nil)
