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
	nearMissMargin  = 0.5  // s
	pressure        = 24   // of 32 places in a queue
	lostDeltas      = 0.05 // of all
)

// Codes are those of the verdicts, in the order in which they are given, without
// healthy, which is given when no other is.
func Codes() []string {
	return []string{"stuck-cleanup", "vanished", "output-failed", "failed-startup", "failed-run", "slow-cleanup", "near-miss", "queue-pressure", "slow-startup",
		"slow-provider", "slow-disk", "slow-history", "telemetry-loss"}
}

// judge applies the rules in their order. More than one may hold.
func (a *Analysis) judge(c *Capture) {
	a.stuck(c)
	a.vanished(c)
	a.output(c)
	a.failedStartup(c)
	a.failedRuns(c)
	a.cleanups()
	a.misses(c)
	a.crowded(c)
	a.startup(c)
	a.slowness(c)
	a.loss(c)
	if len(a.Verdicts) == 0 {
		v := a.add("healthy", false, "nothing stands out")
		if a.Exit != nil {
			v.cite(a.Exit.at)
		}
	}
}

func (a *Analysis) add(code string, severe bool, text string, details ...string) *Verdict {
	a.Verdicts = append(a.Verdicts, Verdict{Code: code, Severe: severe, Text: text, Details: append([]string{}, details...), Evidence: []Evidence{}})
	return &a.Verdicts[len(a.Verdicts)-1]
}

// maxEvidence bounds the places of a verdict.
const maxEvidence = 16

// cite adds where what a verdict says stands.
func (v *Verdict) cite(places ...Evidence) *Verdict {
	for _, e := range places {
		if e.Line > 0 && len(v.Evidence) < maxEvidence && !slices.Contains(v.Evidence, e) {
			v.Evidence = append(v.Evidence, e)
		}
	}
	return v
}

// citeSpans does that for spans, the first of them.
func (v *Verdict) citeSpans(c *Capture, spans []*Span) *Verdict {
	for _, s := range spans[:min(len(spans), maxEvidence)] {
		v.cite(s.evidence(c))
	}
	return v
}

// citePoints does that for what was counted.
func (v *Verdict) citePoints(c *Capture, points []*Point) *Verdict {
	for _, p := range points[:min(len(points), maxEvidence)] {
		v.cite(p.evidence(c))
	}
	return v
}

// maxOthers bounds the open spans that a verdict names; all are in the list of them.
const maxOthers = 5

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
		a.add("stuck-cleanup", true, "the cleanup was given up; what was open is not in the capture").cite(a.Exit.at)
		return
	}
	step := u.Phase
	u.Phase = ""
	var details []string
	if step != "" {
		details = append(details, "last step  "+step)
	}
	if a.held(c) {
		details = append(details, "still held  writer lease, active lease")
	}
	details = append(details, a.blocked()...)
	others := slices.DeleteFunc(slices.Clone(a.Unfinished), func(x Unfinished) bool { return x.span == u.span || x.Name == cleanupSpan })
	for _, other := range others[:min(len(others), maxOthers)] {
		details = append(details, fmt.Sprintf("also open: %s, ≥ %.0f ms", describe(other), other.Age))
	}
	if n := len(others) - maxOthers; n > 0 {
		details = append(details, fmt.Sprintf("and %d more", n))
	}
	v := a.add("stuck-cleanup", true, fmt.Sprintf("%s did not finish: open ≥ %.0f ms when the budget of 2000 ms ended", describe(u), u.Age), details...)
	v.cite(u.span.evidence(c), a.Exit.at, a.dump)
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

// blocked picks the goroutines of ours that wait for something: of the first, where
// it stands and who called that, of the others the first line.
func (a *Analysis) blocked() (out []string) {
	for block := range strings.SplitSeq(a.Goroutines, "\n\n") {
		header, frames, _ := strings.Cut(block, "\n")
		if strings.Contains(header, "[running") || !strings.Contains(frames, "Worker") && !strings.Contains(frames, "mcp.") && !strings.Contains(frames, "proc.") {
			continue
		}
		lines := strings.Split(strings.TrimSpace(frames), "\n")
		first := len(out) == 0
		out = append(out, header+" "+lines[0])
		if first {
			for _, line := range lines[1:min(len(lines), 3)] {
				if !strings.Contains(line, "created by ") {
					out = append(out, strings.Repeat(" ", len("goroutine "))+strings.TrimSpace(line))
				}
			}
		}
		if len(out) >= 6 {
			return out
		}
	}
	return out
}

