package profile

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func skill(description string) string {
	return "---\nname: other\ndescription: " + description + "\n---\nBODY\n"
}

func TestSkills(t *testing.T) {
	m := newFS(t, map[string]string{
		"/u/.agents/skills/shared/SKILL.md":        skill("user"),
		"/u/.agents/skills/only-user/SKILL.md":     skill("user"),
		root + "/skills/shared/SKILL.md":           skill("home"),
		root + "/skills/group/inner/SKILL.md":      skill("'in a group'"),
		root + "/skills/group/deep/down/SKILL.md":  skill("too deep"),
		root + "/skills/hidden/SKILL.md":           skill("hidden"),
		root + "/skills/bare/SKILL.md":             "no front matter",
		root + "/skills/crlf/SKILL.md":             "---\r\ndescription: dos\r\n---\r\nB",
		root + "/skills/nodesc/SKILL.md":           "---\nname: x\n---\ndescription: in the body",
		root + "/skills/bad/SKILL.md":              "a\xff",
		root + "/skills/large/SKILL.md":            strings.Repeat("a", maxSkill+1),
		root + "/skills/README.md":                 "x",
		root + "/skills/bad\nname/SKILL.md":        skill("x"),
		"/more/shared/SKILL.md":                    skill("additional"),
		"/more/extra/SKILL.md":                     skill("additional"),
		cwd + "/.agents/skills/shared/SKILL.md":    skill(`"project"`),
		"/elsewhere/SKILL.md":                      skill("linked"),
		"/elsewhere2/linked-file/placeholder":      "x",
		root + "/skills/linked-file/placeholder":   "x",
		"/.agents/skills/of-the-parent/SKILL.md":   skill("x"),
		cwd + "/sub/.agents/skills/below/SKILL.md": skill("x"),
	})
	if err := m.Symlink("/elsewhere", root+"/skills/linked"); err != nil {
		t.Fatal(err)
	}
	if err := m.Symlink("/elsewhere/SKILL.md", root+"/skills/linked-file/SKILL.md"); err != nil {
		t.Fatal(err)
	}
	got := FindSkills(m, SkillRoots{Home: "/u", Root: root, Additional: []string{"/more", "/nowhere"}, CWD: cwd}, []string{"hidden", "unknown"})
	want := []Skill{
		{"bare", "", root + "/skills/bare/SKILL.md"},
		{"crlf", "dos", root + "/skills/crlf/SKILL.md"},
		{"extra", "additional", "/more/extra/SKILL.md"},
		{"inner", "in a group", root + "/skills/group/inner/SKILL.md"},
		{"nodesc", "", root + "/skills/nodesc/SKILL.md"},
		{"only-user", "user", "/u/.agents/skills/only-user/SKILL.md"},
		{"shared", "project", cwd + "/.agents/skills/shared/SKILL.md"},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if got := FindSkills(newFS(t, nil), SkillRoots{Root: root, CWD: cwd}, nil); len(got) != 0 {
		t.Errorf("none: %v", got)
	}
}
