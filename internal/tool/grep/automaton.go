package grep

import (
	"bytes"
	"encoding/binary"
	"regexp/syntax"
	"slices"
)

// maxStates bounds the automaton; when it is full it starts anew.
const maxStates = 4000

// States that mean something to the loop. Numbers below firstState end it.
const (
	stateUnknown = iota // not computed yet
	stateMatch          // the line matches whatever follows
	firstState
)

// automaton decides whether a line matches. Its states are sets of places in
// the program, made when they are first reached. It belongs to one goroutine.
type automaton struct {
	prog    *program
	classes [256]uint8 // bytes that no step tells apart
	stride  int        // transitions of a state: one per class, rounded up
	example []byte     // one byte of each class

	table  []int32 // state*stride + class: next state, premultiplied from firstState on
	states []dfaState
	ids    map[string]int32
	begin  int32

	set, next sparse
	stack     []int32
	key       []byte
}

// dfaState is one state: the places before empty steps are followed, and what
// is known about the character before.
type dfaState struct {
	places   []int32
	atStart  bool
	lastWord bool
	atEnd    uint8 // 0 not asked yet, 1 no match if the line ends here, 2 match
}

func newAutomaton(p *program) *automaton {
	a := &automaton{prog: p, set: newSparse(len(p.nodes)), next: newSparse(len(p.nodes))}
	a.classify()
	a.reset()
	return a
}

// classify groups bytes by the edges of the ranges that the program tests.
func (a *automaton) classify() {
	var edge [257]bool
	mark := func(lo, hi byte) { edge[lo], edge[int(hi)+1] = true, true }
	for _, n := range a.prog.nodes {
		if n.kind == nodeByte {
			mark(n.lo, n.hi)
		}
	}
	mark('\n', '\n')
	if a.prog.words {
		mark('0', '9')
		mark('A', 'Z')
		mark('_', '_')
		mark('a', 'z')
		mark(0x80, 0xbf)
	}
	class := 0
	a.example = []byte{0}
	for b := range 256 {
		if b > 0 && edge[b] {
			class++
			a.example = append(a.example, byte(b))
		}
		a.classes[b] = uint8(class)
	}
	a.stride = class + 1
}

func (a *automaton) reset() {
	a.states = make([]dfaState, firstState, 64)
	a.table = make([]int32, firstState*a.stride, 64*a.stride)
	a.ids = make(map[string]int32)
	a.begin = a.state([]int32{a.prog.start}, true, false)
}

// matches reports whether the line, valid UTF-8 without its end, matches.
func (a *automaton) matches(line []byte) bool {
	a.room()
	s := a.begin
	for _, b := range line {
		t := a.table[int(s)+int(a.classes[b])]
		if t < firstState {
			if t == stateUnknown {
				t = a.step(s, a.classes[b])
			}
			if t < firstState {
				return t == stateMatch
			}
		}
		s = t
	}
	return a.ends(s)
}

// room starts anew when there are too many states. Numbers of states do not
// live on.
func (a *automaton) room() {
	if len(a.states) > maxStates {
		a.reset()
	}
}

// find returns an index on the first line that matches, at or after from, which
// is the start of a line; -1 if there is none. The data is valid UTF-8 with LF
// line ends. It is matches over many lines in one loop.
func (a *automaton) find(data []byte, from int) int {
	a.room()
	s, table, classes := a.begin, a.table, &a.classes
	for i := from; i < len(data); i++ {
		t := table[int(s)+int(classes[data[i]])]
		if t < firstState {
			if t == stateUnknown {
				if len(a.states) > maxStates {
					return a.findSlowly(data, i)
				}
				t = a.step(s, classes[data[i]])
				table = a.table
			}
			if t < firstState {
				return i
			}
		}
		s = t
	}
	if len(data) > from && data[len(data)-1] != '\n' && a.ends(s) {
		return len(data) - 1
	}
	return -1
}

// findSlowly goes on after the states ran out, line by line, which may start
// anew before each.
func (a *automaton) findSlowly(data []byte, at int) int {
	for start := bytes.LastIndexByte(data[:at], '\n') + 1; start < len(data); {
		end, next := lineEnd(data, start)
		if a.matches(data[start:end]) {
			return start
		}
		start = next
	}
	return -1
}