func (a *Analysis) vanished(c *Capture) {
	if a.Exit != nil || a.missing("logs") {
		return
	}
	details := []string{"the last thing in the capture is of " + c.Last.Format("15:04:05.000")}
	if c.Last.IsZero() {
		details = []string{"there is nothing in the capture"}
	}
	v := a.add("vanished", true, "there is no exit record: the child was killed, crashed, or still runs")
	if n := len(c.Records); n > 0 {
		v.cite(c.Records[n-1].evidence(c))
	}
	for _, u := range a.Unfinished[:min(len(a.Unfinished), maxOthers)] {
		details = append(details, fmt.Sprintf("open: %s, ≥ %.0f ms", describe(u), u.Age))
		v.cite(u.span.evidence(c))
	}
	v.Details = details
}

func (a *Analysis) output(c *Capture) {
	if a.Exit == nil || !slices.Contains([]string{"output_deadline", "output_overflow", "output_broken", "closing_deadline"}, a.Exit.Reason) {
		return
	}
	v := a.add("output-failed", true, "the child ended because its output could not be written: "+a.Exit.Reason,
		fmt.Sprintf("the output queue held up to %.0f of %d frames, the oldest %.0f ms", a.Queues.OutputPeak, queueLimit, a.Queues.OldestMS))
	v.Try = "see whether the host reads the child's stdout while it does other things"
	v.cite(a.Exit.at).citeSpans(c, c.named("magi.output.stall", func(*Span) bool { return true }))
}

// named are the spans of a name that fit.
func (c *Capture) named(name string, fit func(*Span) bool) (out []*Span) {
	for i := range c.Spans {
		if s := &c.Spans[i]; s.Name == name && fit(s) {
			out = append(out, s)
		}
	}
	return out
}

// cleanups names what a slow cleanup waited for: the three longest parts.
func (a *Analysis) cleanups() {
	if a.Exit != nil && a.Exit.Detached {
		return
	}
	slow := a.slowServer()
	steps, places, try := a.longest(false)
	for _, s := range a.Cleanup {
		if s.Name != cleanupSpan || s.Took <= slowCleanup && !slow {
			continue
		}
		what := ""
		if len(steps) > 0 {
			what = ", most of them " + steps[0]
		}
		v := a.add("slow-cleanup", false, fmt.Sprintf("the cleanup took %.0f of 2000 ms%s", s.Took, what), steps[min(1, len(steps)):]...)
		v.Try = try
		v.cite(s.at).cite(places...)
	}
}

// slowServer: an MCP server did not go when its input ended.
func (a *Analysis) slowServer() bool {
	return slices.ContainsFunc(a.Cleanup, func(s Step) bool { return s.Name == "magi.cleanup.mcp.close" && !s.before && s.Took > slowServer })
}

// longest are the three longest parts of the cleanup, or of the one before it
// after a start that failed, in words, and what to try where the first is an MCP
// server's.
func (a *Analysis) longest(before bool) (out []string, places []Evidence, try string) {
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
		out, places = append(out, line), append(places, s.at)
		if i == 0 && s.Name == "magi.cleanup.mcp.close" {
			server, _, _ := strings.Cut(s.About, " ")
			try = withServer(server, phase)
		}
	}
	return out, places, try
}

// failedStartup: a start ended with an error. The stages and connections that
// had one stand below it, the first to fail first, since the others may have been
// given up for its sake; then what took long of ending what had been started.
func (a *Analysis) failedStartup(c *Capture) {
	code := ""
	var start *Span
	var broken []*Span
	for i := range c.Spans {
		s := &c.Spans[i]
		switch failure := text(s.Attributes, "error.type"); {
		case failure == "" || text(s.Attributes, "magi.startup.cancelled") == "true":
		case s.Name == "magi.startup":
			code, start = failure, s
		case strings.HasPrefix(s.Name, "magi.startup.") || s.Name == "magi.mcp.connect":
			broken = append(broken, s)
		}
	}
	if code == "" {
		return
	}
	slices.SortStableFunc(broken, func(x, y *Span) int { return x.End.Compare(y.End) })
	var details []string
	for _, s := range broken {
		details = append(details, describe(unfinished(s))+": "+text(s.Attributes, "error.type"))
	}
	ends, places, _ := a.longest(true)
	v := a.add("failed-startup", true, "the start failed: "+code, append(details, ends...)...)
	v.Try = "run magi-code doctor in the same folder: it says which file, key or server it was"
	v.cite(start.evidence(c)).citeSpans(c, broken).cite(places...)
}

