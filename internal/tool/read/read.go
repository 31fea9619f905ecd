package read

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"

	"magicode/internal/tool"
)

// Bounds: tools.md 1.7.
const (
	maxBytes     = 1 << 20 // per resource, and per call
	maxPaths     = 8
	defaultLines = 400
	noticeRoom   = 256 // kept free for the notice that something was cut
)

// Skills reads skills. reference is empty for the skill itself, else a relative
// path below its directory. The reader checks that it is regular, link-free,
// inside, and at most limit bytes of UTF-8.
type Skills interface {
	ReadSkill(ctx context.Context, name, reference string, limit int64) ([]byte, error)
}

// Tool is the read tool. It is safe for concurrent use.
type Tool struct {
	files     tool.Files
	policy    tool.Policy
	snapshots *tool.Snapshots
	skills    Skills
}

// New returns the tool. absolute is its absolute_paths setting; skills may be nil.
func New(files tool.Files, snapshots *tool.Snapshots, skills Skills, absolute bool) *Tool {
	return &Tool{files: files, snapshots: snapshots, skills: skills, policy: tool.Policy{Tool: "read", Absolute: absolute}}
}

type arguments struct {
	tool.Intent
	Paths []string `json:"paths"`
	Path  *string  `json:"path"`
}

const parameters = `{"type":"object","properties":{"paths":{"type":"array","items":{"type":"string"},"minItems":1,"maxItems":8,"description":"Files to read, each optionally with a selector suffix"}},"required":["paths"],"additionalProperties":false,"x-maxFiles":8,"x-maxBytes":1048576}`

const description = `read: shows up to 8 files, or skills by skill://NAME.
A file is shown as [PATH#TAG] and rows LINE:TEXT, the first 400 lines; hash_edit needs that tag and only edits lines that were shown. ` +
	`A suffix selects lines: file:10 (one line), file:10-20, file:-50 (the first 50), file:100+ (from 100 on), file:100+20 (20 lines from 100); file:raw shows the text untouched, also with lines (file:raw:1-5). ` +
	`At most 1 MiB per file and per call. Directories are for list_files, web pages for web.`

// Definition describes the tool.
func (t *Tool) Definition() tool.Definition {
	return tool.Definition{Name: "read", Description: description, Parameters: json.RawMessage(parameters)}
}

// Run reads the entries in order. It succeeds when at least one could be read.
func (t *Tool) Run(ctx context.Context, env tool.Env, args json.RawMessage) tool.Result {
	var a arguments
	err := tool.Decode(args, &a)
	if err == nil {
		err = a.check()
	}
	if err != nil {
		return tool.Failed("%v", err)
	}
	if a.Path != nil {
		return t.one(ctx, env, *a.Path)
	}
	return t.several(ctx, env, a.Paths)
}

func (a *arguments) check() error {
	switch {
	case a.Path != nil && a.Paths != nil:
		return errors.New(`invalid arguments: give "paths" only`)
	case a.Path == nil && a.Paths == nil:
		return errors.New(`invalid arguments: field "paths" is required`)
	case a.Path == nil && (len(a.Paths) == 0 || len(a.Paths) > maxPaths):
		return fmt.Errorf(`invalid arguments: field "paths" must hold 1 to %d entries`, maxPaths)
	}
	for _, p := range a.Paths {
		if strings.TrimSpace(p) == "" {
			return errors.New(`invalid arguments: an entry of "paths" is blank`)
		}
	}
	return nil
}

// one is the legacy form with a single path: no section around the text.
func (t *Tool) one(ctx context.Context, env tool.Env, path string) tool.Result {
	r, err := t.load(ctx, env, path)
	if err != nil {
		return tool.Failed("%v", err)
	}
	s, err := r.render(maxBytes - noticeRoom)
	if err != nil {
		return tool.Failed("%v", err)
	}
	t.remember(r, s)
	m := fileMetadata(r, s)
	m["structured_result"] = structured([]map[string]any{structuredFile(r, s)})
	m["skill_reads"] = []any{}
	res := tool.Result{Success: true, Content: s.body, Metadata: m, Touched: touched(r),
		Display: display([]tool.Resource{displayed(r, s)}, s.truncated, s.capped)}
	if s.truncated {
		res.Content += "\n" + truncatedNotice(s)
	}
	return res
}

// remember stores what was shown, for hash_edit.
func (t *Tool) remember(r *resource, s shown) {
	if r.kind == "file" && !r.sel.raw {
		t.snapshots.Record(r.path, s.tag, r.text, s.first, s.last)
	}
}

func touched(r *resource) []tool.Touched {
	if r.kind != "file" {
		return nil
	}
	return []tool.Touched{{Path: r.path, Kind: "read", Success: true, InsideCwd: r.inside}}
}

func truncatedNotice(s shown) string {
	if s.capped {
		return fmt.Sprintf("[truncated: the limit of %d bytes was reached; select lines to see the rest]", maxBytes)
	}
	return fmt.Sprintf("[truncated: lines %d-%d of %d shown; select lines to see the rest]", s.first, s.last, s.total)
}

// cut shortens to n bytes at a character boundary.
func cut(s string, n int) string {
	if len(s) <= n {
		return s
	}
	n = max(n, 0)
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:n]
}
