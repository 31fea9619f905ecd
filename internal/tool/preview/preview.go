package preview

import (
	"strings"

	"magicode/internal/jsonscan"
	"magicode/internal/redact"
	"magicode/internal/tool"
)

// Bounds: extensions.md 13.12. Those of work are ours: two files of the largest
// size that edits keep.
const (
	MaxBytes     = 8192 // of Preview's JSON
	maxLines     = 128
	maxLineBytes = 1024
	maxWork      = 2 * tool.MaxCheckpoint
)

// Preview is a unified diff of what was applied. Its text is what redact.Display
// leaves as it is.
type Preview struct {
	Diff      string
	Truncated bool // something of what was applied is not shown
}

// Payload is the preview as it is recorded.
func (p Preview) Payload() map[string]any {
	return map[string]any{"schema_version": 1, "diff": p.Diff, "truncated": p.Truncated}
}

// Of shows edits in their order. ok is false when there is nothing to show:
// nothing changed, or no content is known. Contents of files for which hide is
// true are left out.
func Of(env tool.Env, edits []tool.Edit, hide func(path string) bool) (p Preview, ok bool) {
	var rows []string
	work := 0
	for _, c := range changes(edits) {
		if c.same() {
			continue
		}
		work += len(c.before.Data) + len(c.after.Data)
		if len(rows) > maxLines || work > maxWork || !c.known() || hide(c.path) || hide(c.from) {
			p.Truncated = true
			continue
		}
		more, whole := c.rows(env, maxLines+1-len(rows))
		rows = append(rows, more...)
		p.Truncated = p.Truncated || !whole
	}
	if len(rows) == 0 {
		return p, false
	}
	return p.fit(rows)
}

// fit redacts the rows together and cuts them to the bounds. A cut can make new
// words, so it is repeated until redaction finds nothing more; cutting only
// shortens, which ends it.
func (p Preview) fit(rows []string) (Preview, bool) {
	text := redact.Display(strings.Join(rows, "\n"))
	for range maxLines {
		cut := bounded(text)
		p.Truncated = p.Truncated || cut != text
		if text = redact.Display(cut); text == cut {
			p.Diff = text
			return p, strings.TrimSpace(text) != ""
		}
	}
	return p, false
}

// bounded is the beginning of a text that keeps all bounds, with its lines cut.
func bounded(text string) string {
	room := MaxBytes - len(`{"diff":,"schema_version":1,"truncated":false}`)
	var b strings.Builder
	var quoted []byte
	n := 0
	for line := range strings.Lines(text) {
		whole := line
		line = redact.Cut(strings.TrimSuffix(line, "\n"), maxLineBytes)
		quoted = jsonscan.AppendString(quoted[:0], line+"\n")
		if n++; n > maxLines || room < len(quoted) {
			break
		}
		room -= len(quoted) - len(`""`)
		b.WriteString(line)
		if strings.HasSuffix(whole, "\n") {
			b.WriteByte('\n')
		}
	}
	if b.Len() == len(text) {
		return text
	}
	return strings.TrimSuffix(b.String(), "\n")
}
