package config

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
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

// wrong: the value of key cannot be used; takes says in words what can.
func (s *section) wrong(code, key, takes string) {
	s.bad = true
	s.l.takes(code, s.path+"."+key, takes)
}

// child is the object at key; where there is none, every getter of it fails.
func (s *section) child(key string) section {
	c := section{l: s.l, path: s.path + "." + key}
	tree, ok := s.tree[key].(map[string]any)
	if !ok {
		s.l.takes(CodeType, c.path, "an object")
		c.bad = true
	}
	c.tree = tree
	return c
}

func (s *section) bool(key string) bool {
	v, ok := s.tree[key].(bool)
	if !ok && s.tree != nil {
		s.wrong(CodeType, key, "true or false")
	}
	return v
}

// int accepts an integer between low and high, written without fraction or exponent.
func (s *section) int(key string, low, high int) int { return s.intOr(key, low, high, 0) }

// intOr is int with what stands in the place of a value that cannot be used.
func (s *section) intOr(key string, low, high, otherwise int) int {
	v, ok := s.tree[key].(json.Number)
	n, err := strconv.Atoi(string(v))
	code := CodeRange
	switch {
	case s.tree == nil:
		return otherwise
	case !ok || err != nil:
		code = CodeType
	case n >= low && n <= high:
		return n
	}
	s.wrong(code, key, fmt.Sprintf("a whole number from %d to %d", low, high))
	return otherwise
}

// text accepts text; words are what it is one of, for whoever wrote another.
func (s *section) text(key string, maxBytes int, words ...string) string {
	v, ok := s.tree[key].(string)
	code := CodeRange
	switch {
	case !ok && s.tree == nil:
		return ""
	case !ok:
		code = CodeType
	case len(v) <= maxBytes && clean(v):
		return v
	}
	takes := strings.Join(words, " or ")
	if takes == "" {
		takes = fmt.Sprintf("text of at most %d bytes without control characters", maxBytes)
	}
	s.wrong(code, key, takes)
	return ""
}

// word accepts one of some words.
func (s *section) word(key string, words ...string) string {
	v := s.text(key, 64, words...)
	for _, w := range words {
		if v == w {
			return v
		}
	}
	if v != "" || s.tree != nil && !s.bad {
		s.wrong(CodeRange, key, strings.Join(words, " or "))
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
