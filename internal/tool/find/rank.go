package find

import (
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
	tokens []string
	keep   int
	total  int
	hits   []hit
}

func newRanking(tokens []string, keep int) *ranking { return &ranking{tokens: tokens, keep: keep} }

func (r *ranking) offer(e ignore.Entry) {
	score, ok := scoreOf(strings.ToLower(e.Path), r.tokens)
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

// scoreOf adds up what each word is worth; ok is false if one does not occur.
func scoreOf(path string, tokens []string) (score int, ok bool) {
	for _, t := range tokens {
		if i := strings.Index(path, t); i >= 0 {
			score += substringScore - i
		} else if subsequence(path, t) {
			score += utf8.RuneCountInString(t)
		} else {
			return 0, false
		}
	}
	return score, true
}

// subsequence reports whether the characters of t occur in path in order.
func subsequence(path, t string) bool {
	for _, c := range t {
		i := strings.IndexRune(path, c)
		if i < 0 {
			return false
		}
		path = path[i+utf8.RuneLen(c):]
	}
	return true
}
