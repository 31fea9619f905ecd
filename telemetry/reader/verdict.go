package reader

import (
	"fmt"
	"slices"
	"strings"

	"magicode/telemetry"
)

// Bounds of the verdicts (telemetry.md 11.3), in milliseconds but for the last two.
const (
	slowCleanup     = 1000
	slowServer      = 400 // of an MCP server's end: it used up most of the time it has to go by itself
	slowStartup     = 1000
	uneasyStartup   = 300
	slowFirstChunk  = 10_000
	slowAppend      = 100
	slowProjection  = 1000
	nearMissAnswer  = 55_000
	nearMissCleanup = 1500
	pressure        = 24   // of 32 places in a queue
	lostDeltas      = 0.05 // of all
)

// judge applies the rules in their order. More than one may hold.
func (a *Analysis) judge(c *Capture) {
	a.stuck(c)
	a.vanished(c)
	a.output()
	a.failedStartup(c)
	a.cleanups()
	a.misses(c)
	a.crowded()
	a.startup(c)
	a.slowness(c)
	a.loss(c)
	if len(a.Verdicts) == 0 {
		a.add("healthy", false, "nothing stands out")
	}
}

func (a *Analysis) add(code string, severe bool, text string, evidence ...string) *Verdict {
	a.Verdicts = append(a.Verdicts, Verdict{Code: code, Severe: severe, Text: text, Evidence: evidence})
	return &a.Verdicts[len(a.Verdicts)-1]
}

// deepest is the unfinished span that the others wait for.
func (a *Analysis) deepest(under string) (Unfinished, bool) {
	for _, u := range a.Unfinished {
		if strings.HasPrefix(u.Name, under) {
			return u, true
		}
	}
	return Unfinished{}, false
}

func (a *Analysis) stuck(c *Capture) {
	if a.Exit == nil || !a.Exit.Detached {
		return
	}
	u, ok := a.deepest(cleanupSpan + ".")
	if !ok {
		u, ok = a.deepest("")
	}
	if !ok {
		a.add("stuck-cleanup", true, "the cleanup was given up; what was open is not in the capture")
		return
	}
	step := u.Phase
	u.Phase = ""
	var evidence []string
	if step != "" {
		evidence = append(evidence, "last step  "+step)
	}
	if held := a.held(c); held != "" {
		evidence = append(evidence, "still held  "+held)
	}
	evidence = append(evidence, a.blocked()...)
	for _, other := range a.Unfinished {
		if other.id != u.id && other.Name != cleanupSpan {
			evidence = append(evidence, fmt.Sprintf("also open: %s, ≥ %.0f ms", describe(other), other.Age))
		}
	}
	v := a.add("stuck-cleanup", true, fmt.Sprintf("%s did not finish: open ≥ %.0f ms when the budget of 2000 ms ended", describe(u), u.Age), evidence...)
	if u.Server != "" {
		v.Try = withServer(u.Server, step)
	}
	if a.Capture.Trace == 0 {
		v.Try = strings.TrimPrefix(v.Try+"; MC_TELEMETRY_RUNTIME_TRACE=cleanup records what the scheduler does meanwhile", "; ")
	}
}

// withServer is what to try with an MCP server that was long in a step of its
// end. One with a number only has a name on the machine that the capture was made on.
func withServer(server, step string) string {
	text := "start the command of " + server + " by hand, close its input, and see why it stays"
	switch step {
	case "stderr_join", "stdout_join":
		text = server + " has gone, and another process still holds its output: see what it starts and leaves behind"
	case "session_delete", "stream_join":
		text = "see why the server behind " + server + " does not answer when its session is ended (DELETE)"
	}
	if !strings.Contains(server, "=") {
		text += "; --resolve shows its name"
	}
	return text
}

// held names the leases that nobody released: the session's, where one was
// taken and the part of the cleanup that gives it back never ended.
func (a *Analysis) held(c *Capture) string {
	taken := false
	for i := range c.Spans {
		s := &c.Spans[i]
		taken = taken || s.Name == "magi.session.lease" && text(s.Attributes, "magi.lease.outcome") == "ok"
		if s.Name == "magi.cleanup.lease" && !s.cut() {
			return ""
		}
	}
	if !taken {
		return ""
	}
	return "writer lease, active lease"
}

