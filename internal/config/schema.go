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
	var node map[string]any
	if err := json.Unmarshal(Schema(), &node); err != nil {
		return true // a test holds the text against its source
	}
	for _, part := range path {
		properties, _ := node["properties"].(map[string]any)
		next, ok := properties[part].(map[string]any)
		if !ok {
			next, ok = node["additionalProperties"].(map[string]any)
		}
		if !ok {
			return properties == nil && admitsObject(node)
		}
		node = next
	}
	return true
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
