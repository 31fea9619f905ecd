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
	"sync"
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
	Steps  []string // "text", "burst", "flood", "read", "bash", "refuse", "hang"
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
	rw.Header().Set("X-Request-Id", canaryResponse)
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
	case "reason":
		a.chunk(map[string]any{"reasoning_content": canaryThought + " " + canaryThought}, nil)
		a.call("read", map[string]any{"path": canaryArgument})
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
	b, _ := json.Marshal(map[string]any{"id": canaryResponse, "object": "chat.completion.chunk", "model": canaryAnswering,
		"choices": []any{map[string]any{"index": 0, "delta": delta, "finish_reason": finish}}})
	fmt.Fprintf(a.rw, "data: %s\n\n", b)
}

// The pieces that a burst and a flood come in: of the one six fit in a delta, the
// other fills one.
var (
	burstPiece = strings.Repeat("word ", 120)
	floodPiece = strings.Repeat("flow ", localagent.MaxLiveTextBytes/5)
)

func (a *answer) say(p plan, what string) {
	text, flush := fmt.Sprintf("step %s ", what), http.NewResponseController(a.rw)
	chunks := p.Chunks
	switch what {
	case "burst":
		text, chunks = burstPiece, 250
	case "flood": // more than all queues hold while the host does not read
		text, chunks = floodPiece, 150
	case "hang":
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
// of a burst or a flood.
type sluggish struct {
	r    io.Reader
	stop atomic.Bool // at the next one
}

func (s *sluggish) Read(b []byte) (int, error) {
	n, err := s.r.Read(b)
	if (bytes.Contains(b[:n], []byte("word word")) || bytes.Contains(b[:n], []byte("flow flow"))) && s.stop.Swap(false) {
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
		last := i == n-1
		if last { // what came after so much text would begin with a compaction
			p.Steps = []string{"flood"}
		}
		slow.stop.Store(i == 0 || last || r.IntN(2) == 0)
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
	if e.Merged == 0 { // the host stopped in the first burst
		odd = append(odd, "no deltas were merged")
	}
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

// noFrame leaves out what no frame tells: it is held against the rest of the capture.
var noFrame = cmpopts.IgnoreFields(tally{}, "Merged")

// TestCaptureTellsTheStream: from a capture alone comes what the frames say, for
// 200 random runs in 20 children.
func TestCaptureTellsTheStream(t *testing.T) {
	const children = 20
	var mu sync.Mutex
	seen := map[string]int{}
	t.Run("children", func(t *testing.T) {
		for seed := range uint64(children) {
			t.Run(fmt.Sprint(seed), func(t *testing.T) {
				t.Parallel()
				stream, capture, odd := wholeRuns(t, "", seed)
				if diff := cmp.Diff(stream, capture, noFrame); diff != "" || len(odd) > 0 {
					t.Errorf("-stream +capture\n%s%s", diff, strings.Join(odd, "\n"))
				}
				if stream.LastSeq < 50 || len(stream.Runs) != runsPerChild {
					t.Errorf("nothing much happened: %+v", stream)
				}
				mu.Lock()
				defer mu.Unlock()
				capture.addTo(seen)
			})
		}
	})
	t.Logf("%d runs: %v", children*runsPerChild, seen)
	for _, want := range []string{"run completed", "run failed", "run cancelled", "approval allow", "approval deny", "approval cancelled", "deltas merged", "deltas dropped"} {
		if seen[want] == 0 {
			t.Errorf("there was no %s among the runs", want)
		}
	}
}

// wholeRuns are random runs whose capture is whole.
func wholeRuns(t *testing.T, program string, seed uint64) (stream, capture *tally, odd []string) {
	t.Helper()
	for range 4 {
		if stream, capture, odd = randomRuns(t, program, seed, runsPerChild); stream != nil {
			return stream, capture, odd
		}
	}
	t.Fatal("four captures were not whole")
	return nil, nil, nil
}

// hook is a line of the program that tells telemetry something.
type hook struct{ file, line string }

func hooks() map[string]hook {
	const queue = "internal/event/queue.go"
	return map[string]hook{
		"frames in":        {"telemetry/hot.go", "\tc.hot.framesIn[i].Add(1)\n"},
		"frames out":       {"telemetry/hot.go", "\tc.hot.framesOut[kind].Add(1)\n"},
		"deltas queued":    {queue, "\tq.tel.DeltaQueued()\n"},
		"deltas merged":    {queue, "\tq.tel.DeltaMerged()\n"},
		"deltas dropped":   {"internal/runner/segment.go", "\tt.tel.DeltaDropped() // reconciliation follows at once (decision 31)\n"},
		"run outcome":      {"internal/server/observe.go", "\tspan.Str(telemetry.KeyRunOutcome, telemetry.WordOf(f.Outcome))\n"},
		"run id":           {"internal/server/observe.go", "\tspan.Name(telemetry.KeyRunHash, telemetry.WireID(r.id))\n"},
		"approval outcome": {"internal/approval/broker.go", "\t\tspan.Str(telemetry.KeyApprovalOutcome, telemetry.WordOf(outcomeWord(ctx, answer, err)))\n"},
	}
}

// TestCheckerFindsAMissingHook builds the program with one hook taken out and
// wants the checker to notice: one of them here, as it compiles, and each in turn
// in make torture.
func TestCheckerFindsAMissingHook(t *testing.T) {
	for name, cut := range hooks() {
		if name != "deltas merged" && os.Getenv("MAGI_TORTURE") == "" {
			continue
		}
		t.Run(name, func(t *testing.T) {
			stream, capture, odd := wholeRuns(t, without(t, cut.file, cut.line), 1)
			if cmp.Equal(stream, capture, noFrame) && len(odd) == 0 {
				t.Error("the checker did not notice")
			}
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
	if strings.Count(string(text), piece) != 1 {
		t.Fatalf("%s has %q %d times", file, piece, strings.Count(string(text), piece))
	}
	changed := strings.Replace(string(text), piece, "", 1)
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
