package runner

import (
	"context"
	"fmt"

	"magicode/internal/config"
	"magicode/internal/hook"
	"magicode/internal/provider"
	"magicode/internal/session"
	"magicode/internal/tool"
)

// hookBlocked marks the result of a call that a hook did not let run.
const hookBlocked = "hook_blocked"

// hooks runs the hooks of a subject and tells the user what came of them. The
// records stand in the file when a hook's command starts: it may have effects.
func (r *run) hooks(ctx context.Context, o origin, sub hook.Subject) (hook.Outcome, error) {
	out, err := r.Hooks.Run(ctx, sub, func(ev session.Event) { _ = o.recorder.write(session.Optional, ev) })
	for _, n := range out.Notices {
		if e := r.Sink.Emit(r.rec.ctx, Notice{Summary: n, Hook: true}); err == nil {
			err = e
		}
	}
	return out, err
}

// hooksBefore runs the hooks before a tool. stop: the call ends here, with this
// result or with an error.
func (r *run) hooksBefore(ctx context.Context, o origin, c tool.Call) (res tool.Result, stop bool, err error) {
	if !r.Hooks.Any(hook.BeforeTool) {
		return tool.Result{}, false, nil
	}
	out, err := r.hooks(ctx, o, hook.Subject{Phase: hook.BeforeTool, Tool: c.Name, CallID: c.ID, ActivityID: string(o.path), Request: c.Arguments})
	if err != nil {
		return tool.Result{}, true, err
	}
	if out.Stop == nil {
		return tool.Result{}, false, nil
	}
	res = tool.Result{ToolName: c.Name, Metadata: map[string]any{"call_id": c.ID, hookBlocked: true},
		Content: fmt.Sprintf("The tool %s was not run: a hook before it failed (%s).", c.Name, out.Stop.Category)}
	if out.Stop.Policy == config.PolicyBlock {
		return res, true, r.conclude(ctx, o, c.ID, res)
	}
	payload := o.stamp(map[string]any{"call_id": c.ID, "result": resultPayload(res, judgement{})})
	_ = o.recorder.write(session.Ordered, session.Event{Kind: session.KindToolDisplayResult, Payload: payload})
	_ = r.finishActivity(r.rec.ctx, o.path, false)
	return res, true, stopped(out.Stop)
}

// hooksAfter runs the hooks after a tool; its result stands.
func (r *run) hooksAfter(ctx context.Context, o origin, c tool.Call, res tool.Result) error {
	if !r.Hooks.Any(hook.AfterTool) {
		return nil
	}
	out, err := r.hooks(ctx, o, hook.Subject{Phase: hook.AfterTool, Tool: c.Name, CallID: c.ID, ActivityID: string(o.path), Request: c.Arguments, Result: &res})
	for _, text := range out.Contexts {
		if err == nil {
			err = r.inject(o, text)
		}
	}
	if err == nil && out.Stop != nil {
		err = stopped(out.Stop)
	}
	return err
}

// hooksReasoning runs the hooks of a response's reasoning summaries.
func (r *run) hooksReasoning(ctx context.Context, resp *response) error {
	if !r.Hooks.Any(hook.AfterReasoning) {
		return nil
	}
	for _, text := range resp.summaries {
		if err := r.hooksMessage(ctx, r.Hooks.Reasoning(text)); err != nil {
			return err
		}
	}
	return nil
}

// hooksAnswer runs the hooks behind the final text, which is stored.
func (r *run) hooksAnswer(ctx context.Context) (reason, error) {
	if isBlank(r.finalText) || !r.Hooks.Any(hook.AfterAssistant) {
		return answered, nil
	}
	err := r.hooksMessage(ctx, r.Hooks.Assistant(r.finalText))
	_ = r.rec.write(session.Ordered) // contexts for the next turn: no later record takes them along
	if err != nil {
		return failed, r.causeOf(ctx, err)
	}
	return answered, nil
}

func (r *run) hooksMessage(ctx context.Context, sub hook.Subject) error {
	out, err := r.hooks(ctx, origin{recorder: r.rec}, sub)
	if err == nil && out.Stop != nil {
		err = stopped(out.Stop)
	}
	for _, text := range out.Contexts {
		r.pending = append(r.pending, addition{text: text})
	}
	r.deliver()
	return err
}

func stopped(f *hook.Failure) error {
	return fmt.Errorf("%w: %q (%s)", ErrHook, f.Label, f.Category)
}

// addition is a message to the model that belongs behind a result. One that
// comes out of a script has the fields of its first record.
type addition struct {
	text   string
	fields map[string]any
}

// inject keeps a context for the model until the result stands in the
// conversation. One of a script is recorded at once.
func (r *run) inject(o origin, text string) error {
	in := addition{text: text}
	if o.batch != nil {
		var err error
		if in, err = o.batch.context(o, text); err != nil {
			return err
		}
	}
	r.pending = append(r.pending, in)
	return nil
}

// deliver puts pending contexts into the conversation and the file.
func (r *run) deliver() {
	for _, in := range r.pending {
		payload := map[string]any{"role": "user", "content": in.text}
		for k, v := range in.fields {
			payload[k] = v
		}
		r.rec.later(session.Event{Kind: session.KindProviderContextItem, Payload: payload})
		r.turn = append(r.turn, lasting(provider.Item{Kind: provider.ItemMessage, Role: "user", Text: in.text}))
	}
	r.pending = nil
}
