package profile

import (
	"path/filepath"
	"slices"
	"strings"

	"magicode/internal/jsonscan"
	"magicode/internal/vfs"
)

// Subagent is one profile that a task may run under.
type Subagent struct {
	ID            string
	Name          string
	Description   string
	Provider      string // "" with Model: the parent's
	Model         string
	Reasoning     string // a thinking level as settings spell it; "" is the parent's
	Output        Output
	DisabledTools []string // as written, aliases included
	Text          string   // the body: the role
}

// Output says what the child's answer must look like. The zero value: no schema.
type Output struct {
	Builtin string // plan, research, implement, review or document
	Inline  string // a JSON Schema, one object
}

// Subagents is the content of <root>/subagents.
type Subagents struct {
	Profiles    []Subagent   // sorted by id, disabled ones left out
	Diagnostics []Diagnostic // files that could not be used, sorted
}

// Diagnostic names a file that could not be used.
type Diagnostic struct {
	File   string // base name
	Reason string
}

// ReadSubagents reads the subagent profiles. A broken file with a valid id that
// is not disabled fails with ErrInvalid; other unusable files are diagnostics.
func ReadSubagents(fsys vfs.FS, root string, disabled []string) (Subagents, error) {
	dir := filepath.Join(root, "subagents")
	var out Subagents
	link, err := linked(fsys, dir)
	if err != nil {
		return out, &Error{Kind: ErrInvalid, File: dir, Reason: readReason(err)}
	}
	if link {
		out.Diagnostics = []Diagnostic{{File: "subagents", Reason: "is a link"}}
		return out, nil
	}
	files, err := profileFiles(fsys, dir)
	if err != nil {
		out.Diagnostics = []Diagnostic{{File: "subagents", Reason: readReason(err)}}
	}
	for _, e := range files {
		if !validID(e.id) {
			out.Diagnostics = append(out.Diagnostics, Diagnostic{File: filepath.Base(e.path), Reason: "has a name that is no id"})
			continue
		}
		if slices.Contains(disabled, e.id) {
			continue // not even read
		}
		p, f := readSubagent(fsys, e)
		if f != nil {
			return out, &Error{Kind: ErrInvalid, File: e.path, Key: f.key, Line: f.line, Reason: f.reason}
		}
		out.Profiles = append(out.Profiles, p)
	}
	return out, nil
}

func readSubagent(fsys vfs.FS, e profileFile) (Subagent, *fault) {
	data, err := vfs.ReadFile(fsys, e.path, maxProfile)
	if err != nil {
		return Subagent{}, &fault{reason: readReason(err)}
	}
	m, f := parseMatter(data)
	if f == nil {
		f = m.required()
	}
	if f != nil {
		return Subagent{}, f
	}
	p := Subagent{ID: e.id, Name: m.fields["name"].value, Description: m.fields["description"].value, Text: m.body}
	for _, read := range []func(*Subagent, matter) *fault{takeModel, takeReasoning, takeOutput, takeDisabled} {
		if f := read(&p, m); f != nil {
			return p, f
		}
	}
	return p, nil
}

func takeModel(p *Subagent, m matter) *fault {
	f := m.fields["model"]
	if f.value == "" {
		return nil
	}
	p.Provider, p.Model, _ = strings.Cut(f.value, "/")
	if strings.TrimSpace(p.Provider) == "" || strings.TrimSpace(p.Model) == "" {
		return &fault{key: "model", line: f.line, reason: "is no provider/model"}
	}
	return nil
}

// takeReasoning: profiles of other releases write xhigh where settings write
// x_high; both are read.
func takeReasoning(p *Subagent, m matter) *fault {
	f := m.fields["reasoning"]
	switch f.value {
	case "", "default", "low", "medium", "high", "x_high", "max":
		p.Reasoning = f.value
	case "xhigh":
		p.Reasoning = "x_high"
	default:
		return &fault{key: "reasoning", line: f.line, reason: "is no thinking level"}
	}
	return nil
}

func takeOutput(p *Subagent, m matter) *fault {
	f := m.fields["output_schema"]
	switch f.value {
	case "":
		p.Output.Builtin = historicalSchema(p.ID)
		return nil
	case "none":
		return nil
	case "plan", "research", "implement", "review", "document":
		p.Output.Builtin = f.value
		return nil
	}
	inline, ok := strings.CutPrefix(f.value, "inline:")
	v, err := jsonscan.Parse([]byte(inline), jsonscan.Options{})
	if !ok || err != nil || v.Kind() != jsonscan.Object {
		return &fault{key: "output_schema", line: f.line, reason: "is neither a known schema nor inline:{…}"}
	}
	p.Output.Inline = string(v)
	return nil
}

// historicalSchema: profiles of these names had a schema before the key existed.
func historicalSchema(id string) string {
	switch id {
	case "tars-plan-creation":
		return "plan"
	case "tars-research-investigation":
		return "research"
	case "tars-code-writing-execution":
		return "implement"
	case "tars-execution-review", "tars-plan-review", "tars-plan-audit":
		return "review"
	case "tars-document-authoring":
		return "document"
	}
	return ""
}

func takeDisabled(p *Subagent, m matter) *fault {
	f, ok := m.fields[listKey]
	if !ok {
		return nil
	}
	items, reason := f.list()
	if f.twice {
		reason = "is there twice"
	}
	for _, name := range items {
		if reason == "" && !toolName(name) {
			reason = "names an unknown tool"
		}
	}
	if reason != "" {
		return &fault{key: listKey, line: f.line, reason: reason}
	}
	p.DisabledTools = items
	return nil
}

// toolName accepts tools, their aliases, jev, tools of MCP servers, and the tool
// that newer releases added (extensions.md 18.1). code_mode cannot be withheld.
func toolName(name string) bool {
	switch name {
	case "read", "view_image", "bash", "hash_edit", "write", "grep", "find", "list_files", "subagents", "web", "ast_grep",
		"magi_control", "shell", "ffgrep", "fffind", "jev", "bash_job":
		return true
	}
	rest, ok := strings.CutPrefix(name, "mcp__")
	server, tool, cut := strings.Cut(rest, "__")
	return ok && cut && validID(server) && validID(tool)
}
