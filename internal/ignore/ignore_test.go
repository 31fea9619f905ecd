package ignore

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"magicode/internal/vfs"
)

// noUser keeps the user's own configuration out of a test.
func noUser(t interface{ TempDir() string }) Sources {
	dir := t.TempDir()
	return Sources{Home: dir, Config: filepath.Join(dir, "config"), System: filepath.Join(dir, "system")}
}

func put(t testing.TB, root string, files map[string]string) {
	t.Helper()
	for name, text := range files {
		path := filepath.Join(root, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if strings.HasSuffix(name, "/") {
			continue
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

func walked(root string, src Sources) string {
	var got []string
	Walk(context.Background(), vfs.OS(), root, Options{Sorted: true, Sources: src}, func(e Entry) bool {
		if !e.Dir {
			got = append(got, e.Path)
		}
		return true
	})
	return strings.Join(got, " ")
}

func TestWalk(t *testing.T) {
	for _, tc := range []struct {
		name  string
		files map[string]string
		links map[string]string
		at    string
		want  string
	}{
		{name: "order is by component", files: map[string]string{"a/x": "", "a-b": "", "a.c": "", "b": ""}, want: "a/x a-b a.c b"},
		{name: "hidden and target", files: map[string]string{".h": "", ".d/x": "", "target/x": "", "s/target/x": "", "s/target.go": "", "target2/x": ""}, want: "s/target.go target2/x"},
		{name: "a file called target", files: map[string]string{"s/target": ""}, want: "s/target"},
		{name: "links", files: map[string]string{"a/x": ""}, links: map[string]string{"l": "a", "m": "a/x", "n": "nowhere"}, want: "a/x"},
		{name: "no repository", files: map[string]string{".gitignore": "*.o\n", "x.o": "", "d/y.o": "", "d/z": ""}, want: "d/z"},
		{name: "nested", files: map[string]string{".git/HEAD": "", ".gitignore": "*.o\n", "d/.gitignore": "!keep.o\n", "d/keep.o": "", "d/x.o": "", "keep.o": ""}, want: "d/keep.o"},
		{name: "parents", files: map[string]string{".git/HEAD": "", ".gitignore": "/s/gone\n*.o\n", "s/gone": "", "s/x.o": "", "s/y": ""}, at: "s", want: "y"},
		{name: "asked for although excluded", files: map[string]string{".git/HEAD": "", ".gitignore": "s/\n", "s/y": ""}, at: "s", want: "y"},
		{name: "info/exclude", files: map[string]string{".git/info/exclude": "a\n", "a": "", "b": ""}, want: "b"},
		{name: "gitignore over exclude", files: map[string]string{".git/info/exclude": "a\n", ".gitignore": "!a\n", "a": ""}, want: "a"},
		{name: ".ignore over .gitignore", files: map[string]string{".git/HEAD": "", ".ignore": "!a\nc\n", "s/.gitignore": "a\n", "s/a": "", "c": "", "d": ""}, want: "d s/a"},
		{name: "excluded directory is final", files: map[string]string{".git/HEAD": "", ".gitignore": "d/\n!d/x\n", "d/x": ""}, want: ""},
		{name: "repository within", files: map[string]string{".git/HEAD": "", ".gitignore": "*.o\n", "in/.git/HEAD": "", "in/x.o": "", "x.o": ""}, want: "in/x.o"},
		{name: "linked work tree", files: map[string]string{"w/.git": "gitdir: ../g/worktrees/w\n", "g/worktrees/w/commondir": "../..\n", "g/info/exclude": "a\n", "w/a": "", "w/b": ""}, at: "w", want: "b"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			root, src := t.TempDir(), noUser(t)
			put(t, root, tc.files)
			for l, to := range tc.links {
				if err := os.Symlink(to, filepath.Join(root, l)); err != nil {
					t.Fatal(err)
				}
			}
			if d := cmp.Diff(tc.want, walked(filepath.Join(root, tc.at), src)); d != "" {
				t.Error(d)
			}
		})
	}
}

func TestGlobalExcludes(t *testing.T) {
	for _, tc := range []struct {
		name  string
		files map[string]string // below the home
		want  string
	}{
		{"default place", map[string]string{"config/git/ignore": "a\n"}, "b c"},
		{"named", map[string]string{".gitconfig": "[user]\n\texcludesFile = no\n[Core]\n\tExcludesFile = \"~/my ignore\" ; mine\n", "my ignore": "b\n", "config/git/ignore": "a\n"}, "a c"},
		{"last wins", map[string]string{"config/git/config": "[core]\nexcludesfile=~/x\n", ".gitconfig": "[core] excludesfile = ~/y\n", "x": "a\n", "y": "c\n"}, "a b"},
		{"switched off", map[string]string{".gitconfig": "[core]\nexcludesfile =\n", "config/git/ignore": "a\n"}, "a b c"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			root, src := t.TempDir(), noUser(t)
			put(t, src.Home, tc.files)
			put(t, root, map[string]string{".git/HEAD": "", "a": "", "b": "", "c": ""})
			if d := cmp.Diff(tc.want, walked(root, src)); d != "" {
				t.Error(d)
			}
		})
	}
}

func TestWalkBounds(t *testing.T) {
	root, src := t.TempDir(), noUser(t)
	put(t, root, map[string]string{"a": "", "b": "", "c": "", "d/e": ""})
	n := 0
	st := Walk(context.Background(), vfs.OS(), root, Options{Limit: 3, Sources: src}, func(Entry) bool { n++; return true })
	if n != 3 || !st.Limited || st.Entries != 3 {
		t.Errorf("%d visited, %+v", n, st)
	}
	st = Walk(context.Background(), vfs.OS(), root, Options{Limit: 5, Sources: src}, func(Entry) bool { return true })
	if st.Limited || st.Entries != 5 {
		t.Errorf("exactly the limit: %+v", st)
	}
	st = Walk(context.Background(), vfs.OS(), root, Options{Sources: src}, func(Entry) bool { return false })
	if !st.Stopped || st.Entries != 1 {
		t.Errorf("stopped: %+v", st)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if st = Walk(ctx, vfs.OS(), root, Options{Sources: src}, func(Entry) bool { return true }); !st.Stopped || st.Entries != 0 {
		t.Errorf("cancelled: %+v", st)
	}
	if st = Walk(context.Background(), vfs.OS(), filepath.Join(root, "gone"), Options{Sources: src}, nil); st.Errors != 1 {
		t.Errorf("missing root: %+v", st)
	}
	if err := os.WriteFile(filepath.Join(root, "bad\xff"), nil, 0o644); err == nil {
		if st = Walk(context.Background(), vfs.OS(), root, Options{Sources: src}, func(Entry) bool { return true }); st.Omitted != 1 {
			t.Errorf("name: %+v", st)
		}
	}
}

// gitSays asks git about paths of a repository.
func gitSays(t interface {
	Fatalf(string, ...any)
}, root string, src Sources, paths []string) map[string]bool {
	cmd := exec.Command("git", "-C", root, "check-ignore", "--no-index", "-z", "--stdin")
	cmd.Env = append(os.Environ(), "HOME="+src.Home, "XDG_CONFIG_HOME="+src.Config, "GIT_CONFIG_SYSTEM="+src.System)
	cmd.Stdin = strings.NewReader(strings.Join(paths, "\x00") + "\x00")
	out, err := cmd.Output()
	if err != nil && cmd.ProcessState.ExitCode() != 1 {
		t.Fatalf("git: %v", err)
	}
	said := map[string]bool{}
	for p := range bytes.SplitSeq(bytes.TrimSuffix(out, []byte("\x00")), []byte("\x00")) {
		said[string(p)] = true
	}
	return said
}

func needGit(t testing.TB) {
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("no git")
	}
}

var (
	atoms  = []string{"a", "b", "ab", "*", "**", "***", "?", "/", "/", "[ab]", "[!a]", "[^b]", "[a-c]", "[]a]", "[a", "[[:alpha:]]", "[[:x:]]", "[[:a", "[\\]a]", "\\*", "\\a", "\\", "{a,b}", ".", "x.o", "*.o", " ", "\\ ", "!", "#", "é"}
	names  = []string{"a", "b", "ab", "ba", "abc", "x.o", "a.o", "*", "a b", "]", "[a", "-", "é", "aé", "\\", "{a,b}", "!a", "#a", "a "}
	pieces = rapid.SliceOfN(rapid.SampledFrom(atoms), 1, 5)
)

// TestLikeGit draws files of rules and a tree, and compares every path.
func TestLikeGit(t *testing.T) {
	needGit(t)
	src := noUser(t)
	base := t.TempDir()
	n := 0
	rapid.Check(t, func(rt *rapid.T) {
		n++
		root := filepath.Join(base, fmt.Sprint(n))
		put(t, root, map[string]string{".git/HEAD": "ref: refs/heads/main\n", ".git/objects/": "", ".git/refs/": "", ".git/objects/x": "", ".git/refs/x": ""})
		defer os.RemoveAll(root)
		var paths []string
		dirs := []string{""}
		for range rapid.IntRange(3, 12).Draw(rt, "entries") {
			parent := rapid.SampledFrom(dirs).Draw(rt, "parent")
			path := parent + rapid.SampledFrom(names).Draw(rt, "name")
			if _, err := os.Lstat(filepath.Join(root, path)); err == nil {
				continue
			}
			if rapid.Bool().Draw(rt, "dir") {
				os.Mkdir(filepath.Join(root, path), 0o755)
				dirs = append(dirs, path+"/")
			} else {
				os.WriteFile(filepath.Join(root, path), nil, 0o644)
			}
			paths = append(paths, path)
		}
		files := append([]string{".git/info/exclude"}, ".gitignore")
		for _, d := range dirs {
			if d != "" && rapid.IntRange(0, 3).Draw(rt, "own rules") == 0 {
				files = append(files, d+".gitignore")
			}
		}
		for _, f := range files {
			put(t, root, map[string]string{f: drawRules(rt)})
		}
		said := gitSays(rt, root, src, paths)
		for _, p := range paths {
			info, _ := os.Lstat(filepath.Join(root, p))
			if got := ignored(vfs.OS(), root, p, info.IsDir(), src); got != said[p] {
				for _, f := range files {
					text, _ := os.ReadFile(filepath.Join(root, f))
					rt.Logf("%s: %q", f, text)
				}
				rt.Fatalf("%q (directory %v): git %v, ours %v", p, info.IsDir(), said[p], got)
			}
		}
	})
}

// ignored tells whether git and .ignore rules exclude a path, or a directory
// above it, within the repository (or the directory root, without one). It
// does not apply the rule about hidden entries, links and "target". path is
// relative to root, with slashes; the entry itself need not exist.
func ignored(fsys vfs.FS, root, path string, dir bool, src Sources) bool {
	t, s, rel := newTree(fsys, root, src)
	s = t.enter(s, rel, allRuleFiles)
	parts := strings.Split(path, "/")
	for i, name := range parts {
		if rel != "" {
			rel += "/"
		}
		rel += name
		last := i == len(parts)-1
		if s.excludes(rel, name, !last || dir) {
			return true
		}
		if !last {
			s = t.enter(s, rel, allRuleFiles)
		}
	}
	return false
}

func drawRules(rt *rapid.T) string {
	var b strings.Builder
	for range rapid.IntRange(0, 4).Draw(rt, "rules") {
		b.WriteString(rapid.SampledFrom([]string{"", "", "", "!", "/", "#", "\\!", "\\#"}).Draw(rt, "start"))
		b.WriteString(strings.Join(pieces.Draw(rt, "pattern"), ""))
		b.WriteString(rapid.SampledFrom([]string{"\n", "\n", "/\n", "\r\n", " \n", "/ \n", "/**\n", "\t\n"}).Draw(rt, "end"))
	}
	return b.String()
}

// FuzzLikeGit compares one rule and one path. The corpus runs in every test.
func FuzzLikeGit(f *testing.F) {
	needGit(f)
	for _, s := range [][2]string{{"a/**/b", "a/x/y/b"}, {"a**/b", "ax/y/b"}, {"**/a", "x/a"}, {"[a-]", "-"}, {"*[!/]b", "a/b"}, {"a/*", "a/b/c"}, {"/**", "a"}, {"[[:alpha:]-z]", "-"}, {"a\\", "a"}, {"x/**/", "x/y"}, {"*", "a"}, {"a\x00b", "a"}} {
		f.Add(s[0], s[1])
	}
	src := noUser(f)
	root := f.TempDir()
	put(f, root, map[string]string{".git/HEAD": "ref: refs/heads/main\n", ".git/objects/x": "", ".git/refs/x": ""})
	f.Fuzz(func(t *testing.T, rules, path string) {
		clean := filepath.Clean("/" + path)[1:]
		if clean == "" || path[0] == ':' || clean != path || strings.ContainsAny(path, "\x00\n") || strings.Contains("/"+strings.ToLower(path)+"/", "/.git") || len(path) > 200 {
			t.Skip()
		}
		for _, part := range strings.Split(path, "/") {
			if part == ".." || strings.HasSuffix(part, ".") || strings.HasSuffix(part, " ") {
				t.Skip()
			}
		}
		put(t, root, map[string]string{".gitignore": rules})
		said := gitSays(t, root, src, []string{path})
		if got := ignored(vfs.OS(), root, path, false, src); got != said[path] {
			t.Fatalf("rules %q, path %q: git %v, ours %v", rules, path, said[path], got)
		}
	})
}

func TestWildmatch(t *testing.T) {
	for _, tc := range []struct {
		pattern, text string
		path, want    bool
	}{
		{"", "", true, true}, {"a", "", true, false}, {"*", "", true, true}, {"*", "a/b", true, false}, {"*", "a/b", false, true},
		{"**", "a/b", true, true}, {"a/**/b", "a/b", true, true}, {"a/**/b", "a/x/y/b", true, true}, {"a**b", "a/b", true, false},
		{"?", "/", true, false}, {"[/]", "/", true, false}, {"[/]", "/", false, true}, {"[]]", "]", true, true}, {"[!]]", "a", true, true},
		{"[a-c]", "b", true, true}, {"[a-]", "-", true, true}, {"[", "[", true, false}, {"[[:digit:]]", "7", true, true}, {"[[:digit:]x]", "x", true, true},
		{"[[:nope:]]", "n", true, false}, {"\\*", "*", true, true}, {"\\", "\\", true, false}, {"*/b", "a/b", true, true}, {"*/b", "a/c/b", true, false},
		{strings.Repeat("*a", 30) + "b", strings.Repeat("a", 100), true, false},
	} {
		if got := wildmatch(tc.pattern, tc.text, tc.path); got != tc.want {
			t.Errorf("wildmatch(%q, %q, %v) = %v", tc.pattern, tc.text, tc.path, got)
		}
	}
}
