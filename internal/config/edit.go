package config

import (
	"bytes"
	"slices"
	"strings"

	"magicode/internal/jsonscan"
)

// Edit sets one key of a settings document, or removes it when value is nil.
// path holds the key's parts; objects on the way are made. Everything else
// stays: unknown keys, the order, the spelling of values, $schema. The result
// is 2-space pretty JSON without a final line feed; schema_version is added
// where it is missing. Whether the new document is valid is the caller's
// business. The error is an *Error without a file.
func Edit(doc []byte, path []string, value []byte) ([]byte, error) {
	root, err := jsonscan.Parse(doc, jsonscan.Options{MaxDepth: maxContainers})
	if err != nil {
		return nil, &Error{Line: brokenLine(doc), Reason: "is not valid JSON", Err: err}
	}
	if root.Kind() != jsonscan.Object {
		return nil, &Error{Line: 1, Reason: "must be an object"}
	}
	if len(path) == 0 || slices.ContainsFunc(path, func(s string) bool { return strings.Contains(s, delimiter) }) {
		return nil, &Error{Reason: "no such key"}
	}
	var set jsonscan.Value
	if value != nil {
		if set, err = jsonscan.Parse(value, jsonscan.Options{MaxDepth: maxContainers - len(path)}); err != nil {
			return nil, &Error{Key: strings.Join(path, "."), Reason: "is not valid JSON", Err: err}
		}
	}
	e := editor{}
	if root.Get("schema_version") == nil && path[0] != "schema_version" {
		e.version = true
	}
	e.object(root, path, set, 0)
	return e.Bytes(), nil
}

// editor prints while it edits.
type editor struct {
	bytes.Buffer
	version bool // schema_version is still to be added
}

// object prints v with the key at path set; a value that is no object gives way
// to one. An empty path prints v as it is.
func (e *editor) object(v jsonscan.Value, path []string, set jsonscan.Value, depth int) {
	n, done := 0, len(path) == 0
	e.WriteByte('{')
	for k, member := range v.Members() {
		hit := len(path) > 0 && k.Is(path[0])
		done = done || hit
		if hit && len(path) == 1 && set == nil {
			continue
		}
		e.member(&n, k, depth)
		switch {
		case hit && len(path) == 1:
			e.value(set, depth+1)
		case hit && set == nil && member.Kind() != jsonscan.Object:
			e.value(member, depth+1) // there is nothing below it to remove
		case hit:
			e.object(member, path[1:], set, depth+1)
		default:
			e.value(member, depth+1)
		}
		if depth == 0 && k.Is("$schema") {
			e.addVersion(&n)
		}
	}
	if depth == 0 {
		e.addVersion(&n)
	}
	if !done && set != nil {
		e.member(&n, appendJSON(nil, path[0]), depth)
		if len(path) == 1 {
			e.value(set, depth+1)
		} else {
			e.object(nil, path[1:], set, depth+1)
		}
	}
	if n > 0 {
		e.line(depth)
	}
	e.WriteByte('}')
}

// addVersion puts schema_version behind $schema, or at the end.
func (e *editor) addVersion(n *int) {
	if !e.version {
		return
	}
	e.version = false
	e.member(n, jsonscan.Value(`"schema_version"`), 0)
	e.WriteByte('2')
}

func (e *editor) member(n *int, key jsonscan.Value, depth int) {
	if *n > 0 {
		e.WriteByte(',')
	}
	*n++
	e.line(depth + 1)
	e.Write(key)
	e.WriteString(": ")
}

func (e *editor) value(v jsonscan.Value, depth int) {
	switch v.Kind() {
	case jsonscan.Object:
		e.object(v, nil, nil, depth)
	case jsonscan.Array:
		e.array(v, depth)
	default:
		e.Write(v)
	}
}

func (e *editor) array(v jsonscan.Value, depth int) {
	n := 0
	e.WriteByte('[')
	for item := range v.Elements() {
		if n > 0 {
			e.WriteByte(',')
		}
		n++
		e.line(depth + 1)
		e.value(item, depth+1)
	}
	if n > 0 {
		e.line(depth)
	}
	e.WriteByte(']')
}

func (e *editor) line(depth int) {
	e.WriteByte('\n')
	for range depth {
		e.WriteString("  ")
	}
}
