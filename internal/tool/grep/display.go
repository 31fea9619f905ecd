package grep

import (
	"strings"

	"magicode/internal/tool"
)

// display tells of a search; text is the output, total what it was chosen from.
func display(q request, out *outcome, p *page, text string, total int) *tool.ResourceDisplay {
	complete, limited := out.complete(), len(out.reasons(q, p, total)) > 0
	returned := len(p.hits)
	more := total > q.offset+returned
	context := 0
	for _, rows := range p.rows {
		context += len(rows)
	}
	return tool.Describe("grep", limited, map[string]any{
		"Matching lines returned": returned,
		"Result state":            tool.ResultState(complete && !limited, out.seen, returned, "no matches"),
		"Total matching lines":    tool.Known(complete, out.seen),
		"Context lines returned":  context, "Output lines returned": lineCount(text),
		"Matching lines seen": out.seen, "Seen count exact": complete,
		"Files returned": p.files(), "Scan complete": complete,
		"Timed out": out.deadline, "Results limited": limited,
		"Next offset": tool.Known(more, q.offset+returned), "Has more": tool.Known(complete || more, more),
		"Context lines omitted": p.contextLost, "Read errors skipped": out.unreadable,
		"Walk errors": out.walk.Errors, "Walk entries omitted": out.walk.Omitted,
		"File byte limit reached": out.prefix, "Scan byte limit reached": out.byteLimit,
		"File limit reached": out.fileLimit, "Match limit reached": more,
		"Per-file limit reached": out.perFile, "Output byte limit reached": p.cut,
		"Raw lookahead reached": out.enough,
	})
}

// files is how many files the shown hits are in.
func (p *page) files() int {
	files := map[string]bool{}
	for _, h := range p.hits {
		files[h.path] = true
	}
	return len(files)
}

func lineCount(text string) int {
	if text == "" {
		return 0
	}
	return strings.Count(text, "\n") + 1
}
