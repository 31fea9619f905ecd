package demo

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"magicode/pkg/client"
	"magicode/pkg/localagent"
)

// Options of one demo.
type Options struct {
	Executable string // absolute path of this program
	Frames     bool   // print the wire instead of the transcript
	Out        io.Writer
}

// Prompt is what the demo's user asks.
const Prompt = "Please leave a greeting in this folder."

// limit bounds the whole demo; it takes about a second.
const limit = 60 * time.Second

// ErrTurn: the turn did not end completed and durable. The transcript says why.
var ErrTurn = errors.New("the turn did not complete")

// Run runs the demo. Its error is ErrTurn, or says what kept the demo from running.
func Run(ctx context.Context, o Options) (err error) {
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	m, err := startModel()
	if err != nil {
		return err
	}
	defer m.Close()
	return runWith(ctx, o, m.baseURL(), nil)
}

// runWith runs the demo against a model at baseURL. seen, if not nil, is told
// of every event; tests use it to interfere.
func runWith(ctx context.Context, o Options, baseURL string, seen func(client.Event)) (err error) {
	place, err := newPlace(baseURL)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, place.remove()) }()
	t := &transcript{out: o.Out, quiet: o.Frames}
	opt := client.Options{Path: o.Executable, Dir: place.work, Env: place.env()}
	if o.Frames {
		opt.Trace = t.frame
	}
	child, err := client.Start(opt)
	if err != nil {
		return err
	}
	defer func() {
		exit := child.Close()
		t.exited(exit)
		if err == nil && exit != nil {
			err = fmt.Errorf("the agent's exit: %w", exit)
		}
	}()
	t.started(child.Pid())
	s := &session{child: child, t: t, seen: seen}
	return s.play(ctx)
}

// session is the host's side of the conversation.
type session struct {
	child *client.Child
	t     *transcript
	seen  func(client.Event)
}

func (s *session) play(ctx context.Context) error {
	ready, err := s.child.Initialize(ctx, localagent.MethodStatus, localagent.MethodTurnStart, localagent.MethodHistoryPage, localagent.MethodApprovalAnswer)
	if err != nil {
		return fmt.Errorf("initialize: %w", err)
	}
	s.t.ready(ready)
	created, err := s.child.CreateSession(ctx)
	if err != nil {
		return fmt.Errorf("session.create: %w", err)
	}
	s.t.session(created)
	run, err := s.child.StartTurn(ctx, created.SessionID, Prompt)
	if err != nil {
		return fmt.Errorf("turn.start: %w", err)
	}
	s.t.prompt(Prompt)
	if err := s.follow(ctx, run); err != nil {
		return err
	}
	if rev := run.Finished.Revision; rev != nil {
		messages, complete, err := s.child.History(ctx, created.SessionID, *rev)
		if err != nil {
			return fmt.Errorf("history.page: %w", err)
		}
		s.t.history(messages, complete)
	}
	if err := s.child.Shutdown(ctx); err != nil {
		return fmt.Errorf("shutdown: %w", err)
	}
	if run.Finished.Outcome != localagent.OutcomeCompleted || run.Finished.Persistence != localagent.PersistenceDurable {
		return ErrTurn
	}
	return nil
}

// follow applies events until the run is finished and allows the one command
// that the demo's model asks for.
func (s *session) follow(ctx context.Context, run *client.Run) error {
	for run.Finished == nil {
		select {
		case ev, ok := <-s.child.Events():
			if !ok {
				return fmt.Errorf("the agent ended before the turn did: %w", s.child.Err())
			}
			if err := run.Apply(ev); err != nil {
				return err
			}
			s.t.event(run, ev)
			if s.seen != nil {
				s.seen(ev)
			}
			if ev.Name == localagent.EventApprovalRequested {
				if err := s.child.AnswerApproval(ctx, run.SessionID, run.ID, ev.ApprovalID, true); err != nil {
					return fmt.Errorf("approval.answer: %w", err)
				}
				s.t.allowed()
			}
		case <-ctx.Done():
			return fmt.Errorf("the turn did not end in time: %w", context.Cause(ctx))
		}
	}
	return nil
}

// place is the demo's temporary home and workspace.
type place struct{ root, home, work string }

func newPlace(baseURL string) (place, error) {
	root, err := os.MkdirTemp("", "magi-code-demo-")
	if err != nil {
		return place{}, fmt.Errorf("make a temporary folder: %v", err)
	}
	p := place{root: root, home: filepath.Join(root, "home"), work: filepath.Join(root, "work")}
	settings := map[string]any{
		"schema_version": 2,
		"agent":          map[string]any{"model": map[string]any{"provider": providerID, "model": modelName}},
		"providers": map[string]any{"custom": map[string]any{providerID: map[string]any{
			"label": "Offline demo model", "base_url": baseURL, "use_responses_endpoint": false}}},
		// The strictest level: the demo shows an approval.
		"capabilities": map[string]any{"approvals": map[string]any{"level": "strict"}},
	}
	text, err := json.Marshal(settings, json.Deterministic(true), jsontext.WithIndent("  "))
	if err == nil {
		err = errors.Join(os.Mkdir(p.home, 0o700), os.Mkdir(p.work, 0o755))
	}
	if err == nil {
		err = errors.Join(os.WriteFile(filepath.Join(p.home, "settings.json"), text, 0o600),
			os.WriteFile(filepath.Join(p.work, "README.txt"), []byte("A folder for the magi-code demo.\n"), 0o644))
	}
	if err != nil {
		return place{}, errors.Join(fmt.Errorf("prepare the demo's home: %v", err), p.remove())
	}
	return p, nil
}

func (p place) remove() error { return os.RemoveAll(p.root) }

// env is this process's environment with the demo's home, without anything that
// would send the loopback request elsewhere.
func (p place) env() []string {
	return append(os.Environ(), "MC_HOME="+p.home, "HOME="+p.root, "MC_PROVIDER="+providerID, "MC_MODEL="+modelName,
		"NO_PROXY=127.0.0.1,localhost", "no_proxy=127.0.0.1,localhost", "MC_TELEMETRY=off")
}
