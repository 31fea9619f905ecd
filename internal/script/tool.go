package script

import (
	"context"
	"encoding/json"

	"magicode/internal/tool"
)

// Name is the tool's name.
const Name = "code_mode"

// Tool offers Code Mode to the model. Calls to it are run by the runner, which
// has what a script needs; one that comes another way is refused.
type Tool struct{}

const parameters = `{"type":"object","properties":{"code":{"type":"string","description":"Body of a synchronous JavaScript function; return gives the value"},"intent":{"type":"string","description":"What the script is for, in a few words"}},"required":["code"],"additionalProperties":false}`

const description = `code_mode: runs JavaScript that calls other tools, and returns one value.
The code is the body of a strict, synchronous function: no await, no modules, no console, no timers, no access to files or network but through tools. ` +
	`tools.call(name, args) runs a tool and returns {success, content} or {success: false, error: {code, message}}; it does not throw when a tool fails. ` +
	`content is {files: [{path, text, complete}]} for read, a list with files for find, {text} for most others. ` +
	`tools.list(), tools.search(words) and tools.describe(name) tell what there is, tools.budget() what is left. ` +
	`Use it for many calls of one kind, or to filter large results before you see them; return only what you need.`

// Definition describes the tool.
func (Tool) Definition() tool.Definition {
	return tool.Definition{Name: Name, Description: description, Parameters: json.RawMessage(parameters)}
}

// Run refuses.
func (Tool) Run(context.Context, tool.Env, json.RawMessage) tool.Result {
	return tool.Failed("code_mode is not available here")
}
