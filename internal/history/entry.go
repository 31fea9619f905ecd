package history

import (
	"strconv"
	"unicode/utf8"

	"magicode/internal/jsonscan"
)

// kind says what a message is. Its name is the wire's.
type kind uint8

const (
	user kind = iota
	assistant
	reasoning
	activity
	compaction
	diagnostic
)

var kindNames = [...]string{"user", "assistant", "reasoning_summary", "activity", "compaction", "diagnostic"}

// entry is one part of one message, ready to be written.
type entry struct {
	kind    kind
	id      string
	part    int
	last    bool
	partial bool
	text    string
}

// append writes e as one JSON object with its keys in byte order.
func (e *entry) append(dst []byte) []byte {
	dst = append(dst, `{"kind":"`...)
	dst = append(dst, kindNames[e.kind]...)
	dst = append(dst, `","last_part":`...)
	dst = strconv.AppendBool(dst, e.last)
	dst = append(dst, `,"message_id":`...)
	dst = jsonscan.AppendString(dst, e.id)
	dst = append(dst, `,"part":`...)
	dst = strconv.AppendInt(dst, int64(e.part), 10)
	dst = append(dst, `,"partial":`...)
	dst = strconv.AppendBool(dst, e.partial)
	dst = append(dst, `,"text":`...)
	dst = jsonscan.AppendString(dst, e.text)
	return append(dst, '}')
}

// escapedByte is what one ASCII byte costs inside a JSON string.
var escapedByte = func() (t [utf8.RuneSelf]uint8) {
	for c := range t {
		switch {
		case c == '"' || c == '\\' || c == '\b' || c == '\t' || c == '\n' || c == '\f' || c == '\r':
			t[c] = 2
		case c < 0x20:
			t[c] = 6
		default:
			t[c] = 1
		}
	}
	return t
}()

// cut returns the length of the longest prefix of s, in whole characters, that
// fits one part.
func cut(s string) int {
	if len(s) <= maxPartEscaped/6 {
		return len(s)
	}
	cost := 0
	for i := 0; i < len(s); {
		n, c := 1, 0
		if b := s[i]; b < utf8.RuneSelf {
			c = int(escapedByte[b])
		} else {
			n, c = wideCost(s[i:])
		}
		if cost += c; cost > maxPartEscaped {
			return i
		}
		i += n
	}
	return len(s)
}

// wideCost returns the raw and the escaped length of the character at the
// start of s. U+2028 and U+2029 are escaped (decision 14).
func wideCost(s string) (n, cost int) {
	r, n := utf8.DecodeRuneInString(s)
	switch {
	case r == '\u2028' || r == '\u2029':
		return n, 6
	case r == utf8.RuneError && n == 1:
		return n, 3 // written as U+FFFD; never seen, as text comes from validated JSON
	}
	return n, n
}
