package observed

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"magicode/telemetry/reader"
)

// tally is what a conversation came to: counted from the frames of both
// directions, or recomputed from an exported capture alone.
type tally struct {
	LastSeq   int
	Frames    map[string]int // requests, responses, and events by name
	Outcomes  map[string]int // of runs
	Approvals map[string]int // by outcome
	Deltas    int            // that were frames
	Merged    int            // into others, before they were; no frame tells
	Dropped   int            // messages of which some text came only with its reconciliation
	Runs      []string       // hashes of their ids, in their order
}

// addTo adds what there was to a count of it.
func (s *tally) addTo(seen map[string]int) {
	seen["deltas that were frames"] += s.Deltas
	seen["deltas merged"] += s.Merged
	seen["deltas dropped"] += s.Dropped
	for k, n := range s.Outcomes {
		seen["run "+k] += n
	}
	for k, n := range s.Approvals {
		seen["approval "+k] += n
	}
}

// wireHash is the documented hash of a protocol id.
func wireHash(instance, id string) string {
	sum := sha256.Sum256([]byte("magi-telemetry-1\x00wire\x00" + instance + "\x00" + id))
	return hex.EncodeToString(sum[:])[:12]
}

// message is the text of one message as its deltas and as its reconciliation.
type message struct{ live, whole string }

// fromFrames counts the frames of a connection.
func fromFrames(t *testing.T, sent, received []string) tally {
	t.Helper()
	s := &streamed{tally: tally{Frames: map[string]int{}, Outcomes: map[string]int{}, Approvals: map[string]int{}},
		methods: map[string]request{}, open: map[string]bool{}, messages: map[string]*message{}}
	s.Frames["request"] = len(sent)
	for _, line := range sent {
		var r request
		if err := json.Unmarshal([]byte(line), &r); err != nil {
			t.Fatal(err)
		}
		s.methods[r.ID] = r
	}
	for _, line := range received {
		var f frame
		if err := json.Unmarshal([]byte(line), &f); err != nil {
			t.Fatal(err)
		}
		s.take(&f)
	}
	s.Approvals["cancelled"] += len(s.open)
	for _, m := range s.messages {
		if m.live != m.whole {
			s.Dropped++
		}
	}
	if s.Approvals["cancelled"] == 0 {
		delete(s.Approvals, "cancelled")
	}
	return s.tally
}

type request struct {
	ID, Method string
	Params     struct {
		ApprovalID string `json:"approval_id"`
		Allow      bool
	}
}

type frame struct {
	Seq             int
	Type, Event, ID string
	InstanceID      string `json:"instance_id"`
	Result          *struct {
		RunID    string `json:"run_id"`
		Recorded bool
	}
	Data struct {
		MessageID  string `json:"message_id"`
		ApprovalID string `json:"approval_id"`
		Text       string
		Part       int
		Outcome    string
	}
}

type streamed struct {
	tally
	methods  map[string]request
	open     map[string]bool // approvals without an answer that counted
	messages map[string]*message
}

func (s *streamed) take(f *frame) {
	s.LastSeq = f.Seq
	if f.Type == "response" {
		s.Frames["response"]++
		s.answered(f)
		return
	}
	s.Frames[f.Event]++
	switch f.Event {
	case "message.delta":
		s.Deltas++
		s.message(f).live += f.Data.Text
	case "message.reconcile":
		m := s.message(f)
		if f.Data.Part == 0 {
			m.whole = ""
		}
		m.whole += f.Data.Text
	case "approval.requested":
		s.open[f.Data.ApprovalID] = true
	case "run.finished":
		s.Outcomes[f.Data.Outcome]++
	}
}

func (s *streamed) message(f *frame) *message {
	m := s.messages[f.Data.MessageID]
	if m == nil {
		m = new(message)
		s.messages[f.Data.MessageID] = m
	}
	return m
}

func (s *streamed) answered(f *frame) {
	r := s.methods[f.ID]
	if f.Result == nil {
		return
	}
	switch r.Method {
	case "turn.start":
		s.Runs = append(s.Runs, wireHash(f.InstanceID, f.Result.RunID))
	case "approval.answer":
		if !f.Result.Recorded {
			return
		}
		delete(s.open, r.Params.ApprovalID)
		if r.Params.Allow {
			s.Approvals["allow"]++
		} else {
			s.Approvals["deny"]++
		}
	}
}

