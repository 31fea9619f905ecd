package hook

import (
	"bytes"
	"encoding/json"

	"magicode/internal/jsonscan"
	"magicode/internal/redact"
	"magicode/internal/tool"
)

// kinds are the keys whose values are told by size only in redacted payloads.
var kinds = map[string]string{
	"command": "command", "cmd": "command", "code": "command", "script": "command",
	"content": "content", "text": "content", "input": "content", "patch": "content", "body": "content", "data": "content",
	"context": "content", "prompt": "content", "message": "content", "new_text": "content", "old_text": "content", "replacement": "content",
	"output": "output", "stdout": "output", "stderr": "output", "diff": "output", "result": "output", "results": "output",
	"structured_result": "output",
}

// summarised is a JSON value without contents, commands and secrets.
func summarised(raw json.RawMessage) (json.RawMessage, error) {
	dec := json.NewDecoder(bytes.NewReader(raw))
	dec.UseNumber()
	var v any
	if err := dec.Decode(&v); err != nil {
		return nil, err
	}
	out, err := marshal(hide(v))
	if err != nil {
		return nil, err
	}
	return redact.AppendJSON(nil, out), nil
}

func summarisedResult(r *tool.Result) (json.RawMessage, error) {
	meta, err := marshal(r.Metadata)
	if err == nil {
		meta, err = summarised(meta)
	}
	if err != nil {
		return nil, err
	}
	return marshal(map[string]any{"success": r.Success, "content": outputHidden, "metadata": json.RawMessage(meta)})
}

// hide replaces the values of telling keys, at any depth.
func hide(v any) any {
	switch x := v.(type) {
	case map[string]any:
		for k, e := range x {
			if kind, ok := kinds[k]; ok {
				x[k] = hidden(kind, e)
			} else {
				x[k] = hide(e)
			}
		}
	case []any:
		for i, e := range x {
			x[i] = hide(e)
		}
	}
	return v
}

// hidden tells the kind and size of a text, a list or an object. Numbers,
// booleans and null stay as they are.
func hidden(kind string, v any) any {
	size := 0
	switch x := v.(type) {
	case string:
		size = len(x)
	case map[string]any, []any:
		raw, err := marshal(x)
		if err != nil {
			return nil
		}
		size = len(raw)
	default:
		return v
	}
	return map[string]any{"redacted": true, "kind": kind, "bytes": size}
}

// Bounds of affected_paths (tools.md 4.2).
const (
	maxAffected      = 16
	maxAffectedChars = 1024
)

type affected struct {
	Path   string `json:"path"`
	Kind   string `json:"kind"`   // argument, or what the tool did: read, list, search, write, edit, move, delete
	Source string `json:"source"` // request, result
}

// affectedPaths names what the call is about: its path arguments, and after it
// what it touched.
func affectedPaths(sub Subject, full bool) []affected {
	out := []affected{}
	add := func(path, kind, source string) {
		if path == "" || len(out) == maxAffected {
			return
		}
		if !full {
			path = redact.Text(path)
		}
		out = append(out, affected{Path: firstChars(path, maxAffectedChars), Kind: kind, Source: source})
	}
	if sub.Phase == BeforeTool || sub.Phase == AfterTool {
		args := jsonscan.Value(sub.Request)
		add(args.Get("path").LenientText(), "argument", "request")
		for p := range args.Get("paths").Elements() {
			add(p.LenientText(), "argument", "request")
		}
	}
	if sub.Result != nil {
		for _, t := range sub.Result.Touched {
			add(t.Path, t.Kind, "result")
		}
	}
	return out
}

func firstChars(s string, n int) string {
	for i := range s {
		if n == 0 {
			return s[:i]
		}
		n--
	}
	return s
}
