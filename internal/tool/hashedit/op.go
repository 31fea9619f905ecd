package hashedit

import (
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"sync"
)

type opKind uint8

const (
	opSwap opKind = iota
	opSwapBlock
	opDelete
	opDeleteBlock
	opBefore     // INS.PRE
	opAfter      // INS.POST
	opHead       // INS.HEAD
	opTail       // INS.TAIL
	opAfterBlock // INS.BLK.POST
	opMove       // MV
	opRemove     // REM
)

// keywords in the order in which they are tried: a longer one first.
var keywords = [...]struct {
	text string
	kind opKind
}{
	{"SWAP.BLK", opSwapBlock}, {"SWAP", opSwap}, {"DEL.BLK", opDeleteBlock}, {"DEL", opDelete},
	{"INS.BLK.POST", opAfterBlock}, {"INS.PRE", opBefore}, {"INS.POST", opAfter}, {"INS.HEAD", opHead}, {"INS.TAIL", opTail},
	{"MV", opMove}, {"REM", opRemove},
}

func (k opKind) String() string {
	for _, w := range keywords {
		if w.kind == k {
			return w.text
		}
	}
	return ""
}

func (k opKind) takesBody() bool {
	switch k {
	case opSwap, opSwapBlock, opBefore, opAfter, opHead, opTail, opAfterBlock:
		return true
	}
	return false
}

// needsBody: an empty SWAP deletes, all others would do nothing.
func (k opKind) needsBody() bool { return k.takesBody() && k != opSwap }

func (k opKind) isBlock() bool { return k == opSwapBlock || k == opDeleteBlock || k == opAfterBlock }

func (k opKind) isLine() bool { return k != opMove && k != opRemove }

// op is one operation. Lines are 1-based; first equals last for one line.
type op struct {
	kind        opKind
	first, last int
	body        []string
	dest        string
	at          int  // line of the patch, for messages
	derived     bool // the line was found, not named
}

// onUse compiles an expression when it is first needed: package initialisation
// is a budget (decision 38).
func onUse(expr string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(expr) })
}

// ranges: tools.md 1.9.2.
var rangeForm = onUse(`^([1-9][0-9]*)(?:(?:[ \t]|-|…|\.\.|\.=)+([1-9][0-9]*))?$`)

// keyword finds the operation that a line starts with. ok is false for a line
// that is none.
func keyword(line string) (kind opKind, rest string, ok bool) {
	line = strings.TrimLeft(line, " \t")
	for _, w := range keywords {
		if rest, is := strings.CutPrefix(line, w.text); is && (rest == "" || strings.IndexByte(" \t:.", rest[0]) >= 0) {
			return w.kind, rest, true
		}
	}
	return 0, "", false
}

// parseOp reads the rest of an operation line. dot tells that a lone dot was skipped.
func parseOp(kind opKind, rest string) (o op, dot bool, err error) {
	o.kind = kind
	if kind == opMove {
		o.dest = unquote(strings.TrimSpace(rest))
		if o.dest == "" {
			return o, false, errors.New("MV needs a destination")
		}
		return o, false, nil
	}
	rest = strings.TrimRight(rest, " \t")
	rest, colon := strings.CutSuffix(rest, ":")
	rest = strings.TrimRight(rest, " \t")
	rest, dot = strings.CutSuffix(rest, ".")
	rest = strings.TrimSpace(rest)
	if colon && !kind.takesBody() {
		return o, dot, fmt.Errorf("%s takes no colon and no rows", kind)
	}
	switch kind {
	case opHead, opTail, opRemove:
		if rest != "" {
			return o, dot, fmt.Errorf("%s takes no line number; rows follow on lines of their own, each after a +", kind)
		}
		return o, dot, nil
	}
	m := rangeForm().FindStringSubmatch(rest)
	if m == nil {
		return o, dot, fmt.Errorf("%s wants a line number%s, as in %s; rows follow on lines of their own, each after a +", kind, orRange(kind), example(kind))
	}
	if o.first, err = strconv.Atoi(m[1]); err != nil {
		return o, dot, errors.New("line number too large")
	}
	o.last = o.first
	if m[2] == "" {
		return o, dot, nil
	}
	if kind != opSwap && kind != opDelete {
		return o, dot, fmt.Errorf("%s wants one line number, as in %s", kind, example(kind))
	}
	if o.last, err = strconv.Atoi(m[2]); err != nil {
		return o, dot, errors.New("line number too large")
	}
	if o.last < o.first {
		return o, dot, fmt.Errorf("the range %d.=%d ends before it starts", o.first, o.last)
	}
	return o, dot, nil
}

func orRange(k opKind) string {
	if k == opSwap || k == opDelete {
		return " or a range"
	}
	return ""
}

func example(k opKind) string {
	switch k {
	case opSwap:
		return "SWAP 3.=5:"
	case opDelete:
		return "DEL 3.=5"
	case opDeleteBlock:
		return "DEL.BLK 3"
	}
	return k.String() + " 3:"
}

// unquote takes one pair of quotes off.
func unquote(s string) string {
	if len(s) >= 2 && (s[0] == '"' || s[0] == '\'') && s[len(s)-1] == s[0] {
		return s[1 : len(s)-1]
	}
	return s
}
