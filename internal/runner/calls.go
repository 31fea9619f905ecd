package runner

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"

	"magicode/internal/jsonscan"
	"magicode/internal/provider"
	"magicode/internal/session"
	"magicode/internal/tool"
)

// maxBrokenRow is how many calls in a row may have arguments that are no JSON (decision 8).
const maxBrokenRow = 3

// batch runs the calls of one response, one after the other in the order of
// arrival, and puts calls and results into the conversation.
func (r *run) batch(ctx context.Context, resp *response) error {
	if c, ok := r.text.close(true); ok {
		if err := r.Sink.Emit(ctx, SegmentDone{Segment: c.index, Text: c.text, Closed: true}); err != nil {
			return err
		}
		if !isBlank(c.raw) {
			r.turn = append(r.turn, message("assistant", c.raw))
		}
	}
	calls := r.adopt(resp.calls)
	if len(calls) > 1 && slices.ContainsFunc(calls, func(c adopted) bool { return c.call.Name == controlTool }) {
		return r.rejectBatch(ctx, calls)
	}
	results := make([]tool.Result, 0, len(calls))
	var stopped error
	for i, c := range calls {
		var res tool.Result
		if c.sameAs >= 0 {
			res, stopped = r.repeatResult(ctx, c, results[c.sameAs])
		} else {
			res, stopped = r.call(ctx, direct(r, c.call.ID), c.call)
		}
		if stopped != nil {
			break
		}
		results = append(results, res)
		r.noteControl(c.call, res)
		r.turn = append(r.turn, lasting(provider.Item{Kind: provider.ItemResult, CallID: calls[i].call.ID, Name: c.call.Name, Success: res.Success, Text: res.Content}))
		r.nudge(c.call, res)
		r.deliver()
	}
	if stopped != nil {
		return stopped
	}
	return r.watchRepeats(ctx, calls, results)
}

// adopted is a call under an id that nothing else in the session has.
type adopted struct {
	call   provider.Call
	sameAs int // index of the identical call before it in this batch, or -1
}

// adopt makes ids unique and records the calls as items of the conversation,
// in the file too, so that a replay sends the very same sequence.
func (r *run) adopt(calls []provider.Call) []adopted {
	out := make([]adopted, 0, len(calls))
	seen := make(map[string]int)
	for i, c := range calls {
		c.ID = r.uniqueID(c.ID)
		same := -1
		key := c.Name + "\x00" + canonical(c.Arguments)
		if first, ok := seen[key]; ok {
			same = first
		} else {
			seen[key] = i
		}
		out = append(out, adopted{call: c, sameAs: same})
		r.turn = append(r.turn, lasting(provider.Item{Kind: provider.ItemCall, CallID: c.ID, Name: c.Name, Arguments: c.Arguments}))
		r.rec.later(session.Event{Kind: session.KindProviderResponseItem, Payload: map[string]any{"item": map[string]any{
			"type": "function_call", "call_id": c.ID, "name": c.Name, "arguments": c.Arguments, "status": "completed"}}})
	}
	return out
}

// uniqueID keeps a provider's id unless it is blank or was used before in this session (decision 9).
func (r *run) uniqueID(id string) string {
	taken := func(id string) bool { return r.ids[id] || r.HasCallID != nil && r.HasCallID(id) }
	for isBlank(id) || taken(id) {
		id = "call_" + r.NewID()
	}
	r.ids[id] = true
	return id
}

// canonical is the arguments without what does not matter to a comparison:
// white space outside strings.
func canonical(arguments string) string {
	var v any
	if json.Unmarshal([]byte(arguments), &v) != nil {
		return arguments
	}
	b, err := json.Marshal(v) // sorts keys
	if err != nil {
		return arguments
	}
	return string(b)
}

// repeatResult answers a call that the same response holds twice: one effect,
// two records.
func (r *run) repeatResult(ctx context.Context, c adopted, first tool.Result) (tool.Result, error) {
	o := direct(r, c.call.ID)
	args, _ := argumentsOf(c.call.Arguments)
	if err := r.announce(ctx, o, c.call, args); err != nil {
		return tool.Result{}, err
	}
	first.ToolName, first.Changed, first.Touched = c.call.Name, nil, nil
	return first, r.conclude(ctx, o, c.call.ID, first)
}

// argumentsOf returns the arguments as one JSON value; ok is false when the
// text is none, and then the value is that text as a string (decision 8).
func argumentsOf(text string) (json.RawMessage, bool) {
	if isBlank(text) {
		return json.RawMessage("{}"), true
	}
	v, err := jsonscan.Parse([]byte(text), jsonscan.Options{AnyNumber: true, LoneSurrogates: true})
	if err != nil {
		return jsonscan.AppendString(nil, text), false
	}
	return json.RawMessage(v), true
}

// broken is the result of a call whose arguments are no JSON.
func (r *run) broken(c provider.Call) tool.Result {
	return tool.Result{ToolName: c.Name, Content: fmt.Sprintf("The arguments of this call to %s are not valid JSON. Send one JSON object.", c.Name), Metadata: map[string]any{}}
}

// controlTool must be the only call of its batch (tools.md 1.17).
const controlTool = "magi_control"

// rejectBatch answers a batch that mixes controlTool with other calls: none runs.
func (r *run) rejectBatch(ctx context.Context, calls []adopted) error {
	for _, c := range calls {
		o := direct(r, c.call.ID)
		args, _ := argumentsOf(c.call.Arguments)
		if err := r.announce(ctx, o, c.call, args); err != nil {
			return err
		}
		res := tool.Result{ToolName: c.call.Name, Content: "None of these calls was run: magi_control must be the only call of a reply.",
			Metadata: map[string]any{"call_id": c.call.ID, "batch_rejected": true}}
		if err := r.conclude(ctx, o, c.call.ID, res); err != nil {
			return err
		}
		r.turn = append(r.turn, lasting(provider.Item{Kind: provider.ItemResult, CallID: c.call.ID, Name: c.call.Name, Text: res.Content}))
	}
	return nil
}

// noteControl remembers a compaction that the model asked for.
func (r *run) noteControl(c provider.Call, res tool.Result) {
	if c.Name != controlTool || !res.Success || res.Metadata["action"] != "compact" {
		return
	}
	r.asked = true
	if v, err := jsonscan.Parse([]byte(c.Arguments), jsonscan.Options{AnyNumber: true}); err == nil {
		r.guidance = v.Get("context").LenientText()
	}
}
