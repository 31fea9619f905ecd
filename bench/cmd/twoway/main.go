// Command twoway holds two programs of one home against each other: sessions
// that one of them writes open in the other with the same visible history, and
// may change hands in the middle. It is run by hand (docs/compatibility.md):
//
//	go run ./bench/cmd/twoway -ours bin/magi-code -other PATH
package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"magicode/bench/model"
	"magicode/pkg/client"
	"magicode/pkg/localagent"
)

// scenario is one turn: a prompt, and what the model does.
type scenario struct {
	name   string
	prompt string
	script [][]model.Step
	cancel bool
	want   string // outcome
}

func scenarios() []scenario {
	call := func(name string, args map[string]any) model.Step { return model.Step{Tool: name, Args: args} }
	return []scenario{
		{"text", "say hello", [][]model.Step{{{Text: "Hello "}, {Text: "world."}}}, false, localagent.OutcomeCompleted},
		{"tools", "use tools", [][]model.Step{
			{{Text: "First. "}, call("write", map[string]any{"path": "a.txt", "content": "alpha\n"})},
			{call("read", map[string]any{"paths": []string{"a.txt"}}), call("grep", map[string]any{"patterns": []string{"alpha"}})},
			{{Text: "Then. "}, call("bash", map[string]any{"command": "cat a.txt", "intent": "show"})}, {{Text: "All done."}}}, false, localagent.OutcomeCompleted},
		{"edits", "edit", [][]model.Step{
			{call("write", map[string]any{"path": "a.txt", "content": "alpha\nbeta\n"})}, {call("write", map[string]any{"path": "a.txt", "content": "alpha\ngamma\n"})},
			{call("code_mode", map[string]any{"code": `tools.call("list_files", {path: "."}); return tools.call("write", {path: "b.txt", content: "b\n"}).success`})}, {{Text: "Edited."}}}, false, localagent.OutcomeCompleted},
		{"failing tools", "fail", [][]model.Step{{call("no_such_tool", map[string]any{})}, {call("read", map[string]any{"paths": []string{"missing"}})}, {{Text: "recovered"}}}, false, localagent.OutcomeCompleted},
		{"reasoning", "think", [][]model.Step{{{Reason: "Weighing it."}, {Text: "The answer."}}}, false, localagent.OutcomeCompleted},
		{"escapes", "quote \"\\\n\u2028é", [][]model.Step{{{Text: "line\n\"quoted\" \\ \u2028 é \U0001f600"}}}, false, localagent.OutcomeCompleted},
		{"long reply", "long", [][]model.Step{{{Text: strings.Repeat("a long line with words\n", 2000)}}}, false, localagent.OutcomeCompleted},
		{"provider error", "break", [][]model.Step{{{Status: 400}}}, false, localagent.OutcomeFailed},
		{"cancelled", "stop me", [][]model.Step{{{Text: "partial reply that goes on, "}, {Text: "and on. "}, {Hang: true}}}, true, localagent.OutcomeCancelled},
		{"empty reply", "nothing", [][]model.Step{{}}, false, localagent.OutcomeCompleted},
	}
}

func main() {
	ours := flag.String("ours", "bin/magi-code", "this program")
	other := flag.String("other", "", "the other program")
	flag.Parse()
	if *other == "" {
		fmt.Fprintln(os.Stderr, "twoway: -other names the program to hold ours against")
		os.Exit(2)
	}
	failed := 0
	for _, pair := range [][2]string{{*ours, *other}, {*other, *ours}} {
		for _, sc := range scenarios() {
			err := exchange(pair[0], pair[1], sc)
			verdict := "same"
			if err != nil {
				verdict = err.Error()
				failed++
			}
			fmt.Printf("%-16s written by %-10s opened by %-10s %s\n", sc.name, label(pair[0], *ours), label(pair[1], *ours), verdict)
		}
	}
	if failed > 0 {
		fmt.Printf("%d differ\n", failed)
		os.Exit(1)
	}
}

func label(path, ours string) string {
	if path == ours {
		return "ours"
	}
	return "the other"
}

// limit bounds one exchange.
const limit = time.Minute

// exchange lets writer run a turn, reader open it and run another, and writer
// open the result.
func exchange(writer, reader string, sc scenario) (err error) {
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	defer cancel()
	m, err := model.Start()
	if err != nil {
		return err
	}
	defer m.Close()
	home, err := newHome(m.BaseURL())
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(home.root)) }()

	m.Load(sc.script...)
	id, before, err := home.turn(ctx, writer, "", sc.prompt, sc.cancel, sc.want)
	if err != nil {
		return fmt.Errorf("the writer: %w", err)
	}
	after, err := home.history(ctx, reader, id)
	if err != nil {
		return fmt.Errorf("the reader: %w", err)
	}
	if d := difference(before, after); d != "" {
		return fmt.Errorf("the history differs: %s", d)
	}
	m.Load([]model.Step{{Text: "and another answer"}})
	if _, before, err = home.turn(ctx, reader, id, "go on", false, localagent.OutcomeCompleted); err != nil {
		return fmt.Errorf("the reader going on: %w", err)
	}
	if after, err = home.history(ctx, writer, id); err != nil {
		return fmt.Errorf("the writer opening it again: %w", err)
	}
	if d := difference(before, after); d != "" {
		return fmt.Errorf("the history differs after the reader's turn: %s", d)
	}
	return nil
}

