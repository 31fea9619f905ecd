package torture

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"magicode/bench/model"
	"magicode/internal/app"
	"magicode/pkg/client"
	"magicode/pkg/localagent"
)

// asProgram makes the test binary the program itself.
const asProgram = "MAGI_CODE_TEST_AS_PROGRAM"

// killsVariable is how many children `make torture` kills.
const killsVariable = "MAGI_CODE_TORTURE_KILLS"

func TestMain(m *testing.M) {
	if os.Getenv(asProgram) != "" {
		os.Exit(app.Main(os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
	}
	os.Exit(m.Run())
}

// kills of the short form, and how many homes are used at once.
const (
	shortKills = 12
	homes      = 4
	longest    = 2600 * time.Millisecond // of a turn, from its start to its kill
	stored     = time.Second             // what a host has seen for as long is in the file
	pulse      = 5 * time.Millisecond
)

func TestKilledChildren(t *testing.T) {
	kills := shortKills
	if n, err := strconv.Atoi(os.Getenv(killsVariable)); err == nil {
		kills = n
	}
	t.Setenv(asProgram, "1")
	jobs := make(chan int)
	var wg sync.WaitGroup
	var mu sync.Mutex
	counts := map[string]int{}
	for h := range homes {
		wg.Go(func() {
			v := newVictim(t, uint64(h))
			defer v.model.Close()
			for range jobs {
				what := v.kill(t)
				mu.Lock()
				counts[what]++
				mu.Unlock()
			}
		})
	}
	for i := range kills {
		jobs <- i
	}
	close(jobs)
	wg.Wait()
	t.Logf("%d children killed: %v; nothing that was acknowledged was lost", kills, counts)
}

// victim is one home whose one session is used by child after child.
type victim struct {
	rng        *rand.Rand
	model      *model.Server
	mc, work   string
	exe        string
	session    string   // "" until its first input was acknowledged
	prompts    []string // acknowledged, in order
	answers    []string // of runs that were durably completed
	turnNumber int
}

func newVictim(t *testing.T, seed uint64) *victim {
	m, err := model.Start()
	if err != nil {
		t.Fatal(err)
	}
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	root := t.TempDir()
	v := &victim{rng: rand.New(rand.NewPCG(seed, 1)), model: m, mc: filepath.Join(root, "home"), work: filepath.Join(root, "work"), exe: exe}
	settings := map[string]any{"schema_version": 2,
		"agent":     map[string]any{"model": map[string]any{"provider": "fixture", "model": "fixture-model"}},
		"providers": map[string]any{"custom": map[string]any{"fixture": map[string]any{"label": "Fixture", "base_url": m.BaseURL()}}}}
	b, err := json.Marshal(settings)
	if err = errors.Join(err, os.Mkdir(v.mc, 0o700), os.Mkdir(v.work, 0o755), os.WriteFile(filepath.Join(v.mc, "settings.json"), b, 0o600)); err != nil {
		t.Fatal(err)
	}
	return v
}

// script is a turn of about two and a half seconds: text, tools, slow text.
func (v *victim) script(n int) [][]model.Step {
	tag := fmt.Sprintf("t%d", n)
	var slow []model.Step
	for i := range 40 {
		slow = append(slow, model.Step{Text: fmt.Sprintf("%s-word%d and some more. ", tag, i)}, model.Step{Wait: 40 * time.Millisecond})
	}
	return [][]model.Step{
		{{Text: tag + " begins. "}, {Tool: "write", Args: map[string]any{"path": tag + ".txt", "content": "x"}}},
		{{Tool: "bash", Args: map[string]any{"command": "sleep 0.1; echo " + tag, "intent": "x"}}, {Tool: "list_files", Args: map[string]any{"path": "."}}},
		append(slow, model.Step{Text: tag + " ends."}),
	}
}

// seen is what a host had of a run when its child died.
type seen struct {
	persisted bool
	finished  *client.Event
	deltas    map[string]string // by message, what came long enough before the kill
	order     []string
}

// kill runs one turn, kills its child at a random moment and checks the session
// with a new child. It returns where the run was.
func (v *victim) kill(t *testing.T) string {
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	v.turnNumber++
	v.model.Load(v.script(v.turnNumber)...)
	prompt := fmt.Sprintf("prompt number %d", v.turnNumber)
	session, s, err := v.killed(ctx, prompt, time.Duration(v.rng.Int64N(int64(longest))))
	if err != nil {
		t.Errorf("turn %d: %v", v.turnNumber, err)
		return "error"
	}
	if s.persisted {
		v.session = session
		v.prompts = append(v.prompts, prompt)
	}
	if v.session == "" {
		return "before the input was stored"
	}
	if err := v.check(ctx, s); err != nil {
		t.Errorf("turn %d, persisted %v, finished %v: %v", v.turnNumber, s.persisted, s.finished != nil, err)
	}
	switch {
	case s.finished != nil:
		return "after its end"
	case len(s.order) > 0:
		return "while text was shown"
	case s.persisted:
		return "after the input was stored"
	}
	return "in a session that was there"
}

func (v *victim) start() (*client.Child, error) {
	return client.Start(client.Options{Path: v.exe, Dir: v.work, Env: append(os.Environ(), "MC_HOME="+v.mc, "NO_PROXY=127.0.0.1")})
}

func (v *victim) attach(ctx context.Context, c *client.Child) (client.Session, error) {
	if _, err := c.Initialize(ctx); err != nil {
		return client.Session{}, fmt.Errorf("initialize: %w", err)
	}
	if v.session == "" {
		return c.CreateSession(ctx)
	}
	return c.OpenSession(ctx, v.session)
}

// killed runs a turn in a child that is killed after a while.
func (v *victim) killed(ctx context.Context, prompt string, after time.Duration) (session string, s seen, err error) {
	c, err := v.start()
	if err != nil {
		return "", s, err
	}
	defer c.Close()
	at, err := v.attach(ctx, c)
	if err != nil {
		return "", s, fmt.Errorf("attach: %w", err)
	}
	run, err := c.StartTurn(ctx, at.SessionID, prompt)
	if err != nil {
		return "", s, fmt.Errorf("turn.start: %w", err)
	}
	moment := time.Now().Add(after)
	timer := time.AfterFunc(after, func() {
		if p, err := os.FindProcess(c.Pid()); err == nil {
			_ = p.Kill()
		}
	})
	defer timer.Stop()
	stalled := stalls(ctx) // one that is left by an error ends with ctx
	type piece struct {
		event client.Event
		at    time.Time
	}
	var pieces []piece
	for ev := range c.Events() {
		if err := run.Apply(ev); err != nil {
			return "", s, err
		}
		if ev.Name == localagent.EventMessageDelta {
			pieces = append(pieces, piece{ev, time.Now()})
		}
		if run.Finished != nil {
			break
		}
	}
	s.deltas = map[string]string{}
	// The child may have been kept waiting as long as this process was.
	last := moment.Add(-stored - stalled())
	for _, x := range pieces {
		if x.at.After(last) {
			break
		}
		if _, known := s.deltas[x.event.MessageID]; !known {
			s.order = append(s.order, x.event.MessageID)
		}
		s.deltas[x.event.MessageID] += x.event.Text
	}
	s.persisted, s.finished = run.Persisted, run.Finished
	if f := run.Finished; f != nil && f.Outcome == localagent.OutcomeCompleted && f.Persistence == localagent.PersistenceDurable {
		for _, m := range run.Messages {
			text, _ := m.Text()
			v.answers = append(v.answers, text)
		}
	}
	return at.SessionID, s, nil
}

// stalls looks at how long the machine keeps a goroutine waiting that wants to run.
// What it returns ends that and tells how long it was in all.
func stalls(ctx context.Context) func() time.Duration {
	ctx, cancel := context.WithCancel(ctx)
	all := make(chan time.Duration, 1)
	go func() {
		lost := time.Duration(0)
		for ctx.Err() == nil {
			from := time.Now()
			time.Sleep(pulse)
			lost += max(0, time.Since(from)-2*pulse)
		}
		all <- lost
	}()
	return func() time.Duration {
		cancel()
		return <-all
	}
}

// check opens the session in a new child and looks for everything it owes.
func (v *victim) check(ctx context.Context, s seen) error {
	c, err := v.start()
	if err != nil {
		return err
	}
	defer c.Close()
	at, err := v.attach(ctx, c)
	if err != nil {
		return fmt.Errorf("the session does not open: %w", err)
	}
	history, _, err := c.History(ctx, at.SessionID, at.Revision)
	if err != nil {
		return fmt.Errorf("history: %w", err)
	}
	var prompts []string
	var text strings.Builder
	for _, e := range history {
		switch e.Kind {
		case localagent.EntryUser:
			prompts = append(prompts, e.Text)
		case localagent.EntryAssistant:
			text.WriteString(e.Text + "\x00")
		}
	}
	missing := 0
	for _, p := range prompts { // a stored prompt may not have been acknowledged; an acknowledged one must be stored
		if missing < len(v.prompts) && p == v.prompts[missing] {
			missing++
		}
	}
	if missing < len(v.prompts) {
		return fmt.Errorf("the acknowledged prompt %q is not in the history", v.prompts[missing])
	}
	for _, a := range v.answers {
		if !strings.Contains(text.String(), a) {
			return fmt.Errorf("the durable answer %.60q is not in the history", a)
		}
	}
	for _, id := range s.order {
		if !strings.Contains(text.String(), s.deltas[id]) {
			return fmt.Errorf("text seen long before the kill is not in the history: %.200q", s.deltas[id])
		}
	}
	return nil
}