// state returns the premultiplied number of a state, making it if it is new.
// places is kept.
func (a *automaton) state(places []int32, atStart, lastWord bool) int32 {
	a.key = a.key[:0]
	var flags byte
	if atStart {
		flags |= 1
	}
	if lastWord {
		flags |= 2
	}
	a.key = append(a.key, flags)
	for _, p := range places {
		a.key = binary.LittleEndian.AppendUint32(a.key, uint32(p))
	}
	if id, ok := a.ids[string(a.key)]; ok {
		return id
	}
	id := int32(len(a.states) * a.stride)
	a.states = append(a.states, dfaState{places: slices.Clone(places), atStart: atStart, lastWord: lastWord})
	a.table = append(a.table, make([]int32, a.stride)...)
	a.ids[string(a.key)] = id
	return id
}

// step computes one transition.
func (a *automaton) step(s int32, class uint8) int32 {
	from := &a.states[int(s)/a.stride]
	b := a.example[class]
	word := isWord(b)
	holds := boundary(from.lastWord != word)
	if b&0xc0 == 0x80 { // within a character there is no place to look at
		holds = 0
	}
	t := int32(stateMatch)
	switch {
	case b == '\n': // in find only: the line ends, and the next one begins
		if !a.ends(s) {
			t = a.begin
		}
	case !a.follow(from, holds):
		a.next.clear()
		for _, p := range a.set.list {
			if n := &a.prog.nodes[p]; n.kind == nodeByte && n.lo <= b && b <= n.hi {
				a.next.add(n.out)
			}
		}
		a.next.add(a.prog.start) // a match may start at the next byte
		slices.Sort(a.next.list)
		t = a.state(a.next.list, false, a.prog.words && word)
	}
	a.table[int(s)+int(class)] = t
	return t
}

// ends reports whether a line that ends in state s matches.
func (a *automaton) ends(s int32) bool {
	st := &a.states[int(s)/a.stride]
	if st.atEnd == 0 {
		st.atEnd = 1
		if a.follow(st, boundary(st.lastWord)|syntax.EmptyEndLine|syntax.EmptyEndText) {
			st.atEnd = 2
		}
	}
	return st.atEnd == 2
}

func boundary(is bool) syntax.EmptyOp {
	if is {
		return syntax.EmptyWordBoundary
	}
	return syntax.EmptyNoWordBoundary
}

func isWord(b byte) bool {
	return b >= 'a' && b <= 'z' || b >= 'A' && b <= 'Z' || b >= '0' && b <= '9' || b == '_'
}

// follow fills set with all places that are reached without a byte, and reports
// whether a match is among them.
func (a *automaton) follow(st *dfaState, holds syntax.EmptyOp) bool {
	if st.atStart {
		holds |= syntax.EmptyBeginLine | syntax.EmptyBeginText
	}
	a.set.clear()
	a.stack = append(a.stack[:0], st.places...)
	for len(a.stack) > 0 {
		p := a.stack[len(a.stack)-1]
		a.stack = a.stack[:len(a.stack)-1]
		if !a.set.add(p) {
			continue
		}
		switch n := &a.prog.nodes[p]; n.kind {
		case nodeMatch:
			return true
		case nodeSplit:
			a.stack = append(a.stack, n.alt, n.out)
		case nodeEmpty:
			if n.cond&^holds == 0 {
				a.stack = append(a.stack, n.out)
			}
		}
	}
	return false
}

// sparse is a set of small numbers that is cleared in no time.
type sparse struct {
	list []int32
	at   []int32
}

func newSparse(n int) sparse { return sparse{at: make([]int32, n)} }

func (s *sparse) clear() { s.list = s.list[:0] }

// add reports whether n is new.
func (s *sparse) add(n int32) bool {
	if i := s.at[n]; int(i) < len(s.list) && s.list[i] == n {
		return false
	}
	s.at[n] = int32(len(s.list))
	s.list = append(s.list, n)
	return true
}
