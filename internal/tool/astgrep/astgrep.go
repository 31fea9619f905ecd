package astgrep

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"magicode/internal/ignore"
	"magicode/internal/syntax"
	"magicode/internal/tool"
	"magicode/internal/vfs"
)

// Bounds: tools.md 1.14.
const (
	maxPattern   = 4 << 10
	maxFilter    = 512
	maxLimit     = 500
	defaultLimit = 100
	maxTime      = 30 * time.Second
)

// Tool is the ast_grep tool. It is safe for concurrent use.
type Tool struct {
	files   tool.Files
	policy  tool.Policy
	sources ignore.Sources
}

// New returns the tool; absolute is its absolute_paths setting. Grammars are
// made by the first call that needs them.
func New(fsys vfs.FS, sources ignore.Sources, absolute bool) *Tool {
	return &Tool{files: tool.Files{FS: fsys}, sources: sources, policy: tool.Policy{Tool: "ast_grep", Absolute: absolute}}
}

type arguments struct {
	tool.Intent
	Operation  *string `json:"operation"`
	Pattern    *string `json:"pattern"`
	Rewrite    *string `json:"rewrite"`
	Language   *string `json:"language"`
	Path       *string `json:"path"`
	Items      *string `json:"items"`
	View       *string `json:"view"`
	Name       *string `json:"name"`
	SymbolType *string `json:"symbol_type"`
	PubMembers *bool   `json:"pub_members"`
	Limit      *int    `json:"limit"`
}

const parameters = `{"type":"object","properties":{"operation":{"type":"string","enum":["search","outline"],"description":"search (default) or outline"},"pattern":{"type":"string","maxLength":4096,"description":"search, required: code with metavariables"},"rewrite":{"type":"string","maxLength":4096,"description":"search: code to preview in place of each match; nothing is written"},"language":{"type":"string","enum":["go","python","javascript","typescript","tsx","rust"],"description":"Default: by the ends of file names"},"path":{"type":"string","description":"File or directory, default the working directory"},"items":{"type":"string","enum":["structure","exports","imports","all"],"description":"outline: default structure, which is all but imports"},"view":{"type":"string","enum":["names","signatures","digest","expanded"],"description":"outline: names; signatures (default); digest adds the names of members; expanded adds members with signatures"},"name":{"type":"string","maxLength":512,"description":"outline: RE2 expression that names must match"},"symbol_type":{"type":"string","maxLength":512,"description":"outline: function, method, class, struct, enum, interface, trait, impl, type, constant, variable, field, module, macro, import or export"},"pub_members":{"type":"boolean","description":"outline: only members that are visible outside"},"limit":{"type":"integer","minimum":1,"maximum":500,"description":"Matches or symbols, default 100"}},"additionalProperties":false,"x-maxFiles":10000,"x-maxOutputBytes":65536}`

const description = `ast_grep: searches code by its syntax in Go, Python, JavaScript, TypeScript, TSX and Rust, or outlines files. It never writes.
search compares the pattern with every node: $NAME stands for one node, $$$NAME for any number in a row, $_ and $$$ for the same without a name; equal names must match equal code. ` +
	`What a pattern leaves out must be absent, except for punctuation and keywords: "func $F($$$) { $$$ }" finds Go functions without results only. ` +
	`Rows are PATH:LINE:TEXT; with rewrite a preview of each change, to be made with hash_edit. outline gives one JSON object a symbol. ` +
	`Files are chosen as by grep. For text, comments and other languages use grep.`

// Definition describes the tool.
func (t *Tool) Definition() tool.Definition {
	return tool.Definition{Name: "ast_grep", Description: description, Parameters: json.RawMessage(parameters)}
}

// request is a checked call.
type request struct {
	language *syntax.Language // nil: by the names of files
	path     string           // as given; "" for cwd
	limit    int
	search   *searchRequest // exactly one of the two
	outline  *outlineRequest
}

func decode(raw json.RawMessage) (q request, err error) {
	var a arguments
	if err := tool.Decode(raw, &a); err != nil {
		return q, err
	}
	if q.limit, err = tool.Number("limit", a.Limit, 1, maxLimit, defaultLimit); err != nil {
		return q, err
	}
	if a.Path != nil {
		if q.path = *a.Path; q.path == "" {
			return q, errors.New(`invalid arguments: field "path" must not be empty`)
		}
	}
	if a.Language != nil {
		if q.language = syntax.ByName(*a.Language); q.language == nil {
			return q, errors.New(`invalid arguments: field "language" must be go, python, javascript, typescript, tsx or rust`)
		}
	}
	switch operation := or(a.Operation, "search"); operation {
	case "search":
		q.search, err = a.search()
	case "outline":
		q.outline, err = a.outline()
	default:
		err = errors.New(`invalid arguments: field "operation" must be search or outline`)
	}
	return q, err
}

// or is the value of an optional text.
func or(v *string, missing string) string {
	if v == nil {
		return missing
	}
	return *v
}

// foreign refuses fields of the other operation.
func foreign(operation string, fields map[string]bool) error {
	for name, given := range fields {
		if given {
			return fmt.Errorf("invalid arguments: field %q does not belong to %s", name, operation)
		}
	}
	return nil
}

// Run searches or outlines.
func (t *Tool) Run(ctx context.Context, env tool.Env, args json.RawMessage) tool.Result {
	q, err := decode(args)
	if err != nil {
		return tool.Failed("%v", err)
	}
	s, at, err := t.prepare(env, q)
	if err != nil {
		return tool.Failed("%v", err)
	}
	limited, cancel := context.WithTimeout(ctx, maxTime)
	defer cancel()
	job, err := q.job(limited, s)
	if err == nil {
		s.run(limited, job)
		if s.out.timedOut = limited.Err() != nil; !s.out.timedOut {
			err = job.verdict()
		}
	}
	if ctx.Err() != nil {
		return tool.Failed(tool.CancelledText)
	}
	if err != nil {
		return tool.Failed("%v", err)
	}
	res := s.report(q)
	if q.path != "" {
		res.Touched = []tool.Touched{{Path: at.Canonical, Kind: "search", Success: true, InsideCwd: at.Inside, Directory: s.file == ""}}
	}
	return res
}

func (q request) job(ctx context.Context, s *scan) (job, error) {
	if q.search != nil {
		return q.search.job(ctx, q, s)
	}
	return q.outline, nil
}
