package approval

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"magicode/internal/protect"
	"magicode/internal/redact"
)

// Bounds of a summary in UTF-8 bytes (protocol, "Bounds"; tools.md 7.3).
const (
	maxSummaryBytes = 1024
	maxLabelBytes   = 200
)

// Summary says in one line what will run: the deciding dimension, the task's
// label if any, and the command with its hidden characters made visible. A
// command that does not fit keeps its first and its last part.
func Summary(label string, why protect.Dimension, command string) string {
	head := string(why) + ": "
	if label != "" {
		head += redact.Cut(visible(hidden(label)), maxLabelBytes) + " · "
	}
	return head + bothEnds(visible(hidden(command)), maxSummaryBytes-len(head))
}

// hidden redacts s. Escape sequences are shown, as a part of what will run,
// unless a secret comes together only without them.
func hidden(s string) string {
	if plain := redact.Strip(s); plain != s {
		if safe := redact.Text(plain); safe != plain {
			return safe
		}
	}
	return redact.Text(s)
}

// bothEnds cuts s to at most limit bytes, with a mark and the number of bytes
// left out between its two ends.
func bothEnds(s string, limit int) string {
	if len(s) <= limit {
		return s
	}
	mark := func(n int) string { return fmt.Sprintf(" … [%d bytes] … ", n) }
	room := limit - len(mark(len(s)))
	head := redact.Cut(s, room/2)
	tail := s[len(s)-(room-room/2):]
	for len(tail) > 0 && !utf8.RuneStart(tail[0]) {
		tail = tail[1:]
	}
	return head + mark(len(s)-len(head)-len(tail)) + tail
}

// visible escapes what would hide or reorder text: control characters, line
// and paragraph separators, bidirectional marks, zero-width characters.
func visible(s string) string {
	var b strings.Builder
	for _, c := range s {
		switch {
		case c == '\n':
			b.WriteString(`\n`)
		case c == '\t':
			b.WriteString(`\t`)
		case c == '\r':
			b.WriteString(`\r`)
		case unicode.IsControl(c) && c < 0x100:
			fmt.Fprintf(&b, `\x%02x`, c)
		case unicode.In(c, unicode.Cf, unicode.Zl, unicode.Zp) || c == 0x115f || c == 0x3164:
			fmt.Fprintf(&b, `\u%04x`, c)
		default:
			b.WriteRune(c)
		}
	}
	return b.String()
}
