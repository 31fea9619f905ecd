package profile

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

const okProfile = "---\nname: calm\ndescription: d\n---\nBe calm.\n"

// front puts lines into a valid profile.
func front(lines string) string { return "---\nname: a\ndescription: d\n" + lines + "\n---\nB" }

// profiles says of whole files whether they are a profile.
var profiles = []struct {
	name string
	text string
	ok   bool
}{
	{"plain", okProfile, true}, {"no front matter", "x", false}, {"empty", "", false},
	{"CRLF", strings.ReplaceAll(okProfile, "\n", "\r\n"), false}, {"nothing after the end", "---\nname: a\ndescription: d\n---", false},
	{"empty body", "---\nname: a\ndescription: d\n---\n", false}, {"blank body", "---\nname: a\ndescription: d\n---\n \n", false},
	{"empty front matter", "---\n---\nB", false}, {"never ends", "---\nname: a\ndescription: d\n", false},
	{"BOM", "\ufeff" + okProfile, false}, {"four dashes", "-" + okProfile, false}, {"space behind the end", "---\nname: a\ndescription: d\n--- \nB", false},
	{"not UTF-8", "---\nname: a\ndescription: \xff\n---\nB", false}, {"a rule in the body", okProfile + "---\n", true},
	{"no name", "---\ndescription: d\n---\nB", false}, {"empty name", "---\nname: \ndescription: d\n---\nB", false}, {"no description", "---\nname: a\n---\nB", false},
	{"quoted", "---\nname: \"a\"\ndescription: 'd'\n---\nB", true}, {"empty quotes", "---\nname: \"\"\ndescription: d\n---\nB", false}, {"half quoted", "---\nname: \"a\ndescription: d\n---\nB", true},
	{"no space", "---\nname:a\ndescription:d\n---\nB", true}, {"no colon", front("foo"), false}, {"comment", front("# c"), false}, {"blank line", front(""), true},
	{"indented", front("  x: y"), true}, {"indented without colon", front(" x"), true}, {"unknown", front("foo: b\nfoo: c"), true}, {"name twice", front("name: b"), true},
	{"just fits", okProfile + strings.Repeat("x", maxProfile-len(okProfile)), true}, {"too large", okProfile + strings.Repeat("x", maxProfile-len(okProfile)+1), false},
}

// subagentLines says of front matter lines whether a subagent may have them.
var subagentLines = []struct {
	lines string
	ok    bool
}{
	{"model: fixture/m", true}, {"model: m", false}, {"model: nope/m", true}, {"model: claude-code/m", true}, {"model:", true}, {"model: a/b/c", true}, {"model: a/b c", true},
	{"model: /m", false}, {"model: a/", false}, {"model: a/b\nmodel: bad", false}, {"model: bad\nmodel: a/b", true},
	{"reasoning: xhigh", true}, {"reasoning: x_high", true}, {"reasoning: x-high", false}, {"reasoning: HIGH", false}, {"reasoning: default", true}, {"reasoning:", true}, {"reasoning: nope", false}, {"reasoning: \"high\"", true},
	{"output_schema: none", true}, {"output_schema: x", false}, {"output_schema: plan", true}, {"output_schema: \"plan\"", true}, {"output_schema:", true}, {"output_schema:\n  type: object", true},
	{`output_schema: inline:{"type":"object"}`, true}, {`output_schema: inline: {"type":"object"}`, true}, {`output_schema: inline:{"type":`, false}, {"output_schema: inline:[1]", false}, {"output_schema: inline:", false},
	{`disabled_tools: [bash, "grep"]`, true}, {"disabled_tools: ['bash']", true}, {"disabled_tools: []", true}, {"disabled_tools: [ ]", true}, {"disabled_tools: [bash, bash]", true},
	{"disabled_tools: bash", false}, {"disabled_tools:", false}, {"disabled_tools: [bash] # c", false}, {`disabled_tools: ["a\b"]`, false}, {"disabled_tools: [bash, ]", false}, {`disabled_tools: ["a,b"]`, false},
	{"disabled_tools: [bash]\ndisabled_tools: [grep]", false}, {"disabled_tools: [nope]", false}, {"disabled_tools: [Bash]", false}, {"disabled_tools: [code_mode]", false}, {"disabled_tools: [magi_control, jev, web, subagents, view_image, ast_grep]", true},
	{"disabled_tools: [shell, ffgrep, fffind, bash_job]", true}, {"disabled_tools: [mcp__a__b]", true}, {"disabled_tools: [mcp__a]", false}, {"disabled_tools: [client__x]", false},
	{"disabled_tools:\n  - bash\n  - \"grep\"", true}, {"disabled_tools:\n- bash", true}, {"disabled_tools:\n\n  - bash", true}, {"disabled_tools:\n  - bash\nmodel: a/b", true}, {"disabled_tools:\n  -bash", true},
	{"disabled_tools:\n  - ", false}, {"disabled_tools:\n  - bash\n  # c", false}, {"disabled_tools:\n  - \"bash", false}, {"disabled_tools: [bash]\n  - grep", false},
}

