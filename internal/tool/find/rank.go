package find

import (
	"bytes"
	"cmp"
	"container/heap"
	"slices"
	"strings"
	"unicode/utf8"

	"magicode/internal/ignore"
)

// substringScore is what a word that occurs at the start of a path is worth;
// each byte further on costs one (tools.md 1.12).
const substringScore = 10000

// hit is one entry that matches.
type hit struct {
	path  string
	dir   bool
	score int
}

// compare orders hits, the better first: score, path, file before directory.
func compare(a, b hit) int {
	if a.score != b.score {
		return cmp.Compare(b.score, a.score)
	}
	if a.path != b.path {
		return strings.Compare(a.path, b.path)
	}
	switch {
	case a.dir == b.dir:
		return 0
	case b.dir:
		return -1
	}
	return 1
}

// ranking keeps the best hits and counts all. The worst kept one is on top of
// the heap.
type ranking struct {
	tokens [][]byte // lower-cased
	keep   int
	total  int
	hits   []hit
	lower  []byte // the path at hand, reused
}

func newRanking(tokens []string, keep int) *ranking {
	r := &ranking{keep: keep}
	for _, t := range tokens {
		r.tokens = append(r.tokens, []byte(t))
	}
	return r
}

func (r *ranking) offer(e ignore.Entry) {
	r.lower = appendLower(r.lower[:0], e.Path)
	score, ok := scoreOf(r.lower, r.tokens)
	if !ok {
		return
	}
	r.total++
	h := hit{e.Path, e.Dir, score}
	switch {
	case len(r.hits) < r.keep:
		heap.Push(r, h)
	case compare(h, r.hits[0]) < 0:
		r.hits[0] = h
		heap.Fix(r, 0)
	}
}

func (r *ranking) sorted() []hit {
	slices.SortFunc(r.hits, compare)
	return r.hits
}

// heap.Interface.
func (r *ranking) Len() int           { return len(r.hits) }
func (r *ranking) Less(i, j int) bool { return compare(r.hits[i], r.hits[j]) > 0 }
func (r *ranking) Swap(i, j int)      { r.hits[i], r.hits[j] = r.hits[j], r.hits[i] }
func (r *ranking) Push(x any)         { r.hits = append(r.hits, x.(hit)) }

// Pop is never used: hits only replace each other.
func (r *ranking) Pop() any { panic("find: a ranking only grows") }

// appendLower is strings.ToLower without an allocation for ASCII.
func appendLower(b []byte, s string) []byte {
	for i := 0; i < len(s); i++ {
		c := s[i]
		if c >= utf8.RuneSelf {
			return append(b[:len(b)-i], strings.ToLower(s)...)
		}
		if c >= 'A' && c <= 'Z' {
			c += 'a' - 'A'
		}
		b = append(b, c)
	}
	return b
}

// scoreOf adds up what each word is worth; ok is false if one does not occur.
func scoreOf(path []byte, tokens [][]byte) (score int, ok bool) {
	for _, t := range tokens {
		if i := bytes.Index(path, t); i >= 0 {
			score += substringScore - i
		} else if subsequence(path, t) {
			score += utf8.RuneCount(t)
		} else {
			return 0, false
		}
	}
	return score, true
}

// subsequence reports whether the characters of t occur in path in order. Both
// are UTF-8, so whole characters are found by their bytes.
func subsequence(path, t []byte) bool {
	for len(t) > 0 {
		_, n := utf8.DecodeRune(t)
		i := bytes.Index(path, t[:n])
		if i < 0 {
			return false
		}
		path, t = path[i+n:], t[n:]
	}
	return true
}
