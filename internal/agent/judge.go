package agent

import (
	"path/filepath"
	"strings"

	"magicode/internal/approval"
	"magicode/internal/config"
	"magicode/internal/httpx"
	"magicode/internal/protect"
	"magicode/internal/protect/injection"
	"magicode/internal/protect/judge"
	"magicode/internal/protect/remote"
	"magicode/internal/startup"
)

// judgement is the service that a snapshot's settings let be asked. Nil: none.
type judgement struct {
	*judge.Client
	http *httpx.Client
}

// newJudgement opens nothing: the first question does.
func (a *Agent) newJudgement(snap *startup.Snapshot) *judgement {
	key, _ := a.lookup("TYPESAFE_API_KEY")
	if key = strings.TrimSpace(key); key == "" || !asksService(snap.Settings) {
		return nil
	}
	client := httpx.New(httpx.Options{Environ: a.environ})
	cache := &judge.Cache{FS: a.fs, Dir: filepath.Join(snap.Paths.Cache(), "jev")}
	c := &judge.Client{HTTP: client, Key: key, Cache: cache}
	if a.service != nil {
		c.HTTP = a.service
	}
	return &judgement{c, client}
}

// asksService reports whether anything may be sent to the service at all.
func asksService(s *config.Settings) bool {
	return s.Capabilities.Approvals.Remote || s.Jev.Injection.Remote
}

func (j *judgement) Close() error {
	if j == nil {
		return nil
	}
	return j.http.Close()
}

// guard asks for the commands of this run, or of a task of it, which its label names.
func (u *agentRun) guard(label string) *approval.Guard {
	r := u.runtime
	a := r.snap.Settings.Capabilities.Approvals
	g := &approval.Guard{
		Level: protect.Level(a.Level), Assess: protect.Assess, Asker: u.broker, Label: label,
		Place: protect.Place{Workspace: r.agent.cwd, Home: r.snap.Paths.Home, StateRoot: r.snap.Paths.CanonicalRoot},
	}
	if a.Remote && r.judge != nil {
		g.Remote, g.DenyOnFailure = remote.Bash{Judge: r.judge}, a.FailurePolicy == config.AutoDeny
	}
	return g
}

// screen judges what tools give; nil where the settings do not want it.
func (r *agentRuntime) screen() *injection.Screen {
	c := r.snap.Settings.Jev.Injection
	if !c.Active {
		return nil
	}
	s := &injection.Screen{Judge: injection.Local{}, Level: injection.Level(c.Level), Enforce: c.Enforcement,
		MaxBytes: c.MaxAssessedBytes, OnFailure: injection.Action(c.Policy), Tools: c.Tools}
	if c.Remote && r.judge != nil {
		s.Judge = r.judge
	}
	return s
}
