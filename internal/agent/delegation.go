package agent

import (
	"encoding/json"
	"errors"
	"fmt"

	"magicode/internal/attach"
	"magicode/internal/provider"
	"magicode/internal/subagent"
	"magicode/internal/tool"
)

// errOtherFolder: a delegated session runs in the folder it was made for.
var errOtherFolder = errors.New("the session's scope belongs to another folder")

// delegation is what a run may do, and what its tasks may do below it.
type delegation struct {
	run       *agentRun
	rights    attach.Ceiling
	scope     *attach.Scope // of the session; nil for an ordinary one
	label     string        // the task's ids, "g1/g2"; "" for the primary run
	depth     int
	selection provider.Selection
}

// delegation holds the primary run against its session's scope. A prompt that
// the scope's record has no room for is refused: no reader would take it.
func (u *agentRun) delegation(sel provider.Selection) (*delegation, error) {
	d := &delegation{run: u, rights: u.runtime.tools.scoped(u.att.Scope()), scope: u.att.Scope(), selection: sel}
	if d.scope == nil {
		return d, nil
	}
	if d.scope.Ceiling.Cwd != u.runtime.agent.cwd {
		return nil, errOtherFolder
	}
	if _, err := d.scope.Clarified(u.request.Prompt); err != nil {
		return nil, fmt.Errorf("add the prompt to the scope: %w", err)
	}
	return d, nil
}

// scoped is what the settings and a scope allow.
func (t *toolset) scoped(scope *attach.Scope) attach.Ceiling {
	c := t.rights()
	if scope != nil {
		c = c.Narrow(scope.Ceiling)
		c.Inspection = c.Inspection || scope.Task.Inspect()
	}
	return c
}

// rights is what the settings allow.
func (t *toolset) rights() attach.Ceiling {
	s := t.snap.Settings
	absolute := func(name string) bool { return !s.Capabilities.Tools.RelativeOnly[name] }
	return attach.Ceiling{
		Cwd: t.cwd, EnabledBuiltins: attach.Builtins(), DisabledTools: disableKeys(s.Capabilities.Tools.Disabled),
		CodeModeDisabledTools: disableKeys(s.Capabilities.Tools.CodeMode.Disabled),
		ReadAbsolutePaths:     absolute("read"), ViewImageAbsolutePaths: absolute("view_image"), HashlineAbsolutePaths: absolute("hash_edit"),
		WriteAbsolutePaths: absolute("write"), GrepAbsolutePaths: absolute("grep"), FindAbsolutePaths: absolute("find"),
		ListFilesAbsolutePaths: absolute("list_files"), AstGrepAbsolutePaths: absolute("ast_grep"), BashAbsolutePaths: absolute("bash"),
		BashShellExpansion: s.Capabilities.Tools.ShellExpansion, SubagentsAbsolutePaths: s.Agent.Subagents.AbsolutePaths,
		RemainingDepth: s.Agent.Subagents.MaxDepth,
	}
}

// delegates reports whether the run may start tasks.
func (d *delegation) delegates() bool {
	key := subagent.Name
	return d.rights.RemainingDepth > 0 && !d.rights.Inspection && d.rights.Enables(key) && !contains(d.rights.DisabledTools, key)
}

// offer is the tools of the run.
func (d *delegation) offer() offer {
	t := d.run.runtime.tools
	switch {
	case !d.delegates():
		return t.forRights(d.rights, nil)
	case d.scope == nil:
		return t.forRun(d.tool())
	}
	return t.forRights(d.rights, d.tool())
}

func (d *delegation) tool() tool.Tool {
	r := d.run.runtime
	retries := 2 // storage.md 2.4
	if n := r.snap.Settings.Agent.Subagents.SchemaMaxRetries; n != nil {
		retries = *n
	}
	return subagent.New(subagent.Options{
		Open: d.open, FS: r.agent.fs, Absolute: d.rights.SubagentsAbsolutePaths, Depth: d.depth, Remaining: d.rights.RemainingDepth,
		Scope: d.label, SchemaRetries: retries, Crashed: r.agent.taskCrashed, Tel: r.agent.tel,
	})
}

// head is what a delegated session's requests begin with (storage.md 8.4).
func (d *delegation) head() []provider.Item {
	if d.scope == nil {
		return nil
	}
	mode := d.scope.Task.Mode
	if d.rights.Inspection {
		mode = subagent.Inspect
	}
	task, err := json.Marshal(map[string]any{"original_task": d.scope.Task, "effective_mode": mode,
		"ordered_caller_clarifications": append([]string{}, d.scope.Clarifications...)})
	if err != nil {
		panic("app: a task scope that was parsed or made here does not encode: " + err.Error())
	}
	item := func(role, text string) provider.Item {
		return provider.Item{Kind: provider.ItemMessage, Role: role, Text: text, Cache: new(provider.Cache)}
	}
	return []provider.Item{item("system", subagent.ScopeRules), item("user", subagent.ScopeLead+"\n"+string(task))}
}

// inputFields mark a prompt that is given under a scope: it adds to the task.
func (d *delegation) inputFields() map[string]any {
	if d.scope == nil {
		return nil
	}
	return map[string]any{"task_scope_version": 1, "task_clarification": true}
}
