package app

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"time"
	"unicode/utf8"

	"magicode/pkg/client"
	"magicode/pkg/localagent"
)

// askCmd is one turn from a script.
type askCmd struct {
	Text    []string    `arg:"" help:"The prompt. Several words are joined by spaces; a single - reads standard input. One that begins with a dash comes after --."`
	Approve approveMode `help:"What to do when the agent asks: ask, deny or allow. Default: ask on a terminal, else deny." placeholder:"MODE"`
	Session string      `help:"Go on in this session instead of a new one: its id, or the beginning of it, at least 4 characters, if no other begins so." placeholder:"ID"`
	JSON    bool        `name:"json" help:"Print the run's events, one JSON object per line, instead of the reply."`
}

// runAsk starts a child as any host would. Status 0 means completed and durable.
func runAsk(c askCmd, stdin, stdout, stderr *os.File) int {
	prompt, err := askPrompt(c.Text, stdin)
	if err != nil {
		fmt.Fprintf(stderr, "magi-code: %v\n", err)
		return exitUsage
	}
	if c.Session, err = wholeID(c.Session); err != nil {
		fmt.Fprintf(stderr, "magi-code: %v\n", err)
		return statusOf(err)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	a := &asker{cmd: c, stdout: stdout, stderr: stderr, stdin: bufio.NewReader(stdin), terminal: isTerminal(stdin)}
	if isTerminal(stderr) {
		a.quiet.first = quietAfter
	}
	if err := a.run(ctx, prompt); err != nil {
		fmt.Fprintf(stderr, "magi-code: %v\n", err)
		return exitError
	}
	return exitOK
}

func askPrompt(words []string, stdin io.Reader) (string, error) {
	prompt := strings.Join(words, " ")
	if len(words) == 1 && words[0] == "-" {
		b, err := io.ReadAll(io.LimitReader(stdin, localagent.MaxPromptBytes+1))
		if err != nil {
			return "", fmt.Errorf("read the prompt: %v", err)
		}
		prompt = string(b)
	}
	switch {
	case !utf8.ValidString(prompt):
		return "", errors.New("the prompt is not UTF-8")
	case strings.TrimSpace(prompt) == "":
		return "", errors.New("the prompt is blank")
	case len(prompt) > localagent.MaxPromptBytes:
		return "", fmt.Errorf("the prompt is longer than %d bytes", localagent.MaxPromptBytes)
	}
	return prompt, nil
}

// asker is the host's side of one turn.
type asker struct {
	cmd            askCmd
	stdout, stderr io.Writer
	stdin          *bufio.Reader
	terminal       bool
	quiet          quiet
	shown          map[string]int // bytes of each message that were printed
	lined          map[string]int // how many of them a line end stands behind
	denied         bool           // a command was not approved
}

func (a *asker) run(ctx context.Context, prompt string) (err error) {
	exe, err := os.Executable()
	if err != nil {
		return fmt.Errorf("find this program's own file: %v", err)
	}
	began := time.Now()
	child, err := client.Start(client.Options{Path: exe, Apart: true})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, child.Close()) }()
	if _, err := child.Initialize(ctx, localagent.MethodTurnStart, localagent.MethodApprovalAnswer); err != nil {
		return notReady(err, began)
	}
	s, err := a.attach(ctx, child)
	if err != nil {
		return err
	}
	run, err := child.StartTurn(ctx, s.SessionID, prompt)
	if err != nil {
		return fmt.Errorf("turn.start: %w", err)
	}
	return a.follow(ctx, child, run)
}

func (a *asker) attach(ctx context.Context, child *client.Child) (client.Session, error) {
	if a.cmd.Session == "" {
		return child.CreateSession(ctx)
	}
	s, err := child.OpenSession(ctx, a.cmd.Session)
	if err != nil {
		return s, notOpened(a.cmd.Session, err)
	}
	return s, nil
}

