package agent

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"magicode/internal/checkpoint"
	"magicode/internal/config"
	"magicode/internal/prompt"
	"magicode/internal/provider"
	"magicode/internal/provider/claude"
	"magicode/internal/replay"
	"magicode/internal/runner"
	"magicode/internal/session"
	"magicode/internal/tokens"
)

// defaultMaxCompactions is the cap of one run without a setting (storage.md 2.4).
const defaultMaxCompactions = 4

// window is what a model's context holds: settings, then the cached catalog,
// then an exact override (runner.md 26.2).
func (r *agentRuntime) window(sel provider.Selection) (maxTokens, reserve int) {
	c := r.snap.Settings.Agent.Context
	maxTokens, reserve = c.MaxTokens, c.ReserveTokens
	if e := r.models.Entry(sel.Provider, sel.Model); e != nil && e.ContextWindow > 0 {
		maxTokens = int(min(e.ContextWindow, 1<<31))
	}
	if o, ok := c.Overrides[sel.Provider+"/"+sel.Model]; ok {
		if o.MaxTokens != nil {
			maxTokens = *o.MaxTokens
		}
		if o.ReserveTokens != nil {
			reserve = *o.ReserveTokens
		}
	}
	if sel.Provider == claude.ID {
		return r.subscriptionWindow(sel, maxTokens, reserve)
	}
	return maxTokens, reserve
}

// subscriptionWindow bounds what the subscription takes, and keeps room for the
// summary where its own model writes it (runner.md 26.2).
func (r *agentRuntime) subscriptionWindow(active provider.Selection, maxTokens, reserve int) (int, int) {
	maxTokens = min(maxTokens, claude.MaxTokens)
	c := r.snap.Settings.Agent.Compaction
	if sel, err := compactionSelection(c, active); err == nil && sel.Provider == claude.ID {
		reserve = c.Claude.ReserveTokens
	}
	return maxTokens, min(reserve, maxTokens-1)
}

func (r *agentRuntime) budget(sel provider.Selection) runner.Budget {
	return r.budgetOf(sel, r.counter(sel))
}

func (r *agentRuntime) budgetOf(sel provider.Selection, c *tokens.Counter) runner.Budget {
	a := r.snap.Settings.Agent
	b := runner.Budget{Enabled: a.Context.Enabled, Auto: a.Compaction.Auto.Enabled, MaxPerRun: defaultMaxCompactions}
	b.MaxTokens, b.Reserve = r.window(sel)
	auto := a.Compaction.Auto
	if auto.ThresholdPercent != nil {
		b.Percent = *auto.ThresholdPercent
	}
	if auto.ThresholdTokens != nil {
		b.Tokens = *auto.ThresholdTokens
	}
	if auto.MaxPerRun != nil {
		b.MaxPerRun = *auto.MaxPerRun
	}
	if sel.Provider == claude.ID {
		b = subscriptionBudget(b, a.Compaction.Claude)
	}
	b.CountItems, b.CountTools = c.Items, c.Tools
	return b
}

// subscriptionBudget is that of the subscription: always on, with thresholds of
// its own and without a cap on the number of compactions (runner.md 26.2, 27.1).
func subscriptionBudget(b runner.Budget, c config.ClaudeCompaction) runner.Budget {
	b.Enabled, b.Percent, b.Tokens, b.MaxPerRun = true, 0, 0, 0
	if c.ThresholdPercent != nil {
		b.Percent = *c.ThresholdPercent
	}
	if c.ThresholdTokens != nil {
		b.Tokens = min(*c.ThresholdTokens, b.MaxTokens)
	}
	return b
}

// counter keeps one counter per model: it remembers what it has counted.
func (r *agentRuntime) counter(sel provider.Selection) *tokens.Counter {
	if r.counterOf != sel || r.tokens == nil {
		r.counterOf, r.tokens = sel, tokens.For(sel.Provider, sel.Model)
	}
	return r.tokens
}

var errCompactionModel = errors.New("agent.compaction needs both provider and model, or neither")

// compactionSelection is the model that writes summaries (27.1).
func compactionSelection(c config.Compaction, active provider.Selection) (provider.Selection, error) {
	switch {
	case c.Provider == nil && c.Model == nil:
		return active, nil
	case c.Provider == nil || c.Model == nil:
		return provider.Selection{}, errCompactionModel
	}
	return provider.Selection{Provider: *c.Provider, Model: *c.Model, Level: provider.LevelDefault}, nil
}

// thread is a session as a run works on it: the attached one, or a task's.
type thread struct {
	runtime *agentRuntime
	handle  *session.Handle
	conv    *replay.Follower
	head    []provider.Item // what stands before the history in every request
	runID   string
	// rebase tells those who follow the log that a compaction replaced it.
	rebase func(ctx context.Context) error
}

// history is the conversation so far.
func (t *thread) history(items []provider.Item) []provider.Item {
	return append(slices.Clip(t.head), items...)
}

// compaction is how this run's session is compacted. What its model lacks is
// told when a compaction is tried, not at every turn.
func (t *thread) compaction(active provider.Selection) *runner.Compaction {
	r := t.runtime
	sel, err := compactionSelection(r.snap.Settings.Agent.Compaction, active)
	maxTokens, reserve := r.window(sel)
	return &runner.Compaction{
		Provider: &lazyProvider{factory: r.providers, selection: sel, err: err}, Selection: sel, Hard: maxTokens - reserve,
		Request: provider.Request{Model: sel.Model, Level: sel.Level, ConversationID: provider.ConversationID(t.handle.ID())},
		System:  prompt.Compaction(r.snap.Fragments),
		Begin: func(ctx context.Context, carry int) (runner.Rotation, error) {
			return t.beginRotation(ctx, carry, sel)
		},
		Replay: func(ctx context.Context) ([]provider.Item, error) {
			f := r.fold()
			if _, err := t.handle.Read(ctx, f); err != nil {
				return nil, err
			}
			t.conv.Swap(f)
			return t.history(t.conv.Earlier()), t.rebase(ctx)
		},
	}
}

// lazyProvider makes its provider when it is first used.
type lazyProvider struct {
	factory   provider.Factory
	selection provider.Selection
	err       error
}

// Stream implements provider.Provider.
func (l *lazyProvider) Stream(ctx context.Context, req provider.Request, emit func(provider.Event) error) error {
	if l.err != nil {
		return l.err
	}
	p, err := l.factory.Make(ctx, l.selection, provider.PurposeCompaction)
	if err != nil {
		return fmt.Errorf("prepare the compaction's provider: %w", err)
	}
	return p.Stream(ctx, req, emit)
}

// rotation is one compaction of a session's log.
type rotation struct {
	log       *session.Rotation
	before    *replay.Fold
	carried   *checkpoint.Fold
	selection provider.Selection
	runID     string
}

func (t *thread) beginRotation(ctx context.Context, carry int, sel provider.Selection) (runner.Rotation, error) {
	rot := &rotation{before: t.runtime.fold(), carried: new(checkpoint.Fold), selection: sel, runID: t.runID}
	var err error
	rot.log, err = t.handle.BeginRotation(ctx, carry, rot.before, rot.carried)
	return rot, err
}

// Replayed implements runner.Rotation.
func (t *rotation) Replayed() []provider.Item { return t.before.Items() }

// Commit implements runner.Rotation.
func (t *rotation) Commit(ctx context.Context, summary string) (session.Outcome, error) {
	return t.log.Commit(ctx, t.carried.Payload(summary, t.selection.Provider, t.selection.Model, t.runID))
}
