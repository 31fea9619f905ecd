package observed

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"magicode/pkg/client"
	"magicode/pkg/localagent"
)

// plan is what happens in one run: each step is a request to the model.
type plan struct {
	Steps  []string // "text", "burst", "read", "bash", "refuse", "hang"
	Chunks int      // of text in each answer
	Answer string   // to approvals: allow, deny or cancel
}

func randomPlan(r *rand.Rand) plan {
	p := plan{Chunks: r.IntN(40), Answer: []string{"allow", "allow", "deny", "cancel"}[r.IntN(4)]}
	for range r.IntN(4) {
		p.Steps = append(p.Steps, []string{"read", "read", "bash"}[r.IntN(3)])
	}
	p.Steps = append(p.Steps, []string{"text", "text", "text", "burst", "refuse", "hang"}[r.IntN(6)])
	return p
}

// planned is the model: it finds the plan in the last prompt, and the step in
// the number of tool results behind it.
func planned(rw http.ResponseWriter, r *http.Request) {
	var req struct {
		Messages []struct {
			Role    string
			Content any
		}
	}
	_ = json.NewDecoder(r.Body).Decode(&req)
	var p plan
	step := 0
	for _, m := range req.Messages {
		text, _ := m.Content.(string)
		if _, spec, ok := strings.Cut(text, "plan "); ok && m.Role == "user" {
			p = plan{}
			_ = json.NewDecoder(strings.NewReader(spec)).Decode(&p) // other words may follow
			step = 0
		}
		if m.Role == "tool" {
			step++
		}
	}
	what := "text"
	if step < len(p.Steps) {
		what = p.Steps[step]
	}
	if what == "refuse" {
		http.Error(rw, `{"error":{"message":"no"}}`, http.StatusBadRequest)
		return
	}
	a := &answer{rw: rw}
	rw.Header().Set("Content-Type", "text/event-stream")
	a.say(p, what)
	switch what {
	case "hang":
		<-r.Context().Done()
		return
	case "read":
		a.call("read", map[string]any{"path": canaryFile + ".txt"})
	case "look":
		a.call("mcp__notes__look", map[string]any{})
	case canaryTool:
		a.call("mcp__"+canaryServer+"__"+canaryTool, map[string]any{"path": canaryArgument})
	case "delegate":
		a.call("subagents", map[string]any{"tasks": []any{map[string]any{"intent": `plan {"Steps":["sub"]}`}}})
	case canaryProfile:
		a.call("subagents", map[string]any{"tasks": []any{map[string]any{"intent": `plan {"Steps":["sub"]}`, "agent": canaryProfile, "identity": canaryProfile}}})
	case "split": // a word in two pieces
		a.chunk(map[string]any{"content": canaryReply[:len(canaryReply)/2]}, nil)
		_ = http.NewResponseController(rw).Flush()
		a.chunk(map[string]any{"content": canaryReply[len(canaryReply)/2:]}, nil)
		a.chunk(map[string]any{}, "stop")
	case "bash":
		a.call("bash", map[string]any{"command": "touch made", "intent": "make a file"})
	default:
		a.chunk(map[string]any{}, "stop")
	}
	fmt.Fprint(rw, `data: {"id":"x","choices":[],"usage":{"prompt_tokens":40,"completion_tokens":12,"total_tokens":52}}`+"\n\ndata: [DONE]\n\n")
}

type answer struct{ rw http.ResponseWriter }

func (a *answer) chunk(delta map[string]any, finish any) {
	b, _ := json.Marshal(map[string]any{"id": "x", "object": "chat.completion.chunk", "model": canaryAnswering,
		"choices": []any{map[string]any{"index": 0, "delta": delta, "finish_reason": finish}}})
	fmt.Fprintf(a.rw, "data: %s\n\n", b)
}

func (a *answer) say(p plan, what string) {
	text, flush := fmt.Sprintf("step %s ", what), http.NewResponseController(a.rw)
	chunks := p.Chunks
	if what == "burst" {
		text, chunks = strings.Repeat("word ", 120), 400
	}
	if what == "hang" {
		chunks = max(chunks, 1) // the driver cancels at the first
	}
	for range chunks {
		a.chunk(map[string]any{"content": text}, nil)
		_ = flush.Flush()
		if what == "burst" {
			time.Sleep(200 * time.Microsecond) // not all in one read of the child's
		}
	}
}

