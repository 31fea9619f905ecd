package reader

import (
	"fmt"
	"html"
	"io"
	"strings"
	"time"
)

// The page has no script and refers to nothing: everything it shows is in it.
const pageHead = `<!DOCTYPE html>
<html lang="en"><head><meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>%s</title>
<style>
:root{--bg:#fff;--fg:#1b1f24;--dim:#5b6570;--line:#d8dee4;--bar:#3b6fb6;--bad:#b42318;--warn:#9a6700;--card:#f6f8fa}
@media(prefers-color-scheme:dark){:root{--bg:#14171a;--fg:#e6e9ec;--dim:#9aa4ae;--line:#33393f;--bar:#6ea0e6;--bad:#ff7b72;--warn:#e3b341;--card:#1c2126}}
*{box-sizing:border-box}
body{margin:0 auto;max-width:960px;padding:16px;background:var(--bg);color:var(--fg);font:15px/1.45 system-ui,sans-serif}
h1{font-size:18px;margin:0;overflow-wrap:anywhere}h2{font-size:16px;margin:28px 0 8px}
p{margin:4px 0}.dim{color:var(--dim)}
.card{background:var(--card);border-left:4px solid var(--warn);padding:8px 12px;margin:8px 0;overflow-wrap:anywhere}
.card.bad{border-color:var(--bad)}.card.good{border-color:var(--bar)}.card ul{margin:4px 0;padding-left:18px}
.lane{display:grid;grid-template-columns:minmax(0,15em) 5.5em minmax(0,1fr);gap:8px;align-items:center;border-top:1px solid var(--line);padding:2px 0}
.lane span{overflow-wrap:anywhere}.lane .ms{text-align:right;font-variant-numeric:tabular-nums}
.lane svg{width:100%%;height:14px;display:block}
@media(max-width:560px){.lane{grid-template-columns:minmax(0,1fr) 5.5em}.lane svg{grid-column:1/3}}
.bar{fill:var(--bar)}.cut{fill:var(--bad)}.err{fill:var(--warn)}.mark{stroke:var(--dim);stroke-dasharray:3 3}
.curve{fill:none;stroke:var(--bar);stroke-width:2;vector-effect:non-scaling-stroke}
.wide{overflow-x:auto}table{border-collapse:collapse;width:100%%}th,td{text-align:left;padding:3px 8px 3px 0;border-top:1px solid var(--line);vertical-align:top}
td.n,th.n{text-align:right;font-variant-numeric:tabular-nums}
pre{background:var(--card);padding:8px;overflow-x:auto;font-size:12px}
</style></head><body>
`

// page writes HTML. Text that it is given is escaped.
type page struct{ w io.Writer }

func (p page) f(format string, args ...any) {
	for i, v := range args {
		if s, ok := v.(string); ok {
			args[i] = html.EscapeString(Escape(s))
		}
	}
	fmt.Fprintf(p.w, format, args...)
}

// HTML writes an analysis as one page that needs nothing else.
func HTML(w io.Writer, a *Analysis) {
	p := page{w}
	p.f(pageHead, "magi-code trace: "+a.Capture.Name)
	p.head(a)
	p.verdicts(a)
	p.cleanup(a.Cleanup)
	p.timeline(a)
	p.runs(a.Runs)
	p.queue(a)
	p.unfinished(a)
	p.phases(a)
	p.names(a.Names)
	p.f("</body></html>\n")
}

func (p page) head(a *Analysis) {
	p.f("<h1>%s</h1><p class=\"dim\">%s · %s · %s</p>", a.Capture.Name, a.Capture.Program, a.Capture.Platform, a.Capture.Runtime)
	least := ""
	if a.Exit == nil {
		least = "at least "
	}
	p.f("<p>child %s%.2f s, %s", least, a.Duration/1000, a.Ending())
	if a.Exit != nil && a.Exit.Detached {
		p.f(", <strong>detached</strong>")
	}
	p.f(" · torn lines %d · dropped %d", a.Capture.Torn, a.Capture.Dropped)
	if n := a.Capture.Trace; n > 0 {
		p.f(" · runtime trace %s", size(n))
	}
	p.f("</p>\n")
}