// fromCapture recomputes the same from a capture: nothing else is asked. What can
// be counted in two ways, by a metric and by spans, must come out alike.
func fromCapture(c *reader.Capture) (tally, []string) {
	e := tally{Frames: map[string]int{}, Outcomes: map[string]int{}, Approvals: map[string]int{}}
	var odd []string
	must := func(what string, a, b int) {
		if a != b {
			odd = append(odd, fmt.Sprintf("%s: %d by one count, %d by another", what, a, b))
		}
	}
	e.LastSeq = int(c.Total("magi.frames", "magi.direction", "out"))
	e.Frames["request"] = int(c.Total("magi.frames", "magi.direction", "in"))
	e.Frames["response"] = int(c.Total("magi.frames", "magi.direction", "out", "magi.frame.type", "response"))
	for name, n := range c.Split("magi.frames", "magi.event") {
		e.Frames[name] = int(n)
	}
	for outcome, n := range c.Split("gen_ai.invoke_agent.duration", "magi.run.outcome") {
		e.Outcomes[outcome] = int(n)
	}
	for outcome, n := range c.Split("magi.approval.wait.duration", "magi.approval.outcome") {
		e.Approvals[outcome] = int(n)
	}
	e.Deltas = int(c.Total("magi.deltas", "magi.delta.outcome", "queued"))
	merged, dropped := int(c.Total("magi.deltas", "magi.delta.outcome", "merged")), int(c.Total("magi.deltas", "magi.delta.outcome", "dropped"))
	e.Merged, e.Dropped = merged, dropped
	var runs []*reader.Span
	taken, lost, approvals := 0, 0, 0
	for i := range c.Spans {
		s := &c.Spans[i]
		number := func(key string) int { n, _ := s.Attributes[key].(int64); return int(n) }
		switch s.Name {
		case "magi.child":
			must("frames out", number("magi.frames.out"), e.LastSeq)
			must("runs", number("magi.runs"), int(c.Total("gen_ai.invoke_agent.duration")))
		case "invoke_agent magi-code":
			runs = append(runs, s)
			taken, lost = taken+number("magi.run.deltas"), lost+number("magi.run.deltas_dropped")
		case "magi.approval.wait":
			approvals++
		}
	}
	must("deltas taken", taken, e.Deltas+merged)
	must("deltas dropped", lost, dropped)
	must("approvals", approvals, int(c.Total("magi.approval.wait.duration")))
	must("answers", int(c.Total("magi.approval.answers", "magi.answer", "allow")), e.Approvals["allow"])
	slices.SortFunc(runs, func(a, b *reader.Span) int { return a.Start.Compare(b.Start) })
	for i, s := range runs {
		must("the place of a run", int(s.Attributes["magi.run.seq"].(int64)), i+1)
		hash, _ := s.Attributes["magi.run.hash"].(string)
		e.Runs = append(e.Runs, hash)
		if i > 0 && s.Start.Before(runs[i-1].End) {
			odd = append(odd, "two runs overlap")
		}
	}
	return e, odd
}

// readCapture reads the newest capture below a home; nil while the child's last
// record is missing: a busy machine may need longer than the child waits.
func readCapture(t *testing.T, w *world) *reader.Capture {
	t.Helper()
	c := new(reader.Capture)
	made := files(t, w.home)
	newest := ""
	for name := range made {
		if stem, _, _ := strings.Cut(name, "."); strings.HasSuffix(name, ".jsonl") && stem > newest {
			newest = stem
		}
	}
	ended := false
	for name, text := range made {
		if !strings.HasPrefix(name, newest+".") {
			continue
		}
		ended = ended || strings.Contains(text, `"eventName":"magi.exit"`)
		if err := c.Read(strings.NewReader(text), strings.Split(name, ".")[1]); err != nil {
			t.Fatal(err)
		}
	}
	if !ended {
		return nil
	}
	return c
}