func TestPrimaryAgents(t *testing.T) {
	id := "p"
	for _, c := range profiles {
		a, err := ReadAgent(newFS(t, map[string]string{root + "/agents/p.md": c.text}), root, &id)
		if (err == nil) != c.ok {
			t.Errorf("%s: %v", c.name, err)
		}
		if err != nil {
			if f := fileOf(t, err, ErrInvalid); f != root+"/agents/p.md" {
				t.Errorf("%s: names %s", c.name, f)
			}
		} else if a.ID != "p" || a.Name == "" || a.Text == "" {
			t.Errorf("%s: %+v", c.name, a)
		}
	}
	m := newFS(t, map[string]string{root + "/agents/file.md": okProfile, root + "/agents/broken.md": "x", root + "/agents/bad-model.md": front("model: bad")})
	got, err := ReadAgent(m, root, ptr("file"))
	if diff := cmp.Diff(&Agent{ID: "file", Name: "calm", Description: "d", Text: "Be calm.\n"}, got); diff != "" || err != nil {
		t.Errorf("%v (-want +got):\n%s", err, diff)
	}
	for _, id := range []string{"calm", "", " ", " file ", "missing", "../agents/file", "broken", "a b"} {
		if _, err := ReadAgent(m, root, &id); !errors.Is(err, ErrInvalid) {
			t.Errorf("%q: %v", id, err)
		}
	}
	if a, err := ReadAgent(m, root, nil); a != nil || err != nil {
		t.Error("none is asked for")
	}
	if _, err := ReadAgent(m, root, ptr("bad-model")); err != nil {
		t.Errorf("a primary agent has no model: %v", err)
	}
}

func ptr[T any](v T) *T { return &v }

func TestAgentLinks(t *testing.T) {
	m := newFS(t, map[string]string{"/real/calm.md": okProfile})
	_ = m.Symlink("/real", root+"/agents")
	if _, err := ReadAgent(m, root, ptr("calm")); err != nil {
		t.Errorf("a linked folder: %v", err)
	}
	m = newFS(t, map[string]string{"/real/calm.md": okProfile, root + "/agents/x": ""})
	_ = m.Symlink("/real/calm.md", root+"/agents/calm.md")
	if _, err := ReadAgent(m, root, ptr("calm")); !errors.Is(err, ErrInvalid) {
		t.Errorf("a linked file: %v", err)
	}
}

func TestSubagentFiles(t *testing.T) {
	check := func(name, text string, ok bool) {
		m := newFS(t, map[string]string{root + "/subagents/p.md": text})
		got, err := ReadSubagents(m, root, nil)
		if (err == nil) != ok {
			t.Errorf("%s: %v", name, err)
		}
		if err == nil && len(got.Profiles) != 1 {
			t.Errorf("%s: %+v", name, got)
		}
		if err != nil {
			if f := fileOf(t, err, ErrInvalid); f != root+"/subagents/p.md" {
				t.Errorf("%s: names %s", name, f)
			}
			if got, err := ReadSubagents(m, root, []string{"p"}); err != nil || len(got.Profiles) != 0 {
				t.Errorf("%s, disabled: %v", name, err)
			}
		}
	}
	for _, c := range profiles {
		check(c.name, c.text, c.ok)
	}
	for _, c := range subagentLines {
		check(c.lines, front(c.lines), c.ok)
	}
}

