package protect

// Level says how much is asked about.
type Level string

// Levels, from never to nearly always (tools.md 7.2).
const (
	Off        Level = "off"
	Permissive Level = "permissive"
	Relaxed    Level = "relaxed"
	Balanced   Level = "balanced"
	Cautious   Level = "cautious"
	Strict     Level = "strict"
)

// Dimension is one kind of risk. Its text is the word that leads a summary.
type Dimension string

const (
	Overall     Dimension = "risk"
	Destruction Dimension = "destruction"
	Credentials Dimension = "credentials"
	Privilege   Dimension = "privilege"
	Untrusted   Dimension = "untrusted"
)

// Score is a judgement of one dimension: 0 harmless to 2 severe, and how sure (0 to 1).
type Score struct {
	Score      float64
	Confidence float64
	// Probabilities are those of the levels 0, 1 and 2; zero when not told.
	Probabilities [3]float64
}

// Assessment is the judgement of one command.
type Assessment struct {
	Overall, Destruction, Credentials, Privilege, Untrusted Score

	Model  string // who judged; "" is this package
	Cached bool   // the judgement is an earlier one
}

// Stricter joins two judgements of one command: of each dimension the higher
// score, and the lower confidence. Who judged is told of a.
func (a Assessment) Stricter(b Assessment) Assessment {
	join := func(x, y Score) Score {
		if y.Score > x.Score {
			x.Score, x.Probabilities = y.Score, y.Probabilities
		}
		x.Confidence = min(x.Confidence, y.Confidence)
		return x
	}
	a.Overall, a.Destruction, a.Credentials = join(a.Overall, b.Overall), join(a.Destruction, b.Destruction), join(a.Credentials, b.Credentials)
	a.Privilege, a.Untrusted = join(a.Privilege, b.Privilege), join(a.Untrusted, b.Untrusted)
	return a
}

// threshold is the score from which, and the confidence below which, a level asks.
func (l Level) threshold() (score, confidence float64) {
	switch l {
	case Permissive:
		return 2.0, 0.0
	case Balanced:
		return 1.5, 0.35
	case Cautious:
		return 1.0, 0.5
	case Strict:
		return 0.5, 0.7
	default:
		return 1.8, 0.2
	}
}

// Decide reports whether a level asks about the command, and the dimension
// that decides it.
func (a Assessment) Decide(l Level) (ask bool, why Dimension) {
	if l == Off {
		return false, Overall
	}
	limit, sure := l.threshold()
	worst := -1.0
	why = Overall
	for _, d := range a.dimensions() {
		if d.s.Score < limit && d.s.Confidence >= sure {
			continue
		}
		ask = true
		if d.s.Score > worst {
			worst, why = d.s.Score, d.name
		}
	}
	return ask, why
}

type dimension struct {
	name Dimension
	s    Score
}

// dimensions in the order in which a tie is decided: what names the danger
// best comes first.
func (a Assessment) dimensions() []dimension {
	return []dimension{
		{Destruction, a.Destruction}, {Credentials, a.Credentials}, {Privilege, a.Privilege}, {Untrusted, a.Untrusted}, {Overall, a.Overall},
	}
}

// Model is the name under which this assessor reports itself.
const Model = "local-1"

// Metadata is what a result records of the judgement (tools.md 7.2). policy is
// what a failed judgement would have meant.
func (a Assessment) Metadata(l Level, decision, policy string) map[string]any {
	top := dimension{Overall, a.Overall}
	dims := make(map[string]any, 5)
	for _, d := range a.dimensions() {
		name := string(d.name)
		switch d.name {
		case Overall:
			name = "score"
		case Untrusted:
			name = "untrusted_execution"
		}
		dims[name] = map[string]any{"score": d.s.Score, "confidence": d.s.Confidence}
		if d.s.Score > top.s.Score {
			top = d
		}
	}
	model := a.Model
	if model == "" {
		model = Model
	}
	return map[string]any{
		"consulted": true, "protection_level": string(l), "score": top.s.Score, "confidence": top.s.Confidence,
		"probabilities": top.s.probabilities(), "decision": decision, "failure_policy": policy, "cached": a.Cached, "dimensions": dims, "model": model,
	}
}

// probabilities by level; nil when not told.
func (s Score) probabilities() any {
	if s.Probabilities == [3]float64{} {
		return nil
	}
	p := s.Probabilities
	return map[string]any{"0": p[0], "1": p[1], "2": p[2]}
}

// Place is where a command would run. All paths are canonical.
type Place struct {
	Dir       string // working directory of the command
	Workspace string // what the run may change freely
	Home      string // the user's home
	StateRoot string // MC_HOME
}