// difference compares what a user sees.
func difference(a, b []client.HistoryMessage) string {
	if len(a) != len(b) {
		return fmt.Sprintf("%d entries and %d: %s | %s", len(a), len(b), kinds(a), kinds(b))
	}
	for i := range a {
		if a[i].Kind != b[i].Kind || a[i].Text != b[i].Text || a[i].Partial != b[i].Partial {
			at := 0
			for at < min(len(a[i].Text), len(b[i].Text)) && a[i].Text[at] == b[i].Text[at] {
				at++
			}
			at = max(0, at-20)
			return fmt.Sprintf("entry %d from byte %d: %s %.80q %v, then %s %.80q %v", i, at, a[i].Kind, a[i].Text[at:], a[i].Partial, b[i].Kind, b[i].Text[at:], b[i].Partial)
		}
	}
	return ""
}

func kinds(m []client.HistoryMessage) string {
	var out []string
	for _, e := range m {
		out = append(out, fmt.Sprintf("%s %.40q", e.Kind, e.Text))
	}
	return strings.Join(out, ", ")
}

type home struct{ root, mc, work string }

func newHome(baseURL string) (home, error) {
	root, err := os.MkdirTemp("", "magi-code-twoway-")
	if err != nil {
		return home{}, err
	}
	if root, err = filepath.EvalSymlinks(root); err != nil {
		return home{}, err
	}
	h := home{root: root, mc: filepath.Join(root, "home"), work: filepath.Join(root, "work")}
	settings := map[string]any{"schema_version": 2,
		"agent":     map[string]any{"model": map[string]any{"provider": "fixture", "model": "fixture-model"}},
		"providers": map[string]any{"custom": map[string]any{"fixture": map[string]any{"label": "Fixture", "base_url": baseURL}}}}
	b, err := json.MarshalIndent(settings, "", "  ")
	return h, errors.Join(err, os.Mkdir(h.mc, 0o700), os.Mkdir(h.work, 0o755), os.WriteFile(filepath.Join(h.mc, "settings.json"), b, 0o600))
}

// with runs f against a child that is initialized.
func (h home) with(ctx context.Context, program string, f func(*client.Child) error) (err error) {
	path, err := filepath.Abs(program)
	if err != nil {
		return err
	}
	child, err := client.Start(client.Options{Path: path, Dir: h.work, Env: append(os.Environ(), "MC_HOME="+h.mc, "HOME="+h.root, "NO_PROXY=127.0.0.1")})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, child.Close()) }()
	if _, err := child.Initialize(ctx); err != nil {
		return fmt.Errorf("initialize: %w", err)
	}
	return f(child)
}

// attach creates a session, or opens the one that is named.
func attach(ctx context.Context, c *client.Child, id string) (client.Session, error) {
	if id == "" {
		return c.CreateSession(ctx)
	}
	return c.OpenSession(ctx, id)
}

func (h home) turn(ctx context.Context, program, id, prompt string, cancel bool, want string) (session string, seen []client.HistoryMessage, err error) {
	err = h.with(ctx, program, func(c *client.Child) error {
		s, err := attach(ctx, c, id)
		if err != nil {
			return fmt.Errorf("attach: %w", err)
		}
		session = s.SessionID
		run, err := c.StartTurn(ctx, s.SessionID, prompt)
		if err != nil {
			return fmt.Errorf("turn.start: %w", err)
		}
		for run.Finished == nil {
			ev, ok := <-c.Events()
			if !ok {
				return fmt.Errorf("the child ended: %w", c.Err())
			}
			if err := run.Apply(ev); err != nil {
				return err
			}
			if cancel && ev.Name == localagent.EventMessageDelta {
				cancel = false
				if err := c.CancelTurn(ctx, run.SessionID, run.ID); err != nil {
					return fmt.Errorf("turn.cancel: %w", err)
				}
			}
		}
		if run.Finished.Outcome != want || run.Finished.Revision == nil {
			return fmt.Errorf("the run %s, wanted %s", run.Finished.Outcome, want)
		}
		seen, _, err = c.History(ctx, s.SessionID, *run.Finished.Revision)
		return err
	})
	return session, seen, err
}

func (h home) history(ctx context.Context, program, id string) (seen []client.HistoryMessage, err error) {
	err = h.with(ctx, program, func(c *client.Child) error {
		s, err := c.OpenSession(ctx, id)
		if err != nil {
			return fmt.Errorf("session.open: %w", err)
		}
		seen, _, err = c.History(ctx, id, s.Revision)
		return err
	})
	return seen, err
}
