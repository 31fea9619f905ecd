package agent

import (
	"context"
	"errors"
	"fmt"
	"time"

	"magicode/internal/approval"
	"magicode/internal/attach"
	"magicode/internal/event"
	"magicode/internal/provider"
	"magicode/internal/redact"
	"magicode/internal/runner"
	"magicode/internal/server"
	"magicode/internal/tool"
	"magicode/internal/turn"
	"magicode/pkg/localagent"
	"magicode/telemetry"
)

// agentRun is one turn. It implements server.Run.
type agentRun struct {
	runtime *agentRuntime
	request server.RunRequest
	att     *attach.Attachment
	broker  *approval.Broker
	span    telemetry.Span // of the run
	env     tool.Env       // of the primary run; tasks share its Edits
}

// headroomBytes are memory that nobody touches: addresses, and no pages. The heap
// of a child that runs turns has some 2 MB that are alive, and with its least goal
// of 4 MB the collector of garbage would begin anew after each 2 MB of garbage, in
// the middle of every turn. It counts these bytes as alive, too: its goal is then
// twice 6 MB, and it waits for 6. A child that only opens sessions and reads pages
// does without.
const headroomBytes = 4 << 20

// modelShown reports what decides how a model's name may leave.
func (r *agentRuntime) modelShown(sel provider.Selection) (custom, safe bool) {
	_, custom = r.snap.Custom[sel.Provider]
	_, safe = redact.SafeName(sel.Model)
	return custom, safe
}

// NewRun implements server.Runtime.
func (r *agentRuntime) NewRun(req server.RunRequest) (server.Run, error) {
	a := r.attach.Current()
	if a == nil || a.ID() != req.SessionID {
		return nil, errNoSession
	}
	if r.headroom == nil {
		r.headroom = make([]byte, headroomBytes)
	}
	run := &agentRun{runtime: r, request: req, att: a}
	run.broker = approval.NewBroker(run.announce, NewID, localagent.ApprovalExpiry)
	run.broker.Tel = r.agent.tel
	return run, nil
}

func (u *agentRun) announce(_ context.Context, q approval.Request, started func()) error {
	return u.request.Events.Emit(event.ApprovalRequested{ID: q.ID, Summary: q.Summary, Expires: q.Expires, Taken: started})
}

// Answer implements server.Run.
func (u *agentRun) Answer(id string, allow bool) bool { return u.broker.Answer(id, allow) == nil }

// Do implements server.Run.
func (u *agentRun) Do(ctx context.Context) event.Finished {
	u.span = telemetry.Current(ctx)
	return turn.Run(ctx, turn.Deps{Attachment: u.att, Tel: u.runtime.agent.tel, Prepare: u.prepare, Expand: u.expand, Queue: u.request.Events, NewID: NewID}, u.request.Prompt)
}

// prepare makes the runner's configuration (runner.md 12).
func (u *agentRun) prepare(ctx context.Context, notice func(string)) (runner.Config, error) {
	r := u.runtime
	sel := u.att.Selection()
	if custom, safe := r.modelShown(sel); u.span.On() {
		u.span.Name(telemetry.KeyModel, telemetry.Model(sel.Model, !custom, safe))
	}
	prov, err := r.providers.Make(ctx, sel, provider.PurposeMain)
	if err != nil {
		return runner.Config{}, fmt.Errorf("prepare the provider: %w", err)
	}
	conv, err := r.conversation(ctx)
	if err != nil {
		return runner.Config{}, fmt.Errorf("replay the session: %w", err)
	}
	d, err := u.delegation(sel)
	if err != nil {
		return runner.Config{}, err
	}
	title := u.title(ctx, notice)
	u.env = r.tools.env()
	u.env.Edits, u.env.WebSearch = u.edits(), r.webSearch(sel)
	id := provider.ConversationID(u.att.ID())
	tools := d.offer()
	th := &thread{runtime: r, handle: r.handle(), conv: conv, head: d.head(), runID: u.request.RunID, rebase: u.att.Rebase}
	return runner.Config{
		Recorder: r.handle(), Provider: prov, Tools: tools.registry, Guard: u.guard(""), Env: u.env, Limits: limits(),
		Hooks: u.hooks(sel), Script: r.script(tools, r.handle()),
		Request: provider.Request{Model: sel.Model, Level: sel.Level, Tools: tools.definitions, ToolsCache: tools.cache, PromptCacheKey: id, ConversationID: id, Compacted: conv.Compacted()},
		System:  r.systemFor(tools, d.delegates()), History: th.history(conv.Items()), InputFields: d.inputFields(), HasCallID: conv.HasCallID,
		Budget: r.budget(sel), Compaction: th.compaction(sel), Background: title,
		RunID: u.request.RunID, NewID: NewID, Tel: r.agent.tel, Screen: r.screen(), Diagnose: r.diagnostics(),
	}, nil
}

func limits() runner.Limits {
	return runner.Limits{ContentBytes: localagent.MaxContentBytes, Segments: localagent.MaxSegments,
		Activities: localagent.MaxActivities, ActivityIDBytes: localagent.MaxActivityIDBytes}
}

func joinErrors(errs []error) error { return errors.Join(errs...) }

// seconds is a setting in seconds; nil is 0, which is the default.
func seconds(n *int) time.Duration {
	if n == nil {
		return 0
	}
	return time.Duration(*n) * time.Second
}

var _ runner.Tools = (*tool.Registry)(nil)
