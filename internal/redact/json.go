package redact

import (
	"bytes"
	"strings"
	"unsafe"

	"magicode/internal/jsonscan"
)

const (
	// maxDepth is the nesting at which a container is replaced: storage.md 11.3.
	maxDepth = 128
	tooDeep  = `"<redacted: max depth>"`
)

// AppendJSON appends one valid JSON value with its strings redacted
// (storage.md 11.3): each string value as Text does, a string under a
// credential-like key as a whole. A container inside 128 others becomes a
// string that says so. All else is copied byte by byte. Value is not changed.
func AppendJSON(dst, value []byte) []byte {
	j := jsonCopy{src: value, dst: dst}
	j.run()
	return append(j.dst, value[j.copied:]...)
}

type jsonCopy struct {
	src, dst []byte
	copied   int    // src before this is in dst
	objects  []bool // of the open containers: is it an object
	scratch  []byte
	key      bool // the next string of an object is a key
	hide     bool // the value to come stands under a credential-like key
}

func (j *jsonCopy) run() {
	for i := 0; i < len(j.src); {
		switch j.src[i] {
		case '"':
			end := stringEnd(j.src, i)
			j.text(i, end)
			i = end
		case '{', '[':
			if len(j.objects) == maxDepth {
				end := containerEnd(j.src, i)
				j.replace(i, end, tooDeep)
				i = end
				continue
			}
			j.open(j.src[i] == '{')
			i++
		case '}', ']':
			j.objects = j.objects[:max(len(j.objects)-1, 0)]
			j.key, j.hide = false, false
			i++
		case ',':
			j.key = len(j.objects) > 0 && j.objects[len(j.objects)-1]
			j.hide = false
			i++
		default:
			i++
		}
	}
}

func (j *jsonCopy) open(object bool) {
	j.objects = append(j.objects, object)
	j.key, j.hide = object, false
}

func (j *jsonCopy) replace(from, to int, with string) {
	j.dst = append(append(j.dst, j.src[j.copied:from]...), with...)
	j.copied = to
}

// text handles the string src[from:to].
func (j *jsonCopy) text(from, to int) {
	s, plain := j.decode(from, to)
	switch {
	case j.key:
		j.key, j.hide = false, CredentialKey(s)
	case j.hide:
		j.replace(from, to, `"`+mark+`"`)
	default:
		if r := Stored(s); plain && len(r) != len(s) || r != s {
			j.dst = append(j.dst, j.src[j.copied:from]...)
			j.dst = jsonscan.AppendString(j.dst, r)
			j.copied = to
		}
	}
}

// escapes are control characters as JSON text inside a string spells them: a
// call's arguments are such a text.
var escapes = strings.NewReplacer(`\u001b`, "\x1b", `\u001B`, "\x1b", `\u0007`, "\a")

// Stored is Text for a string that is kept with its control characters. Where
// terminal sequences divide a secret, so that only the stripped text shows it,
// the stripped text is kept instead.
func Stored(s string) string {
	r := Text(s)
	if strings.IndexByte(s, 0x1b) < 0 && !strings.Contains(s, `\u001`) {
		return r
	}
	stripped := Strip(escapes.Replace(s))
	if hidden := Text(stripped); hidden != stripped && hidden != Strip(escapes.Replace(r)) {
		return hidden
	}
	return r
}

// decode returns the string src[from:to], which lives until the next call, and
// whether it stands there as it is.
func (j *jsonCopy) decode(from, to int) (s string, plain bool) {
	raw := j.src[from+1 : max(to-1, from+1)]
	if bytes.IndexByte(raw, '\\') < 0 {
		return unsafe.String(unsafe.SliceData(raw), len(raw)), true
	}
	var ok bool
	if j.scratch, ok = jsonscan.Value(j.src[from:to]).AppendText(j.scratch[:0]); !ok { // half a surrogate pair
		return jsonscan.Value(j.src[from:to]).LenientText(), false
	}
	return unsafe.String(unsafe.SliceData(j.scratch), len(j.scratch)), false
}

// stringEnd returns the end of the string that starts at i.
func stringEnd(b []byte, i int) int {
	for i++; i < len(b); i++ {
		switch b[i] {
		case '\\':
			i++
		case '"':
			return i + 1
		}
	}
	return len(b)
}

// containerEnd returns the end of the container that starts at i.
func containerEnd(b []byte, i int) int {
	depth := 0
	for i < len(b) {
		switch b[i] {
		case '"':
			i = stringEnd(b, i)
			continue
		case '{', '[':
			depth++
		case '}', ']':
			if depth--; depth == 0 {
				return i + 1
			}
		}
		i++
	}
	return len(b)
}
