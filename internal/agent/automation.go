package agent

import (
	"os"
	"path/filepath"
	"time"

	"magicode/internal/config"
	"magicode/internal/hook"
	"magicode/internal/profile"
	"magicode/internal/prompt"
	"magicode/internal/provider"
	"magicode/internal/runner"
	codemode "magicode/internal/script"
	"magicode/internal/session"
	"magicode/internal/tool"
)

// localAgent is the invocation mode that hooks of this server see (runner.md 12).
const localAgent = "local_agent"

// hooks are the user's commands around this run's calls and messages.
func (u *agentRun) hooks(sel provider.Selection) *hook.Set {
	r := u.runtime
	c := hook.Context{
		Cwd: r.agent.cwd, SessionID: u.att.ID(), SessionPath: filepath.Join(r.snap.Paths.Sessions(), u.att.ID()+".jsonl"),
		ProviderID: sel.Provider, ModelID: sel.Model, InvocationMode: localAgent, Turn: u.att.Prompts() + 1,
	}
	if r.snap.Agent != nil {
		c.AgentID = r.snap.Agent.Name
	}
	return r.hooks(c)
}

// hooks are the user's commands for one run.
func (r *agentRuntime) hooks(c hook.Context) *hook.Set {
	return hook.New(hook.Options{
		Settings: r.snap.Settings.Hooks, Shell: shellPolicy(r.snap.Settings.Capabilities.Tools), Environ: r.agent.environ,
		FS: r.agent.fs, Payloads: r.snap.Paths.Sessions(), Temp: os.TempDir(), NewID: NewID, Context: c, Tel: r.agent.tel,
	})
}

func shellPolicy(t config.Tools) tool.ShellPolicy {
	return tool.ShellPolicy{AbsolutePaths: !t.RelativeOnly["bash"], ShellExpansion: t.ShellExpansion}
}

// script is Code Mode for what a run is offered; nil without it.
func (r *agentRuntime) script(tools offer, h *session.Handle) *runner.Script {
	if tools.inner == nil {
		return nil
	}
	mode := r.snap.Settings.Capabilities.Tools.CodeMode
	l := mode.Limits
	return &runner.Script{Tools: tools.inner, Nudge: mode.Nudges, Size: h.Size, Limits: codemode.Limits{
		SourceBytes: l.MaxSourceBytes, InnerCalls: l.MaxInnerCalls, Runtime: time.Duration(l.MaxRuntimeMS) * time.Millisecond,
		MemoryBytes: l.MaxMemoryBytes, InnerResultBytes: l.MaxInnerResultBytes, TotalResultBytes: l.MaxTotalResultBytes, ReturnBytes: l.MaxReturnBytes,
	}}
}

// systemFor is the system prompt that fits what a primary run is offered.
func (r *agentRuntime) systemFor(tools offer, delegates bool) string {
	if (tools.inner != nil) == (r.tools.whole.inner != nil) && delegates {
		return r.system
	}
	return r.systemOf(tools.inner != nil, delegates, r.snap.Agent)
}

// systemOf is a system prompt: the base that all runs share, and a role.
func (r *agentRuntime) systemOf(codeMode, delegates bool, role *profile.Agent) string {
	parts := promptParts(r.snap)
	parts.CodeMode, parts.Delegation = codeMode, delegates
	if role != nil {
		parts.PersonaName, parts.PersonaText = role.Name, role.Text
	}
	return prompt.System(parts)
}