// follow prints the run. A signal cancels the turn and still waits for its end.
func (a *asker) follow(ctx context.Context, child *client.Child, run *client.Run) error {
	done := ctx.Done()
	a.quiet.begin()
	defer a.quiet.end()
	for run.Finished == nil {
		select {
		case <-a.quiet.c:
			a.note("nothing for %v: the turn goes on, Ctrl-C cancels it", a.quiet.again())
		case ev, ok := <-child.Events():
			a.quiet.begin()
			if !ok {
				return fmt.Errorf("the agent ended before the turn did: %w", child.Err())
			}
			if err := run.Apply(ev); err != nil {
				return err
			}
			if err := a.event(ctx, child, run, ev); err != nil {
				return err
			}
		case <-done:
			done = nil
			if err := child.CancelTurn(context.WithoutCancel(ctx), run.SessionID, run.ID); err != nil {
				return fmt.Errorf("turn.cancel: %w", err)
			}
		}
	}
	f := run.Finished
	if f.Outcome != localagent.OutcomeCompleted || f.Persistence != localagent.PersistenceDurable {
		return a.unfinished(ctx, child, run)
	}
	if !a.cmd.JSON {
		fmt.Fprintf(a.stderr, "session %s\n", run.SessionID)
	}
	return nil
}

func (a *asker) event(ctx context.Context, child *client.Child, run *client.Run, ev client.Event) error {
	if a.cmd.JSON {
		fmt.Fprintf(a.stdout, "{\"event\":%q,\"data\":%s}\n", ev.Name, ev.Data)
	}
	switch ev.Name {
	case localagent.EventMessageDelta, localagent.EventMessageReconcile:
		a.text(run, ev)
	case localagent.EventActivity:
		a.note("%s: %s", ev.Activity, ev.State)
	case localagent.EventDiagnostic:
		a.note("%s", ev.Summary)
	case localagent.EventApprovalRequested:
		allow := a.approve(ev.Summary)
		a.denied = a.denied || !allow
		if err := child.AnswerApproval(ctx, run.SessionID, run.ID, ev.ApprovalID, allow); err != nil {
			return fmt.Errorf("approval.answer: %w", err)
		}
	}
	return nil
}

// text prints what a message has grown by: deltas as they come, and whatever of
// a complete reconciliation the deltas did not bring.
func (a *asker) text(run *client.Run, ev client.Event) {
	if a.cmd.JSON || ev.Name == localagent.EventMessageReconcile && !ev.LastPart {
		return
	}
	for _, m := range run.Messages {
		if m.ID != ev.MessageID {
			continue
		}
		text, _ := m.Text()
		if a.shown == nil {
			a.shown, a.lined = map[string]int{}, map[string]int{}
		}
		if at := a.shown[m.ID]; at < len(text) && !m.Gap() {
			fmt.Fprint(a.stdout, text[at:])
			a.shown[m.ID] = len(text)
		}
		// Every message is reconciled once more at the end of the run.
		if ev.Name == localagent.EventMessageReconcile && a.lined[m.ID] < a.shown[m.ID] {
			a.lined[m.ID] = a.shown[m.ID]
			fmt.Fprintln(a.stdout)
		}
	}
}

func (a *asker) note(format string, args ...any) {
	if !a.cmd.JSON {
		fmt.Fprintf(a.stderr, "- "+format+"\n", args...)
	}
}

// approve decides one request. Only a clear yes allows.
func (a *asker) approve(summary string) bool {
	mode := a.cmd.Approve
	if mode == "" {
		mode = "deny"
		if a.terminal {
			mode = "ask"
		}
	}
	switch mode {
	case "allow":
		a.note("allowed: %s", summary)
		return true
	case "ask":
		fmt.Fprintf(a.stderr, "The agent wants to run:\n  %s\nAllow it? [y/N] ", summary)
		line, err := a.stdin.ReadString('\n')
		a.quiet.begin() // the turn waited for the answer
		answer := strings.ToLower(strings.TrimSpace(line))
		if err != nil {
			fmt.Fprintf(a.stderr, "\ndenied: no answer\n")
			return false
		}
		if !a.terminal { // nobody's Enter has ended the line
			fmt.Fprintln(a.stderr)
		}
		return answer == "y" || answer == "yes"
	}
	a.note("denied: %s", summary)
	return false
}
