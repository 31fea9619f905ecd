package agent

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"magicode/internal/attach"
	"magicode/internal/hook"
	"magicode/internal/jsonscan"
	"magicode/internal/profile"
	"magicode/internal/provider"
	"magicode/internal/replay"
	"magicode/internal/runner"
	"magicode/internal/session"
	"magicode/internal/subagent"
	"magicode/internal/tokens"
	"magicode/internal/tool"
	"magicode/internal/worker"
	"magicode/internal/worktree"
)

func contains(list []string, name string) bool { return slices.Contains(list, name) }

// taskCrashed leaves a trace of a task's panic in the attached session.
func (a *Agent) taskCrashed() { a.crashed("subagent", worker.Here()) }

// ChildDir is where the logs of delegated tasks lie, whatever their depth.
func ChildDir(sessions string) string { return filepath.Join(sessions, "subagents") }

// childStore makes a store of tasks that run in cwd.
func (r *agentRuntime) childStore(cwd string) *session.Store {
	a := r.agent
	return session.NewStore(session.Options{
		FS: a.fs, Leases: a.leases, Dir: ChildDir(r.snap.Paths.Sessions()), RecoveredDir: recoveredDir(r.snap.Paths.State()), Cwd: cwd,
		SessionPath: func() string { return worktree.Main(a.fs, cwd) }, NewID: NewID, Now: time.Now, Child: true, Tel: a.tel,
	})
}

// fold makes a conversation. It reads the logs of tasks where a turn was stopped
// over them.
func (r *agentRuntime) fold() *replay.Fold {
	return &replay.Fold{Children: func(id string) []session.Record {
		return r.childStore(r.agent.cwd).LastRecords(id)
	}}
}

// makeChildDir makes the folder private and its name durable.
func (r *agentRuntime) makeChildDir() error {
	dir := ChildDir(r.snap.Paths.Sessions())
	err := r.agent.fs.Mkdir(dir, 0o700)
	if errors.Is(err, fs.ErrExist) {
		return nil
	}
	if err == nil {
		err = errors.Join(r.agent.fs.Chmod(dir, 0o700), r.agent.fs.SyncDir(filepath.Dir(dir)))
	}
	return err
}

// taskRun is one opened task.
type taskRun struct {
	delegation
	request subagent.Request
	profile *profile.Subagent // nil without an identity
	thread  thread
}

var errNoProfile = errors.New("this subagent identity is unavailable")

// open implements subagent.Open for the tasks of a run.
func (d *delegation) open(ctx context.Context, req subagent.Request) (*subagent.Child, error) {
	c := &taskRun{request: req}
	if err := c.identify(d.run.runtime.snap.Subagents, req.Identity); err != nil {
		return nil, err
	}
	r := d.run.runtime
	if err := r.makeChildDir(); err != nil {
		return nil, fmt.Errorf("make the folder of the task's session: %w", err)
	}
	h, err := r.childStore(req.CanonicalCwd).Create(ctx)
	if err != nil {
		return nil, fmt.Errorf("make the task's session: %w", err)
	}
	c.narrow(d)
	c.thread = thread{runtime: r, handle: h, conv: replay.NewFollower(r.fold()), rebase: func(context.Context) error { return nil }}
	c.thread.head = c.head()
	h.Follow(c.thread.conv)
	out := &subagent.Child{SessionID: h.ID(), Path: c.path(), Provider: c.selection.Provider, Model: c.selection.Model,
		Begin: c.begin, Config: c.config, Close: func() { _ = h.Close() }}
	if c.profile != nil {
		out.Schema = subagent.SchemaOf(c.profile.Output)
	}
	return out, nil
}

func (c *taskRun) identify(known profile.Subagents, id *string) error {
	if id == nil {
		return nil
	}
	i := slices.IndexFunc(known.Profiles, func(p profile.Subagent) bool { return p.ID == *id })
	if i < 0 {
		return errNoProfile
	}
	c.profile = &known.Profiles[i]
	return nil
}

