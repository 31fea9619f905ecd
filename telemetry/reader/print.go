package reader

import (
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
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

// LeastWidth is what a screen needs; a narrower one is treated as this wide.
const LeastWidth = 60

const (
	usualWidth = 100
	titleWidth = 26 // of a step or a part, before its bar
	besideBars = 52 // what stands before and behind a bar of the cleanup
	leastTitle = 16
	leastBars  = 10
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
	look.Width = max(look.Width, LeastWidth)
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
	for _, signal := range Signals() {
		if a.missing(signal) {
			p.f("%s MISSING   ", signal)
			continue
		}
		p.f("%s %s   ", signal, size(s.Bytes[signal]))
	}
	p.f("torn lines %d   dropped %d\n", s.Torn, s.Dropped)
	if s.Trace > 0 {
		p.f("runtime trace %s   go tool trace %s.runtime.trace\n", size(s.Trace), s.Name)
	}
	least, given := "", ""
	switch {
	case a.Exit == nil:
		least = "≥ "
	case a.Exit.Detached:
		given = "   DETACHED"
	}
	p.f("child %s%.2f s   %s%s\n\n", least, a.Duration/1000, a.Ending(), given)
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
		for _, d := range v.Details {
			p.f("                  %s\n", d)
		}
		if p.look.All {
			p.evidence(a.Capture.Name, v.Evidence)
		}
	}
}

// evidence prints where something stands, by the files' names without the capture's,
// which are those of all of them.
func (p *printer) evidence(name string, places []Evidence) {
	for _, e := range places {
		p.f("                  at %s:%d  %s\n", strings.TrimPrefix(e.File, name+"."), e.Line, strings.TrimSpace(e.Record+" "+e.Span))
	}
}

// eighths are the parts of a character that a bar can end with.
var eighths = []string{"", "▏", "▎", "▍", "▌", "▋", "▊", "▉"}

// bar is a bar of a waterfall in its place, in a room of that many characters.
func bar(from, took, end float64, room int, mark string) string {
	left := min(max(int(from/end*float64(room)), 0), room-1)
	width := max(int(took/end*float64(room)*8+0.5), 1)
	width = min(width, (room-left)*8)
	out := strings.Repeat(" ", left)
	if mark == waiting {
		return out + strings.Repeat("░", (width+7)/8) + mark
	}
	return out + strings.Repeat("█", width/8) + eighths[width%8] + mark
}

// Marks behind the bars of what never ended, and of what never began.
const (
	cut     = "▶ cut"
	waiting = "▶ waiting"
)

func (p *printer) cleanup(steps []Step) {
	if len(steps) == 0 {
		return
	}
	p.f("\ncleanup   drain budget 2000 ms │ wait budget 2000 ms\n")
	end, wide := scale(steps), titleWidth
	for i := range steps {
		wide = max(wide, utf8.RuneCountInString(Escape(steps[i].title()))) // a name that was resolved may be long
	}
	for i := range steps {
		s := &steps[i]
		title := s.title()
		if title == "" {
			title = "all"
		}
		p.f("  %-*s %s  %s\n", wide, title, took(s.Took, s.Open), bar(s.From, s.Took, end, p.bars, s.mark()))
	}
	p.axis(2+wide+1+tookWidth+2, end)
}

func (s *Step) mark() string {
	switch {
	case s.Waiting:
		return waiting
	case s.Open:
		return cut
	}
	return ""
}

// tookWidth is the width of a time.
const tookWidth = 11

// took is a time in milliseconds, at least, of what never ended.
func took(ms float64, open bool) string {
	sign := " "
	if open {
		sign = "≥"
	}
	return fmt.Sprintf("%s %6.0f ms", sign, ms)
}

// tickRoom is what a number below a waterfall has, with what is between two.
const tickRoom = 7

// axis is the line of times below a waterfall.
func (p *printer) axis(indent int, end float64) {
	step, most := 0.1, min(float64(p.bars)/tickRoom+0.5, 6)
	for i := 0; end/step > most; i++ { // 0.1 0.2 0.5 1 2 5 10 …
		step *= []float64{2, 2.5, 2}[i%3]
	}
	line := []rune(strings.Repeat(" ", p.bars+tickRoom))
	for i := 0; float64(i)*step <= end; i++ {
		label := strconv.FormatFloat(math.Round(float64(i)*step*10)/10, 'f', -1, 64)
		if float64(i+1)*step > end {
			label += " ms"
		}
		copy(line[int(float64(i)*step/end*float64(p.bars)):], []rune(label))
	}
	p.f("%*s%s\n", indent, "", strings.TrimRight(string(line), " "))
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
	for i := range runs {
		p.run(&runs[i])
	}
}