func (p page) verdicts(a *Analysis) {
	for _, v := range a.Verdicts {
		class := "card"
		switch {
		case v.Severe:
			class = "card bad"
		case v.Code == "healthy":
			class = "card good"
		}
		p.f("<section class=\"%s\"><strong>%s</strong> %s", class, v.Code, v.Text)
		if len(v.Details) > 0 {
			p.f("<ul>")
			for _, d := range v.Details {
				p.f("<li>%s</li>", d)
			}
			p.f("</ul>")
		}
		if len(v.Evidence) > 0 {
			p.f("<details><summary>Evidence</summary><ul>")
			for _, e := range v.Evidence {
				p.f("<li>%s, line %d: %s</li>", e.File, e.Line, strings.TrimSpace(e.Record+" "+e.Span))
			}
			p.f("</ul></details>")
		}
		if v.Try != "" {
			p.f("<p>Try: %s</p>", v.Try)
		}
		p.f("</section>\n")
	}
}

// lane is one row: a name, a time and a bar, in thousandths of the whole.
func (p page) lane(name, took, class string, from, width, mark float64, note string) {
	p.f("<div class=\"lane\"><span>%s</span><span class=\"ms\">%s</span><svg viewBox=\"0 0 1000 14\" preserveAspectRatio=\"none\" role=\"img\" aria-label=\"%s\">", name, took, name+" "+took)
	p.f("<rect class=\"%s\" x=\"%.1f\" y=\"1\" width=\"%.1f\" height=\"12\"><title>%s</title></rect>", class, min(from*1000, 998), max(width*1000, 2), strings.TrimSpace(name+" "+took+" "+note))
	if mark > 0 && mark < 1 {
		p.f("<line class=\"mark\" x1=\"%.1f\" y1=\"0\" x2=\"%.1f\" y2=\"14\"/>", mark*1000, mark*1000)
	}
	p.f("</svg></div>\n")
}

func barClass(open, failed bool) string {
	switch {
	case open:
		return "cut"
	case failed:
		return "err"
	}
	return "bar"
}

func duration(ms float64, open bool) string {
	sign := ""
	if open {
		sign = "≥ "
	}
	return fmt.Sprintf("%s%.0f ms", sign, ms)
}

// cleanupBudget is the wait for the cleanup, and that for the output before it
// (protocol, "Bounds").
const cleanupBudget = 2000.0

func (p page) cleanup(steps []Step) {
	if len(steps) == 0 {
		return
	}
	waits := 0.0
	for _, s := range steps {
		if s.Name == "magi.cleanup.drain" {
			waits = s.From + s.Took
		}
	}
	mark := waits + cleanupBudget
	end := max(scale(steps), 1)
	if end > 0.6*mark {
		end = max(end, mark*1.02)
	}
	p.f("<h2>Cleanup</h2><p class=\"dim\">Output may drain for 2000 ms; then everything else has 2000 ms.")
	if mark < end {
		p.f(" The dashed line is their end.")
	}
	p.f("</p>\n")
	for i := range steps {
		s := &steps[i]
		title := s.title()
		if title == "" {
			title = "all"
		}
		if s.Phase != "" && s.Open {
			title += ", " + s.Phase
		}
		if s.Waiting {
			title += ", waiting"
		}
		p.lane(title, duration(s.Took, s.Open), barClass(s.Open, false), s.From/end, s.Took/end, mark/end, "")
	}
}

func (p page) timeline(a *Analysis) {
	if len(a.lanes) == 0 {
		return
	}
	p.f("<h2>The child</h2>\n")
	whole := max(a.Duration, 1)
	for _, l := range a.lanes {
		took := millis(l.end.Sub(l.start))
		p.lane(l.name, duration(took, l.open), barClass(l.open, l.error), millis(l.start.Sub(a.began))/whole, took/whole, 0, "")
	}
}

