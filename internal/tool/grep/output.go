package grep

import (
	"cmp"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"magicode/internal/tool"
)

// Bounds of output in bytes: tools.md 1.11.
const (
	rankedExcerpt  = 240
	rawExcerpt     = 4096
	contextExcerpt = 160
	maxOutput      = 65536
)

// page is what of the hits is shown.
type page struct {
	hits    []hit
	outputs []string // each hit's own lines
	rows    [][]row  // each hit's context; nil without

	cut         bool // the output bound left hits out
	contextLost int  // context lines left out
}

// row is one context line.
type row struct {
	line   int
	text   string
	before bool
}

// choose orders the hits and takes those that were asked for.
func choose(q request, hits []hit) []hit {
	if q.ranked {
		slices.SortStableFunc(hits, func(a, b hit) int { return cmp.Compare(a.kind, b.kind) })
	}
	hits = hits[min(q.offset, len(hits)):]
	return hits[:min(q.limit, len(hits))]
}

// render makes the text of a page. Hits come first; context takes what room is
// left.
func (s *search) render(env tool.Env, q request, hits []hit) (string, *page) {
	p := &page{hits: hits}
	paths := make([]string, len(hits))
	size := 0
	for i, h := range hits {
		paths[i] = tool.ShowName(tool.Display(env, filepath.Join(s.root, filepath.FromSlash(h.path))))
		text := s.hitLine(q, h, paths, i)
		if size += len(text) + 1; size > maxOutput {
			p.cut = true
			p.hits = hits[:i]
			break
		}
		p.outputs = append(p.outputs, text)
	}
	if q.context > 0 {
		s.addContext(q, p, paths, size)
	}
	var lines []string
	for i := range p.hits {
		if p.rows == nil {
			lines = append(lines, p.outputs[i])
			continue
		}
		lines = append(lines, s.withContext(q, p, paths, i)...)
	}
	return strings.Join(lines, "\n"), p
}

// hitLine is a hit's own text: in ranked mode with a line for its path if that
// is not the one above.
func (s *search) hitLine(q request, h hit, paths []string, i int) string {
	if !q.ranked {
		return paths[i] + ":" + strconv.Itoa(h.line) + ":" + h.text
	}
	text := "[" + h.kind.String() + "] " + strconv.Itoa(h.line) + ":" + h.text
	if i == 0 || paths[i-1] != paths[i] {
		text = paths[i] + "\n" + text
	}
	return text
}

func contextLine(q request, path string, r row) string {
	if q.ranked {
		return strconv.Itoa(r.line) + ":" + r.text
	}
	return path + "-" + strconv.Itoa(r.line) + "-" + r.text
}

// withContext joins a hit's lines: ranked shows the hit first, raw the lines in
// their order.
func (s *search) withContext(q request, p *page, paths []string, i int) []string {
	var before, after []string
	for _, r := range p.rows[i] {
		text := contextLine(q, paths[i], r)
		if r.before {
			before = append(before, text)
		} else {
			after = append(after, text)
		}
	}
	if q.ranked {
		return append(append([]string{p.outputs[i]}, before...), after...)
	}
	return append(append(before, p.outputs[i]), after...)
}

// addContext reads the files of the shown hits again and adds the lines around
// them as far as they fit.
func (s *search) addContext(q request, p *page, paths []string, size int) {
	p.rows = make([][]row, len(p.hits))
	t, err := openTree(s.root)
	if err != nil {
		return
	}
	defer t.close()
	lines := map[string][][]byte{}
	shown := map[string]map[int]bool{} // raw: no line twice
	for _, h := range p.hits {
		if shown[h.path] == nil {
			shown[h.path] = map[int]bool{}
		}
		shown[h.path][h.line] = true
	}
	for i, h := range p.hits {
		text, ok := lines[h.path]
		if !ok {
			text = splitLines(t, h.path)
			lines = map[string][][]byte{h.path: text} // hits of a file mostly follow each other
		}
		for n := max(1, h.line-q.context); n <= min(len(text), h.line+q.context); n++ {
			if n == h.line || !q.ranked && shown[h.path][n] {
				continue
			}
			r := row{line: n, text: contextText(text[n-1]), before: n < h.line}
			if size += len(contextLine(q, paths[i], r)) + 1; size > maxOutput {
				size -= len(contextLine(q, paths[i], r)) + 1
				p.contextLost++
				continue
			}
			if !q.ranked {
				shown[h.path][n] = true
			}
			p.rows[i] = append(p.rows[i], r)
		}
	}
}

