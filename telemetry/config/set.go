package config

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"
)

// Known reports a setting by its path below "telemetry".
func Known(path []string) bool {
	var node any = defaults()
	for _, part := range path {
		inner, _ := node.(map[string]any)
		next, ok := inner[part]
		if !ok {
			return false
		}
		node = next
	}
	return true
}

// Unfit says what keeps a value from being used at a path below "telemetry", in the
// section that there is; "" for nothing. It is judged as if everything was on, and
// what was wrong elsewhere in the section before does not count.
func Unfit(global []byte, path []string, value []byte) string {
	tree, _ := object(global) // of what is none the value makes one
	if tree == nil {
		tree = map[string]any{}
	}
	before := judged(tree, path)
	if len(path) > 0 {
		put(tree, path, parsed(value))
	} else if tree, _ = object(value); tree == nil {
		return "telemetry takes an object"
	}
	c := judged(tree, path)
	key := strings.Join(append([]string{"telemetry"}, path...), ".")
	for _, p := range c.Problems {
		known := slices.Contains(before.Problems, p) && p.Key != key && !strings.HasPrefix(p.Key, key+".")
		if known || !slices.Contains([]string{CodeType, CodeRange, CodePromPath, CodeEndpointInvalid, CodeInsecure}, p.Code) {
			continue
		}
		if takes, ok := strings.CutPrefix(c.Hints[p], "it takes "); ok {
			return p.Key + " takes " + takes
		}
		return p.Key + " cannot be used: " + p.Code
	}
	return ""
}

// judged is what a section with the sink of a path on leads to.
func judged(tree map[string]any, path []string) Config {
	on(tree)
	if len(path) > 0 {
		if sink, ok := tree[path[0]].(map[string]any); ok {
			on(sink)
		}
	}
	section, err := json.Marshal(tree)
	if err != nil {
		return Config{} // what was parsed can be written
	}
	return Load(nil, section, false)
}

// on switches on what is not, and leaves alone what is no switch.
func on(tree map[string]any) {
	if is, there := tree["enabled"]; !there || is == false {
		tree["enabled"] = true
	}
}

func object(raw []byte) (map[string]any, bool) {
	tree, ok := parsed(raw).(map[string]any)
	return tree, ok
}

// parsed is a JSON value with its numbers as they stand; nil for none.
func parsed(raw []byte) (value any) {
	dec := json.NewDecoder(bytes.NewReader(raw))
	dec.UseNumber()
	if dec.Decode(&value) != nil {
		return nil
	}
	return value
}
