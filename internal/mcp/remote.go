package mcp

import (
	"context"
	"encoding/json"
	"errors"
	"slices"

	"magicode/internal/jsonscan"
	"magicode/internal/redact"
	"magicode/internal/tool"
)

// anyObject is the schema of a tool whose own is no object schema: tools.md 6.5.
const anyObject = `{"type":"object","properties":{},"additionalProperties":true}`

// remote is one tool of a server. It implements tool.Tool, and calls may overlap.
type remote struct {
	link       *link
	own        string // the name at the server
	definition tool.Definition
	// takesIntent: the schema itself has properties that the wrapping of newer
	// releases uses, so that arguments are never unwrapped.
	takesIntent bool
}

func newRemote(l *link, name, own string, v jsonscan.Value) *remote {
	r := &remote{link: l, own: own, definition: tool.Definition{Name: name, Description: describe(l.server.Name, v)}}
	schema := v.Get("inputSchema")
	if schema.Get("type").Is("object") {
		r.definition.Parameters = slices.Clone(json.RawMessage(schema))
	} else {
		r.definition.Parameters = json.RawMessage(anyObject)
	}
	props := schema.Get("properties")
	r.takesIntent = props.Get("intent") != nil || props.Get("arguments") != nil
	return r
}

func describe(server string, v jsonscan.Value) string {
	for _, key := range []string{"description", "title"} {
		if s := v.Get(key).LenientText(); s != "" {
			return redact.Strip(s)
		}
	}
	return "MCP tool from server " + server
}

// Definition implements tool.Tool.
func (r *remote) Definition() tool.Definition { return r.definition }

// Run implements tool.Tool. Approval was given to the server (tools.md 6.6).
func (r *remote) Run(ctx context.Context, _ tool.Env, args json.RawMessage) tool.Result {
	res, err := r.link.call(ctx, r.own, r.arguments(args))
	if err == nil {
		var out tool.Result
		if out, err = project(res); err == nil {
			return out
		}
	}
	out := tool.Failed("%s", r.explain(ctx, err))
	out.Metadata = map[string]any{"mcp": true}
	return out
}

func (r *remote) explain(ctx context.Context, err error) string {
	if ctx.Err() != nil {
		return tool.CancelledText
	}
	server := r.link.server.Name
	switch {
	case errors.Is(err, ErrLoginNeeded):
		return "MCP server " + server + ": " + shown(err.Error()) + "; the user can run: " + loginCommand(server, err)
	case errors.Is(err, errTimeout):
		return "MCP server " + server + " gave no answer within " + r.link.server.Timeout.String()
	}
	return "MCP server " + server + ": " + shown(err.Error())
}

// arguments passes what the model sent on. Models that have seen the history of
// a newer release wrap them as {intent, arguments} (extensions.md 18.3).
func (r *remote) arguments(args json.RawMessage) []byte {
	v := jsonscan.Value(args)
	if r.takesIntent || v.Kind() != jsonscan.Object {
		return args
	}
	n := 0
	for range v.Members() {
		n++
	}
	inner := v.Get("arguments")
	if n == 2 && v.Get("intent").Kind() == jsonscan.String && inner.Kind() == jsonscan.Object {
		return inner
	}
	return args
}
