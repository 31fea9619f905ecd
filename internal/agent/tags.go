package agent

import (
	"context"
	"encoding/json"

	"magicode/internal/prompttag"
	"magicode/internal/tool"
)

// expand fills in the tags of this turn's prompt. Their commands run in the
// tool bash, as far as this session may use it.
func (u *agentRun) expand(ctx context.Context, prompt string) string {
	expanded := prompttag.Expand(ctx, prompt, func(ctx context.Context, command string) tool.Result {
		args, err := json.Marshal(map[string]any{"command": command, "intent": "expand a tag of the prompt", "timeout": prompttag.TimeoutSeconds})
		if err != nil {
			return tool.Failed("%v", err)
		}
		tools := u.runtime.tools
		return tools.forScope(u.att.Scope()).registry.Dispatch(ctx, tools.env(), tool.Call{Name: "bash", Arguments: args})
	})
	if s := u.att.Scope(); s != nil {
		if _, err := s.Clarified(expanded); err != nil {
			return prompt // the scope has no room for more
		}
	}
	return expanded
}
