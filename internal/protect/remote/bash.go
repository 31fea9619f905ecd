package remote

import (
	"context"

	"magicode/internal/protect"
	"magicode/internal/protect/judge"
	"magicode/internal/redact"
)

// Bash judges commands by asking Judge.
type Bash struct{ Judge judge.Assessor }

// maxCommand is what a command may have in bytes (tools.md 7.2); a longer one
// is a failed assessment.
const maxCommand = 32 << 10

// state is what the service is told.
type state struct {
	Command    string   `json:"command"`
	Dir        string   `json:"working_directory"`
	Workspace  string   `json:"workspace"`
	Unobserved []string `json:"unobserved"`
}

// unobserved is what no look at the text of a command tells.
var unobserved = []string{
	"the content of scripts and programs that the command runs",
	"the values of environment variables",
	"the state of the file system and of remote systems",
	"values that were replaced by a redaction mark",
}

// Assess judges a command. An error is a *judge.Error, or the cause of the end
// of ctx.
func (b Bash) Assess(ctx context.Context, command string, place protect.Place) (protect.Assessment, error) {
	if len(command) > maxCommand {
		return protect.Assessment{}, judge.ErrTooLarge
	}
	sent := redact.Text(command)
	answers, err := b.Judge.Ask(ctx, state{sent, place.Dir, place.Workspace, unobserved}, questions)
	if err != nil {
		return protect.Assessment{}, err
	}
	of := func(name string) protect.Score {
		a := answers.Of[name]
		return protect.Score{Score: a.Score, Confidence: a.Confidence, Probabilities: levels(a.Probabilities)}
	}
	out := protect.Assessment{
		Overall: of("score"), Destruction: of("destruction"), Credentials: of("credentials"), Privilege: of("privilege"),
		Untrusted: of("untrusted_execution"), Model: answers.Model, Cached: answers.Cached,
	}
	if sent != command {
		out = out.Stricter(protect.Assess(command, place))
	}
	return out, nil
}

// levels turns named probabilities into those of the three levels; zero when
// they are not told.
func levels(p map[string]float64) [3]float64 { return [3]float64{p["0"], p["1"], p["2"]} }
