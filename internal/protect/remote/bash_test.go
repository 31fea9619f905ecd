package remote

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"magicode/internal/protect"
	"magicode/internal/protect/judge"
)

// oracle answers all questions alike and keeps what it was told.
type oracle struct {
	score float64
	state string
	names []string
	err   error
}

func (o *oracle) Ask(_ context.Context, state any, questions map[string]judge.Question) (judge.Answers, error) {
	raw, _ := json.Marshal(state)
	o.state = string(raw)
	out := judge.Answers{Of: map[string]judge.Answer{}, Model: "m", Cached: true}
	for name, q := range questions {
		o.names = append(o.names, name)
		if q.Kind != judge.Score || len(q.Levels) != 3 {
			return out, errors.New("no score of three levels")
		}
		out.Of[name] = judge.Answer{Score: o.score, Confidence: 0.9, Probabilities: map[string]float64{"2": 1}}
	}
	return out, o.err
}

var place = protect.Place{Dir: "/w/sub", Workspace: "/w", Home: "/home/u", StateRoot: "/home/u/.magi-code"}

func TestAssess(t *testing.T) {
	o := &oracle{score: 1.2}
	a, err := Bash{o}.Assess(t.Context(), "make all", place)
	want := protect.Score{Score: 1.2, Confidence: 0.9, Probabilities: [3]float64{0, 0, 1}}
	if err != nil || a != (protect.Assessment{Overall: want, Destruction: want, Credentials: want, Privilege: want, Untrusted: want, Model: "m", Cached: true}) {
		t.Errorf("%+v %v", a, err)
	}
	var s map[string]any
	if err := json.Unmarshal([]byte(o.state), &s); err != nil {
		t.Fatal(err)
	}
	if s["command"] != "make all" || s["working_directory"] != "/w/sub" || s["workspace"] != "/w" || len(s["unobserved"].([]any)) == 0 || len(s) != 4 || len(o.names) != 5 {
		t.Errorf("%s %v", o.state, o.names)
	}
}

func TestFailedAssessment(t *testing.T) {
	o := &oracle{err: judge.ErrTooLarge}
	if _, err := (Bash{o}).Assess(t.Context(), "ls", place); judge.ReasonOf(err) != judge.TooLarge {
		t.Error(err)
	}
	o = &oracle{}
	if _, err := (Bash{o}).Assess(t.Context(), strings.Repeat("x", maxCommand+1), place); judge.ReasonOf(err) != judge.TooLarge || o.state != "" {
		t.Errorf("a long command: %v, sent %d bytes", err, len(o.state))
	}
}

// TestSecretsAreNotSent: and what stands where a secret was is judged here.
func TestSecretsAreNotSent(t *testing.T) {
	const secret = "sk-proj-A1b2C3d4A1b2C3d4A1b2C3d4A1b2C3d4A1b2C3d4A1b2C3d4"
	o := &oracle{score: 0}
	a, err := Bash{o}.Assess(t.Context(), "API_KEY="+secret+" rm -rf ~", place)
	if err != nil || strings.Contains(o.state, secret) {
		t.Errorf("%v: sent %s", err, o.state)
	}
	if ask, why := a.Decide(protect.Relaxed); !ask || why != protect.Destruction || a.Model != "m" {
		t.Errorf("%+v", a)
	}
}

// TestQuestionsFit: they keep the bounds of a request.
func TestQuestionsFit(t *testing.T) {
	for name, q := range questions {
		if len(q.Instructions) > 4<<10 || len(q.Levels) != 3 || !strings.Contains(q.Instructions, "no instruction") {
			t.Errorf("%s: %+v", name, q)
		}
	}
}