func (a *answer) call(name string, args map[string]any) {
	text, _ := json.Marshal(args)
	a.chunk(map[string]any{"tool_calls": []any{map[string]any{"index": 0, "id": fmt.Sprintf("call_%d", rand.Int64()), "type": "function",
		"function": map[string]any{"name": name, "arguments": string(text)}}}}, nil)
	a.chunk(map[string]any{}, "tool_calls")
}

// sluggish lets the child's output pile up: it stops for a while in the middle
// of a burst.
type sluggish struct {
	r    io.Reader
	stop atomic.Bool // at the next burst
}

func (s *sluggish) Read(b []byte) (int, error) {
	n, err := s.r.Read(b)
	if bytes.Contains(b[:n], []byte("word word")) && s.stop.Swap(false) {
		time.Sleep(300 * time.Millisecond)
	}
	return n, err
}

// randomRuns holds a conversation of n random runs in one child and returns both
// tallies, and what does not fit in the capture itself. nil: the capture is not
// whole, because the machine was too busy for the child's last 50 ms.
func randomRuns(t *testing.T, program string, seed uint64, n int) (stream, capture *tally, odd []string) {
	t.Helper()
	r := rand.New(rand.NewPCG(seed, 8))
	w := newWorld(t)
	w.program = program
	model := httptest.NewServer(http.HandlerFunc(planned))
	defer model.Close()
	w.settings["providers"].(map[string]any)["custom"].(map[string]any)[canaryProvider].(map[string]any)["base_url"] = model.URL + "/v1"
	slow := new(sluggish)
	w.slow = func(r io.Reader) io.Reader { slow.r = r; return slow }
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	c := w.start(t, "MC_TELEMETRY=file", "MC_TELEMETRY_METRICS_INTERVAL_S=5")
	if _, err := c.Initialize(ctx, client.AllCapabilities()...); err != nil {
		t.Fatal(err)
	}
	session, err := c.CreateSession(ctx)
	if err != nil {
		t.Fatal(err)
	}
	for i := range n {
		p := randomPlan(r)
		if answers := []string{"allow", "deny", "cancel"}; i < len(answers) { // each is among any few runs
			p.Steps, p.Answer = []string{"bash", "burst"}, answers[i]
		}
		slow.stop.Store(i == 0 || r.IntN(2) == 0)
		if err := p.drive(ctx, c, session.SessionID); err != nil {
			t.Fatalf("%+v: %v", p, err)
		}
	}
	if err := c.Shutdown(ctx); err != nil {
		t.Fatal(err)
	}
	said := c.end(t)
	if said.stderr != "" || said.exit != 0 {
		t.Fatalf("exit %d, stderr %q", said.exit, said.stderr)
	}
	whole := readCapture(t, w)
	if whole == nil {
		return nil, nil, nil
	}
	s := fromFrames(t, c.sent, said.frames)
	e, odd := fromCapture(whole)
	return &s, &e, odd
}

var errEnded = errors.New("the child ended")

