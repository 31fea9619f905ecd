package protect

import (
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// Bounds of the work for one command. What lies beyond is not seen through.
const (
	maxDepth      = 12      // scripts inside scripts, wrappers inside wrappers
	maxTree       = 1000    // nested syntax nodes
	maxInnerSteps = 20_000  // programs judged inside inner scripts
	maxInnerBytes = 4 << 20 // text of inner scripts
)

// Assess judges a command before it runs. It is pure: it looks at no file and
// runs nothing, so what a script file or a variable of the environment holds it
// does not know. It is quick for any input: what would take long is not seen
// through, and says so by its confidence.
func Assess(command string, place Place) Assessment {
	w := &walker{place: place, dirs: []string{place.Dir}}
	w.script(command)
	w.leaks()
	return w.result()
}

// walker goes over the syntax tree of a command and remembers the worst of
// each dimension.
type walker struct {
	place   Place
	dirs    []string            // where commands may run; "" is a folder that is not known
	errexit bool                // set -e: what follows a failed cd does not run
	vars    map[string][]string // every value the text may give a variable
	funcs   map[string]bool     // functions that the text surely defines
	aliases map[string]string   // aliases that the text defines
	links   map[string]string   // symbolic links that the text makes: name to target
	files   map[string]source   // files that the text writes, and what is known of them
	fetched []string            // folders that the text fills from the network

	depth int // scripts around the current one
	steps int // programs judged inside inner scripts
	bytes int // text of inner scripts so far

	scores  [5]float64 // by finding kind
	blind   bool       // part of it cannot be seen through
	unknown bool       // a command that is in no table
	dumps   bool       // it writes out the whole environment
	sends   bool       // it sends something that it reads
	newPath bool       // it changes where programs are looked for
}

// kinds index walker.scores.
const (
	overall = iota
	destruction
	credentials
	privilege
	untrusted
)

// raise keeps the worst score of a dimension; a danger is overall risk too.
func (w *walker) raise(kind int, score float64) {
	w.scores[kind] = max(w.scores[kind], score)
	w.scores[overall] = max(w.scores[overall], score)
}

// opaque notes code that cannot be seen through.
func (w *walker) opaque() {
	w.blind = true
	w.raise(untrusted, 1)
}

// leaks: the whole environment together with something that sends is a leak,
// whatever lies between the two.
func (w *walker) leaks() {
	if w.dumps && w.sends {
		w.raise(credentials, 1.9)
	}
}

// result turns what was found into scores. What cannot be seen through has no
// confidence at all; a command that is in no table has some.
func (w *walker) result() Assessment {
	sure := 0.9
	if w.unknown {
		sure = 0.6
	}
	if w.blind {
		sure = 0
	}
	s := func(kind int) Score { return Score{Score: w.scores[kind], Confidence: sure} }
	return Assessment{Overall: s(overall), Destruction: s(destruction), Credentials: s(credentials), Privilege: s(privilege), Untrusted: s(untrusted)}
}

// deeper runs f one level further in, or gives up.
func (w *walker) deeper(f func()) {
	if w.depth >= maxDepth {
		w.opaque()
		return
	}
	w.depth++
	f()
	w.depth--
}

// script parses and judges the text of a script. What comes before a syntax
// error is judged too: the shell runs it before it sees the error.
func (w *walker) script(text string) {
	if w.depth > 0 {
		w.bytes += len(text)
	}
	if w.bytes > maxInnerBytes || tangled(text) {
		w.opaque()
		return
	}
	if unseen(text) {
		w.opaque()
	}
	list, ok := parse(text)
	if !ok {
		w.opaque()
	}
	for _, s := range list {
		if !w.survey(s) {
			w.opaque()
			return
		}
	}
	w.list(list, nil, true)
}

// parse returns the statements of a text, up to its first syntax error. A
// parser that gives up on hostile text has not seen through it, no more.
func parse(text string) (list []*syntax.Stmt, ok bool) {
	defer func() {
		if recover() != nil {
			ok = false
		}
	}()
	ok = true
	for s, err := range syntax.NewParser(syntax.Variant(syntax.LangBash)).StmtsSeq(strings.NewReader(text)) {
		if err != nil {
			ok = false // going on: the parser may report an error twice
			continue
		}
		list = append(list, s)
	}
	return list, ok
}

// tangled reports text whose nesting would keep the parser busy: it is
// recursive, and quadratic for some brackets.
func tangled(text string) bool {
	if len(text) < 4096 {
		return false
	}
	arithmetic := 0
	if strings.Contains(text, "((") || strings.Contains(text, "[") {
		for _, op := range []string{"-", "!", "~", "?", "="} {
			arithmetic += strings.Count(text, op)
		}
	}
	words := strings.Count(text, "if") + strings.Count(text, "while") + strings.Count(text, "until") + strings.Count(text, "case")
	return strings.Count(text, "(") > 4096 || strings.Count(text, "{") > 16_384 || strings.Count(text, "[") > 16_384 || arithmetic > 50_000 || words > 20_000
}
