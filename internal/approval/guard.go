package approval

import (
	"context"

	"magicode/internal/jsonscan"
	"magicode/internal/protect"
	"magicode/internal/runner"
	"magicode/internal/tool"
	"magicode/internal/tool/bash"
)

// Asker puts one question to the user. *Broker is one.
type Asker interface {
	Ask(ctx context.Context, summary string) (Answer, error)
}

// Guard protects shell commands. It implements runner.Guard.
type Guard struct {
	Level  protect.Level
	Assess func(command string, place protect.Place) protect.Assessment
	Place  protect.Place
	Asker  Asker
	Label  string // a delegated task's label, shown in front; "" for the primary run
}

// Check assesses a shell command and asks where the level says so. Other tools
// pass: they are held by their own path policy. So does a call whose arguments
// the shell tool refuses: nothing would run after the user's yes.
func (g *Guard) Check(ctx context.Context, env tool.Env, call tool.Call) (runner.Verdict, error) {
	command, ok := shellCommand(call)
	if !ok || g.Level == protect.Off || bash.CheckArguments(call.Arguments) != nil {
		return runner.Verdict{Allowed: true}, nil
	}
	place := g.Place
	place.Dir = env.CanonicalCwd
	a := g.Assess(command, place)
	ask, why := a.Decide(g.Level)
	if !ask {
		return runner.Verdict{Allowed: true, Metadata: a.Metadata(g.Level, "allowed automatically")}, nil
	}
	answer, err := g.Asker.Ask(ctx, Summary(g.Label, why, command))
	if err != nil {
		return runner.Verdict{}, err
	}
	if answer == Allowed {
		return runner.Verdict{Allowed: true, Metadata: a.Metadata(g.Level, "allowed by user")}, nil
	}
	return runner.Verdict{Metadata: a.Metadata(g.Level, "denied by user")}, nil
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
