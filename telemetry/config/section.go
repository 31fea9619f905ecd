package config

import (
	"encoding/json"
	"strconv"
	"unicode/utf8"
)

// section is one object of the merged tree. Its getters check type and range
// and turn the whole section bad: koanf's own turn garbage into zero values.
type section struct {
	l    *loader
	tree map[string]any
	path string
	bad  bool
}

func number(n int) json.Number { return json.Number(strconv.Itoa(n)) }

func (s *section) wrong(code, key string) {
	s.bad = true
	s.l.problem(code, s.path+"."+key)
}

// child is the object at key; where there is none, every getter of it fails.
func (s *section) child(key string) section {
	c := section{l: s.l, path: s.path + "." + key}
	tree, ok := s.tree[key].(map[string]any)
	if !ok {
		s.l.problem(CodeType, c.path)
		c.bad = true
	}
	c.tree = tree
	return c
}

func (s *section) bool(key string) bool {
	v, ok := s.tree[key].(bool)
	if !ok && s.tree != nil {
		s.wrong(CodeType, key)
	}
	return v
}

// int accepts an integer between low and high, written without fraction or exponent.
func (s *section) int(key string, low, high int) int { return s.intOr(key, low, high, 0) }

// intOr is int with what stands in the place of a value that cannot be used.
func (s *section) intOr(key string, low, high, otherwise int) int {
	v, ok := s.tree[key].(json.Number)
	n, err := strconv.Atoi(string(v))
	switch {
	case s.tree == nil:
		return otherwise
	case !ok || err != nil:
		s.wrong(CodeType, key)
		return otherwise
	case n < low || n > high:
		s.wrong(CodeRange, key)
		return otherwise
	}
	return n
}

func (s *section) text(key string, maxBytes int) string {
	v, ok := s.tree[key].(string)
	switch {
	case !ok && s.tree != nil:
		s.wrong(CodeType, key)
	case len(v) > maxBytes || !clean(v):
		s.wrong(CodeRange, key)
		return ""
	}
	return v
}

// word accepts one of some words.
func (s *section) word(key string, words ...string) string {
	v := s.text(key, 64)
	for _, w := range words {
		if v == w {
			return v
		}
	}
	if v != "" || s.tree != nil && !s.bad {
		s.wrong(CodeRange, key)
	}
	return ""
}

// clean: valid UTF-8 without control characters.
func clean(s string) bool {
	for _, r := range s {
		if r < ' ' || r >= 0x7f && r < 0xa0 {
			return false
		}
	}
	return utf8.ValidString(s)
}

func jsonNumber(s string) json.Number { return json.Number(s) }
