package profile

import (
	"bytes"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"magicode/internal/vfs"
)

// Skill is one guide that the model may read.
type Skill struct {
	Name        string // the directory's name
	Description string // "" when the file says none
	Path        string // of SKILL.md
}

// maxSkill is the most that a SKILL.md may have: 1 MiB, tools.md 9.1.
const maxSkill = 1 << 20

// SkillRoots says where skills are. Empty fields are left out.
type SkillRoots struct {
	Home       string   // the user's home directory: ~/.agents/skills
	Root       string   // MC_HOME: skills
	Additional []string // absolute
	CWD        string   // .agents/skills of the project
}

// FindSkills lists the skills, sorted by name, without the disabled ones. A
// later root replaces an equal name. What cannot be read, is a link or too
// large is no skill; that fails nothing.
func FindSkills(fsys vfs.FS, roots SkillRoots, disabled []string) []Skill {
	found := map[string]Skill{}
	if roots.Home != "" {
		scanSkills(fsys, filepath.Join(roots.Home, ".agents", "skills"), found)
	}
	scanSkills(fsys, filepath.Join(roots.Root, "skills"), found)
	for _, dir := range roots.Additional {
		scanSkills(fsys, dir, found)
	}
	scanSkills(fsys, filepath.Join(roots.CWD, ".agents", "skills"), found)
	for _, name := range disabled {
		delete(found, name)
	}
	out := make([]Skill, 0, len(found))
	for _, name := range slices.Sorted(maps.Keys(found)) {
		out = append(out, found[name])
	}
	return out
}

// scanSkills looks for <skill>/SKILL.md and <group>/<skill>/SKILL.md.
func scanSkills(fsys vfs.FS, root string, found map[string]Skill) {
	for _, dir := range subdirs(fsys, root) {
		if addSkill(fsys, dir, found) {
			continue
		}
		for _, inner := range subdirs(fsys, dir) {
			addSkill(fsys, inner, found)
		}
	}
}

// subdirs lists the directories in a directory; links are skipped.
func subdirs(fsys vfs.FS, dir string) []string {
	entries, err := fsys.ReadDir(dir)
	if err != nil {
		return nil
	}
	var out []string
	for _, e := range entries {
		if e.IsDir() && plainName(e.Name()) {
			out = append(out, filepath.Join(dir, e.Name()))
		}
	}
	return out
}

// plainName: names go into the prompt, one a line.
func plainName(s string) bool {
	return utf8.ValidString(s) && !strings.ContainsFunc(s, unicode.IsControl)
}

func addSkill(fsys vfs.FS, dir string, found map[string]Skill) bool {
	path := filepath.Join(dir, "SKILL.md")
	data, err := vfs.ReadFile(fsys, path, maxSkill)
	if err != nil || !utf8.Valid(data) {
		return false
	}
	name := filepath.Base(dir)
	found[name] = Skill{Name: name, Description: describe(data), Path: path}
	return true
}

// describe finds the description in a flat front matter. Unlike a profile, a
// skill without one is fine. Only the front matter is looked at: bodies are
// long, and read when the model asks for them.
func describe(text []byte) string {
	for n := 0; len(text) > 0; n++ {
		var line []byte
		line, text, _ = bytes.Cut(text, []byte("\n"))
		line = bytes.TrimSuffix(line, []byte("\r"))
		if bytes.Equal(line, []byte("---")) != (n == 0) {
			return "" // no front matter, or its end
		}
		if value, ok := bytes.CutPrefix(line, []byte("description:")); ok {
			return unquote(string(bytes.TrimSpace(value)))
		}
	}
	return ""
}