func TestSubagentValues(t *testing.T) {
	m := newFS(t, map[string]string{
		root + "/subagents/full.md":             "---\nname: 'Full One'\ndescription: does: things\nmodel: a/b/c\nreasoning: xhigh\noutput_schema: inline: {\"type\":\"object\"}\ndisabled_tools: [bash, \"shell\"]\n---\n\nRole\n",
		root + "/subagents/tars-plan-audit.md":  okProfile,
		root + "/subagents/tars-plan-review.md": front("output_schema: none"),
		root + "/subagents/off.md":              "broken",
		root + "/subagents/a b.md":              "broken",
		root + "/subagents/é.md":                okProfile,
		root + "/subagents/.md":                 "broken",
		root + "/subagents/x.MD":                "broken",
		root + "/subagents/x.txt":               "broken",
	})
	got, err := ReadSubagents(m, root, []string{"off"})
	if err != nil {
		t.Fatal(err)
	}
	want := Subagents{
		Profiles: []Subagent{
			{ID: "full", Name: "Full One", Description: "does: things", Provider: "a", Model: "b/c", Reasoning: "x_high", Output: Output{Inline: `{"type":"object"}`}, DisabledTools: []string{"bash", "shell"}, Text: "\nRole\n"},
			{ID: "tars-plan-audit", Name: "calm", Description: "d", Output: Output{Builtin: "review"}, Text: "Be calm.\n"},
			{ID: "tars-plan-review", Name: "a", Description: "d", Text: "B"},
		},
		Diagnostics: []Diagnostic{{".md", "has a name that is no id"}, {"a b.md", "has a name that is no id"}, {"é.md", "has a name that is no id"}},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestHistoricalSchemas(t *testing.T) {
	for id, want := range map[string]string{
		"tars-plan-creation": "plan", "tars-research-investigation": "research", "tars-code-writing-execution": "implement", "tars-execution-review": "review",
		"tars-plan-review": "review", "tars-plan-audit": "review", "tars-document-authoring": "document", "other": "",
	} {
		if got := historicalSchema(id); got != want {
			t.Errorf("%s: %q", id, got)
		}
	}
}

func TestSubagentFolder(t *testing.T) {
	m := newFS(t, map[string]string{"/real/p.md": "broken"})
	_ = m.Symlink("/real", root+"/subagents")
	if got, err := ReadSubagents(m, root, nil); err != nil || len(got.Profiles) != 0 || len(got.Diagnostics) != 1 {
		t.Errorf("a linked folder: %+v %v", got, err)
	}
	if got, err := ReadSubagents(newFS(t, nil), root, nil); err != nil || got.Profiles != nil || got.Diagnostics != nil {
		t.Errorf("no folder: %+v %v", got, err)
	}
	m = newFS(t, map[string]string{root + "/subagents": "x"})
	if got, err := ReadSubagents(m, root, nil); err != nil || len(got.Diagnostics) != 1 {
		t.Errorf("a file: %+v %v", got, err)
	}
	for name, make := range map[string]func(file string) error{
		"link":      func(file string) error { return m.Symlink("/real/p.md", file) },
		"directory": func(file string) error { return m.Mkdir(file, 0o755) },
		"FIFO":      func(file string) error { return m.Mkfifo(file, 0o644) },
	} {
		m = newFS(t, map[string]string{"/real/p.md": okProfile, root + "/subagents/q": ""})
		if err := make(root + "/subagents/p.md"); err != nil {
			t.Fatal(err)
		}
		if _, err := ReadSubagents(m, root, nil); !errors.Is(err, ErrInvalid) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestFragments(t *testing.T) {
	m := newFS(t, map[string]string{root + "/prompts/system.md": "S {{operating_system}} {x}", root + "/prompts/subagents.md": "{{LIST_SUBAGENTS}}", root + "/prompts/other.md": "{{nope}}", root + "/prompts/skills.md": ""})
	got, err := ReadFragments(m, root)
	want := map[string]string{"system": "S {{operating_system}} {x}", "subagents": "{{LIST_SUBAGENTS}}", "skills": ""}
	if diff := cmp.Diff(want, got); diff != "" || err != nil {
		t.Errorf("%v (-want +got):\n%s", err, diff)
	}
	if got, err := ReadFragments(newFS(t, nil), root); len(got) != 0 || err != nil {
		t.Errorf("none: %v %v", got, err)
	}
	for text, ok := range map[string]bool{
		"plain": true, "": true, "{x} } {": true, "{{SKILLS_LIST}}{{terminal_environment}}": true, "{{LIST_SUBAGENTS}}": false, "{{nope}}": false, "{{ SKILLS_LIST }}": false, "{{skills_list}}": false,
		"{{SKILLS_LIST": false, "a\n}}": false, "{{{SKILLS_LIST}}}": false, "{{SKILLS_LIST}}}": true, "{{}}": false, "\xff": false,
		strings.Repeat("a", 256<<10): true, strings.Repeat("a", 256<<10+1): false,
	} {
		for _, name := range []string{"system", "tools", "codemode", "skills"} {
			file := root + "/prompts/" + name + ".md"
			_, err := ReadFragments(newFS(t, map[string]string{file: text}), root)
			if (err == nil) != ok {
				t.Errorf("%s %.30q: %v", name, text, err)
			}
			if err != nil && fileOf(t, err, ErrInstructions) != file {
				t.Errorf("names another file: %v", err)
			}
		}
	}
	large := newFS(t, map[string]string{root + "/prompts/subagents.md": strings.Repeat("a", 64<<10+1)})
	if _, err := ReadFragments(large, root); !errors.Is(err, ErrInstructions) {
		t.Errorf("subagents.md of more than 64 KiB: %v", err)
	}
}

func FuzzMatter(f *testing.F) {
	for _, c := range profiles {
		f.Add([]byte(c.text))
	}
	for _, c := range subagentLines {
		f.Add([]byte(front(c.lines)))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		m, fault := parseMatter(data)
		if fault != nil {
			if fault.reason == "" || fault.line < 0 || fault.line > 1+strings.Count(string(data), "\n") {
				t.Fatalf("%+v", fault)
			}
			return
		}
		if !strings.HasPrefix(string(data), fence) || !strings.HasSuffix(string(data), "\n"+fence+m.body) || strings.TrimSpace(m.body) == "" {
			t.Fatalf("the body is not what follows the front matter")
		}
		for key, field := range m.fields {
			if field.line < 2 || strings.ContainsAny(key+field.value, "\n") {
				t.Fatalf("%q: %+v", key, field)
			}
			_, _ = field.list()
		}
	})
}
