package config

import (
	"bytes"
	_ "embed"
	"encoding/json"
	"slices"
)

//go:embed settings.schema.json
var schemaText string

// Schema is the JSON Schema of a settings file: 2-space pretty JSON with a
// final LF. It is made from the table of keys when the program is built; making
// it at run time took a third of the first start in a fresh home.
func Schema() []byte { return []byte(schemaText) }

// generateSchema makes the text of settings.schema.json. A test keeps the two
// equal, and writes the file with -update.
func generateSchema() []byte {
	root := settingsShape().schema()
	root["$schema"] = "https://json-schema.org/draft/2020-12/schema"
	root["title"] = "magi-code settings"
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	if err := enc.Encode(root); err != nil {
		panic("the settings table holds a value that JSON has not: " + err.Error())
	}
	return b.Bytes()
}

// schemaOf delays making a shape until its schema is asked for.
func schemaOf[T any](shape func() *shape[T]) func() object {
	return func() object { return shape().schema() }
}

// schema describes a shape. Rules that concern more than one key, and most
// rules about texts, are beyond it: what passes may still be refused.
func (s *shape[T]) schema() object { return s.root.schema() }

func (n *node[T]) schema() object {
	if n.rule != nil {
		return n.rule.schema()
	}
	properties := make(object, len(n.children))
	var required []any
	for _, c := range n.children {
		properties[c.name] = c.schema()
		if c.rule != nil && c.rule.required {
			required = append(required, c.name)
		}
	}
	out := object{"type": "object", "properties": properties}
	if n.nullable {
		out["type"] = []any{"object", "null"}
	}
	if n.closed {
		out["additionalProperties"] = false
	}
	if required != nil {
		out["required"] = required
	}
	return out
}

// Known reports whether the schema has a setting, or an object of settings, at
// a path. Below a key that takes names of the user's own, as providers.custom
// does, every name is known.
func Known(path []string) bool {
	if slices.Equal(path, []string{"$schema"}) {
		return true // names the schema, and is not in it
	}
	node := schemaTree()
	for _, part := range path {
		next, ok := memberOf(node, part)
		if !ok {
			return next != nil
		}
		node = next
	}
	return true
}

// Unknown are the settings of both files, with dots, that the schema does not
// have, sorted: typing errors, or what only another version knows.
func (l *Loaded) Unknown() []string {
	var out []string
	for _, doc := range []*document{l.global, l.project} {
		if doc != nil {
			out = append(out, unknownIn(schemaTree(), doc.tree, "")...)
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

func unknownIn(node, tree map[string]any, prefix string) (out []string) {
	for name, value := range tree {
		if prefix == "" && name == "$schema" {
			continue
		}
		next, ok := memberOf(node, name)
		switch inner, isObject := value.(map[string]any); {
		case !ok && next == nil:
			out = append(out, prefix+name)
		case ok && isObject:
			out = append(out, unknownIn(next, inner, prefix+name+".")...)
		}
	}
	return out
}

func schemaTree() (node map[string]any) {
	_ = json.Unmarshal(Schema(), &node) // a test holds the text against its source
	return node
}

// memberOf is the schema of a member. Without one, node tells that the object's
// content is its own matter; nil: there is no such member.
func memberOf(node map[string]any, name string) (next map[string]any, ok bool) {
	properties, _ := node["properties"].(map[string]any)
	if next, ok = properties[name].(map[string]any); ok {
		return next, true
	}
	if next, ok = node["additionalProperties"].(map[string]any); ok {
		return next, true
	}
	if properties == nil && admitsObject(node) {
		return node, false
	}
	return nil, false
}

// admitsObject: what an object without listed properties holds is its own matter.
func admitsObject(node map[string]any) bool {
	switch kind := node["type"].(type) {
	case string:
		return kind == "object"
	case []any:
		return slices.Contains(kind, any("object"))
	}
	return true
}
