package config

import (
	"bytes"
	"encoding/json"
)

// Schema is the JSON Schema of a settings file, made from the table of keys: 2-space pretty JSON with a final LF.
func Schema() []byte {
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

// schema describes a shape. Rules that concern more than one key, and most
// rules about texts, are beyond it: what passes may still be refused.
func (s *shape[T]) schema() object { return s.root.schema() }

func (n *node[T]) schema() object {
	if n.rule != nil {
		return n.rule.schema
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