func contextText(line []byte) string {
	if len(line) <= contextExcerpt {
		return show(line)
	}
	return cutAround(line, 0, 0, contextExcerpt)
}

func splitLines(t tree, name string) [][]byte {
	data, _, err := t.read(filepath.FromSlash(name), nil, maxFileBytes)
	if err != nil {
		return nil
	}
	var out [][]byte
	for start := 0; start < len(data); {
		end, next := lineEnd(data, start)
		out = append(out, data[start:end])
		start = next
	}
	return out
}

// report makes the result.
func (s *search) report(env tool.Env, q request, expr *expression, out *outcome) tool.Result {
	total := len(out.hits)
	if out.enough {
		total++ // the one that ended the scan
	}
	text, p := s.render(env, q, choose(q, out.hits))
	return tool.Result{Success: true, Content: text, Metadata: metadata(q, expr, out, p, text, total), Display: display(q, out, p, text, total)}
}

// complete: every line of every file was looked at.
func (o *outcome) complete() bool {
	return !o.deadline && !o.byteLimit && !o.fileLimit && !o.enough && !o.prefix && o.unreadable == 0 && o.walk.Errors == 0
}

func metadata(q request, expr *expression, out *outcome, p *page, text string, total int) map[string]any {
	reasons := out.reasons(q, p, total)
	complete := out.complete()
	more := total > q.offset+len(p.hits)
	var hasMore, next, reason any
	if complete || more {
		hasMore = more
	}
	if more {
		next = q.offset + len(p.hits)
	}
	if len(reasons) > 0 {
		reason = reasons[0]
	}
	mode, format, order := "raw", "raw_v1", "path_line_v1"
	if q.ranked {
		mode, format, order = "ranked", "grouped_v1", "ranked_v1"
	}
	files, lines := p.files(), lineCount(text)
	return map[string]any{
		"engine": "native", "patterns_count": len(q.patterns), "mode": mode, "offset": q.offset, "limit": q.limit,
		"output_format": format, "order": order, "matches_returned": len(p.hits), "output_lines_returned": lines,
		"truncated": len(reasons) > 0, "timed_out": out.deadline, "files_scanned": out.files, "bytes_scanned": out.bytes,
		"byte_limit_reached": out.prefix, "scan_byte_limit_reached": out.byteLimit, "file_limit_reached": out.fileLimit,
		"match_limit_reached": more, "per_file_limit_reached": out.perFile,
		"files_with_matches": out.filesWithHits, "files_returned": files,
		"invalid_utf8_files": out.badFiles, "invalid_utf8_lines": out.badLines,
		"read_errors_skipped": out.unreadable, "walk_errors": out.walk.Errors, "walk_entries_omitted": out.walk.Omitted,
		"binary_files_skipped": out.binary, "scan_complete": complete,
		"matches_seen": out.seen, "matches_seen_exact": complete,
		"output_bytes": len(text), "output_byte_limit_reached": p.cut, "context_lines_omitted": p.contextLost,
		"patterns_adjusted": expr.adjusted, "literal_fallbacks": expr.literal, "raw_lookahead_reached": out.enough,
		"truncation_reasons": reasons, "limit_reason": reason, "next_offset": next, "has_more": hasMore,
	}
}

// reasons lists why the output is not everything, in the order of tools.md 1.11.
func (o *outcome) reasons(q request, p *page, total int) []string {
	reasons := []string{}
	for _, r := range []struct {
		is   bool
		name string
	}{
		{o.deadline, "deadline"}, {o.byteLimit, "scan_bytes"}, {o.fileLimit, "file_limit"}, {o.prefix, "file_bytes"},
		{o.unreadable > 0, "read_errors"}, {o.walk.Errors > 0, "walk_errors"}, {o.perFile, "per_file"},
		{total > q.offset+q.limit, "matches"}, {p.cut || p.contextLost > 0, "output_bytes"},
	} {
		if r.is {
			reasons = append(reasons, r.name)
		}
	}
	return reasons
}
