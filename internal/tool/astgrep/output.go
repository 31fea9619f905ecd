package astgrep

import (
	"strings"

	"magicode/internal/tool"
)

// report makes the result: the text for the model and the facts that stay here.
func (s *scan) report(q request) tool.Result {
	o := &s.out
	text := strings.Join(o.rows, "\n")
	limited := o.fileLimit || o.byteLimit || o.timedOut
	partial := limited || o.partial || o.skipped > 0 || o.walkErrors > 0
	meta := map[string]any{
		"execution": "embedded", "timed_out": o.timedOut, "truncated": o.more || o.cut || limited, "stdout_truncated": o.cut,
		"files_scanned": o.files, "bytes_scanned": o.bytes, "files_skipped": o.skipped, "partial": partial, "limit": q.limit,
		"walk_errors": o.walkErrors, "walk_entries_omitted": o.walkOmissions, "scan_complete": !partial && !o.more && !o.cut,
	}
	if q.language != nil {
		meta["language"] = q.language.Name
	}
	if q.search != nil {
		meta["engine"], meta["operation"], meta["matches_returned"], meta["output_lines_returned"] = "ast-grep", "search", o.groups, len(o.rows)
		meta["exit_code"] = o.exitCode()
		if q.search.rewrite != nil {
			meta["rewrite"] = true
		}
	} else {
		meta["operation"], meta["symbols_returned"], meta["workset_truncated"] = "outline", o.groups, limited
		meta["items"], meta["view"], meta["line_base"], meta["column_base"] = q.outline.items, q.outline.view, 1, 1
	}
	return tool.Result{Success: true, Content: text, Metadata: meta, Display: o.display(q.search != nil, limited, partial)}
}

// display tells of a search or an outline.
func (o *outcome) display(search, limited, partial bool) *tool.ResourceDisplay {
	complete, cut := !partial && !o.more && !o.cut, o.more || o.cut || limited
	return tool.Describe("ast_grep", cut, map[string]any{
		"Search output lines returned": tool.Known(search, len(o.rows)),
		"Result state":                 tool.ResultState(complete, o.groups, o.groups, "no matches"),
		"Scan complete":                complete,
		"Outline entries returned":     tool.Known(!search, o.groups),
		"Timed out":                    o.timedOut, "Results limited": cut, "Partial scan": partial,
		"Output truncated": o.cut, "Files skipped": o.skipped, "Workset limited": limited,
	})
}

// exitCode is that of a search program: tools.md 1.14.
func (o *outcome) exitCode() int {
	switch {
	case o.timedOut:
		return -1
	case o.groups == 0:
		return 1
	}
	return 0
}
