package approval

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"magicode/internal/protect"
	"magicode/internal/protect/judge"
	"magicode/internal/tool"
)

// service is a remote assessor with one answer.
type service struct {
	score float64
	err   error
}

func (s service) Assess(context.Context, string, protect.Place) (protect.Assessment, error) {
	d := protect.Score{Score: s.score, Confidence: 1, Probabilities: [3]float64{0, 0.5, 0.5}}
	return protect.Assessment{Overall: d, Destruction: d, Credentials: d, Privilege: d, Untrusted: d, Model: "jev-test", Cached: true}, s.err
}

// TestRemoteJudgement: the service decides while it answers; when it fails, the
// policy denies, or the local assessor decides.
func TestRemoteJudgement(t *testing.T) {
	for name, c := range map[string]struct {
		command  string
		service  service
		deny     bool
		answer   Answer
		asked    bool
		allowed  bool
		decision string
		model    string
		policy   string
		warning  string
	}{
		"harmless to it":           {"rm -rf ~", service{score: 0}, false, Denied, false, true, allowedAutomatically, "jev-test", "auto_approve", ""},
		"risky to it, allowed":     {"ls", service{score: 2}, false, Allowed, true, true, allowedByUser, "jev-test", "auto_approve", ""},
		"risky to it, denied":      {"ls", service{score: 2}, true, Denied, true, false, deniedByUser, "jev-test", "auto_deny", ""},
		"failed, harmless here":    {"ls", service{err: judge.ErrTooLarge}, false, Denied, false, true, allowedByPolicy, protect.Model, "auto_approve", "the local assessor decides"},
		"failed, risky here":       {"rm -rf ~", service{err: judge.ErrTooLarge}, false, Denied, true, false, deniedByUser, protect.Model, "auto_approve", "request_too_large"},
		"failed, risky, allowed":   {"rm -rf ~", service{err: judge.ErrTooLarge}, false, Allowed, true, true, allowedByUser, protect.Model, "auto_approve", "request_too_large"},
		"failed, policy denies":    {"ls", service{err: judge.ErrTooLarge}, true, Allowed, false, false, deniedByPolicy, protect.Model, "auto_deny", "the command is denied"},
		"failed, policy, no reply": {"rm -rf ~", service{err: errors.New("x")}, true, Allowed, false, false, deniedByPolicy, protect.Model, "auto_deny", "denied"},
	} {
		t.Run(name, func(t *testing.T) {
			asker := &fixedAsker{answer: c.answer}
			g := &Guard{Level: protect.Relaxed, Assess: protect.Assess, Remote: c.service, DenyOnFailure: c.deny, Asker: asker,
				Place: protect.Place{Workspace: "/w", Home: "/home/u"}}
			args, _ := json.Marshal(map[string]string{"command": c.command, "intent": "i"})
			var warned []string
			v, err := g.Check(t.Context(), tool.Env{CanonicalCwd: "/w"}, tool.Call{Name: "bash", Arguments: args}, func(s string) { warned = append(warned, s) })
			m := v.Metadata
			if v.Unjudged != (c.decision == deniedByPolicy) {
				t.Errorf("%+v", v)
			}
			if err != nil || v.Allowed != c.allowed || len(asker.seen) > 0 != c.asked {
				t.Fatalf("%+v, asked %v, %v", v, asker.seen, err)
			}
			if m["decision"] != c.decision || m["model"] != c.model || m["failure_policy"] != c.policy || m["consulted"] != true {
				t.Errorf("%v", m)
			}
			if all := strings.Join(warned, "\n"); (c.warning == "") != (all == "") || !strings.Contains(all, c.warning) || strings.Contains(all, c.command) {
				t.Errorf("warned %q", all)
			}
			if c.model == "jev-test" && (m["cached"] != true || m["probabilities"] == nil) {
				t.Errorf("%v", m)
			}
		})
	}
}

// TestRemoteJudgementCancelled: a cancelled run is not decided by any policy.
func TestRemoteJudgementCancelled(t *testing.T) {
	stop := errors.New("stop")
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(stop)
	g := &Guard{Level: protect.Relaxed, Assess: protect.Assess, Remote: service{err: stop}, Asker: &fixedAsker{answer: Allowed}}
	v, err := g.Check(ctx, tool.Env{}, tool.Call{Name: "bash", Arguments: []byte(`{"command":"ls","intent":"i"}`)}, func(s string) { t.Error(s) })
	if !errors.Is(err, stop) || v.Allowed {
		t.Errorf("%+v %v", v, err)
	}
}
