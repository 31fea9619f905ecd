package hook

import (
	"context"
	"errors"
	"fmt"
	"time"

	"magicode/internal/config"
	"magicode/internal/proc"
	"magicode/internal/redact"
	"magicode/internal/session"
	"magicode/telemetry"
)

// Categories of failures (tools.md 4.1).
const (
	failExit    = "exit"
	failTimeout = "timeout"
	failRunner  = "runner"
	failStdin   = "stdin"
	failOutput  = "output-limit"
)

// maxMessage bounds a record's message in characters (storage.md 6.4).
const maxMessage = 1024

// job is one hook for one subject.
type job struct {
	set    *Set
	hook   config.Hook
	index  int
	sub    Subject
	record func(session.Event)
}

// failure is how a hook failed, in words that hold nothing of what it wrote.
type failure struct{ category, message string }

// do runs the hook and applies its policy. stop: the phase ends here.
func (j *job) do(ctx context.Context, out *Outcome) (stop bool, err error) {
	ctx, span := j.set.opt.Tel.Begin(ctx, telemetry.SpanHook)
	defer span.End()
	span.Str(telemetry.KeyHookEvent, telemetry.WordOf(string(j.sub.Phase)))
	began := time.Now()
	j.lifecycle("started", nil, -1)
	stdout, bad := j.run(ctx)
	span.Str(telemetry.KeyHookOutcome, telemetry.WordOf(j.outcome(ctx, bad)))
	if ctx.Err() != nil {
		j.lifecycle("failed", &failure{failRunner, "the prompt was cancelled"}, time.Since(began))
		return true, context.Cause(ctx)
	}
	if bad == nil {
		j.lifecycle("success", nil, time.Since(began))
	} else {
		j.lifecycle("failed", bad, time.Since(began))
	}
	if j.injects() {
		out.Contexts = append(out.Contexts, j.inject(stdout, bad != nil)...)
	}
	return j.judge(bad, out), nil
}

// outcome is telemetry's word for how a hook ended: a failed one has that of
// what the failure does.
func (j *job) outcome(ctx context.Context, bad *failure) string {
	switch {
	case ctx.Err() != nil:
		return "cancelled"
	case bad != nil:
		return string(j.hook.Policy)
	}
	return "ok"
}

// judge applies the policy (tools.md 4.3).
func (j *job) judge(bad *failure, out *Outcome) (stop bool) {
	if bad == nil || j.hook.Policy == config.PolicyIgnore {
		return false
	}
	message := j.diagnose(bad)
	out.Notices = append(out.Notices, message)
	if j.hook.Policy == config.PolicyWarn {
		return false
	}
	out.Stop = &Failure{Label: j.hook.Label, Category: bad.category, Policy: j.hook.Policy}
	return true
}

// run starts the command and tells its stdout, or how it failed.
func (j *job) run(ctx context.Context) (string, *failure) {
	payload, remove, err := j.payload()
	defer remove()
	if err != nil {
		return "", &failure{failRunner, "its input could not be made"}
	}
	if err := j.set.opt.Shell.Preflight(j.hook.Command); err != nil {
		return "", &failure{failRunner, "its command was refused by the checks that bash commands pass"}
	}
	res, err := proc.Run(ctx, proc.Spec{
		Path: "/bin/bash", Args: []string{"--noprofile", "--norc", "-c", j.hook.Command},
		Dir: j.set.opt.Context.Cwd, Env: j.set.env, Stdin: payload,
		Stdout:  proc.Capture{Limit: j.hook.StdoutMaxBytes},
		Stderr:  proc.Capture{Limit: j.hook.StderrMaxBytes},
		Timeout: time.Duration(j.hook.TimeoutSeconds) * time.Second,
	})
	if err != nil {
		if errors.Is(err, proc.ErrNotFound) {
			return "", &failure{failRunner, "/bin/bash or the working directory is missing"}
		}
		return "", &failure{failRunner, "it could not be started"}
	}
	return res.Stdout, j.ended(res)
}

// ended tells whether, and how, a process that ran has failed.
func (j *job) ended(r proc.Result) *failure {
	switch {
	case r.Reason == proc.TimedOut:
		return &failure{failTimeout, fmt.Sprintf("it did not end within %d s", j.hook.TimeoutSeconds)}
	case r.Reason == proc.OverLimit, r.StdoutTruncated, r.StderrTruncated:
		return &failure{failOutput, fmt.Sprintf("it wrote more than %d bytes to stdout or %d to stderr", j.hook.StdoutMaxBytes, j.hook.StderrMaxBytes)}
	case r.Signal != 0:
		return &failure{failExit, fmt.Sprintf("it was ended by signal %d", int(r.Signal))}
	case r.ExitCode != 0:
		return &failure{failExit, fmt.Sprintf("it ended with status %d", r.ExitCode)}
	case r.StdinErr != nil:
		return &failure{failStdin, "its input could not be written"}
	case r.Warning != "":
		return &failure{failRunner, "a process that it left behind could not be ended"}
	}
	return nil
}

// ran reports whether the tool had run when the hook ran.
func (j *job) ran() bool { return j.sub.Phase != BeforeTool }

func orNull(s string) any {
	if s == "" {
		return nil
	}
	return s
}

// lifecycle records one state of the hook; took below 0 is none.
func (j *job) lifecycle(status string, bad *failure, took time.Duration) {
	p := map[string]any{
		"phase": j.sub.Phase, "label": j.hook.Label, "target_tool": j.sub.Tool, "status": status, "policy": j.hook.Policy,
		"category": nil, "target_ran": j.ran(), "tool_call_id": orNull(j.sub.CallID), "activity_id": orNull(j.sub.ActivityID),
		"hook_index": j.index, "elapsed_ms": nil, "message": nil,
	}
	if took >= 0 {
		p["elapsed_ms"] = took.Milliseconds()
	}
	if bad != nil {
		p["category"], p["message"] = bad.category, bounded(bad.message)
	}
	j.record(session.Event{Kind: session.KindHookLifecycle, Payload: p})
}

// diagnose records what the user is told, and returns it.
func (j *job) diagnose(bad *failure) string {
	effect := "The turn goes on."
	switch j.hook.Policy {
	case config.PolicyBlock:
		effect = "The tool was not run."
	case config.PolicyFail:
		effect = "The turn ends."
	}
	message := bounded(fmt.Sprintf("Hook %q (%s, %s) failed: %s (%s). %s", redact.Display(j.hook.Label), j.sub.Phase, j.sub.Tool, bad.message, bad.category, effect))
	j.record(session.Event{Kind: session.KindHookDiagnostic, Payload: map[string]any{
		"phase": j.sub.Phase, "tool": j.sub.Tool, "label": j.hook.Label, "category": bad.category,
		"policy": j.hook.Policy, "target_ran": j.ran(), "message": message}})
	return message
}

func bounded(s string) string {
	n := 0
	for i := range s {
		if n == maxMessage {
			return s[:i] + "…"
		}
		n++
	}
	return s
}
