package prompt

import (
	"strings"
)

// File is one instruction file.
type File struct {
	Path string
	Text string
}

// Row is one skill or subagent profile in a list.
type Row struct {
	Name        string
	Description string
}

// Parts is what a system prompt is made of.
type Parts struct {
	Overrides    map[string]string // fragment name to text; checked when it was loaded
	OS, Terminal string
	Skills       []Row
	CodeMode     bool
	Subagents    []Row // with their diagnostics as rows without description
	Delegation   bool  // subagents may be used in this run
	Instructions []File
	PersonaName  string // primary agent profile; "" for none
	PersonaText  string
}

// System returns the system message: fragments joined by a blank line, one line
// feed at the end, then the primary agent's role.
func System(p Parts) string {
	values := strings.NewReplacer(
		"{{operating_system}}", p.OS,
		"{{terminal_environment}}", p.Terminal,
		"{{SKILLS_LIST}}", list(p.Skills),
		"{{LIST_SUBAGENTS}}", list(p.Subagents),
	)
	fragments := []string{p.fragment(FragmentSystem), p.fragment(FragmentTools)}
	if p.CodeMode {
		fragments = append(fragments, p.fragment(FragmentCodeMode))
	}
	if p.Delegation && len(p.Subagents) > 0 {
		fragments = append(fragments, p.fragment(FragmentSubagents))
	}
	fragments = append(fragments, p.fragment(FragmentSkills))
	for i, f := range fragments {
		fragments[i] = values.Replace(strings.TrimRight(f, "\n"))
	}
	fragments = append(fragments, instructions(p.Instructions)) // not replaced: braces in them are the user's
	text := strings.Join(fragments, "\n\n") + "\n"
	if p.PersonaName != "" {
		text += "\n<Your-Role Persona=" + p.PersonaName + ">\n" + strings.TrimSpace(p.PersonaText) + "\n</Your-Role>\n"
	}
	return text
}

// Compaction returns the system message of a compaction request.
func Compaction(overrides map[string]string) string {
	return Parts{Overrides: overrides}.fragment(FragmentCompact)
}

func (p Parts) fragment(name string) string {
	if text, ok := p.Overrides[name]; ok {
		return text
	}
	return defaultFragment(name)
}

func list(rows []Row) string {
	if len(rows) == 0 {
		return "- none"
	}
	var b strings.Builder
	for i, r := range rows {
		if i > 0 {
			b.WriteByte('\n')
		}
		b.WriteString("- " + r.Name)
		if r.Description != "" {
			b.WriteString(": " + r.Description)
		}
	}
	return b.String()
}

func instructions(files []File) string {
	var b strings.Builder
	b.WriteString("<Additional-Context-Files>\n")
	for _, f := range files {
		b.WriteString("<Context File=" + f.Path + ">\n" + strings.TrimRight(f.Text, "\n") + "\n</Context>\n")
	}
	if len(files) == 0 {
		b.WriteString(noInstructions + "\n")
	}
	b.WriteString("</Additional-Context-Files>")
	return b.String()
}
