package reader

import (
	"fmt"
	"io"
	"math"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Look is how an analysis is printed.
type Look struct {
	Width int   // of the terminal in characters; 0: 100
	Run   int64 // show this run only; 0: all
	All   bool  // no list is shortened
	Color bool
}

const (
	usualWidth = 100
	leastWidth = 60
	besideBars = 50 // what stands before and behind a bar
	maxRuns    = 10
	maxParts   = 12
	maxOpen    = 12
)

// Escape makes text from a file safe for a terminal.
func Escape(s string) string {
	var b strings.Builder
	for _, r := range s {
		if steers(r) {
			fmt.Fprintf(&b, `\x%02x`, r)
			continue
		}
		b.WriteRune(r)
	}
	return b.String()
}

// steers reports what moves a terminal's cursor or the order of its text.
func steers(r rune) bool {
	return unicode.IsControl(r) || r == '\u2028' || r == '\u2029' || unicode.Is(unicode.Bidi_Control, r)
}

// EscapeJSON makes JSON safe for a terminal; it is the same value. What encoders
// leave as it is beyond ASCII can only be inside a string.
func EscapeJSON(b []byte) []byte {
	out := make([]byte, 0, len(b))
	for _, r := range string(b) {
		if r >= 0x7f && steers(r) {
			out = fmt.Appendf(out, `\u%04x`, r)
			continue
		}
		out = utf8.AppendRune(out, r)
	}
	return out
}

// printer writes for a person. Text that it is given is escaped.
type printer struct {
	w    io.Writer
	look Look
	bars int // room for a waterfall
}

func newPrinter(w io.Writer, look Look) *printer {
	if look.Width <= 0 {
		look.Width = usualWidth
	}
	look.Width = max(look.Width, leastWidth)
	return &printer{w, look, look.Width - besideBars}
}

func (p *printer) f(format string, args ...any) {
	for i, v := range args {
		if s, ok := v.(string); ok {
			args[i] = Escape(s)
		}
	}
	fmt.Fprintf(p.w, format, args...)
}

// painted puts a colour around text that is our own.
func (p *printer) painted(color, text string) string {
	if !p.look.Color {
		return text
	}
	return "\x1b[" + color + "m" + text + "\x1b[0m"
}

// Print writes an analysis for a person.
func Print(w io.Writer, a *Analysis, look Look) {
	p := newPrinter(w, look)
	p.head(a)
	p.verdicts(a)
	p.cleanup(a.Cleanup)
	p.runs(a)
	p.rest(a)
	p.unfinished(a)
	p.names(a.Names)
	for _, v := range a.Verdicts {
		if v.Try != "" {
			p.f("\ntry       %s\n", v.Try)
			break
		}
	}
}

func (p *printer) head(a *Analysis) {
	s := a.Capture
	p.f("%s   %s   %s  %s\n", s.Name, s.Program, s.Platform, s.Runtime)
	for _, signal := range []string{"traces", "logs", "metrics"} {
		p.f("%s %s   ", signal, size(s.Bytes[signal]))
	}
	p.f("torn lines %d   dropped %d\n", s.Torn, s.Dropped)
	if s.Trace > 0 {
		p.f("runtime trace %s   go tool trace %s.runtime.trace\n", size(s.Trace), s.Name)
	}
	if a.Exit == nil {
		p.f("child ≥ %.2f s   no exit\n", a.Duration/1000)
	} else {
		p.f("child %.2f s   exit %d (%s)", a.Duration/1000, a.Exit.Code, a.Exit.Reason)
		if a.Exit.Detached {
			p.f("   DETACHED")
		}
		p.f("\n")
	}
	p.f("\n")
}

func size(n int64) string {
	if n < 1<<20 {
		return fmt.Sprintf("%.1f KB", float64(n)/1024)
	}
	return fmt.Sprintf("%.1f MB", float64(n)/(1<<20))
}

func (p *printer) verdicts(a *Analysis) {
	for _, v := range a.Verdicts {
		mark, color := "○", "33"
		if v.Severe {
			mark, color = "●", "31"
		}
		fmt.Fprint(p.w, p.painted(color, mark))
		p.f(" %-15s %s\n", v.Code, v.Text)
		for _, e := range v.Evidence {
			p.f("                  %s\n", e)
		}
	}
}

// bar is a bar of a waterfall in its place.
func (p *printer) bar(from, took, end float64, mark string) string {
	left := int(from / end * float64(p.bars))
	width := max(int(took/end*float64(p.bars)), 1)
	left, width = min(max(left, 0), p.bars), min(width, p.bars)
	return strings.Repeat(" ", left) + strings.Repeat("█", width) + mark
}

func (p *printer) cleanup(steps []Step) {
	if len(steps) == 0 {
		return
	}
	p.f("\ncleanup   wait budget 2000 ms\n")
	end, wide := scale(steps), 26
	for i := range steps {
		wide = max(wide, utf8.RuneCountInString(Escape(steps[i].title()))) // a name that was resolved may be long
	}
	for i := range steps {
		s := &steps[i]
		mark, sign := "", " "
		if s.Open {
			mark, sign = "▶ cut", "≥"
		}
		title := s.title()
		if title == "" {
			title = "all"
		}
		p.f("  %-*s %s %6.0f ms  %s\n", wide, title, sign, s.Took, p.bar(s.From, s.Took, end, mark))
	}
}

// scale is the length of a waterfall in milliseconds.
func scale(steps []Step) float64 {
	end := 1.0
	for _, s := range steps {
		end = max(end, s.From+s.Took)
	}
	return end
}

func (p *printer) runs(a *Analysis) {
	runs := a.Runs
	if p.look.Run > 0 {
		runs = slices.DeleteFunc(slices.Clone(runs), func(r Run) bool { return r.Seq != p.look.Run })
	}
	left := 0
	if !p.look.All && len(runs) > maxRuns {
		left = len(runs) - maxRuns
		runs = runs[left:]
		p.f("\n%d earlier runs; --all shows them\n", left)
	}
	for _, r := range runs {
		p.f("\nrun %d   %s · %s   %.0f ms\n", r.Seq, r.Outcome, r.Persistence, r.Took)
		for i, part := range r.Parts {
			if i == maxParts && !p.look.All && p.look.Run == 0 {
				p.f("  and %d more\n", len(r.Parts)-i)
				break
			}
			p.f("  %-26s   %6.0f ms  %s  %s\n", part.Name, part.Took, p.bar(part.From, part.Took, max(r.Took, 1), ""), part.Note)
		}
	}
}

func (p *printer) rest(a *Analysis) {
	q := a.Queues
	p.f("\nqueues    output peak %.0f/%d%s   oldest frame %.0f ms   worker events peak %.0f/%d   deltas dropped %.0f of %.0f\n",
		q.OutputPeak, queueLimit, curve(q.Depth), q.OldestMS, q.WorkerPeak, queueLimit, q.Dropped, q.Deltas)
	if len(a.Requests) > 0 {
		p.f("requests")
		for _, r := range a.Requests {
			p.f("   %s ×%d ≤ %.0f ms", r.Method, r.Count, math.Ceil(r.Slowest))
		}
		if q.Rejected > 0 {
			p.f("   rejected ×%.0f", q.Rejected)
		}
		p.f("\n")
	}
	if slow := a.slowest(4); len(slow) > 0 {
		p.f("slowest ")
		for i, s := range slow {
			if i > 0 {
				p.f(" ·")
			}
			p.f(" %s %.0f ms", s.Name, s.Max)
		}
		p.f("\n")
	}
}

func (p *printer) names(names []Name) {
	if len(names) > 0 {
		p.f("\nnames\n")
	}
	for i := range names {
		p.f("  %-9s %-15s %s\n", names[i].Kind, names[i].Ref, names[i].shown())
	}
}

// maxCurve is the width of a curve in characters.
const maxCurve = 20

// curve draws the depth of the output queue over time, the highest of each part,
// with a space before it; "" where there are fewer than two samples.
func curve(depth []Sample) string {
	if len(depth) < 2 {
		return ""
	}
	steps := []rune("▁▂▃▄▅▆▇█")
	out := []rune{' '}
	n := min(len(depth), maxCurve)
	for i := range n {
		top := 0.0
		for _, s := range depth[i*len(depth)/n : (i+1)*len(depth)/n] {
			top = max(top, s.Value)
		}
		out = append(out, steps[min(int(top/queueLimit*float64(len(steps)-1)+0.5), len(steps)-1)])
	}
	return string(out)
}

func (p *printer) unfinished(a *Analysis) {
	if len(a.Unfinished) == 0 {
		return
	}
	p.f("\nunfinished\n")
	for i, u := range a.Unfinished {
		if i == maxOpen && !p.look.All {
			p.f("  and %d more; --all shows them\n", len(a.Unfinished)-i)
			break
		}
		p.f("  %-40s ≥ %.0f ms\n", describe(u), u.Age)
	}
}
