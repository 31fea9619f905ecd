package prompt

import (
	"strings"
	"testing"
)

func TestSystemOrderAndWrappers(t *testing.T) {
	got := System(Parts{
		OS: "linux", Terminal: "none", CodeMode: true, Delegation: true,
		Skills:       []Row{{Name: "greet", Description: "How to greet."}, {Name: "bare"}},
		Subagents:    []Row{{Name: "scout", Description: "looks"}},
		Instructions: []File{{Path: "/h/AGENTS.md", Text: "GLOBAL {{SKILLS_LIST}}\n"}, {Path: "/w/AGENTS.md", Text: "PROJECT"}},
		PersonaName:  "calm", PersonaText: "Be calm.\n",
	})
	at := -1
	for _, part := range []string{
		"<System-Prompt>", "<User-System-Information>", "Operating system: linux", "<Tools>", "<Code-Mode>", "<Subagents>", "- scout: looks",
		"<Available-Skills>", "- greet: How to greet.\n- bare\n", "<Additional-Context-Files>", "<Context File=/h/AGENTS.md>\nGLOBAL {{SKILLS_LIST}}\n</Context>",
		"<Context File=/w/AGENTS.md>\nPROJECT\n</Context>", "</Additional-Context-Files>\n", "<Your-Role Persona=calm>\nBe calm.\n</Your-Role>\n",
	} {
		i := strings.Index(got, part)
		if i <= at {
			t.Fatalf("%q at %d, after %d in:\n%s", part, i, at, got)
		}
		at = i
	}
}

func TestSystemLeavesOutWhatIsNotThere(t *testing.T) {
	got := System(Parts{Subagents: []Row{{Name: "scout"}}})
	for _, part := range []string{"<Code-Mode>", "<Subagents>", "<Your-Role", "{{"} {
		if strings.Contains(got, part) {
			t.Errorf("%q in a prompt without it", part)
		}
	}
	for _, part := range []string{"- none", noInstructions} {
		if !strings.Contains(got, part) {
			t.Errorf("%q is missing", part)
		}
	}
}

func TestOverridesReplaceFragments(t *testing.T) {
	got := System(Parts{OS: "plan9", Overrides: map[string]string{FragmentSystem: "MINE on {{operating_system}}\n"}})
	if !strings.HasPrefix(got, "MINE on plan9\n\n<Tools>") {
		t.Errorf("got %q", got[:40])
	}
}