// drive sees one run to its end.
func (p plan) drive(ctx context.Context, c *child, session string) error {
	spec, _ := json.Marshal(p)
	run, err := c.StartTurn(ctx, session, "plan "+string(spec))
	if err != nil {
		return err
	}
	for cancelled := false; run.Finished == nil; {
		ev, ok := <-c.Events()
		if !ok {
			return errEnded
		}
		if err := run.Apply(ev); err != nil {
			return err
		}
		cancelNow := ev.Name == localagent.EventMessageDelta && strings.Contains(ev.Text, "step hang")
		if ev.Name == localagent.EventApprovalRequested {
			if p.Answer != "cancel" {
				err = c.AnswerApproval(ctx, session, run.ID, ev.ApprovalID, p.Answer == "allow")
			}
			cancelNow = p.Answer == "cancel"
		}
		if cancelNow && !cancelled && err == nil {
			cancelled = true
			err = c.CancelTurn(ctx, session, run.ID)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

const runsPerChild = 10

// TestCaptureTellsTheStream: from a capture alone comes what the frames say, for
// 20 random runs; 200 in make torture.
func TestCaptureTellsTheStream(t *testing.T) {
	children := 2
	if os.Getenv("MAGI_TORTURE") != "" {
		children = 20
	}
	seen := map[string]int{}
	for seed := range uint64(children) {
		stream, capture, odd := randomRuns(t, "", seed, runsPerChild)
		for range 3 {
			if stream == nil {
				stream, capture, odd = randomRuns(t, "", seed, runsPerChild)
			}
		}
		if stream == nil {
			t.Fatal("four captures were not whole")
		}
		if diff := cmp.Diff(stream, capture, cmpopts.IgnoreFields(tally{}, "Merged")); diff != "" || len(odd) > 0 {
			t.Errorf("seed %d: -stream +capture\n%s%s", seed, diff, strings.Join(odd, "\n"))
		}
		if stream.LastSeq < 50 || len(stream.Runs) != runsPerChild {
			t.Errorf("seed %d: nothing much happened: %+v", seed, stream)
		}
		seen["deltas that were frames"] += stream.Deltas
		seen["deltas merged"] += capture.Merged
		seen["messages with dropped text"] += map[bool]int{true: 1}[stream.Dropped]
		for k, n := range stream.Outcomes {
			seen["run "+k] += n
		}
		for k, n := range stream.Approvals {
			seen["approval "+k] += n
		}
	}
	t.Logf("%d runs: %v", children*runsPerChild, seen)
	for _, want := range []string{"run completed", "run failed", "run cancelled", "approval allow", "approval deny", "approval cancelled"} {
		if seen[want] == 0 {
			t.Errorf("there was no %s among the runs", want)
		}
	}
}

// TestCheckerFindsAMissingHook builds the program with one hook taken out, in
// turn, and wants the checker to notice each: in make torture, as it compiles.
func TestCheckerFindsAMissingHook(t *testing.T) {
	if os.Getenv("MAGI_TORTURE") == "" {
		t.Skip("builds the program several times; MAGI_TORTURE=1")
	}
	for name, cut := range map[string]struct{ file, line string }{
		"frames out":       {"telemetry/hot.go", "\tc.hot.framesOut[kind].Add(1)\n"},
		"deltas queued":    {"internal/event/queue.go", "\tq.push(Item{delta: d})\n\tq.tel.DeltaQueued()\n"},
		"run outcome":      {"internal/server/observe.go", "\tspan.Str(telemetry.KeyRunOutcome, telemetry.WordOf(f.Outcome))\n"},
		"run id":           {"internal/server/observe.go", "\tspan.Name(telemetry.KeyRunHash, telemetry.WireID(r.id))\n"},
		"approval outcome": {"internal/approval/broker.go", "\t\tspan.Str(telemetry.KeyApprovalOutcome, telemetry.WordOf(outcomeWord(ctx, answer, err)))\n"},
	} {
		t.Run(name, func(t *testing.T) {
			program := without(t, cut.file, cut.line)
			for range 4 {
				stream, capture, odd := randomRuns(t, program, 1, runsPerChild)
				if stream == nil {
					continue
				}
				if cmp.Equal(stream, capture, cmpopts.IgnoreFields(tally{}, "Merged")) && len(odd) == 0 {
					t.Error("the checker did not notice")
				}
				return
			}
			t.Fatal("no capture was whole")
		})
	}
}

// without builds the program with a piece of a file taken out.
func without(t *testing.T, file, piece string) string {
	t.Helper()
	root, err := filepath.Abs("../../..")
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(filepath.Join(root, file))
	if err != nil {
		t.Fatal(err)
	}
	kept := strings.TrimSuffix(strings.TrimPrefix(piece, "\tq.push(Item{delta: d})\n"), "") // the hook is its last line
	if strings.Count(string(text), piece) != 1 {
		t.Fatalf("%s has %q %d times", file, piece, strings.Count(string(text), piece))
	}
	changed := strings.Replace(string(text), piece, strings.TrimSuffix(piece, kept), 1)
	dir := t.TempDir()
	write(t, filepath.Join(dir, "changed.go"), changed)
	overlay, _ := json.Marshal(map[string]any{"Replace": map[string]string{filepath.Join(root, file): filepath.Join(dir, "changed.go")}})
	write(t, filepath.Join(dir, "overlay.json"), string(overlay))
	program := filepath.Join(dir, "magi-code")
	cmd := exec.Command("go", "build", "-overlay", filepath.Join(dir, "overlay.json"), "-o", program, "./cmd/magi-code")
	cmd.Dir = root
	cmd.Env = append(os.Environ(), "HOME="+home)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("build: %v: %s", err, out)
	}
	return program
}
