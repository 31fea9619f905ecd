package reader

import (
	"fmt"
	"slices"
	"strings"

	"magicode/telemetry"
)

// Bounds of the verdicts (telemetry.md 11.3), in milliseconds.
const (
	slowCleanup     = 1000
	slowStartup     = 1000
	uneasyStartup   = 300
	slowFirstChunk  = 10_000
	slowAppend      = 100
	slowProjection  = 1000
	nearMissAnswer  = 55_000
	nearMissCleanup = 1500
)

// judge applies the rules in their order. More than one may hold.
func (a *Analysis) judge(c *Capture) {
	a.stuck()
	a.vanished(c)
	a.output()
	a.cleanups(c)
	a.slowness(c)
	a.loss(c)
	if len(a.Verdicts) == 0 {
		a.add("healthy", false, "nothing stands out")
	}
}

func (a *Analysis) add(code string, severe bool, text string, evidence ...string) {
	a.Verdicts = append(a.Verdicts, Verdict{Code: code, Severe: severe, Text: text, Evidence: evidence})
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

func (a *Analysis) stuck() {
	if a.Exit == nil || !a.Exit.Detached {
		return
	}
	u, ok := a.deepest("magi.cleanup.")
	if !ok {
		u, ok = a.deepest("")
	}
	if !ok {
		a.add("stuck-cleanup", true, "the cleanup was given up; what was open is not in the capture")
		return
	}
	what := describe(u)
	evidence := a.blocked()
	for _, other := range a.Unfinished {
		if other.id != u.id && other.Name != "magi.cleanup" {
			evidence = append(evidence, fmt.Sprintf("also open: %s, ≥ %.0f ms", describe(other), other.Age))
		}
	}
	a.add("stuck-cleanup", true, fmt.Sprintf("%s did not finish: open ≥ %.0f ms when the budget of 2000 ms ended", what, u.Age), evidence...)
}

// describe says in words what a span is about.
func describe(u Unfinished) string {
	what := map[string]string{
		"magi.cleanup.mcp.close": "closing an MCP server", "magi.cleanup.mcp.request": "asking the MCP servers to stop",
		"magi.cleanup.join": "waiting for the worker", "magi.cleanup.lease": "releasing the session", "magi.cleanup.drain": "writing what was queued",
	}[u.Name]
	if what == "" {
		what = u.Name
	}
	if u.Phase != "" {
		what += " (" + u.Phase + ")"
	}
	return what
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
		a.add("output-failed", true, "the child ended because its output could not be written: "+a.Exit.Reason)
	}
}

func (a *Analysis) cleanups(c *Capture) {
	detached := a.Exit != nil && a.Exit.Detached
	for _, s := range a.Cleanup {
		if s.Name == "magi.cleanup" && !detached && s.Took > slowCleanup {
			a.add("slow-cleanup", false, fmt.Sprintf("the cleanup took %.0f ms", s.Took), a.longest()...)
			if s.Took > nearMissCleanup {
				a.add("near-miss", false, fmt.Sprintf("the cleanup took %.0f of 2000 ms", s.Took))
			}
		}
	}
	for i := range c.Spans {
		if s := &c.Spans[i]; s.Name == "magi.approval.wait" && millis(s.End.Sub(s.Start)) > nearMissAnswer && text(s.Attributes, "magi.approval.outcome") != "expired" {
			a.add("near-miss", false, fmt.Sprintf("an approval was answered after %.0f ms", millis(s.End.Sub(s.Start))))
		}
	}
}

func (a *Analysis) longest() (out []string) {
	steps := slices.Clone(a.Cleanup)
	slices.SortFunc(steps, func(x, y Step) int { return int(y.Took - x.Took) })
	for _, s := range steps {
		if s.Name != "magi.cleanup" && len(out) < 3 {
			out = append(out, fmt.Sprintf("%s %.0f ms", s.Name, s.Took))
		}
	}
	return out
}

func (a *Analysis) slowness(c *Capture) {
	var appends, projections, chunks []float64
	total, worst, worstName := 0.0, 0.0, ""
	for i := range c.Spans {
		s := &c.Spans[i]
		took := millis(s.End.Sub(s.Start))
		switch {
		case s.Name == "magi.startup":
			total = took
		case strings.HasPrefix(s.Name, "magi.startup.") || s.Name == "magi.mcp.connect":
			if took > worst {
				worst, worstName = took, s.Name
			}
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
	if total > slowStartup || total > uneasyStartup && worst > 0.6*total {
		a.add("slow-startup", false, fmt.Sprintf("the start took %.0f ms, %.0f of them in %s", total, worst, worstName))
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

func percentile95(v []float64) float64 {
	if len(v) == 0 {
		return 0
	}
	slices.Sort(v)
	return v[min(len(v)*95/100, len(v)-1)]
}

func (a *Analysis) loss(c *Capture) {
	dropped := int64(0)
	for _, r := range c.Records {
		if n, ok := r.Attributes["magi.telemetry.dropped"].(int64); ok {
			dropped = max(dropped, n)
		}
	}
	if dropped > 0 {
		a.add("telemetry-loss", false, fmt.Sprintf("%d items were dropped: durations stand, counts are too low", dropped))
	}
}
