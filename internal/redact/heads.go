package redact

import (
	"strings"
	"unicode/utf8"
)

const (
	// headBytes is the length of the beginning that tells most formats from
	// ordinary words.
	headBytes = 3
	// setBits is the size of a set of hashes, as a power of two: of the words
	// of a text, one in a hundred hits the first set, one in a thousand the second.
	setBits = 15
)

// set is a set of hashes.
type set [1 << (setBits - 5)]uint32

func (t *set) add(h uint32)      { t[h>>5] |= 1 << (h & 31) }
func (t *set) has(h uint32) bool { return t[h>>5]>>(h&31)&1 != 0 }

// entry is a format in the list of its first byte.
type entry struct {
	head uint32 // its first bytes, 0 where it has fewer than headBytes
	grow bool   // what follows like a key belongs to it
	*format
}

// formatIndex finds the formats that a word may begin like.
type formatIndex struct {
	heads  set          // the first headBytes of all
	whole  set          // of those that have no more
	begins set          // the first headBytes+1 of the others
	of     [256][]entry // by the first byte
}

var index = makeIndex()

func makeIndex() *formatIndex {
	t := new(formatIndex)
	for k := range ruleFormats {
		t.addFormat(entry{format: &ruleFormats[k]})
	}
	for k := range formats {
		t.addFormat(entry{format: &formats[k], grow: true})
	}
	t.addBeginning("BEGIN")
	for k := range 1 << 4 { // in any case
		b := []byte("bear")
		for i := range b {
			b[i] ^= byte(k >> i & 1 << 5)
		}
		t.addBeginning(string(b))
	}
	return t
}

func (t *formatIndex) addFormat(e entry) {
	if len(e.prefix) >= headBytes {
		e.head = headOf(e.prefix)
		t.addBeginning(e.prefix)
	} else {
		for b := range utf8.RuneSelf {
			if classes[b]&e.set != 0 {
				t.addBeginning(e.prefix + string(rune(b)))
			}
		}
	}
	t.of[e.prefix[0]] = append(t.of[e.prefix[0]], e)
}

func (t *formatIndex) addBeginning(s string) {
	t.heads.add(headHash(headOf(s)))
	if len(s) == headBytes {
		t.whole.add(headHash(headOf(s)))
	} else {
		t.begins.add(hash(headOf(s) | uint32(s[3])<<24))
	}
}

// mayStart reports whether the word at i may be the beginning of a key. It is
// the test that all words go through. headBytes bytes stand behind s[i].
func mayStart(s string, i int) bool {
	_ = s[i+headBytes]
	v := uint32(s[i]) | uint32(s[i+1])<<8 | uint32(s[i+2])<<16 | uint32(s[i+3])<<24
	h := headHash(v)
	return index.heads.has(h) && (index.begins.has(hash(v)) || index.whole.has(h))
}

// headOf returns the first bytes of s, the first one lowest.
func headOf(s string) uint32 { return uint32(s[0]) | uint32(s[1])<<8 | uint32(s[2])<<16 }

// headHash maps the first headBytes of a word, the first one lowest, to a place
// in a set; what lies above does not count.
func headHash(v uint32) uint32 { return hash(v << 8) }

func hash(v uint32) uint32 { return v * 0x9e3779b1 >> (32 - setBits) }

// partialHead reports whether s, shorter than a head, may grow into one.
func partialHead(s string) bool {
	if s[0]|0x20 == 'b' && (len(s) == 1 || s[1]|0x20 == 'e') {
		return true
	}
	for _, f := range index.of[s[0]] {
		p := f.prefix
		if strings.HasPrefix(p, s) || strings.HasPrefix(s, p) {
			return true
		}
	}
	return false
}
