package app

import (
	"slices"

	"magicode/internal/attach"
	"magicode/internal/ignore"
	"magicode/internal/provider"
	codemode "magicode/internal/script"
	"magicode/internal/startup"
	"magicode/internal/tool"
	"magicode/internal/tool/bash"
	"magicode/internal/tool/control"
	"magicode/internal/tool/find"
	"magicode/internal/tool/grep"
	"magicode/internal/tool/hashedit"
	"magicode/internal/tool/listfiles"
	"magicode/internal/tool/read"
	"magicode/internal/tool/write"
)

// toolset is the tools of one snapshot.
type toolset struct {
	snap  *startup.Snapshot
	cwd   string
	tools []tool.Tool
	whole offer // without a scope
}

// offer is what one run may call.
type offer struct {
	registry    *tool.Registry
	definitions []provider.ToolDef
	cache       *provider.Cache // of the definitions, as a wire writes them
	inner       *tool.Registry  // what scripts may call; nil without Code Mode
}

func newToolset(a *agent, snap *startup.Snapshot) *toolset {
	s := snap.Settings.Capabilities.Tools
	absolute := func(name string) bool { return !s.RelativeOnly[name] }
	files := tool.Files{FS: a.fs, Locks: tool.LeaseLocks{Manager: a.leases}}
	snapshots := new(tool.Snapshots)
	t := &toolset{snap: snap, cwd: a.cwd, tools: []tool.Tool{
		read.New(files, snapshots, &skillReader{fs: a.fs, skills: snap.Skills}, absolute("read")),
		bash.New(shellPolicy(s)),
		hashedit.New(files, snapshots, absolute("hash_edit")),
		write.New(files, absolute("write")),
		grep.New(a.fs, ignore.Sources{}, absolute("grep")),
		find.New(a.fs, ignore.Sources{}, absolute("find")),
		listfiles.New(a.fs, absolute("list_files")),
		control.New(s.Compact),
	}}
	t.tools = a.watch(append(t.tools, serverTools(snap.Servers)...))
	t.whole = t.offer(tool.Options{Disabled: disableKeys(s.Disabled)})
	return t
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

// forScope narrows the tools to the ceiling of a delegated session. Code Mode
// itself is no tool of a ceiling: what a script may call is.
func (t *toolset) forScope(scope *attach.Scope) offer {
	if scope == nil {
		return t.whole
	}
	c := scope.Ceiling
	disabled := disableKeys(append(slices.Clone(t.snap.Settings.Capabilities.Tools.Disabled), c.DisabledTools...))
	return t.offer(tool.Options{Disabled: disabled, Inspect: c.Inspection || scope.Task.Inspect(),
		Allow: func(name string) bool { return name == codemode.Name || tool.IsMCPName(name) || slices.Contains(c.EnabledBuiltins, name) }}, c.CodeModeDisabledTools...)
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
