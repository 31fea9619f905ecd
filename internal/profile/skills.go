package profile

import (
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
	found[name] = Skill{Name: name, Description: describe(string(data)), Path: path}
	return true
}

// describe finds the description in a flat front matter. Unlike a profile, a
// skill without one is fine.
func describe(text string) string {
	rest, ok := strings.CutPrefix(strings.ReplaceAll(text, "\r\n", "\n"), fence)
	if !ok {
		return ""
	}
	for line := range strings.Lines(rest) {
		line = strings.TrimRight(line, "\n")
		if line == "---" {
			return ""
		}
		if value, ok := strings.CutPrefix(line, "description:"); ok {
			return unquote(strings.TrimSpace(value))
		}
	}
	return ""
}
