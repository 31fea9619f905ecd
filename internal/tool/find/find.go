package find

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"
	"unicode/utf8"

	"magicode/internal/ignore"
	"magicode/internal/tool"
	"magicode/internal/vfs"
)

// Bounds: tools.md 1.12.
const (
	maxQuery     = 512 // characters
	maxLimit     = 200
	defaultLimit = 50
	maxOffset    = 1 << 30
	maxEntries   = 100_000
	maxTime      = 10 * time.Second
)

// Tool is the find tool. It is safe for concurrent use.
type Tool struct {
	fs      vfs.FS
	policy  tool.Policy
	sources ignore.Sources
}

// New returns the tool; absolute is its absolute_paths setting.
func New(fsys vfs.FS, sources ignore.Sources, absolute bool) *Tool {
	return &Tool{fs: fsys, sources: sources, policy: tool.Policy{Tool: "find", Absolute: absolute}}
}

type arguments struct {
	tool.Intent
	Query  *string `json:"query"`
	Path   *string `json:"path"`
	Kind   *string `json:"kind"`
	Limit  *int    `json:"limit"`
	Offset *int    `json:"offset"`
}

const parameters = `{"type":"object","properties":{"query":{"type":"string","description":"Parts of the path, separated by blanks; each must occur"},"path":{"type":"string","description":"Directory to search, default the working directory"},"kind":{"type":"string","enum":["files","directories","mixed"],"description":"Default files"},"limit":{"type":"integer","minimum":1,"maximum":200,"description":"Default 50"},"offset":{"type":"integer","minimum":0,"description":"Results to skip, default 0"}},"required":["query"],"additionalProperties":false,"x-maxEntries":100000}`

const description = `find: finds files by path, best first, one per line; directories end in a slash.
Each blank-separated word of the query must occur in the path, in any letter case: as it stands, or else with other characters in between. ` +
	`Hidden, ignored (.gitignore, .ignore) and linked entries are left out. To search in contents use grep.`

// Definition describes the tool.
func (t *Tool) Definition() tool.Definition {
	return tool.Definition{Name: "find", Description: description, Parameters: json.RawMessage(parameters)}
}

// request is a checked call.
type request struct {
	query         string
	path          string // as given; "" for cwd
	kind          string
	limit, offset int
}

func decode(raw json.RawMessage) (q request, err error) {
	var a arguments
	if err := tool.Decode(raw, &a); err != nil {
		return q, err
	}
	if q.query, err = tool.Text("query", a.Query); err != nil {
		return q, err
	}
	q.query = strings.TrimSpace(q.query)
	if n := utf8.RuneCountInString(q.query); n == 0 || n > maxQuery {
		return q, fmt.Errorf(`invalid arguments: field "query" must hold 1 to %d characters`, maxQuery)
	}
	if a.Path != nil {
		if q.path = *a.Path; q.path == "" {
			return q, errors.New(`invalid arguments: field "path" must not be empty`)
		}
	}
	q.kind = "files"
	if a.Kind != nil {
		q.kind = *a.Kind
	}
	if q.kind != "files" && q.kind != "directories" && q.kind != "mixed" {
		return q, errors.New(`invalid arguments: field "kind" must be files, directories or mixed`)
	}
	if q.limit, err = tool.Number("limit", a.Limit, 1, maxLimit, defaultLimit); err != nil {
		return q, err
	}
	q.offset, err = tool.Number("offset", a.Offset, 0, maxOffset, 0)
	return q, err
}

// tokens are the lower-cased words of the query, without the path filter that
// it may repeat.
func (q request) tokens() []string {
	text := q.query
	if filter := strings.Trim(strings.TrimPrefix(q.path, "./"), "/"); filter != "" && filter != "." {
		if rest, ok := strings.CutPrefix(strings.TrimPrefix(text, "./"), filter); ok && (rest == "" || rest[0] == '/') {
			if rest = strings.TrimLeft(rest, "/"); strings.TrimSpace(rest) != "" {
				text = rest
			}
		}
	}
	return strings.Fields(strings.ToLower(text))
}

