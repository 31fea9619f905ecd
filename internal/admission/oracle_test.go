package admission

import (
	"math/big"
	"regexp"
	"strings"
	"unicode/utf16"
	"unicode/utf8"

	"magicode/pkg/localagent"
)

// The oracle is a plain recursive decoder, written for these tests: slow, but
// each rule of runner.md 5 can be seen in it.

type node struct {
	kind byte   // { [ " 0 or the first letter of a literal
	raw  string // as it was written
	text string // of a string
	lone bool   // a string with half a surrogate pair
	keys []node
	vals []node // of an object or an array
}

type decoder struct {
	in  string
	pos int
	bad bool
}

// decode returns the only value of in.
func decode(in string) (n node, ok bool) {
	if !utf8.ValidString(in) {
		return node{}, false
	}
	d := &decoder{in: in}
	n = d.value()
	d.space()
	return n, !d.bad && d.pos == len(d.in)
}

func (d *decoder) space() {
	for d.pos < len(d.in) && strings.IndexByte(" \t\r\n", d.in[d.pos]) >= 0 {
		d.pos++
	}
}

// peek returns the next byte behind white space, 0 at the end.
func (d *decoder) peek() byte {
	d.space()
	if d.bad || d.pos >= len(d.in) {
		return 0
	}
	return d.in[d.pos]
}

// want takes the byte c.
func (d *decoder) want(c byte) {
	if d.peek() != c {
		d.bad = true
		return
	}
	d.pos++
}

func (d *decoder) value() (n node) {
	n.kind = d.peek()
	start := d.pos
	switch n.kind {
	case '{', '[':
		d.container(&n)
	case '"':
		d.text(&n)
	default:
		d.scalar(&n)
	}
	n.raw = d.in[start:d.pos]
	return n
}

func (d *decoder) container(n *node) {
	d.pos++
	end := map[byte]byte{'{': '}', '[': ']'}[n.kind]
	for first := true; ; first = false {
		if c := d.peek(); d.bad || c == 0 || first && c == end {
			break
		}
		if n.kind == '{' {
			if d.peek() != '"' {
				d.bad = true
				return
			}
			n.keys = append(n.keys, d.value())
			d.want(':')
		}
		n.vals = append(n.vals, d.value())
		if d.peek() != ',' {
			break
		}
		d.pos++
	}
	d.want(end)
}

var escape = regexp.MustCompile(`^(?:[^"\\\x00-\x1f]|\\["\\/bfnrt]|\\u[0-9a-fA-F]{4})`)

func (d *decoder) text(n *node) {
	var units []uint16
	for d.pos++; d.pos < len(d.in) && d.in[d.pos] != '"'; {
		part := escape.FindString(d.in[d.pos:])
		if part == "" {
			d.bad = true
			return
		}
		d.pos += len(part)
		switch {
		case strings.HasPrefix(part, `\u`):
			v, _ := new(big.Int).SetString(part[2:], 16)
			units = append(units, uint16(v.Uint64()))
		case part[0] == '\\':
			part = string("\"\\/\b\f\n\r\t"[strings.IndexByte(`"\/bfnrt`, part[1])])
			fallthrough
		default:
			units = append(units, utf16.Encode([]rune(part))...)
		}
	}
	d.want('"')
	for i := 0; i < len(units); i++ {
		r := rune(units[i])
		if utf16.IsSurrogate(r) {
			if i+1 < len(units) && utf16.DecodeRune(r, rune(units[i+1])) != utf8.RuneError {
				r = utf16.DecodeRune(r, rune(units[i+1]))
				i++
			} else {
				n.lone = true
			}
		}
		n.text += string(r)
	}
}

var scalars = regexp.MustCompile(`^(?:true|false|null|-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?)`)

func (d *decoder) scalar(n *node) {
	part := scalars.FindString(d.in[min(d.pos, len(d.in)):])
	if part == "" {
		d.bad = true
		return
	}
	if n.kind == '-' || n.kind >= '0' && n.kind <= '9' {
		n.kind = '0'
	}
	d.pos += len(part)
}

// fields returns the members of an object that has names only, each at most
// once, compared letter by letter.
func (n node) fields(names ...string) (map[string]node, bool) {
	got := map[string]node{}
	for i, k := range n.keys {
		known := false
		for _, name := range names {
			known = known || k.text == name && !k.lone
		}
		if _, twice := got[k.text]; twice || !known {
			return nil, false
		}
		got[k.text] = n.vals[i]
	}
	return got, n.kind == '{'
}

// bracketsFit is row 1.
func bracketsFit(frame string) bool {
	depth, inString := 0, false
	for i := 0; i < len(frame); i++ {
		c := frame[i]
		switch {
		case inString && c == '\\':
			i++
		case c == '"':
			inString = !inString
		case !inString && (c == '{' || c == '['):
			depth++
		case !inString && (c == '}' || c == ']'):
			depth--
		}
		if depth < 0 || depth > 32 {
			return false
		}
	}
	return depth == 0 && !inString
}

var (
	grammar  = regexp.MustCompile(`^[A-Za-z0-9._-]{1,64}$`)
	unsigned = regexp.MustCompile(`^(?:0|[1-9][0-9]*)$`)
)

// wanted is the verdict of rows 1 to 5.
func wanted(frame string) verdict {
	refused := verdict{Code: localagent.CodeInvalidRequest}
	if !bracketsFit(frame) {
		return verdict{Code: localagent.CodeInvalidFrame}
	}
	n, ok := decode(frame)
	if !ok {
		return refused
	}
	f, ok := n.fields("protocol", "version", "id", "method", "params")
	if !ok || len(f) != 5 {
		return refused
	}
	protocol, version, id, method := f["protocol"], f["version"], f["id"], f["method"]
	if protocol.kind != '"' || protocol.lone || !unsigned.MatchString(version.raw) {
		return refused
	}
	number, _ := new(big.Int).SetString(version.raw, 10)
	if number.BitLen() > 32 {
		return refused
	}
	for _, s := range []node{id, method} {
		if s.kind != '"' || s.lone || !grammar.MatchString(s.text) {
			return refused
		}
	}
	if protocol.text != "magi-code.local-agent" || version.raw != "1" {
		return verdict{Code: localagent.CodeProtocolMismatch, ID: id.text, HasID: true, Closes: true}
	}
	return verdict{ID: id.text, HasID: true, Method: method.text}
}
