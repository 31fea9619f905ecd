package profile

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"magicode/internal/vfs/memfs"
)

func TestInstructionsInOrder(t *testing.T) {
	m := newFS(t, map[string]string{root + "/AGENTS.md": "HOME\n", cwd + "/AGENTS.md": "", "/x/b.md": "B", "/x/a.MD": "A\x00", "/AGENTS.md": "parent", cwd + "/sub/AGENTS.md": "sub"})
	got, err := ReadInstructions(m, root, cwd, []string{"/x/b.md", "/x/a.MD"})
	if err != nil {
		t.Fatal(err)
	}
	want := []Instruction{{root + "/AGENTS.md", "HOME\n"}, {cwd + "/AGENTS.md", ""}, {"/x/b.md", "B"}, {"/x/a.MD", "A\x00"}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if got, err := ReadInstructions(newFS(t, nil), root, cwd, nil); err != nil || got != nil {
		t.Errorf("none: %v %v", got, err)
	}
}

func TestInstructionFileRules(t *testing.T) {
	big := strings.Repeat("a", maxInstruction)
	for name, c := range map[string]struct {
		make func(*testing.T, *memfs.FS, string)
		ok   bool // also for a file that must exist
		skip bool // fine for AGENTS.md only
	}{
		"plain":     {func(t *testing.T, m *memfs.FS, f string) { write(t, m, f, "x") }, true, false},
		"just fits": {func(t *testing.T, m *memfs.FS, f string) { write(t, m, f, big) }, true, false},
		"too large": {func(t *testing.T, m *memfs.FS, f string) { write(t, m, f, big+"a") }, false, false},
		"not UTF-8": {func(t *testing.T, m *memfs.FS, f string) { write(t, m, f, "a\xff") }, false, false},
		"link":      {func(t *testing.T, m *memfs.FS, f string) { write(t, m, "/real", "x"); _ = m.Symlink("/real", f) }, true, false},
		"dangling":  {func(_ *testing.T, m *memfs.FS, f string) { _ = m.Symlink("/nowhere", f) }, false, true},
		"missing":   {func(*testing.T, *memfs.FS, string) {}, false, true},
		"directory": {func(_ *testing.T, m *memfs.FS, f string) { _ = m.Mkdir(f, 0o755) }, false, false},
		"FIFO":      {func(_ *testing.T, m *memfs.FS, f string) { _ = m.Mkfifo(f, 0o644) }, false, false},
		"denied":    {func(t *testing.T, m *memfs.FS, f string) { write(t, m, f, "x"); _ = m.Chmod(f, 0) }, false, false},
	} {
		for _, file := range []string{root + "/AGENTS.md", cwd + "/AGENTS.md", "/add.md"} {
			t.Run(name+" "+file, func(t *testing.T) {
				m := newFS(t, nil)
				c.make(t, m, file)
				var additional []string
				if file == "/add.md" {
					additional = []string{file}
				}
				got, err := ReadInstructions(m, root, cwd, additional)
				if c.ok || c.skip && additional == nil {
					if err != nil || len(got) == 1 != c.ok {
						t.Errorf("%v %v", got, err)
					}
				} else if f := fileOf(t, err, ErrInstructions); f != file {
					t.Errorf("names %s", f)
				}
			})
		}
	}
}

func TestInstructionsTogether(t *testing.T) {
	m := newFS(t, map[string]string{"/a.md": strings.Repeat("a", maxInstruction), "/b.md": "b"})
	four := []string{"/a.md", "/a.md", "/a.md", "/a.md"}
	if got, err := ReadInstructions(m, root, cwd, four); err != nil || len(got) != 4 {
		t.Errorf("exactly 1 MiB: %v", err)
	}
	_, err := ReadInstructions(m, root, cwd, append(four, "/b.md"))
	if f := fileOf(t, err, ErrInstructions); f != "/b.md" {
		t.Errorf("names %s", f)
	}
}
