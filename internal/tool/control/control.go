// Package control is the tool magi_control: the model asks for a compaction of
// its context, or how full it is (tools.md 1.17). The compaction itself is the
// runner's work, after the call's result is recorded.
package control

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"unicode/utf8"

	"magicode/internal/tool"
)

// maxContextChars bounds what the model may ask to be preserved.
const maxContextChars = 12_000

// Tool implements tool.Tool. It is safe for concurrent use.
type Tool struct{ compact bool }

// New returns the tool; compact is its setting.
func New(compact bool) *Tool { return &Tool{compact: compact} }

const parameters = `{"type":"object","properties":{"action":{"type":"string","enum":["compact","context_usage"],"description":"compact: replace the conversation so far by a summary and go on from it. context_usage: tell how full the context window is."},` +
	`"context":{"type":"string","description":"Only with compact: what the summary must preserve in particular, at most 12,000 characters."},` +
	`"intent":{"type":"string","description":"Why, in a few words."}},"required":["action"],"additionalProperties":false}`

// Definition implements tool.Tool.
func (*Tool) Definition() tool.Definition {
	return tool.Definition{Name: "magi_control", Parameters: json.RawMessage(parameters),
		Description: "magi_control: manage your own context window. It must be the only call of a reply. Use compact when the conversation is long and its details are settled."}
}

type arguments struct {
	tool.Intent
	Action  *string `json:"action"`
	Context *string `json:"context"`
}

// Run implements tool.Tool.
func (t *Tool) Run(_ context.Context, env tool.Env, args json.RawMessage) tool.Result {
	var a arguments
	if err := tool.Decode(args, &a); err != nil {
		return tool.Failed("%v", err)
	}
	action, err := tool.Text("action", a.Action)
	if err != nil {
		return tool.Failed("%v", err)
	}
	switch action {
	case "compact":
		return t.requestCompact(a)
	case "context_usage":
		if a.Context != nil {
			return tool.Failed("context belongs to the action compact")
		}
		return usage(env)
	}
	return tool.Failed("action must be compact or context_usage")
}

func (t *Tool) requestCompact(a arguments) tool.Result {
	if !t.compact {
		return tool.Failed("compaction on request is switched off by the setting capabilities.tools.magi_control.compact")
	}
	if a.Context != nil {
		if n := utf8.RuneCountInString(*a.Context); n > maxContextChars || strings.TrimSpace(*a.Context) == "" {
			return tool.Failed("context must hold 1 to %d characters that are not all blank", maxContextChars)
		}
	}
	return tool.Result{Success: true, Content: "The conversation will be compacted now; you will go on from its summary.", Metadata: map[string]any{"action": "compact"}}
}

func usage(env tool.Env) tool.Result {
	if env.ContextUsage == nil {
		return tool.Failed("no usage is known yet")
	}
	current, limit, ok := env.ContextUsage()
	if !ok || limit <= 0 {
		return tool.Failed("no usage is known yet")
	}
	percent := current * 100 / limit
	return tool.Result{Success: true, Content: fmt.Sprintf("context window: %d%% used (%d/%d) tokens", percent, current, limit),
		Metadata: map[string]any{"percentage": percent, "current_tokens": current, "max_tokens": limit}}
}