// blocked picks the goroutines of ours that wait for something.
func (a *Analysis) blocked() (out []string) {
	for block := range strings.SplitSeq(a.Goroutines, "\n\n") {
		header, frames, _ := strings.Cut(block, "\n")
		if strings.Contains(header, "[running") || !strings.Contains(frames, "Worker") && !strings.Contains(frames, "mcp.") && !strings.Contains(frames, "proc.") {
			continue
		}
		top, _, _ := strings.Cut(strings.TrimSpace(frames), "\n")
		if out = append(out, header+" "+top); len(out) == 4 {
			return out
		}
	}
	return out
}

func (a *Analysis) vanished(c *Capture) {
	if a.Exit != nil || len(c.Spans)+len(c.Records) == 0 {
		return
	}
	evidence := []string{"the last thing in the capture is of " + c.Last.Format("15:04:05.000")}
	for i, u := range a.Unfinished {
		if i == 5 {
			break
		}
		evidence = append(evidence, fmt.Sprintf("open: %s, ≥ %.0f ms", describe(u), u.Age))
	}
	a.add("vanished", true, "there is no exit record: the child was killed, crashed, or still runs", evidence...)
}

func (a *Analysis) output() {
	if a.Exit != nil && slices.Contains([]string{"output_deadline", "output_overflow", "output_broken", "closing_deadline"}, a.Exit.Reason) {
		a.add("output-failed", true, "the child ended because its output could not be written: "+a.Exit.Reason,
			fmt.Sprintf("the output queue held up to %.0f of %d frames, the oldest %.0f ms", a.Queues.OutputPeak, queueLimit, a.Queues.OldestMS)).
			Try = "see whether the host reads the child's stdout while it does other things"
	}
}

// cleanups names what a slow cleanup waited for: the three longest parts.
func (a *Analysis) cleanups() {
	if a.Exit != nil && a.Exit.Detached {
		return
	}
	slow := a.slowServer()
	steps, try := a.longest(false)
	for _, s := range a.Cleanup {
		if s.Name != cleanupSpan || s.Took <= slowCleanup && !slow {
			continue
		}
		what := ""
		if len(steps) > 0 {
			what = ", most of them " + steps[0]
		}
		a.add("slow-cleanup", false, fmt.Sprintf("the cleanup took %.0f of 2000 ms%s", s.Took, what), steps[min(1, len(steps)):]...).Try = try
	}
}

// slowServer: an MCP server did not go when its input ended.
func (a *Analysis) slowServer() bool {
	return slices.ContainsFunc(a.Cleanup, func(s Step) bool { return s.Name == "magi.cleanup.mcp.close" && !s.before && s.Took > slowServer })
}

// longest are the three longest parts of the cleanup, or of the one before it
// after a start that failed, in words, and what to try where the first is an MCP
// server's.
func (a *Analysis) longest(before bool) (out []string, try string) {
	steps := slices.DeleteFunc(slices.Clone(a.Cleanup), func(s Step) bool { return s.Name == cleanupSpan || s.before != before || s.Took < 1 })
	slices.SortStableFunc(steps, func(x, y Step) int { return int(y.Took) - int(x.Took) })
	for i := range steps[:min(3, len(steps))] {
		s := &steps[i]
		u := Unfinished{Name: s.Name, what: s.About}
		line := fmt.Sprintf("%s: %.0f ms", describe(u), s.Took)
		phase, took := s.longest()
		if phase != "" {
			line += fmt.Sprintf(", in the step %s %.0f", phase, took)
		}
		out = append(out, line)
		if i == 0 && s.Name == "magi.cleanup.mcp.close" {
			server, _, _ := strings.Cut(s.About, " ")
			try = withServer(server, phase)
		}
	}
	return out, try
}

// failedStartup: a start ended with an error. The stages and connections that
// had one stand below it, the first to fail first, since the others may have been
// given up for its sake; then what took long of ending what had been started.
func (a *Analysis) failedStartup(c *Capture) {
	code := ""
	var broken []*Span
	for i := range c.Spans {
		s := &c.Spans[i]
		switch failure := text(s.Attributes, "error.type"); {
		case failure == "" || text(s.Attributes, "magi.startup.cancelled") == "true":
		case s.Name == "magi.startup":
			code = failure
		case strings.HasPrefix(s.Name, "magi.startup.") || s.Name == "magi.mcp.connect":
			broken = append(broken, s)
		}
	}
	if code == "" {
		return
	}
	slices.SortStableFunc(broken, func(x, y *Span) int { return x.End.Compare(y.End) })
	var evidence []string
	for _, s := range broken {
		evidence = append(evidence, describe(unfinished(s.Name, "", "", s.Start, s.End, s.Attributes))+": "+text(s.Attributes, "error.type"))
	}
	ends, _ := a.longest(true)
	a.add("failed-startup", true, "the start failed: "+code, append(evidence, ends...)...).
		Try = "run magi-code doctor in the same folder: it says which file, key or server it was"
}