// run is a turn: how it ended, and a lane for each part, with its note behind the
// longest bar.
func (p *printer) run(r *Run) {
	parts, left := r.Parts, 0
	if len(parts) > maxParts && !p.look.All && p.look.Run == 0 {
		parts, left = parts[:maxParts], len(parts)-maxParts
	}
	wide, notes := leastTitle, 0
	for i := range parts {
		wide = max(wide, utf8.RuneCountInString(Escape(parts[i].Name)))
		notes = max(notes, utf8.RuneCountInString(Escape(parts[i].Note)))
	}
	p.f("\n%-*s %s\n", 2+wide, fmt.Sprintf("run %d   %s", r.Seq, r.ended()), took(r.Took, r.Open))
	room := max(p.look.Width-(2+wide+1+tookWidth+2)-len("▶  ")-notes, leastBars)
	for i := range parts {
		part, mark := &parts[i], ""
		if part.Open {
			mark = "▶"
		}
		b := bar(part.From, part.Took, max(r.Took, 1), room, mark)
		p.f("  %-*s %s  %s\n", wide, part.Name, took(part.Took, part.Open), strings.TrimRight(fmt.Sprintf("%-*s  %s", room+1, b, Escape(part.Note)), " "))
	}
	if left > 0 {
		p.f("  and %d more; --run %d or --all shows them\n", left, r.Seq)
	}
}

// ended is how a run ended, in words.
func (r *Run) ended() string {
	out := r.Outcome
	if out == "" {
		out = "unfinished"
	}
	for _, more := range []string{r.Persistence, r.Error} {
		if more != "" {
			out += " · " + more
		}
	}
	return out
}

func (p *printer) rest(a *Analysis) {
	q := a.Queues
	p.f("\n")
	if a.missing("metrics") {
		p.items("queues", "   ", []string{"not known: the metrics file is missing"})
	} else {
		p.items("queues", "   ", []string{fmt.Sprintf("output peak %.0f/%d%s", q.OutputPeak, queueLimit, curve(q.Depth)), fmt.Sprintf("oldest frame %.0f ms", q.OldestMS),
			fmt.Sprintf("worker events peak %.0f/%d", q.WorkerPeak, queueLimit), fmt.Sprintf("deltas dropped %.0f of %.0f%s", q.Dropped, q.Deltas, q.share())})
	}
	var out []string
	for _, r := range a.Requests {
		one := fmt.Sprintf("%s %.0f ms", r.Method, r.Slowest)
		if r.Count > 1 {
			one = fmt.Sprintf("%s ×%d ≤ %.0f ms", r.Method, r.Count, r.Slowest)
		}
		if r.Failed > 0 {
			one += fmt.Sprintf(", %d failed", r.Failed)
		}
		out = append(out, one)
	}
	if refused := q.refused(); refused != "" {
		out = append(out, "rejected: "+refused)
	}
	p.items("requests", " · ", out)
	out = nil
	for _, s := range a.slowest(4) {
		sign := ""
		if s.Open > 0 {
			sign = "≥ "
		}
		out = append(out, s.Name+" "+sign+short(s.Max))
	}
	p.items("slowest", " · ", out)
}

// items prints a list behind its name, in as many lines as it needs.
func (p *printer) items(name, between string, list []string) {
	const indent = 10
	column := 0
	for i, item := range list {
		width := utf8.RuneCountInString(Escape(item))
		switch {
		case i == 0:
			p.f("%-*s", indent, name)
			column = indent
		case column+utf8.RuneCountInString(between)+width > p.look.Width:
			p.f("\n%*s", indent, "")
			column = indent
		default:
			p.f("%s", between)
			column += utf8.RuneCountInString(between)
		}
		p.f("%s", item)
		column += width
	}
	if len(list) > 0 {
		p.f("\n")
	}
}

// short is a time, in seconds where it is long.
func short(ms float64) string {
	if ms >= 1000 {
		return fmt.Sprintf("%.2f s", ms/1000)
	}
	return fmt.Sprintf("%.0f ms", ms)
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
