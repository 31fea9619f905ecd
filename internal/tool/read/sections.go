package read

import (
	"context"
	"fmt"
	"strings"

	"magicode/internal/tool"
)

// several renders every entry as a section, within one common bound.
func (t *Tool) several(ctx context.Context, env tool.Env, paths []string) tool.Result {
	c := &call{tool: t, paths: paths}
	for i, p := range paths {
		if ctx.Err() != nil {
			return tool.Failed(tool.CancelledText)
		}
		if c.full {
			c.omit(p)
			continue
		}
		c.add(ctx, env, i, p)
	}
	if c.omitted > 0 {
		c.section("--- READ OMITTED ---\nERROR: %d of %d resources were left out: the limit of %d bytes per call was reached", c.omitted, len(paths), maxBytes)
	}
	return c.result()
}

// call collects the sections of one call.
type call struct {
	tool    *Tool
	paths   []string
	out     strings.Builder
	full    bool // the byte limit was reached
	results []map[string]any
	files   []map[string]any // of structured_result
	touched []tool.Touched
	shown   []tool.Resource

	succeeded, failed, omitted int
	truncated                  bool
}

func (c *call) add(ctx context.Context, env tool.Env, index int, path string) {
	head := "--- FILE: " + tool.ShowName(path) + " ---\n"
	// Each later entry may need a line for its own failure.
	room := maxBytes - c.out.Len() - len(head) - 2 - 2*noticeRoom
	r, err := c.tool.load(ctx, env, path)
	var s shown
	if err == nil && room > 0 {
		s, err = r.render(room)
	}
	if err != nil {
		c.fail(head, path, err)
		return
	}
	if room <= 0 || s.capped && s.last == 0 && s.body == "" {
		c.full = true
		c.omit(path)
		return
	}
	c.tool.remember(r, s)
	c.section("%s%s", head, s.body)
	c.succeeded++
	c.touched = append(c.touched, touched(r)...)
	m := fileMetadata(r, s)
	m["requested_path"], m["success"] = path, true
	c.results = append(c.results, m)
	c.files = append(c.files, structuredFile(r, s))
	c.shown = append(c.shown, displayed(r, s))
	if !s.truncated {
		return
	}
	c.truncated = true
	if s.capped {
		c.full = true
		c.section("--- READ TRUNCATED ---\nERROR: %s: the limit of %d bytes per call was reached; select lines to see the rest", tool.ShowName(cut(path, 80)), maxBytes)
		return
	}
	c.out.WriteString("\n" + truncatedNotice(s))
}

func (c *call) fail(head, path string, err error) {
	text := cut(err.Error(), 400)
	c.section("%sERROR: %s", head, text)
	c.failed++
	c.results = append(c.results, map[string]any{"requested_path": path, "success": false, "error": text})
	c.files = append(c.files, map[string]any{"path": path, "text": "", "complete": false, "error": text})
	c.shown = append(c.shown, failure(path, text))
}

func (c *call) omit(path string) {
	c.omitted++
	c.results = append(c.results, map[string]any{"requested_path": path, "success": false, "omitted": true})
	c.files = append(c.files, map[string]any{"path": path, "text": "", "complete": false, "error": "omitted"})
	c.shown = append(c.shown, tool.Resource{Location: path, Outcome: "omitted", Supplied: 0, Retained: 0, Completeness: "omitted", Reason: callLimit})
}

// section appends one section, a blank line before it.
func (c *call) section(format string, args ...any) {
	if c.out.Len() > 0 {
		c.out.WriteString("\n\n")
	}
	fmt.Fprintf(&c.out, format, args...)
}

func (c *call) result() tool.Result {
	return tool.Result{
		Success: c.succeeded > 0,
		Content: c.out.String(),
		Touched: c.touched,
		Display: display(c.shown, c.truncated || c.omitted > 0, c.full),
		Metadata: map[string]any{
			"paths": c.paths, "files": len(c.paths),
			"succeeded": c.succeeded, "failed": c.failed, "omitted": c.omitted,
			"byte_limit": maxBytes, "file_limit": maxPaths,
			"truncated": c.truncated || c.omitted > 0, "aggregate_truncated": c.full,
			"results": c.results, "skill_reads": []any{},
			"structured_result": structured(c.files),
		},
	}
}

// fileMetadata are the fields of one resource. Seen lines are spans, and the
// structured result stands once per call: both grow with the file.
func fileMetadata(r *resource, s shown) map[string]any {
	m := map[string]any{
		"path": r.path, "bytes": len(r.data), "hashline_tag": s.tag,
		"hashline_seen_lines": [][2]int{}, "total_lines": s.total,
		"truncated": s.truncated, "source": r.source, "kind": r.kind,
		"selector": r.sel.metadata(), "raw": r.sel.raw, "byte_limit": maxBytes,
	}
	if s.last > 0 && !r.sel.raw {
		m["hashline_seen_lines"] = [][2]int{{s.first, s.last}}
	}
	if r.sel.kind == all && s.truncated {
		m["total_lines"] = nil
	}
	return m
}

func structuredFile(r *resource, s shown) map[string]any {
	return map[string]any{"path": r.path, "text": s.plain, "complete": !s.truncated}
}

func structured(files []map[string]any) map[string]any {
	complete := true
	for _, f := range files {
		complete = complete && f["complete"] == true
	}
	return map[string]any{"files": files, "complete": complete}
}
