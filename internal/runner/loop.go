package runner

import (
	"context"
	"errors"

	"magicode/internal/provider"
	"magicode/internal/session"
)

// loop sends requests and runs batches until the model has answered, or
// something ends the run. There is no limit on iterations (decision 24).
func (r *run) loop(ctx context.Context) (reason, error) {
	for {
		if err := context.Cause(ctx); err != nil {
			return failed, err
		}
		if r.sequence > 0 && r.overHard() {
			return full, ErrTooLarge
		}
		resp, err := r.request(ctx)
		if err != nil {
			if r.promptTooLong(err) {
				return tooLong, err
			}
			if again := r.recoverStream(ctx, resp, err); again {
				continue
			}
			return failed, r.causeOf(ctx, err)
		}
		if err := r.hooksReasoning(ctx, resp); err != nil {
			return failed, r.causeOf(ctx, err)
		}
		switch {
		case len(resp.calls) > 0:
			if err := r.batch(ctx, resp); err != nil {
				return failed, r.causeOf(ctx, err)
			}
			if r.asked {
				return wantsCompact, nil
			}
			if r.overSoft() {
				return full, nil
			}
		case resp.reasoningOnly && !r.reasoned:
			if err := r.askToGoOn(ctx); err != nil {
				return failed, r.causeOf(ctx, err)
			}
		case r.dangles():
			if err := r.askForTool(ctx); err != nil {
				return failed, r.causeOf(ctx, err)
			}
		default:
			if err := r.answer(ctx, resp.short); err != nil {
				return answered, err
			}
			return r.hooksAnswer(ctx)
		}
	}
}

// causeOf prefers why the run was stopped over what the stop broke.
func (r *run) causeOf(ctx context.Context, err error) error {
	if errors.Is(err, ErrContentLimit) || ctx.Err() == nil {
		return err
	}
	return context.Cause(ctx)
}

// request streams one response. The response is not nil even when it failed.
func (r *run) request(ctx context.Context) (*response, error) {
	req := r.Request
	req.Items = r.conversation()
	req.RequestSequence = r.sequence
	resp := &response{run: r, sequence: r.sequence, ctx: ctx}
	r.sequence++
	r.lost = nil
	r.rec.later(usageEvent(usageID(r.RunID, "primary", resp.sequence), resp.sequence, provider.Usage{}, false))
	err := r.Provider.Stream(ctx, req, resp.take)
	if resp.stop != nil {
		err = resp.stop
	}
	resp.finish(err == nil)
	if err != nil {
		r.lost = resp
	}
	return resp, err
}

// conversation is what the model is sent: the session, the input, this turn.
func (r *run) conversation() []provider.Item {
	items := make([]provider.Item, 0, len(r.History)+len(r.turn)+2)
	items = append(items, r.kept(&r.system, "system", r.System))
	items = append(items, r.History...)
	items = append(items, r.kept(&r.prompt, "user", r.input))
	return append(items, r.turn...)
}

// kept returns the message of a text that every request of the run repeats, so
// that it is serialized once.
func (r *run) kept(item *provider.Item, role, text string) provider.Item {
	if item.Cache == nil || item.Text != text {
		*item = message(role, text)
	}
	return *item
}

// answer stores the final text. Where it is not whole a word about that stands
// between its text, as a chunk, and its record: nothing stands behind the record,
// which is synced before the run may be called finished. When the record is lost
// the answer still stands (degraded).
func (r *run) answer(ctx context.Context, short string) error {
	text := ""
	c, ok := r.text.close(short != "") // the word about it stands behind its text
	r.finalText = c.raw
	if ok {
		if !isBlank(c.text) {
			text = c.text
		}
		if err := r.Sink.Emit(ctx, SegmentDone{Segment: c.index, Text: c.text}); err != nil {
			r.storeAnswer(text)
			return err
		}
	}
	err := r.tellShort(ctx, short)
	r.storeAnswer(text)
	return err
}

// tellShort says that the answer is not whole: a provider counts it as complete,
// and whoever reads it cannot tell.
func (r *run) tellShort(ctx context.Context, why string) error {
	switch why {
	case provider.CutLength:
		return r.notice(ctx, "warning", "The model's reply reached its length limit: it is not whole.")
	case provider.CutFilter:
		return r.notice(ctx, "warning", "The provider held a part of the model's reply back: it is not whole.")
	}
	return nil
}

func (r *run) storeAnswer(text string) {
	_ = r.rec.write(session.Required, session.Event{Kind: session.KindAssistantOutput,
		Payload: map[string]any{"text": text, "usage": usagePayload(r.usage)}})
}

// recoverStream goes on once after a stream that broke off, when nothing was
// asked of us yet (runner.md 15.1). The part that came stays a message of its
// own, on the wire and in the file (decision 10).
func (r *run) recoverStream(ctx context.Context, resp *response, err error) bool {
	var perr *provider.Error
	if !errors.As(err, &perr) || perr.Kind != provider.ErrIncomplete || ctx.Err() != nil {
		return false
	}
	if r.continued || len(resp.calls) > 0 {
		_ = r.notice(ctx, "warning", "The model's reply broke off and was not continued automatically.")
		return false
	}
	r.continued, r.recovered = true, true
	r.rec.later(resp.traces()...)
	c, ok := r.text.close(true)
	if ok {
		if err := r.Sink.Emit(ctx, SegmentDone{Segment: c.index, Text: c.text, Closed: true}); err != nil {
			return false
		}
		r.turn = append(r.turn, message("assistant", c.raw))
	}
	r.turn = append(r.turn, message("user", "Continue"))
	if err := r.notice(ctx, "warning", "The model's reply broke off; it is asked once to continue."); err != nil {
		return false
	}
	return r.Sink.Emit(ctx, Notice{Summary: "The run goes on after a broken reply."}) == nil
}

// askToGoOn answers a response that held nothing but reasoning (runner.md 15.2).
func (r *run) askToGoOn(ctx context.Context) error {
	r.reasoned, r.recovered = true, true
	r.turn = append(r.turn, message("user", "Continue"))
	r.rec.later(session.Event{Kind: session.KindUserInput, Payload: map[string]any{
		"text": "Continue", "auto_recovery": true, "reason": "reasoning_only_no_output"}})
	return r.Sink.Emit(ctx, Notice{Summary: "The model only reasoned; it is asked once to continue."})
}

func message(role, text string) provider.Item {
	return lasting(provider.Item{Kind: provider.ItemMessage, Role: role, Text: text})
}

// lasting gives an item that every later request repeats a place for its
// serialized form.
func lasting(item provider.Item) provider.Item {
	item.Cache = new(provider.Cache)
	return item
}
