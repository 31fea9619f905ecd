package injection

// Level says how little suspicion is enough.
type Level string

// Levels, from loose to strict.
const (
	Permissive Level = "permissive"
	Relaxed    Level = "relaxed"
	Balanced   Level = "balanced"
	Cautious   Level = "cautious"
	Strict     Level = "strict"
)

// Action is what becomes of a result.
type Action string

// Actions.
const (
	Allow      Action = "allow"
	Annotate   Action = "annotate"   // shown, marked as data of others
	Escalate   Action = "escalate"   // withheld: harmful, and nobody is sure enough
	Quarantine Action = "quarantine" // withheld
)

// limits are the thresholds of a level: tools.md 7.4.
type limits struct{ review, quarantine, impact, confidence float64 }

func (l Level) limits() limits {
	switch l {
	case Permissive:
		return limits{.60, .90, 1.80, .30}
	case Relaxed:
		return limits{.50, .80, 1.70, .40}
	case Cautious:
		return limits{.25, .60, 1.20, .65}
	case Strict:
		return limits{.15, .50, .80, .75}
	}
	return limits{.35, .70, 1.50, .55}
}

// Figures are a judgement of one text.
type Figures struct {
	Instructions float64 // 0 to 1: it holds instructions at all
	Injection    float64 // 0 to 1: they are meant to take the reader over
	Impact       float64 // 0 to 2: what following them would do
	Confidence   float64 // 0 to 1: of Impact
}

// Decide turns figures into an action.
func (l Level) Decide(f Figures) Action {
	t := l.limits()
	harmful := f.Impact >= t.impact
	switch {
	case f.Injection >= t.quarantine && harmful:
		return Quarantine
	case harmful && (f.Injection >= t.review || f.Confidence < t.confidence):
		return Escalate
	case f.Instructions >= t.review || f.Injection >= t.review:
		return Annotate
	}
	return Allow
}

// stricter joins two judgements of one text.
func (f Figures) stricter(g Figures) Figures {
	return Figures{max(f.Instructions, g.Instructions), max(f.Injection, g.Injection), max(f.Impact, g.Impact), min(f.Confidence, g.Confidence)}
}
