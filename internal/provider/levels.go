package provider

// Effort is how the APIs spell a level; "" means that none is sent
// (providers.md 16.2).
func (l Level) Effort() string {
	switch l {
	case LevelLow, LevelMedium, LevelHigh, LevelMax:
		return string(l)
	case LevelXHigh:
		return "xhigh"
	}
	return ""
}

const (
	defaultMaxTokens = 4096 // where the catalog gives no maximum: providers.md 14.1
	highBudget       = 16384
	maxBudget        = 32768
)

// ThinkingBudget maps a level to the token budget of APIs that want one, and to
// the max_tokens that goes with it (providers.md 16.2). maxOutput is the
// catalog's maximum, 0 when it is unknown; then the answer keeps room of its
// own beside the budget. A budget of 0 means that none is sent.
func ThinkingBudget(l Level, maxOutput int) (budget, maxTokens int) {
	switch l {
	case LevelHigh:
		budget = highBudget
	case LevelMax:
		budget = maxBudget
	}
	if maxOutput <= 0 {
		return budget, budget + defaultMaxTokens
	}
	return max(0, min(budget, maxOutput-1)), maxOutput
}
