package grep

import (
	"bytes"
	"strings"
	"unicode/utf8"
)

// hitKind says what a line looks like; the order is that of ranked results.
type hitKind uint8

const (
	defLike hitKind = iota
	importLine
	plain
)

func (k hitKind) String() string { return [...]string{"def-like", "import", "match"}[k] }

// hit is one line to show.
type hit struct {
	path string // relative to the root of the search
	line int
	kind hitKind
	text string // an excerpt
}

// fileResult is what one file gave.
type fileResult struct {
	hits    []hit
	seen    int // matching lines
	bytes   int
	capped  bool // more lines matched than were kept
	stopped bool // scanning ended before the end of the file

	binary, unreadable, prefix, badText bool
	badLines                            int
}

// fileRule says what to keep of a file.
type fileRule struct {
	ranked bool
	keep   int // hits
}

// scanFile finds the hits of one file's content.
func (m *matcher) scanFile(path string, data []byte, rule fileRule) fileResult {
	r := fileResult{bytes: len(data)}
	if bytes.IndexByte(data, 0) >= 0 {
		r.binary = true
		return r
	}
	valid := utf8.Valid(data)
	r.badText = !valid
	keeper := keeper{matcher: m, path: path, code: isCode(path), rule: rule, valid: valid, data: data, result: &r}
	m.scan(data, valid, keeper.add)
	return r
}

// keeper collects hits of one file.
type keeper struct {
	matcher *matcher
	path    string
	code    bool
	valid   bool
	rule    fileRule
	data    []byte
	result  *fileResult
}

// add keeps a matching line if there is room: in raw mode the first ones, in
// ranked mode the best.
func (k *keeper) add(s span) bool {
	r := k.result
	r.seen++
	text := k.data[s.start:s.end]
	if !k.valid && !utf8.Valid(text) {
		r.badLines++
	}
	if !k.rule.ranked {
		if len(r.hits) == k.rule.keep {
			r.capped, r.stopped = true, true
			return false
		}
		r.hits = append(r.hits, hit{path: k.path, line: s.number, kind: k.kind(text), text: k.excerpt(s, text, rawExcerpt)})
		return true
	}
	kind := k.kind(text)
	if len(r.hits) == k.rule.keep {
		r.capped = true
		if kind >= r.hits[len(r.hits)-1].kind {
			return true
		}
		r.hits = r.hits[:len(r.hits)-1]
	}
	// Lines come in order, so a new one stands last among its kind.
	i := len(r.hits)
	for i > 0 && r.hits[i-1].kind > kind {
		i--
	}
	r.hits = append(r.hits, hit{})
	copy(r.hits[i+1:], r.hits[i:])
	r.hits[i] = hit{path: k.path, line: s.number, kind: kind, text: k.excerpt(s, text, rankedExcerpt)}
	return true
}

// kind: tools.md 1.11.
func (k *keeper) kind(line []byte) hitKind {
	if k.code {
		for _, w := range definitions {
			if bytes.Contains(line, w) {
				return defLike
			}
		}
	}
	if bytes.HasPrefix(line, []byte("use ")) || bytes.HasPrefix(line, []byte("import ")) {
		return importLine
	}
	return plain
}

var definitions = [][]byte{[]byte("fn "), []byte("def "), []byte("class "), []byte("struct ")}

func isCode(path string) bool {
	switch path[strings.LastIndexByte(path, '.')+1:] {
	case "rs", "py", "js", "ts", "tsx", "go", "java", "c", "cpp":
		return true
	}
	return false
}

// excerpt shortens a line around its match.
func (k *keeper) excerpt(s span, line []byte, limit int) string {
	if len(line) <= limit {
		return show(line)
	}
	from, to := s.hit-s.start, s.hit-s.start
	if !k.matcher.whole {
		if loc := k.matcher.expr.re.FindIndex(line); loc != nil {
			from, to = loc[0], loc[1]
		}
	}
	return cutAround(line, from, to, limit)
}

const ellipsis = "…"

// cutAround returns at most limit bytes of a line, with what stands from one
// index to the other in the middle.
func cutAround(line []byte, from, to, limit int) string {
	room := limit - 2*len(ellipsis)
	start := max(0, min(from, (from+to-room)/2))
	if to-from > room {
		start = from
	}
	start = max(0, min(start, len(line)-room))
	end := min(len(line), start+room)
	for start > 0 && start < end && !utf8.RuneStart(line[start]) {
		start++
	}
	for end < len(line) && end > start && !utf8.RuneStart(line[end]) {
		end--
	}
	var b strings.Builder
	if start > 0 {
		b.WriteString(ellipsis)
	}
	text := show(line[start:end])
	if len(text) > room { // replaced bytes grew
		text = strings.ToValidUTF8(text[:room], "")
	}
	b.WriteString(text)
	if end < len(line) {
		b.WriteString(ellipsis)
	}
	return b.String()
}

// show makes a line fit for output.
func show(line []byte) string {
	return strings.ToValidUTF8(string(line), "\uFFFD")
}
