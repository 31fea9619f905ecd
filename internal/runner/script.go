package runner

import (
	"context"
	"encoding/json"
	"fmt"

	"magicode/internal/provider"
	"magicode/internal/script"
	"magicode/internal/session"
	"magicode/internal/tool"
	"magicode/telemetry"
)

// Script is Code Mode as a run offers it.
type Script struct {
	Tools  InnerTools
	Limits script.Limits
	// Nudge tells the model once a turn that a script would have saved calls.
	Nudge bool
	// Size is the size of the session's file in bytes; nil when there is none.
	Size func() int64
}

// InnerTools are the tools that a script may call. *tool.Registry is one.
type InnerTools interface {
	Tools
	Definitions() []tool.Definition
}

// Bounds of what scripts leave in a session (tools.md 3.4, storage.md 5.4).
const (
	maxBatchBytes   = 8_388_608
	maxSessionBytes = 33_554_432
	// envelopeBytes is about what a record takes beside its payload.
	envelopeBytes = 512
)

// batch is one script of a run.
type batch struct {
	run      *run
	parent   origin
	tools    InnerTools
	bytes    int64 // of its records
	contexts int
}

// script runs a call to code_mode. The result is recorded by the caller; an
// error ends the run after that.
func (r *run) script(ctx context.Context, o origin, c tool.Call) (tool.Result, error) {
	b := &batch{run: r, parent: o, tools: r.Script.Tools}
	opt := script.Options{Limits: r.Script.Limits, Surface: b.tools.Definitions(), Call: b.call, Warn: b.warn}
	span := telemetry.Current(ctx)
	opt.Ended = func(calls int, limit script.Kind) { scriptEnded(span, calls, limit) }
	if r.Script.Size != nil {
		opt.History = b.history
	}
	return script.Run(ctx, c.Arguments, opt)
}

// call runs one inner call like any other, from an origin of its own.
func (b *batch) call(ctx context.Context, sequence int, name string, args json.RawMessage) (tool.Result, error) {
	id := fmt.Sprintf("%s:inner:%d", b.parent.env.CallID, sequence)
	o := b.parent
	o.path, o.parent, o.sequence, o.batch = Path(fmt.Sprintf("%s:inner:%d", b.parent.path, sequence)), b.parent.env.CallID, sequence, b
	o.env.CallID = id
	o.callKind, o.resultKind = session.KindCodeModeToolCall, session.KindCodeModeToolResult
	return b.run.call(ctx, o, provider.Call{ID: id, Name: name, Arguments: string(args)})
}

// offers reports whether a name is on the inner surface.
func (b *batch) offers(name string) bool {
	name = tool.Canonical(name)
	for _, d := range b.tools.Definitions() {
		if d.Name == name {
			return true
		}
	}
	return false
}

// unavailable answers a call to a name that is not on the inner surface. Neither
// hooks nor the guard see it.
func (b *batch) unavailable(ctx context.Context, o origin, c tool.Call) (tool.Result, error) {
	res := tool.Failed("the tool '%s' is not available to scripts; tools.list() names those that are", c.Name)
	res.ToolName, res.Metadata = c.Name, map[string]any{script.Unavailable: true}
	return res, b.run.conclude(ctx, o, c.ID, res)
}

// charge counts a record before it is written, and serializes it on the way.
func (b *batch) charge(payload map[string]any) (json.RawMessage, error) {
	raw, err := json.Marshal(payload)
	if err != nil {
		return nil, fmt.Errorf("encode a script's record: %v", err)
	}
	size := int64(len(raw) + envelopeBytes)
	if b.bytes+size > maxBatchBytes {
		return nil, &script.LimitError{Kind: script.BatchHistoryLimit, Limit: maxBatchBytes}
	}
	if b.size()+size > maxSessionBytes {
		return nil, &script.LimitError{Kind: script.SessionHistoryLimit, Limit: maxSessionBytes}
	}
	b.bytes += size
	return raw, nil
}

func (b *batch) size() int64 {
	if b.run.Script.Size == nil {
		return 0
	}
	return b.run.Script.Size()
}

func (b *batch) history() script.History {
	return script.History{
		Batch:   script.Gauge{Used: b.bytes, Limit: maxBatchBytes},
		Session: script.Gauge{Used: b.size(), Limit: maxSessionBytes},
	}
}

// context records a context that came up inside the script. The model gets it
// behind the result of the whole script.
func (b *batch) context(o origin, text string) (addition, error) {
	fields := o.stamp(map[string]any{"code_mode_context_id": fmt.Sprintf("%s:context:%d", o.parent, b.contexts)})
	b.contexts++
	payload := map[string]any{"role": "user", "content": text}
	for k, v := range fields {
		payload[k] = v
	}
	return addition{text: text, fields: fields}, o.write(session.Ordered, session.KindCodeModeContext, payload)
}

func (b *batch) warn(text string) {
	o := b.parent
	o.parent, o.batch = b.parent.env.CallID, b
	_ = o.write(session.Ordered, session.KindCodeModeWarning, o.stamp(map[string]any{"warning": text}))
}
