package grep

import (
	"context"
	"encoding/json"
	"errors"
	"path/filepath"
	"time"

	"magicode/internal/ignore"
	"magicode/internal/tool"
	"magicode/internal/vfs"
)

// Bounds: tools.md 1.11.
const (
	maxLimit     = 200
	defaultLimit = 50
	maxOffset    = 10_000
	maxContext   = 20
	maxTime      = 10 * time.Second
)

// Tool is the grep tool. It is safe for concurrent use.
type Tool struct {
	fs      vfs.FS
	policy  tool.Policy
	sources ignore.Sources
}

// New returns the tool; absolute is its absolute_paths setting.
func New(fsys vfs.FS, sources ignore.Sources, absolute bool) *Tool {
	return &Tool{fs: fsys, sources: sources, policy: tool.Policy{Tool: "grep", Absolute: absolute}}
}

type arguments struct {
	tool.Intent
	Patterns []string `json:"patterns"`
	Pattern  *string  `json:"pattern"`
	Path     *string  `json:"path"`
	Mode     *string  `json:"mode"`
	Limit    *int     `json:"limit"`
	Offset   *int     `json:"offset"`
	Context  *int     `json:"context"`
}

const parameters = `{"type":"object","properties":{"patterns":{"type":"array","items":{"type":"string"},"minItems":1,"maxItems":8,"description":"RE2 regular expressions, case-sensitive; a line matches if any does"},"path":{"type":"string","description":"File or directory, default the working directory"},"mode":{"type":"string","enum":["ranked","raw"],"description":"ranked (default): the best hits of each file; raw: all hits in order"},"limit":{"type":"integer","minimum":1,"maximum":200,"description":"Default 50"},"offset":{"type":"integer","minimum":0,"maximum":10000,"description":"Hits to skip, default 0"},"context":{"type":"integer","minimum":0,"maximum":20,"description":"Lines to show around each hit, default 0"}},"required":["patterns"],"additionalProperties":false,"x-maxFiles":10000,"x-maxOutputBytes":65536}`

const description = `grep: searches file contents line by line with RE2 regular expressions.
ranked shows at most five hits of a file, definitions first, grouped as a path line and [KIND] LINE:TEXT; raw shows PATH:LINE:TEXT in order. ` +
	`Hidden, ignored (.gitignore, .ignore), linked and binary files are left out. Write (?i) for any letter case. To look for file names use find.`

// Definition describes the tool.
func (t *Tool) Definition() tool.Definition {
	return tool.Definition{Name: "grep", Description: description, Parameters: json.RawMessage(parameters)}
}

// request is a checked call.
type request struct {
	patterns               []string
	path                   string // as given; "" for cwd
	ranked                 bool
	limit, offset, context int
}

func decode(raw json.RawMessage) (q request, err error) {
	var a arguments
	if err := tool.Decode(raw, &a); err != nil {
		return q, err
	}
	q.ranked, q.patterns = true, a.Patterns
	if a.Pattern != nil {
		if a.Patterns != nil {
			return q, errors.New(`invalid arguments: give "patterns" only`)
		}
		q.ranked, q.patterns = false, []string{*a.Pattern}
	} else if a.Mode != nil {
		if *a.Mode != "ranked" && *a.Mode != "raw" {
			return q, errors.New(`invalid arguments: field "mode" must be ranked or raw`)
		}
		q.ranked = *a.Mode == "ranked"
	}
	if err := checkPatterns(q.patterns); err != nil {
		return q, err
	}
	if a.Path != nil {
		if q.path = *a.Path; q.path == "" {
			return q, errors.New(`invalid arguments: field "path" must not be empty`)
		}
	}
	if q.limit, err = tool.Number("limit", a.Limit, 1, maxLimit, defaultLimit); err != nil {
		return q, err
	}
	if q.offset, err = tool.Number("offset", a.Offset, 0, maxOffset, 0); err != nil {
		return q, err
	}
	q.context, err = tool.Number("context", a.Context, 0, maxContext, 0)
	return q, err
}

// Run searches.
func (t *Tool) Run(ctx context.Context, env tool.Env, args json.RawMessage) tool.Result {
	q, err := decode(args)
	if err != nil {
		return tool.Failed("%v", err)
	}
	expr, err := compile(q.patterns)
	if err != nil {
		return tool.Failed("%v", err)
	}
	s, at, err := t.prepare(env, q)
	if err != nil {
		return tool.Failed("%v", err)
	}
	s.matcher = newMatcher(expr)
	limited, cancel := context.WithTimeout(ctx, maxTime)
	defer cancel()
	out, err := s.run(limited)
	if ctx.Err() != nil {
		return tool.Failed(tool.CancelledText)
	}
	if err != nil {
		return tool.Failed("cannot open the directory: %s", q.path)
	}
	out.deadline = limited.Err() != nil
	res := s.report(env, q, expr, out)
	if q.path != "" {
		res.Touched = []tool.Touched{{Path: at.Canonical, Kind: "search", Success: true, InsideCwd: at.Inside, Directory: s.file == ""}}
	}
	return res
}

// prepare resolves the path and sets the bounds of the scan.
func (t *Tool) prepare(env tool.Env, q request) (*search, tool.Path, error) {
	s := &search{fs: t.fs, sources: t.sources, root: env.CanonicalCwd, stopAt: q.offset + q.limit}
	s.rule = fileRule{ranked: q.ranked, keep: s.stopAt + 1}
	if q.ranked {
		s.rule.keep = maxPerFile
	}
	if q.path == "" {
		return s, tool.Path{}, nil
	}
	at, err := t.policy.Existing(t.fs, env, q.path)
	if err != nil {
		return nil, at, err
	}
	info, err := t.fs.Stat(at.Canonical)
	switch {
	case err != nil:
		return nil, at, errors.New("no such file or directory: " + q.path)
	case info.Mode.IsDir():
		s.root = at.Canonical
	case info.Mode.IsRegular():
		s.root, s.file = filepath.Dir(at.Canonical), filepath.Base(at.Canonical)
	default:
		return nil, at, errors.New("neither a regular file nor a directory: " + q.path)
	}
	return s, at, nil
}
