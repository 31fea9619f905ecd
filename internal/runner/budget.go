package runner

import (
	"errors"

	"magicode/internal/provider"
)

// Budget is what a model's context holds (runner.md 26.2, 27.1). The zero value
// has no limits.
type Budget struct {
	Enabled   bool
	MaxTokens int // of the model
	Reserve   int // kept free for the answer
	// Count estimates conversation items and tool definitions.
	CountItems func([]provider.Item) int
	CountTools func([]provider.ToolDef) int

	Auto      bool // compact automatically
	Percent   int  // soft threshold in percent of MaxTokens; 0: none
	Tokens    int  // soft threshold in tokens; 0: none
	MaxPerRun int  // compactions of one run; 0: no cap
}

// hard is what a request may cost at most.
func (b Budget) hard() int { return b.MaxTokens - b.Reserve }

// over reports whether tokens reach the soft threshold. It is measured against
// the model's maximum, not the hard budget (27.2).
func (b Budget) over(tokens int) bool {
	return b.Percent > 0 && tokens*100 >= b.MaxTokens*b.Percent || b.Tokens > 0 && tokens >= b.Tokens
}

// tally remembers what was counted: only what is new is counted again.
type tally struct {
	fixed   int // system, history, input and tools
	history int // of these, the history
	turn    int
	counted int // items of the turn in turn
	valid   bool
}

// project estimates the next request of this turn.
func (r *run) project() int {
	t := &r.tally
	if !t.valid {
		*t = tally{valid: true, history: r.Budget.CountItems(r.History)}
		rest := []provider.Item{{Kind: provider.ItemMessage, Role: "system", Text: r.System}, message("user", r.input)}
		t.fixed = t.history + r.Budget.CountItems(rest) + r.Budget.CountTools(r.Request.Tools)
	}
	t.turn += r.Budget.CountItems(r.turn[t.counted:])
	t.counted = len(r.turn)
	return t.fixed + t.turn
}

// mayCompact reports whether a compaction is still allowed in this run.
func (r *run) mayCompact() bool {
	return r.Compaction != nil && (r.Budget.MaxPerRun == 0 || r.compactions < r.Budget.MaxPerRun)
}

// automatic compaction stops after a recovery or a lost record (27.4).
func (r *run) mayCompactByItself() bool {
	return r.Budget.Enabled && r.Budget.Auto && r.mayCompact() && !r.recovered && !r.rec.degraded()
}

// admit refuses, before anything is stored, a first request that is too large
// and that no compaction can help (decision 30).
func (r *run) admit() error {
	if !r.Budget.Enabled {
		return nil
	}
	whole := r.project()
	if whole <= r.Budget.hard() {
		return nil
	}
	bare := whole - r.tally.history
	if bare > r.Budget.hard() || !r.Budget.Auto || !r.mayCompact() || len(r.History) == 0 {
		return ErrTooLarge
	}
	return nil
}

// overSoft: the next request of this turn reaches the threshold (27.5).
func (r *run) overSoft() bool {
	return r.mayCompactByItself() && r.Budget.over(r.project())
}

// overHard: the next request of this turn does not fit.
func (r *run) overHard() bool {
	return r.Budget.Enabled && r.project() > r.Budget.hard()
}

// promptTooLong: the provider refused the prompt's length and a compaction can
// help. A second refusal in one run is a failure.
func (r *run) promptTooLong(err error) bool {
	var perr *provider.Error
	if !errors.As(err, &perr) || perr.Kind != provider.ErrPromptTooLong || r.rejected || !r.mayCompact() || r.recovered {
		return false
	}
	r.rejected = true
	return true
}

// contextUsage answers magi_control: the input of the last request as the
// provider counted it.
func (r *run) contextUsage() (current, limit int, known bool) {
	return int(r.usage.Effective()), r.Budget.MaxTokens, r.usage.Input != nil
}