// maxFailed bounds the runs that a verdict names.
const maxFailed = 5

// failedRuns names the runs that failed, the last first: which error each ended
// with, and of a generation the attempt and what the provider answered to it.
func (a *Analysis) failedRuns(c *Capture) {
	var failed []*Run
	for i := range a.Runs {
		if a.Runs[i].Outcome == "failed" {
			failed = append(failed, &a.Runs[i])
		}
	}
	if len(failed) == 0 {
		return
	}
	slices.Reverse(failed)
	last := failed[0]
	say := fmt.Sprintf("run %d failed: %s", last.Seq, last.failure())
	if len(failed) > 1 {
		say = fmt.Sprintf("%d of %d runs failed, the last, run %d: %s", len(failed), len(a.Runs), last.Seq, last.failure())
	}
	v := a.add("failed-run", true, say)
	v.Try = withFailure(last.cause.error())
	for i, r := range failed[:min(len(failed), maxFailed)] {
		v.cite(r.span.evidence(c)).cite(r.cause.evidence(c)...)
		if i > 0 {
			v.Details = append(v.Details, fmt.Sprintf("run %d: %s", r.Seq, r.failure()))
		}
	}
	if n := len(failed) - maxFailed; n > 0 {
		v.Details = append(v.Details, fmt.Sprintf("and %d more", n))
	}
}

// failure is a failed run's error and what it came from.
func (r *Run) failure() string {
	out := r.Error
	if out == "" {
		out = "without an error.type"
	}
	if why := r.cause.String(); why != "" {
		out += "; " + why
	}
	return out
}

// withFailure is what to try about the error.type of a generation.
func withFailure(failure string) string {
	switch {
	case failure == "401" || failure == "403" || failure == "auth":
		return "the provider does not take the key or the sign-in: magi-code auth status says which is used; set or renew it"
	case failure == "429":
		return "the provider limits the requests, or the account is used up: wait, or ask the provider"
	case failure == "timeout" || failure == "transport":
		return "see whether the provider can be reached from this machine, with its proxy and its certificates"
	case failure == "no_progress" || strings.HasPrefix(failure, "stream_"):
		return "the provider ended or stopped its answer: try again; if it happens again, ask the provider"
	case len(failure) == 3 && failure[0] == '5':
		return "the provider has trouble of its own: try again later"
	}
	return "run magi-code doctor in the same folder, and see what the host was told of the run"
}

// misses are the deadlines that were nearly missed.
func (a *Analysis) misses(c *Capture) {
	if n := a.Queues.NearMisses; n > 0 {
		points := c.points("magi.output.near_misses", func(p *Point) bool { return p.Value > 0 })
		a.add("near-miss", false, fmt.Sprintf("%.0f frames left less than 500 ms before their deadline%s%s", n, c.leastMargin(), a.during(points))).citePoints(c, points)
	}
	detached := a.Exit != nil && a.Exit.Detached
	for _, s := range a.Cleanup {
		if s.Name == cleanupSpan && !detached && s.Took > nearMissCleanup {
			a.add("near-miss", false, fmt.Sprintf("the cleanup took %.0f of 2000 ms", s.Took)).cite(s.at)
		}
	}
	for _, s := range c.named("magi.approval.wait", func(s *Span) bool {
		return millis(s.End.Sub(s.Start)) > nearMissAnswer && text(s.Attributes, "magi.approval.outcome") != "expired"
	}) {
		a.add("near-miss", false, fmt.Sprintf("an approval was answered after %.0f ms", millis(s.End.Sub(s.Start)))).cite(s.evidence(c))
	}
}

