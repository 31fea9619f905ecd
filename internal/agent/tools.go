package agent

import (
	"slices"

	"magicode/internal/attach"
	"magicode/internal/ignore"
	"magicode/internal/provider"
	codemode "magicode/internal/script"
	"magicode/internal/startup"
	"magicode/internal/subagent"
	"magicode/internal/tool"
	"magicode/internal/tool/astgrep"
	"magicode/internal/tool/bash"
	"magicode/internal/tool/control"
	"magicode/internal/tool/find"
	"magicode/internal/tool/grep"
	"magicode/internal/tool/hashedit"
	"magicode/internal/tool/listfiles"
	"magicode/internal/tool/read"
	"magicode/internal/tool/viewimage"
	"magicode/internal/tool/write"
)

// toolset is the tools of one snapshot.
type toolset struct {
	agent     *Agent
	providers provider.Factory
	web       tool.Tool
	snap      *startup.Snapshot
	cwd       string
	files     tool.Files
	snapshots *tool.Snapshots // shared by all runs, delegated ones too
	tools     []tool.Tool     // as the settings have them
	whole     offer           // without a scope
}

// offer is what one run may call.
type offer struct {
	registry    *tool.Registry
	definitions []provider.ToolDef
	cache       *provider.Cache // of the definitions, as a wire writes them
	inner       *tool.Registry  // what scripts may call; nil without Code Mode
}

func newToolset(a *Agent, snap *startup.Snapshot, providers provider.Factory) *toolset {
	t := &toolset{agent: a, providers: providers, web: newWeb(a), snap: snap, cwd: a.cwd, files: tool.Files{FS: a.fs, Locks: tool.LeaseLocks{Manager: a.leases}}, snapshots: new(tool.Snapshots)}
	t.tools = t.build(t.rights())
	t.whole = t.forRights(t.rights(), subagent.New(subagent.Options{}))
	return t
}

// build makes the tools under the path rules of a ceiling. Those of the servers
// follow the built-in ones.
func (t *toolset) build(c attach.Ceiling) []tool.Tool {
	fs := t.agent.fs
	return t.agent.watch(append([]tool.Tool{
		read.New(t.files, t.snapshots, &skillReader{fs: fs, skills: t.snap.Skills}, c.ReadAbsolutePaths),
		t.images(c.ViewImageAbsolutePaths),
		bash.New(tool.ShellPolicy{AbsolutePaths: c.BashAbsolutePaths, ShellExpansion: c.BashShellExpansion}),
		hashedit.New(t.files, t.snapshots, c.HashlineAbsolutePaths),
		write.New(t.files, c.WriteAbsolutePaths),
		grep.New(fs, ignore.Sources{}, c.GrepAbsolutePaths),
		find.New(fs, ignore.Sources{}, c.FindAbsolutePaths),
		listfiles.New(fs, c.ListFilesAbsolutePaths),
		astgrep.New(fs, ignore.Sources{}, c.AstGrepAbsolutePaths),
		t.web,
		control.New(t.snap.Settings.Capabilities.Tools.Compact),
	}, serverTools(t.snap.Servers)...))
}

// images makes the tool that has a model look at a file.
func (t *toolset) images(absolute bool) tool.Tool {
	s := t.snap.Settings.Capabilities.Tools
	opt := viewimage.Options{Files: t.files, Absolute: absolute, MaxBytes: s.MaxImageBytes, Providers: t.providers}
	if m := s.VisionModel; m != nil {
		opt.Model = &provider.Selection{Provider: m.Provider, Model: m.Model, Level: provider.LevelDefault}
	}
	return viewimage.New(opt)
}

func (t *toolset) env() tool.Env { return tool.Env{Cwd: t.cwd, CanonicalCwd: t.cwd} }

// offer makes the direct and the inner surface (tools.md 3.1). What is disabled
// on one of them may be there on the other.
func (t *toolset) offer(o tool.Options, innerDisabled ...string) offer {
	out := offer{cache: new(provider.Cache)}
	direct, mode := t.tools, t.snap.Settings.Capabilities.Tools.CodeMode
	if mode.Enabled && !o.Inspect {
		inner := o
		inner.Disabled = append(disableKeys(mode.Disabled), innerDisabled...)
		out.inner = tool.New(slices.DeleteFunc(slices.Clone(t.tools), noInner), inner)
		direct = append(slices.Clone(t.tools), codemode.Tool{})
		if mode.CompactDirectTools {
			o.Allow = both(o.Allow, compact)
		}
	}
	out.registry = tool.New(direct, o)
	for _, d := range out.registry.Definitions() {
		out.definitions = append(out.definitions, provider.ToolDef{Name: d.Name, Description: d.Description, Parameters: d.Parameters})
	}
	return out
}

// noInner: a script cannot act on the conversation.
func noInner(t tool.Tool) bool { return t.Definition().Name == "magi_control" }

// compact are the tools that stay direct with compact_direct_tools.
func compact(name string) bool {
	switch name {
	case "read", "hash_edit", "bash", "grep", "view_image", "subagents", "web", "magi_control", codemode.Name:
		return true
	}
	return false
}

func both(a, b func(string) bool) func(string) bool {
	if a == nil {
		return b
	}
	return func(name string) bool { return a(name) && b(name) }
}

// forScope offers what a session's scope leaves, but for subagents.
func (t *toolset) forScope(scope *attach.Scope) offer { return t.forRights(t.scoped(scope), nil) }

// forRun is forRights of a run without a scope. It offers the same at every turn,
// so it is the set that was built at the start, with this run's own delegate.
func (t *toolset) forRun(delegate tool.Tool) offer {
	o, own := t.whole, t.agent.watch([]tool.Tool{delegate})[0]
	o.registry = o.registry.With(own)
	if o.inner != nil {
		o.inner = o.inner.With(own)
	}
	return o
}

// forRights offers what a ceiling allows. delegate is the tool that starts
// subagents; nil where there are none.
func (t *toolset) forRights(c attach.Ceiling, delegate tool.Tool) offer {
	n := *t
	if c.SamePaths(t.rights()) {
		n.tools = slices.Clone(t.tools)
	} else {
		n.tools = t.build(c)
	}
	if delegate != nil {
		n.tools = append(n.tools, t.agent.watch([]tool.Tool{delegate})...)
	}
	return n.offer(tool.Options{Disabled: disableKeys(c.DisabledTools), Inspect: c.Inspection, Allow: c.Enables}, disableKeys(c.CodeModeDisabledTools)...)
}

// disableKeys keeps the entries that name something; unknown names are
// tolerated (storage.md 2.4).
func disableKeys(entries []string) []string {
	var out []string
	for _, e := range entries {
		if key, ok := tool.DisableKey(e); ok {
			out = append(out, key)
		}
	}
	return out
}
