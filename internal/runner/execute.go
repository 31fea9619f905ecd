package runner

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"

	"magicode/internal/hook"
	"magicode/internal/provider"
	"magicode/internal/redact"
	"magicode/internal/script"
	"magicode/internal/session"
	"magicode/internal/tool"
	"magicode/telemetry"
)

// origin says where a call comes from: the scope of its activity, the records
// it leaves and the place it runs in. Code Mode and delegated tasks hand in
// origins of their own to the same function.
type origin struct {
	path       Path
	parent     string // call id of the enclosing call; "" for a direct one
	sequence   int    // 1-based within the parent
	recorder   *recorder
	env        tool.Env
	callKind   session.Kind
	resultKind session.Kind
	batch      *batch // the script that calls; nil for a direct call
}

func direct(r *run, id string) origin {
	env := r.Env
	env.CallID = id
	return origin{path: Path(id), recorder: r.rec, env: env, callKind: session.KindToolCall, resultKind: session.KindToolResult}
}

// stamp adds what ties a nested record to its parent.
func (o origin) stamp(payload map[string]any) map[string]any {
	if o.parent != "" {
		payload["parent_call_id"], payload["sequence"] = o.parent, o.sequence
	}
	return payload
}

// call runs one call through the steps of tools.md 8.1: its record before any
// effect, the activity, the hooks before, the guard, the tool, the result's
// record, the hooks after, the end of the activity. An error ends the run.
func (r *run) call(ctx context.Context, o origin, c provider.Call) (tool.Result, error) {
	ctx, span := r.Tel.Begin(ctx, telemetry.SpanExecuteTool)
	defer span.End()
	res, err := r.observedCall(ctx, o, c)
	r.called(ctx, span, o, c.Name, res, err)
	return res, err
}

func (r *run) observedCall(ctx context.Context, o origin, c provider.Call) (tool.Result, error) {
	if err := context.Cause(ctx); err != nil {
		return tool.Result{}, err
	}
	args, valid := argumentsOf(c.Arguments)
	if err := r.announce(ctx, o, c, args); err != nil {
		return tool.Result{}, err
	}
	if !valid {
		return r.brokenCall(ctx, o, c)
	}
	r.brokenRow = 0
	tc := tool.Call{ID: c.ID, Name: c.Name, Arguments: args}
	if o.batch != nil && !o.batch.offers(tc.Name) {
		return o.batch.unavailable(ctx, o, tc)
	}
	if res, stop, err := r.hooksBefore(ctx, o, tc); stop {
		return res, err
	}
	verdict, err := r.check(ctx, o, tc)
	if err != nil {
		return tool.Result{}, err
	}
	if !verdict.Allowed {
		return r.denied(ctx, o, c, verdict)
	}
	out := r.dispatch(ctx, o, tc)
	if verdict.Metadata != nil {
		out.res.Metadata["bash_protection"] = verdict.Metadata
	}
	r.diagnose(ctx, o, &out.res)
	return r.settle(ctx, o, tc, out)
}

// diagnose puts what language servers say behind the result of an edit (tools.md 6.8).
func (r *run) diagnose(ctx context.Context, o origin, res *tool.Result) {
	if r.Diagnose == nil || !res.Success || len(res.Changed) == 0 || !edits(res.ToolName) {
		return
	}
	if text := r.Diagnose(ctx, o.env.CanonicalCwd, res.Changed); text != "" {
		res.Content += "\n\n" + text
	}
}

func edits(name string) bool { return name == "write" || name == "hash_edit" }

// outcome is what came of a tool: its result, whose metadata is not nil, what it
// changed, and what ends the run behind the result's record. Only calls that
// hold other calls give such an error.
type outcome struct {
	res   tool.Result
	edits []tool.Edit
	fatal error
}

