package tool

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// Texts of failures that dispatch itself makes.
const (
	// CancelledText is the content of every result that a cancelled prompt gives.
	CancelledText = "the prompt was cancelled"
	scopeText     = "scope limitation: only tools that inspect are available here"
)

// Options restrict a registry.
type Options struct {
	Disabled []string // canonical keys (DisableKey)
	// Allow is the profile's allowance by canonical name; nil allows all.
	Allow func(name string) bool
	// Inspect leaves only the inspection set. Env.Inspect does the same for a
	// single call.
	Inspect bool
}

// Registry is the surface that one run offers. It does not change and is safe
// for concurrent use.
type Registry struct {
	tools       map[string]Tool
	disabled    map[string]bool
	allow       func(string) bool
	inspect     bool
	definitions []Definition
}

// New builds a registry. Each tool's definition is asked for once. Two tools of
// one name are a broken invariant: it panics.
func New(tools []Tool, opt Options) *Registry {
	r := &Registry{
		tools:    make(map[string]Tool, len(tools)),
		disabled: make(map[string]bool, len(opt.Disabled)),
		allow:    opt.Allow,
		inspect:  opt.Inspect,
	}
	for _, k := range opt.Disabled {
		r.disabled[Canonical(k)] = true
	}
	for _, t := range tools {
		d := t.Definition()
		if r.tools[d.Name] != nil {
			panic("tool: two tools are named " + d.Name)
		}
		r.tools[d.Name] = t
		if r.available(d.Name) && (!r.inspect || Inspection(d.Name)) {
			r.definitions = append(r.definitions, d)
		}
	}
	slices.SortFunc(r.definitions, func(a, b Definition) int { return before(a.Name, b.Name) })
	return r
}

// With returns a registry in which t stands for the tool of its name. It offers
// what r offers: t's definition must be that tool's. Where r has no such tool, it
// panics.
func (r *Registry) With(t Tool) *Registry {
	name := t.Definition().Name
	if r.tools[name] == nil {
		panic("tool: there is no tool " + name + " to take the place of")
	}
	out := *r
	out.tools = maps.Clone(r.tools)
	out.tools[name] = t
	return &out
}

// Definitions lists what the model is offered, in the fixed order of tools.md
// 1.1. The slice belongs to the registry: it must not be changed.
func (r *Registry) Definitions() []Definition { return r.definitions }

// Lookup returns the tool that a call of that name would run, aliases included.
func (r *Registry) Lookup(name string) (Tool, bool) {
	t, ok := r.tools[Canonical(name)]
	return t, ok && r.available(Canonical(name))
}

func (r *Registry) available(name string) bool {
	return !r.disabled[name] && (r.allow == nil || r.allow(name))
}

// Dispatch runs one call: tools.md 1.2. It never panics and never fails but in
// the result, whose ToolName is the call's name and whose Metadata is not nil.
func (r *Registry) Dispatch(ctx context.Context, env Env, call Call) Result {
	res := r.dispatch(ctx, env, call)
	res.ToolName = call.Name
	if res.Metadata == nil {
		res.Metadata = map[string]any{}
	}
	return res
}

func (r *Registry) dispatch(ctx context.Context, env Env, call Call) Result {
	if ctx.Err() != nil {
		return Failed(CancelledText)
	}
	name := Canonical(call.Name)
	if (r.inspect || env.Inspect) && !Inspection(name) {
		return Failed(scopeText)
	}
	if strings.HasPrefix(name, mcpPrefix) && !r.available(name) {
		return switchedOff(name)
	}
	t, ok := r.tools[name]
	if !ok {
		return Failed("unknown tool '%s'", call.Name)
	}
	if !r.available(name) {
		return switchedOff(name)
	}
	env.CallID = call.ID
	return run(ctx, t, env, call)
}

func switchedOff(name string) Result {
	return Failed("the tool '%s' is switched off here", name)
}

// run calls the tool. The text of a panic may hold anything, so it is dropped.
func run(ctx context.Context, t Tool, env Env, call Call) (res Result) {
	defer func() {
		if recover() != nil {
			res = Failed("the tool '%s' failed because of an internal error", call.Name)
		}
	}()
	return t.Run(ctx, env, call.Arguments)
}

// Failed is a failed result with that content.
func Failed(format string, args ...any) Result {
	return Result{Content: fmt.Sprintf(format, args...)}
}