// misses are the deadlines that were nearly missed.
func (a *Analysis) misses(c *Capture) {
	if n := a.Queues.NearMisses; n > 0 {
		a.add("near-miss", false, fmt.Sprintf("%.0f frames left less than 500 ms before their deadline", n))
	}
	detached := a.Exit != nil && a.Exit.Detached
	for _, s := range a.Cleanup {
		if s.Name == cleanupSpan && !detached && s.Took > nearMissCleanup {
			a.add("near-miss", false, fmt.Sprintf("the cleanup took %.0f of 2000 ms", s.Took))
		}
	}
	for i := range c.Spans {
		if s := &c.Spans[i]; s.Name == "magi.approval.wait" && millis(s.End.Sub(s.Start)) > nearMissAnswer && text(s.Attributes, "magi.approval.outcome") != "expired" {
			a.add("near-miss", false, fmt.Sprintf("an approval was answered after %.0f ms", millis(s.End.Sub(s.Start))))
		}
	}
}

// crowded: a queue was nearly full, or text did not find room.
func (a *Analysis) crowded() {
	q := a.Queues
	var evidence []string
	if q.OutputPeak >= pressure {
		evidence = append(evidence, fmt.Sprintf("the output queue held up to %.0f of %d frames", q.OutputPeak, queueLimit))
	}
	if q.WorkerPeak >= pressure {
		evidence = append(evidence, fmt.Sprintf("the run's queue held up to %.0f of %d events", q.WorkerPeak, queueLimit))
	}
	if q.Dropped > lostDeltas*q.Deltas {
		evidence = append(evidence, fmt.Sprintf("%.0f of %.0f deltas were dropped; their text came with the reconciliation", q.Dropped, q.Deltas))
	}
	if len(evidence) > 0 {
		a.add("queue-pressure", false, "the host took output more slowly than it came", evidence...)
	}
}

func (a *Analysis) startup(c *Capture) {
	total, worst, what := 0.0, 0.0, ""
	for i := range c.Spans {
		s := &c.Spans[i]
		took := millis(s.End.Sub(s.Start))
		switch {
		case s.Name == "magi.startup":
			total = took
		case (strings.HasPrefix(s.Name, "magi.startup.") || s.Name == "magi.mcp.connect") && took > worst:
			worst, what = took, describe(unfinished(s.Name, "", "", s.Start, s.End, s.Attributes))
			what, _, _ = strings.Cut(what, ",")
		}
	}
	if total > slowStartup || total > uneasyStartup && worst > 0.6*total {
		a.add("slow-startup", false, fmt.Sprintf("the start took %.0f ms, %.0f of them in %s", total, worst, what))
	}
}

func (a *Analysis) slowness(c *Capture) {
	var appends, projections, chunks []float64
	for i := range c.Spans {
		s := &c.Spans[i]
		took := millis(s.End.Sub(s.Start))
		switch {
		case s.Name == "magi.session.append":
			appends = append(appends, took)
		case s.Name == "magi.history.project":
			projections = append(projections, took)
		case strings.HasPrefix(s.Name, "chat"):
			if n, ok := s.Attributes[telemetry.KeyFirstChunkMS.String()].(int64); ok {
				chunks = append(chunks, float64(n))
			}
		}
	}
	for _, v := range []struct {
		code, what string
		values     []float64
		bound      float64
	}{
		{"slow-provider", "first chunk", chunks, slowFirstChunk}, {"slow-disk", "append", appends, slowAppend}, {"slow-history", "projection", projections, slowProjection},
	} {
		if p := percentile95(v.values); p > v.bound {
			a.add(v.code, false, fmt.Sprintf("%s: 95 %% took up to %.0f ms", v.what, p))
		}
	}
}

func (a *Analysis) loss(c *Capture) {
	if n := a.Capture.Dropped; n > 0 {
		a.add("telemetry-loss", false, fmt.Sprintf("%d items were dropped: durations stand, counts are too low", n))
	}
	if n := c.Total("magi.telemetry.errors", "magi.sink", "file", "magi.problem", "disk_full"); n > 0 {
		a.add("telemetry-loss", false, "the capture was suspended while the disk was full: what happened then is not in it")
	}
	if a.Capture.Rotated {
		a.add("telemetry-loss", false, "the capture was longer than its bound: what lies between its beginning and its newest part is gone")
	}
}
