package approval

import (
	"context"
	"fmt"

	"magicode/internal/jsonscan"
	"magicode/internal/protect"
	"magicode/internal/protect/judge"
	"magicode/internal/runner"
	"magicode/internal/tool"
	"magicode/internal/tool/bash"
)

// Asker puts one question to the user. *Broker is one.
type Asker interface {
	Ask(ctx context.Context, summary string) (Answer, error)
}

// Assessor judges commands and may fail. remote.Bash is one.
type Assessor interface {
	Assess(ctx context.Context, command string, place protect.Place) (protect.Assessment, error)
}

// Guard protects shell commands. It implements runner.Guard.
type Guard struct {
	Level  protect.Level
	Assess func(command string, place protect.Place) protect.Assessment
	// Remote is asked first. When it fails, DenyOnFailure denies the command;
	// else Assess decides in its place (decision 5). Nil: Assess decides.
	Remote        Assessor
	DenyOnFailure bool
	Place         protect.Place
	Asker         Asker
	Label         string // a delegated task's label, shown in front; "" for the primary run
}

// Decisions as results record them (tools.md 7.2).
const (
	allowedAutomatically = "allowed automatically"
	allowedByUser        = "allowed by user"
	deniedByUser         = "denied by user"
	allowedByPolicy      = "allowed by API failure policy"
	deniedByPolicy       = "denied by API failure policy"
)

// Check assesses a shell command and asks where the level says so. Other tools
// pass: they are held by their own path policy. So does a call whose arguments
// the shell tool refuses: nothing would run after the user's yes.
func (g *Guard) Check(ctx context.Context, env tool.Env, call tool.Call, warn func(string)) (runner.Verdict, error) {
	command, ok := shellCommand(call)
	if !ok || g.Level == protect.Off || bash.CheckArguments(call.Arguments) != nil {
		return runner.Verdict{Allowed: true}, nil
	}
	place := g.Place
	place.Dir = env.CanonicalCwd
	a, failed, err := g.judge(ctx, command, place, warn)
	if err != nil {
		return runner.Verdict{}, err
	}
	if failed && g.DenyOnFailure {
		return runner.Verdict{Unjudged: true, Metadata: g.metadata(a, deniedByPolicy)}, nil
	}
	ask, why := a.Decide(g.Level)
	if !ask {
		decision := allowedAutomatically
		if failed {
			decision = allowedByPolicy
		}
		return runner.Verdict{Allowed: true, Metadata: g.metadata(a, decision)}, nil
	}
	answer, err := g.Asker.Ask(ctx, Summary(g.Label, why, command))
	if err != nil {
		return runner.Verdict{}, err
	}
	if answer == Allowed {
		return runner.Verdict{Allowed: true, Metadata: g.metadata(a, allowedByUser)}, nil
	}
	return runner.Verdict{Metadata: g.metadata(a, deniedByUser)}, nil
}

// judge asks the service, if there is one, and the local assessor when that
// fails. An error is the cause of the end of ctx.
func (g *Guard) judge(ctx context.Context, command string, place protect.Place, warn func(string)) (a protect.Assessment, failed bool, err error) {
	if g.Remote == nil {
		return g.Assess(command, place), false, nil
	}
	a, err = g.Remote.Assess(ctx, command, place)
	if err == nil {
		return a, false, nil
	}
	if cause := context.Cause(ctx); cause != nil {
		return a, false, cause
	}
	then := "the local assessor decides in its place"
	if g.DenyOnFailure {
		then = "the command is denied, as the settings say"
	}
	warn(fmt.Sprintf("The judgement service did not judge a command (%s); %s.", judge.ReasonOf(err), then))
	return g.Assess(command, place), true, nil
}

// metadata is what the result records. The local assessor does not fail: what
// it cannot see through it asks about.
func (g *Guard) metadata(a protect.Assessment, decision string) map[string]any {
	policy := "auto_deny"
	if g.Remote != nil && !g.DenyOnFailure {
		policy = "auto_approve"
	}
	return a.Metadata(g.Level, decision, policy)
}

// shellCommand returns the command of a call to the shell, alias included. A
// call without one is refused by the tool itself.
func shellCommand(call tool.Call) (string, bool) {
	if call.Name != "bash" && call.Name != "shell" {
		return "", false
	}
	args := jsonscan.Value(call.Arguments)
	if command, ok := args.Get("command").Text(); ok {
		return command, true
	}
	return args.Get("cmd").Text()
}
