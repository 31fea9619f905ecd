package tool

import (
	"bytes"
	"strings"
)

const bom = "\xef\xbb\xbf"

// Normalize gives the text that lines and tags are made of: without a byte
// order mark, with LF for every CRLF and CR (tools.md 1.9.1).
func Normalize(data []byte) string {
	data = bytes.TrimPrefix(data, []byte(bom))
	first := bytes.IndexByte(data, '\r')
	if first < 0 {
		return string(data)
	}
	var b strings.Builder
	b.Grow(len(data))
	for first >= 0 {
		b.Write(data[:first])
		b.WriteByte('\n')
		data = data[first+1:]
		if len(data) > 0 && data[0] == '\n' {
			data = data[1:]
		}
		first = bytes.IndexByte(data, '\r')
	}
	b.Write(data)
	return b.String()
}

// Tag is the four hex digits that stand for a normalised text, whatever blanks
// end its lines.
func Tag(text string) string {
	h := xxh32(stripped(text)) & 0xffff
	const hex = "0123456789ABCDEF"
	return string([]byte{hex[h>>12], hex[h>>8&15], hex[h>>4&15], hex[h&15]})
}

// stripped drops spaces, tabs and CR from the end of every line.
func stripped(text string) []byte {
	out := make([]byte, 0, len(text))
	for {
		i := strings.IndexByte(text, '\n')
		line := text
		if i >= 0 {
			line = text[:i]
		}
		n := len(line)
		for n > 0 && (line[n-1] == ' ' || line[n-1] == '\t' || line[n-1] == '\r') {
			n--
		}
		out = append(out, line[:n]...)
		if i < 0 {
			return out
		}
		out = append(out, '\n')
		text = text[i+1:]
	}
}

// LineCount is how many lines are displayed: a final newline starts none.
func LineCount(text string) int {
	n := strings.Count(text, "\n")
	if text != "" && text[len(text)-1] != '\n' {
		n++
	}
	return n
}
