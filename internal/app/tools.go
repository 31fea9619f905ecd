package app

import (
	"slices"

	"magicode/internal/attach"
	"magicode/internal/ignore"
	"magicode/internal/provider"
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
}

func newToolset(a *agent, snap *startup.Snapshot) *toolset {
	s := snap.Settings.Capabilities.Tools
	absolute := func(name string) bool { return !s.RelativeOnly[name] }
	files := tool.Files{FS: a.fs, Locks: tool.LeaseLocks{Manager: a.leases}}
	snapshots := new(tool.Snapshots)
	t := &toolset{snap: snap, cwd: a.cwd, tools: []tool.Tool{
		read.New(files, snapshots, &skillReader{fs: a.fs, skills: snap.Skills}, absolute("read")),
		bash.New(tool.ShellPolicy{AbsolutePaths: absolute("bash"), ShellExpansion: s.ShellExpansion}),
		hashedit.New(files, snapshots, absolute("hash_edit")),
		write.New(files, absolute("write")),
		grep.New(a.fs, ignore.Sources{}, absolute("grep")),
		find.New(a.fs, ignore.Sources{}, absolute("find")),
		listfiles.New(a.fs, absolute("list_files")),
		control.New(s.Compact),
	}}
	t.tools = a.watch(t.tools)
	t.whole = t.offer(tool.Options{Disabled: disableKeys(s.Disabled)})
	return t
}

func (t *toolset) env() tool.Env { return tool.Env{Cwd: t.cwd, CanonicalCwd: t.cwd} }

func (t *toolset) offer(o tool.Options) offer {
	reg := tool.New(t.tools, o)
	out := offer{registry: reg, cache: new(provider.Cache)}
	for _, d := range reg.Definitions() {
		out.definitions = append(out.definitions, provider.ToolDef{Name: d.Name, Description: d.Description, Parameters: d.Parameters})
	}
	return out
}

// forScope narrows the tools to the ceiling of a delegated session.
func (t *toolset) forScope(scope *attach.Scope) offer {
	if scope == nil {
		return t.whole
	}
	c := scope.Ceiling
	disabled := disableKeys(append(slices.Clone(t.snap.Settings.Capabilities.Tools.Disabled), c.DisabledTools...))
	return t.offer(tool.Options{Disabled: disabled, Inspect: c.Inspection || scope.Task.Inspect(),
		Allow: func(name string) bool { return slices.Contains(c.EnabledBuiltins, name) }})
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