// leastMargin is how little time a frame had left, as far as the histogram tells.
func (c *Capture) leastMargin() string {
	least := 0
	var bounds []float64
	for _, p := range c.points("magi.output.deadline.margin", func(p *Point) bool { return p.Count > 0 && len(p.Bounds) > 1 }) {
		i := slices.IndexFunc(p.Buckets, func(n uint64) bool { return n > 0 })
		if i >= 0 && (bounds == nil || i < least) {
			least, bounds = i, p.Bounds
		}
	}
	switch {
	case bounds == nil || least >= len(bounds) || bounds[least] > nearMissMargin:
		return ""
	case least == 0:
		return ", one of them behind it"
	}
	return fmt.Sprintf(", one with at most %.0f ms", bounds[least]*1000)
}

// crowded: a queue was nearly full, or text did not find room.
func (a *Analysis) crowded(c *Capture) {
	q := a.Queues
	var details []string
	var points []*Point
	full := func(p *Point) bool { return p.Value >= pressure }
	if q.OutputPeak >= pressure {
		points = append(points, c.points("magi.output.pending.peak", full)...)
		details = append(details, fmt.Sprintf("the output queue held up to %.0f of %d frames", q.OutputPeak, queueLimit))
	}
	if q.WorkerPeak >= pressure {
		points = append(points, c.points("magi.worker.pending.peak", full)...)
		details = append(details, fmt.Sprintf("the run's queue held up to %.0f of %d events", q.WorkerPeak, queueLimit))
	}
	if q.Dropped > lostDeltas*q.Deltas {
		points = append(points, c.points("magi.deltas", func(p *Point) bool { return p.Value > 0 && p.Labels["magi.delta.outcome"] == "dropped" })...)
		details = append(details, fmt.Sprintf("%.0f of %.0f deltas were dropped; their text came with the reconciliation", q.Dropped, q.Deltas))
	}
	if len(details) > 0 {
		stalls := c.named("magi.output.stall", func(s *Span) bool { n, _ := s.Attributes["magi.output.peak"].(int64); return n >= pressure })
		a.add("queue-pressure", false, "the host took output more slowly than it came", details...).citePoints(c, points).citeSpans(c, stalls)
	}
}

func (a *Analysis) startup(c *Capture) {
	total, worst := 0.0, 0.0
	var whole, stage *Span
	for i := range c.Spans {
		s := &c.Spans[i]
		took := millis(s.End.Sub(s.Start))
		switch {
		case s.Name == "magi.startup":
			total, whole = took, s
		case (strings.HasPrefix(s.Name, "magi.startup.") || s.Name == "magi.mcp.connect") && took > worst:
			worst, stage = took, s
		}
	}
	if total <= slowStartup && (total <= uneasyStartup || worst <= 0.6*total) {
		return
	}
	say := fmt.Sprintf("the start took %.0f ms", total)
	if stage == nil {
		a.add("slow-startup", false, say).cite(whole.evidence(c))
		return
	}
	what, _, _ := strings.Cut(describe(unfinished(stage)), ",")
	a.add("slow-startup", false, fmt.Sprintf("%s, %.0f of them in %s", say, worst, what)).cite(whole.evidence(c), stage.evidence(c))
}

func (a *Analysis) slowness(c *Capture) {
	for _, v := range []struct {
		code, what string
		took       func(*Span) (ms float64, ok bool)
		bound      float64
	}{
		{"slow-provider", "first chunk", firstChunk, slowFirstChunk},
		{"slow-disk", "append", lasting("magi.session.append"), slowAppend},
		{"slow-history", "projection", lasting("magi.history.project"), slowProjection},
	} {
		var values []float64
		var above []*Span
		for i := range c.Spans {
			ms, ok := v.took(&c.Spans[i])
			if ok {
				values = append(values, ms)
			}
			if ms > v.bound && len(above) < maxEvidence {
				above = append(above, &c.Spans[i])
			}
		}
		if p := percentile95(values); p > v.bound {
			a.add(v.code, false, fmt.Sprintf("%s: 95 %% took up to %.0f ms", v.what, p)).citeSpans(c, above)
		}
	}
}

// firstChunk is how long a generation's first chunk took.
func firstChunk(s *Span) (ms float64, ok bool) {
	if !isChat(s) {
		return 0, false
	}
	n, ok := s.Attributes[telemetry.KeyFirstChunkMS.String()].(int64)
	return float64(n), ok
}

// lasting gives how long spans of a name took.
func lasting(name string) func(*Span) (ms float64, ok bool) {
	return func(s *Span) (ms float64, ok bool) {
		if s.Name != name {
			return 0, false
		}
		return millis(s.End.Sub(s.Start)), true
	}
}
