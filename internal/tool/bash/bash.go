package bash

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"magicode/internal/proc"
	"magicode/internal/tool"
)

// Bounds: tools.md 1.8.
const (
	stdoutLimit    = 65536
	stderrLimit    = 16384
	defaultTimeout = 600 // seconds
	maxTimeout     = 600
	shellPath      = "/bin/bash"
)

// Tool is the bash tool. It is safe for concurrent use.
type Tool struct {
	policy tool.ShellPolicy
	shell  string
}

// New returns the tool under the given settings.
func New(policy tool.ShellPolicy) *Tool { return &Tool{policy: policy, shell: shellPath} }

type arguments struct {
	Intent  *string `json:"intent"`
	Command *string `json:"command"`
	Cmd     *string `json:"cmd"`
	Timeout *int    `json:"timeout"`
}

const parameters = `{"type":"object","properties":{"intent":{"type":"string","description":"What the command is for, in a few words"},"command":{"type":"string","description":"The command line for bash"},"timeout":{"type":"integer","minimum":1,"maximum":600,"description":"Seconds until the command is ended, default 600"}},"required":["intent","command"],"additionalProperties":false,"x-stdoutLimitBytes":65536,"x-stderrLimitBytes":16384}`

const description = `bash: runs a command in a login bash, in the working directory.
Standard input is closed. The result holds stdout (at most 65,536 bytes) and stderr (16,384); a command that writes more is ended, so narrow output with head, tail or grep. ` +
	`Each call is a new shell, and everything it leaves in the background is ended with it. Paths with .. are refused. ` +
	`Prefer read, grep, find, list_files, write and hash_edit to shell commands for looking at and changing files.`

// Definition describes the tool.
func (t *Tool) Definition() tool.Definition {
	return tool.Definition{Name: "bash", Description: description, Parameters: json.RawMessage(parameters)}
}

// Run runs one command and waits for its end and that of all it started.
func (t *Tool) Run(ctx context.Context, env tool.Env, args json.RawMessage) tool.Result {
	command, timeout, err := decode(args)
	if err == nil {
		err = t.policy.Preflight(command)
	}
	if err != nil {
		return tool.Failed("%v", err)
	}
	res, err := proc.Run(ctx, proc.Spec{
		Path: t.shell, Args: []string{"-lc", command}, Dir: env.CanonicalCwd,
		Stdout:  proc.Capture{Limit: stdoutLimit},
		Stderr:  proc.Capture{Limit: stderrLimit},
		Timeout: time.Duration(timeout) * time.Second,
	})
	switch {
	case errors.Is(err, proc.ErrNotFound):
		return tool.Failed("the command was not started: %s is missing on this system, or the working directory is", t.shell)
	case err != nil:
		return tool.Failed("the command was not started: %v", err)
	}
	return report(res, timeout)
}

// CheckArguments tells why the tool refuses these arguments before it looks at
// the command, as Run does; nil when it does not. Errors name fields, never values.
func CheckArguments(args json.RawMessage) error {
	_, _, err := decode(args)
	return err
}

func decode(raw json.RawMessage) (command string, timeout int, err error) {
	var a arguments
	if err := tool.Decode(raw, &a); err != nil {
		return "", 0, err
	}
	intent, err := tool.Text("intent", a.Intent)
	if err != nil {
		return "", 0, err
	}
	if strings.TrimSpace(intent) == "" {
		return "", 0, errors.New(`invalid arguments: field "intent" must not be blank`)
	}
	if a.Command == nil {
		a.Command = a.Cmd
	} else if a.Cmd != nil {
		return "", 0, errors.New(`invalid arguments: give "command" only`)
	}
	if command, err = tool.Text("command", a.Command); err != nil {
		return "", 0, err
	}
	if command == "" || strings.IndexByte(command, 0) >= 0 {
		return "", 0, errors.New(`invalid arguments: field "command" must not be empty or hold a NUL`)
	}
	timeout, err = tool.Number("timeout", a.Timeout, 1, maxTimeout, defaultTimeout)
	return command, timeout, err
}

// report words the result and fills the metadata.
func report(r proc.Result, timeout int) tool.Result {
	out := tool.Result{
		Success:  r.Reason == proc.Exited && r.ExitCode == 0 && !r.StdoutTruncated && !r.StderrTruncated && r.Warning == "",
		Metadata: metadata(r),
	}
	if r.Reason == proc.Stopped {
		out.Content = tool.CancelledText
		return out
	}
	var b strings.Builder
	b.Grow(len(r.Stdout) + len(r.Stderr) + 128)
	b.WriteString("stdout:\n")
	b.WriteString(r.Stdout)
	if r.Stdout != "" && !strings.HasSuffix(r.Stdout, "\n") {
		b.WriteByte('\n')
	}
	b.WriteString("stderr:\n")
	b.WriteString(r.Stderr)
	switch {
	case r.Reason == proc.TimedOut:
		fmt.Fprintf(&b, "\n[timed out after %d s]", timeout)
	case r.Reason == proc.Exited && r.Signal != 0:
		fmt.Fprintf(&b, "\n[ended by signal %d]", int(r.Signal))
	case r.Reason == proc.Exited && r.ExitCode != 0:
		fmt.Fprintf(&b, "\n[exit code %d]", r.ExitCode)
	}
	if r.StdoutTruncated || r.StderrTruncated {
		fmt.Fprintf(&b, "\n[output truncated: stdout limit %d bytes, stderr limit %d bytes]", stdoutLimit, stderrLimit)
	}
	if r.Warning != "" {
		b.WriteString("\n[CLEANUP WARNING] " + r.Warning)
	}
	out.Content = b.String()
	return out
}

func metadata(r proc.Result) map[string]any {
	m := map[string]any{
		"exit_code": nil, "timed_out": r.Reason == proc.TimedOut,
		"stdout": r.Stdout, "stderr": r.Stderr,
		"stdout_truncated": r.StdoutTruncated, "stderr_truncated": r.StderrTruncated,
		"stdout_limit_bytes": stdoutLimit, "stderr_limit_bytes": stderrLimit,
		"cleanup_warning": nil,
	}
	if r.Reason != proc.TimedOut && r.ExitCode >= 0 {
		m["exit_code"] = r.ExitCode
	}
	if r.Warning != "" {
		m["cleanup_warning"] = r.Warning
	}
	return m
}
