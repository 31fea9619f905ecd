package subagent

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"strings"

	"magicode/internal/tool"
	"magicode/internal/vfs"
)

// Bounds of a call (tools.md 5.1), in bytes.
const (
	maxTasks        = 10
	maxConcurrency  = 4
	maxTextBytes    = 32 << 10 // intent, agent, cwd
	maxContextBytes = 256 << 10
)

// Modes of a task.
const (
	Inspect  = "inspect"
	Standard = "standard"
)

// Task is one delegated task as the model gave it. Nil fields were not given.
type Task struct {
	Intent   string
	Mode     string // Inspect or Standard
	Agent    *string
	Identity *string // a profile's id
	Context  *string
	Cwd      *string
}

const parameters = `{"type":"object","properties":{"tasks":{"type":"array","minItems":1,"maxItems":10,"description":"Independent tasks. None sees this conversation or another task.",` +
	`"items":{"type":"object","properties":{` +
	`"intent":{"type":"string","description":"What to do, complete in itself."},` +
	`"mode":{"type":"string","enum":["inspect","standard"],"description":"inspect: may only read and search. Default: standard."},` +
	`"agent":{"type":"string","description":"A free label for the worker."},` +
	`"identity":{"type":"string","description":"The id of a subagent profile."},` +
	`"context":{"type":"string","description":"All that the task needs to know beside its intent."},` +
	`"cwd":{"type":"string","description":"An existing directory to work in. Default: the current one."}` +
	`},"required":["intent"],"additionalProperties":false}},` +
	`"concurrency":{"type":"integer","minimum":1,"maximum":4,"description":"How many tasks run at once. Default: 4."},` +
	`"intent":{"type":"string","description":"Why, in a few words."}},"required":["tasks"],"additionalProperties":false}`

const description = "subagents: delegate independent tasks to workers that run side by side, each in a conversation of its own. " +
	"The result holds every task's final answer. Put everything a task needs into its intent and context. Use mode \"inspect\" for tasks that only look."

type taskArguments struct {
	Intent   *string `json:"intent"`
	Mode     *string `json:"mode"`
	Agent    *string `json:"agent"`
	Identity *string `json:"identity"`
	Context  *string `json:"context"`
	Cwd      *string `json:"cwd"`
}

type arguments struct {
	tool.Intent
	Tasks       []taskArguments `json:"tasks"`
	Concurrency *int            `json:"concurrency"`
}

// parse reads a call's arguments. One bad task fails the whole call.
func parse(raw json.RawMessage) (tasks []Task, concurrency int, err error) {
	var a arguments
	if err := tool.Decode(raw, &a); err != nil {
		return nil, 0, err
	}
	if concurrency, err = tool.Number("concurrency", a.Concurrency, 1, maxConcurrency, maxConcurrency); err != nil {
		return nil, 0, err
	}
	if n := len(a.Tasks); n < 1 || n > maxTasks {
		return nil, 0, fmt.Errorf("invalid arguments: field %q must hold 1 to %d tasks", "tasks", maxTasks)
	}
	for i, t := range a.Tasks {
		task, err := t.task()
		if err != nil {
			return nil, 0, fmt.Errorf("invalid arguments: task %d: %w", i+1, err)
		}
		tasks = append(tasks, task)
	}
	return tasks, concurrency, nil
}

func (a taskArguments) task() (Task, error) {
	t := Task{Mode: Standard, Agent: a.Agent, Identity: a.Identity, Context: a.Context, Cwd: a.Cwd}
	if a.Intent == nil || strings.TrimSpace(*a.Intent) == "" {
		return t, fmt.Errorf("field %q is required and must not be blank", "intent")
	}
	t.Intent = *a.Intent
	if a.Mode != nil {
		t.Mode = *a.Mode
	}
	if t.Mode != Inspect && t.Mode != Standard {
		return t, fmt.Errorf("field %q must be inspect or standard", "mode")
	}
	for _, f := range []struct {
		name  string
		text  *string
		limit int
	}{{"intent", a.Intent, maxTextBytes}, {"agent", a.Agent, maxTextBytes}, {"identity", a.Identity, maxTextBytes},
		{"cwd", a.Cwd, maxTextBytes}, {"context", a.Context, maxContextBytes}} {
		if f.text != nil && len(*f.text) > f.limit {
			return t, fmt.Errorf("field %q has more than %d bytes", f.name, f.limit)
		}
	}
	return t, nil
}

// place resolves a task's folder: the parent's, or a directory that the path
// policy lets through. given is the path as it is spelled, canonical without links.
func place(fsys vfs.FS, env tool.Env, absolute bool, cwd *string) (given, canonical string, err error) {
	if cwd == nil {
		return env.Cwd, env.CanonicalCwd, nil
	}
	at, err := tool.Policy{Tool: "subagents", Absolute: absolute}.Existing(fsys, env, *cwd)
	if err != nil {
		return "", "", err
	}
	info, err := fsys.Stat(at.Canonical)
	if err != nil || !info.Mode.IsDir() {
		return "", "", fmt.Errorf("cwd is no directory: %s", *cwd)
	}
	given = *cwd
	if !filepath.IsAbs(given) {
		given = filepath.Join(env.Cwd, given)
	}
	return given, at.Canonical, nil
}
