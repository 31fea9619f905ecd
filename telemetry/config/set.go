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
		object, ok := node.(map[string]any)
		if node, ok = object[part]; !ok {
			return false
		}
	}
	return true
}

// Unfit says what keeps a value from being used at a path below "telemetry", in the
// section that there is; "" for nothing. It is judged as if everything was on, and
// what is wrong elsewhere in the section does not count.
func Unfit(global []byte, path []string, value []byte) string {
	tree, ok := object(global)
	if !ok {
		tree = map[string]any{}
	}
	if len(path) > 0 {
		put(tree, path, parsed(value))
	} else if tree, ok = object(value); !ok {
		return "telemetry takes an object"
	}
	on(tree)
	for _, sink := range []string{"file", "otlp", "prometheus"} {
		if inner, ok := tree[sink].(map[string]any); ok && len(path) > 0 && path[0] == sink {
			on(inner)
		}
	}
	section, err := json.Marshal(tree)
	if err != nil {
		return err.Error()
	}
	c := Load(nil, section, false)
	key := strings.Join(append([]string{"telemetry"}, path...), ".")
	for _, p := range c.Problems {
		mine := p.Key == key || strings.HasPrefix(p.Key, key+".")
		if !mine || !slices.Contains([]string{CodeType, CodeRange, CodePromPath, CodeEndpointInvalid, CodeInsecure}, p.Code) {
			continue
		}
		if takes, ok := strings.CutPrefix(c.Hints[p], "it takes "); ok {
			return p.Key + " takes " + takes
		}
		return p.Key + " cannot be used: " + p.Code
	}
	return ""
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