// Run searches.
func (t *Tool) Run(ctx context.Context, env tool.Env, args json.RawMessage) tool.Result {
	q, err := decode(args)
	if err != nil {
		return tool.Failed("%v", err)
	}
	at := tool.Path{Canonical: env.CanonicalCwd, Inside: true}
	if q.path != "" {
		if at, err = t.policy.Existing(t.fs, env, q.path); err != nil {
			return tool.Failed("%v", err)
		}
		if info, err := t.fs.Stat(at.Canonical); err != nil || !info.Mode.IsDir() {
			return tool.Failed("not a directory: %s", q.path)
		}
	}
	walkCtx, cancel := context.WithTimeout(ctx, maxTime)
	defer cancel()
	best := newRanking(q.tokens(), q.offset+q.limit)
	files, dirs := q.kind != "directories", q.kind != "files"
	stats := ignore.Walk(walkCtx, t.fs, at.Canonical, ignore.Options{Limit: maxEntries, Sources: t.sources}, func(e ignore.Entry) bool {
		if e.Dir && dirs || !e.Dir && files {
			best.offer(e)
		}
		return true
	})
	if ctx.Err() != nil {
		return tool.Failed(tool.CancelledText)
	}
	res := report(env, at, q, best, stats)
	if q.path != "" {
		res.Touched = []tool.Touched{{Path: at.Canonical, Kind: "search", Success: true, InsideCwd: at.Inside, Directory: true}}
	}
	return res
}

func report(env tool.Env, at tool.Path, q request, best *ranking, stats ignore.Stats) tool.Result {
	found := best.sorted()
	found = found[min(q.offset, len(found)):]
	prefix := tool.Display(env, at.Canonical) + "/"
	if at.Canonical == env.CanonicalCwd {
		prefix = ""
	} else if prefix == "//" {
		prefix = "/"
	}
	lines := make([]string, len(found))
	for i, h := range found {
		lines[i] = prefix + h.path
		if h.dir {
			lines[i] += "/"
		}
		lines[i] = tool.ShowName(lines[i])
	}
	complete := !stats.Limited && !stats.Stopped && stats.Errors == 0
	more := best.total > q.offset+len(found)
	var next any
	if more {
		next = q.offset + len(found)
	}
	var path any
	if q.path != "" {
		path = q.path
	}
	return tool.Result{
		Success: true,
		Content: strings.Join(lines, "\n"),
		Metadata: map[string]any{
			"engine": "native", "query": q.query, "path": path, "kind": q.kind,
			"limit": q.limit, "offset": q.offset,
			"matches_returned": len(found), "total_matched": best.total, "total_matched_exact": complete,
			"truncated": more || !complete, "index_ready": true, "scan_complete": complete,
			"entries_scanned": stats.Entries, "entry_limit_reached": stats.Limited, "timed_out": stats.Stopped,
			"walk_errors": stats.Errors, "walk_entries_omitted": stats.Omitted, "has_more": more,
			"structured_result": map[string]any{
				"files": lines, "complete": complete && !more, "scan_complete": complete,
				"has_more": more, "next_offset": next,
			},
		},
		Display: display(best.total, len(found), next, complete, stats),
	}
}

// display tells of a search. next is the offset to go on from, nil at the end.
func display(total, returned int, next any, complete bool, stats ignore.Stats) *tool.ResourceDisplay {
	more := next != nil
	limited := more || stats.Limited || stats.Stopped
	return tool.Describe("find", limited, map[string]any{
		"Entries returned":       returned,
		"Result state":           tool.ResultState(complete && !more, total, returned, "no matches"),
		"Total matching entries": tool.Known(complete, total),
		"Matching entries seen":  total, "Seen count exact": complete, "Scan complete": complete,
		"Timed out": stats.Stopped, "Results limited": limited,
		"Has more": tool.Known(complete || more, more), "Next offset": next,
		"Entries scanned": stats.Entries, "Entry limit reached": stats.Limited,
		"Walk errors": stats.Errors, "Walk entries omitted": stats.Omitted,
	})
}