// dispatch runs the tool.
func (r *run) dispatch(ctx context.Context, o origin, c tool.Call) (out outcome) {
	o.env.Nest = &Nest{run: r, path: o.path}
	if edits(c.Name) {
		changes := &applied{next: o.env.Edits}
		o.env.Edits = changes
		defer func() { out.edits = changes.edits }()
	}
	res := &out.res
	switch {
	case o.batch != nil:
		*res = o.batch.tools.Dispatch(ctx, o.env, c)
	case c.Name == script.Name && r.Script != nil:
		*res, out.fatal = r.script(ctx, o, c)
	default:
		*res = r.Tools.Dispatch(ctx, o.env, c)
	}
	res.ToolName = c.Name
	if res.Metadata == nil {
		res.Metadata = map[string]any{}
	}
	if out.fatal == nil {
		out.fatal = res.Fatal
	}
	return out
}

// settle does what follows a tool: the record, the judgement of what it gave,
// the hooks, the end of the activity. A call that was cut off is recorded first.
// The result is what the caller may see of it.
func (r *run) settle(ctx context.Context, o origin, c tool.Call, out outcome) (tool.Result, error) {
	due, res := r.due(c.Name), out.res
	picture := r.preview(o, out.edits)
	err := r.store(o, c.ID, res, extras{due, picture.id})
	ok := res.Success && err == nil
	if err == nil {
		r.show(o, picture)
	}
	shown := res
	switch {
	case err != nil:
	case out.fatal != nil:
		err = out.fatal
	case ctx.Err() != nil:
		err = context.Cause(ctx)
	default:
		if shown, err = r.screen(ctx, o, c, res, due); err == nil {
			err = r.hooksAfter(ctx, o, c, res)
		}
	}
	if e := r.finishActivity(r.rec.ctx, o.path, ok); err == nil {
		err = e
	}
	return shown, err
}

// announce stores the call, durably, and starts its activity.
func (r *run) announce(ctx context.Context, o origin, c provider.Call, args json.RawMessage) error {
	payload := o.stamp(map[string]any{"id": c.ID, "name": c.Name, "arguments": args})
	if err := o.write(r.durability(o, c.Name), o.callKind, payload); err != nil {
		return err
	}
	return r.startActivity(ctx, o.path, ActivityTool, tool.Label(c.Name, args))
}

// durability of a call's record: it is on disk before the tool starts (decision
// 17). Inside a script a tool that only looks need not wait: what the sync
// saves is the knowledge of an effect, and a script makes such calls by the
// hundred.
func (r *run) durability(o origin, name string) session.Durability {
	if o.batch != nil && tool.Inspection(name) && !r.Hooks.Any(hook.BeforeTool) {
		return session.Ordered
	}
	return session.Required
}

func (r *run) startActivity(ctx context.Context, p Path, kind ActivityKind, label string) error {
	if !r.activities[p] {
		if len(r.activities) >= r.Limits.Activities || len(p) > r.Limits.ActivityIDBytes {
			return ErrContentLimit
		}
		r.activities[p] = true
	}
	if !slices.Contains(r.openPaths, p) {
		r.openPaths = append(r.openPaths, p)
	}
	return r.Sink.Emit(ctx, ActivityStarted{Path: p, Kind: kind, Label: label})
}

// finishActivity ends what is open. What never began for the sink, or has ended
// for it, is not told again.
func (r *run) finishActivity(ctx context.Context, p Path, ok bool) error {
	i := slices.Index(r.openPaths, p)
	if i < 0 {
		return nil
	}
	r.openPaths = slices.Delete(r.openPaths, i, i+1)
	return r.Sink.Emit(ctx, ActivityFinished{Path: p, OK: ok})
}

func (r *run) check(ctx context.Context, o origin, c tool.Call) (Verdict, error) {
	if r.Guard == nil {
		return Verdict{Allowed: true}, nil
	}
	var lost error
	v, err := r.Guard.Check(ctx, o.env, c, func(text string) {
		if e := r.notice(ctx, "warning", text); lost == nil {
			lost = e
		}
	})
	if err == nil {
		err = lost
	}
	return v, err
}