func (p page) runs(runs []Run) {
	for _, r := range runs[:min(len(runs), maxLanes)] {
		p.f("<h2>Run %d</h2><p class=\"dim\">%s · %s</p>\n", r.Seq, r.ended(), duration(r.Took, r.Open))
		whole := max(r.Took, 1)
		for _, part := range r.Parts[:min(len(r.Parts), maxLanes)] {
			p.lane(part.Name, duration(part.Took, part.Open), barClass(part.Open, part.failed), part.From/whole, part.Took/whole, 0, part.Note)
		}
	}
}

// queue draws the depth of the output queue, as the metrics tell it.
func (p page) queue(a *Analysis) {
	q := a.Queues
	p.f("<h2>Queues</h2>")
	if a.missing("metrics") {
		p.f("<p>not known: the metrics file is missing</p>\n")
		return
	}
	p.f("<p>output peak %.0f of %d frames, oldest %.0f ms · worker peak %.0f of %d events · deltas dropped %.0f of %.0f</p>\n",
		q.OutputPeak, queueLimit, q.OldestMS, q.WorkerPeak, queueLimit, q.Dropped, q.Deltas)
	if len(q.Depth) < 2 {
		return
	}
	whole := max(a.Duration, 1)
	p.f("<svg viewBox=\"0 0 1000 100\" preserveAspectRatio=\"none\" width=\"100%%\" height=\"100\" role=\"img\" aria-label=\"output queue over time\"><polyline class=\"curve\" points=\"")
	for _, s := range q.Depth {
		p.f("%.1f,%.1f ", s.At/whole*1000, 98-s.Value/queueLimit*96)
	}
	p.f("\"/></svg>\n")
}

func (p page) unfinished(a *Analysis) {
	if len(a.Unfinished) == 0 {
		return
	}
	p.f("<h2>Unfinished</h2><div class=\"wide\"><table><tr><th>span</th><th>what</th><th class=\"n\">open at least</th></tr>\n")
	for _, u := range a.Unfinished[:min(len(a.Unfinished), maxLanes)] {
		p.f("<tr><td>%s</td><td>%s</td><td class=\"n\">%.0f ms</td></tr>\n", u.Name, describe(u), u.Age)
	}
	p.f("</table></div>\n")
	if a.Goroutines != "" {
		p.f("<details><summary>Goroutines before the cleanup was given up</summary><pre>")
		for line := range strings.Lines(a.Goroutines) {
			p.f("%s\n", strings.TrimRight(line, "\n"))
		}
		p.f("</pre></details>\n")
	}
}

func (p page) names(names []Name) {
	if len(names) == 0 {
		return
	}
	p.f("<h2>Names of this machine</h2><div class=\"wide\"><table><tr><th>what</th><th>in the capture</th><th>name</th></tr>\n")
	for i := range names {
		p.f("<tr><td>%s</td><td>%s</td><td>%s</td></tr>\n", names[i].Kind, names[i].Ref, names[i].shown())
	}
	p.f("</table></div>\n")
}

func (p page) phases(a *Analysis) {
	p.f("<h2>All spans</h2><div class=\"wide\"><table><tr><th>name</th><th class=\"n\">count</th><th class=\"n\">median</th><th class=\"n\">95 %%</th><th class=\"n\">longest</th></tr>\n")
	for _, x := range a.Phases {
		p.f("<tr><td>%s</td><td class=\"n\">%d</td><td class=\"n\">%.2f ms</td><td class=\"n\">%.2f ms</td><td class=\"n\">%.2f ms</td></tr>\n", x.Name, x.Count, x.Median, x.P95, x.Max)
	}
	p.f("</table></div>\n")
	if !a.began.IsZero() {
		p.f("<p class=\"dim\">from %s</p>\n", a.began.Format(time.RFC3339))
	}
}