// narrow makes the task's rights from those of the run that delegates: a level
// fewer, without what its profile does without, and only looking if it is to.
func (c *taskRun) narrow(parent *delegation) {
	c.delegation = delegation{run: parent.run, rights: parent.rights, label: c.request.Scope, depth: c.request.Depth, selection: parent.selection}
	c.rights.Cwd = c.request.CanonicalCwd
	c.rights.RemainingDepth--
	if p := c.profile; p != nil {
		keys := disableKeys(p.DisabledTools)
		c.rights = c.rights.Disable(keys...)
		c.rights.CodeModeDisabledTools = append(slices.Clip(c.rights.CodeModeDisabledTools), keys...)
		if p.Model != "" {
			c.selection.Provider, c.selection.Model = p.Provider, p.Model
		}
		if p.Reasoning != "" {
			c.selection.Level = provider.Level(p.Reasoning)
		}
	}
	if c.request.Mode == subagent.Inspect || c.rights.Inspection {
		c.rights.Inspection = true
		c.rights = c.rights.Keep(tool.Inspection)
	}
	c.rights = c.rights.Narrow(c.rights) // lists sorted, none nil
	t := attach.Task{Intent: c.request.Intent, Mode: c.request.Mode, Agent: c.request.Agent, Context: c.request.Context, Cwd: c.request.Task.Cwd}
	if c.request.Identity != nil {
		t.Identity = jsontext.Value(jsonscan.AppendString(nil, *c.request.Identity))
	}
	c.scope = &attach.Scope{Version: 1, Task: t, Ceiling: c.rights, Clarifications: []string{}}
}

// begin stores the scope, first of all.
func (c *taskRun) begin(ctx context.Context) error {
	_, err := c.thread.handle.Append(ctx, session.Ordered, session.Event{Kind: session.KindTaskScope, Payload: c.scope})
	if err != nil {
		return fmt.Errorf("store the task's scope: %w", err)
	}
	return nil
}

// config makes the configuration of a run of the task's session.
func (c *taskRun) config(ctx context.Context) (runner.Config, error) {
	r, sel, t := c.run.runtime, c.selection, &c.thread
	t.runID = NewID() // usage is told apart by it
	prov, err := r.providers.Make(ctx, sel, provider.PurposeSubagent)
	if err != nil {
		return runner.Config{}, fmt.Errorf("prepare the task's provider: %w", err)
	}
	tools := c.offer()
	id := provider.ConversationID(t.handle.ID())
	key := id
	if c.profile != nil {
		key = provider.SubagentCacheKey(sel.Provider, sel.Model, c.profile.ID)
	}
	return runner.Config{
		Recorder: t.handle, Provider: prov, Tools: tools.registry, Guard: c.run.guard(c.label + " · " + c.request.Intent), Limits: limits(),
		Hooks: c.hooks(), Script: r.script(tools, t.handle),
		Env:     tool.Env{Cwd: c.request.Cwd, CanonicalCwd: c.request.CanonicalCwd, Inspect: c.rights.Inspection, Edits: c.run.env.Edits, WebSearch: r.webSearch(sel)},
		Request: provider.Request{Model: sel.Model, Level: sel.Level, Tools: tools.definitions, ToolsCache: tools.cache, PromptCacheKey: key, ConversationID: id},
		System:  c.system(tools), History: t.history(t.conv.Items()), InputFields: map[string]any{"task_scope_version": 1}, HasCallID: t.conv.HasCallID,
		Budget: r.budgetOf(sel, tokens.For(sel.Provider, sel.Model)), Compaction: t.compaction(sel),
		RunID: t.runID, NewID: NewID, Tel: r.agent.tel, Screen: r.screen(), Diagnose: r.diagnostics(),
	}, nil
}

// system is the parent's base prompt with the profile's role (tools.md 5.3).
func (c *taskRun) system(tools offer) string {
	var role *profile.Agent
	if p := c.profile; p != nil {
		role = &profile.Agent{ID: p.ID, Name: p.Name, Text: p.Text}
	}
	return c.run.runtime.systemOf(tools.inner != nil, c.delegates(), role)
}

// hooks are the user's commands, in the task's folder.
func (c *taskRun) hooks() *hook.Set {
	h := hook.Context{
		Cwd: c.request.CanonicalCwd, SessionID: c.thread.handle.ID(), SessionPath: c.path(), ProviderID: c.selection.Provider, ModelID: c.selection.Model,
		InvocationMode: "subagent", Turn: 1, Subagent: map[string]any{"id": c.label, "depth": c.depth, "mode": c.request.Mode, "agent": c.request.Agent, "identity": c.request.Identity},
	}
	if c.profile != nil {
		h.AgentID = c.profile.Name
	}
	return c.run.runtime.hooks(h)
}

// path is the log of the task's session.
func (c *taskRun) path() string {
	return filepath.Join(ChildDir(c.run.runtime.snap.Paths.Sessions()), c.thread.handle.ID()+".jsonl")
}