// denied records a refused call and ends the run (tools.md 7.3).
func (r *run) denied(ctx context.Context, o origin, c provider.Call, v Verdict) (tool.Result, error) {
	why := "its approval was denied."
	if v.Unjudged {
		why = "it could not be judged, and the settings deny what cannot be judged."
	}
	res := tool.Result{ToolName: c.Name, Content: "This command was not run: " + why,
		Metadata: map[string]any{"call_id": c.ID, "bash_protection_denied": true, "bash_protection": v.Metadata}}
	if err := r.conclude(ctx, o, c.ID, res); err != nil {
		return res, err
	}
	return res, ErrDenied
}

func (r *run) brokenCall(ctx context.Context, o origin, c provider.Call) (tool.Result, error) {
	r.brokenRow++
	res := r.broken(c)
	if err := r.conclude(ctx, o, c.ID, res); err != nil {
		return res, err
	}
	if r.brokenRow >= maxBrokenRow {
		return res, ErrBrokenCalls
	}
	return res, nil
}

// conclude stores the result and ends the activity of a call that reached no tool.
func (r *run) conclude(ctx context.Context, o origin, id string, res tool.Result) error {
	err := r.store(o, id, res, extras{})
	if e := r.finishActivity(r.rec.ctx, o.path, res.Success && err == nil); err == nil {
		err = e
	}
	return err
}

// extras are what a result's record says of records that are to follow.
type extras struct {
	due       judgement
	displayID string // of the preview; "": none follows
}

// store writes the result. The record shares its sync with the next durable
// one (decision 17), but a result that is not in the file ends the run: the
// model must not go on from what the session does not know.
func (r *run) store(o origin, id string, res tool.Result, more extras) error {
	payload := o.stamp(map[string]any{"call_id": id, "result": resultPayload(res, more.due),
		"display_id": orNull(more.displayID), "resource_display": resourceDisplay(res)})
	if dispatched(res) {
		payload["changed_paths"] = orEmpty(res.Changed)
		payload["execution_effects"] = effects(res.Changed)
	}
	return o.write(session.Ordered, o.resultKind, payload)
}

// write stores a record that the run depends on. One of a script is first held
// against what its batch may store.
func (o origin) write(d session.Durability, kind session.Kind, payload map[string]any) error {
	var stored any = payload
	if o.batch != nil {
		raw, err := o.batch.charge(payload)
		if err != nil {
			return err
		}
		stored = raw
	}
	if err := o.recorder.write(d, session.Event{Kind: kind, Payload: stored}); err != nil {
		return fmt.Errorf("%w: %v", ErrRecord, err)
	}
	return nil
}

// dispatched: a call that was denied, blocked, rejected or not on offer never
// reached its tool and has no effects to tell of.
func dispatched(res tool.Result) bool {
	for _, mark := range [...]string{"bash_protection_denied", "batch_rejected", hookBlocked, script.Unavailable} {
		if res.Metadata[mark] != nil {
			return false
		}
	}
	return true
}

func resultPayload(res tool.Result, due judgement) map[string]any {
	meta := make(map[string]any, len(res.Metadata)+1)
	for k, v := range res.Metadata {
		meta[k] = v
	}
	meta["prompt_injection_protection"] = due.stamp()
	return map[string]any{"tool_name": res.ToolName, "success": res.Success, "content": res.Content, "metadata": meta}
}

// Bounds of the paths that a result names as evidence (storage.md 6.4).
const (
	maxEffectPaths     = 24
	maxEffectPathBytes = 512
)

func effects(changed []string) map[string]any {
	paths := make([]string, 0, min(len(changed), maxEffectPaths))
	for _, p := range changed[:min(len(changed), maxEffectPaths)] {
		paths = append(paths, redact.Cut(redact.Display(p), maxEffectPathBytes))
	}
	return map[string]any{"changed_path_count": len(changed), "paths": paths}
}

func orEmpty(s []string) []string {
	if s == nil {
		return []string{}
	}
	return s
}
