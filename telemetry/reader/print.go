package reader

import (
	"fmt"
	"io"
	"math"
	"strings"
	"unicode"
)

// barWidth is the room for a waterfall.
const barWidth = 44

// Escape makes text from a file safe for a terminal.
func Escape(s string) string {
	var b strings.Builder
	for _, r := range s {
		if unicode.IsControl(r) || r == '\u2028' || r == '\u2029' || unicode.Is(unicode.Bidi_Control, r) {
			fmt.Fprintf(&b, `\x%02x`, r)
			continue
		}
		b.WriteRune(r)
	}
	return b.String()
}

// Print writes an analysis for a person.
func Print(w io.Writer, name string, a *Analysis) {
	p := func(format string, args ...any) {
		for i, v := range args {
			if s, ok := v.(string); ok {
				args[i] = Escape(s)
			}
		}
		fmt.Fprintf(w, format, args...)
	}
	p("%s   %s   torn lines %d\n", name, a.Program, a.Torn)
	if a.Exit == nil {
		p("child ≥ %.2f s   no exit\n", a.Duration/1000)
	} else {
		p("child %.2f s   exit %d (%s)", a.Duration/1000, a.Exit.Code, a.Exit.Reason)
		if a.Exit.Detached {
			p("   DETACHED")
		}
		p("\n")
	}
	p("\n")
	for _, v := range a.Verdicts {
		mark := "○"
		if v.Severe {
			mark = "●"
		}
		p("%s %-15s %s\n", mark, v.Code, v.Text)
		for _, e := range v.Evidence {
			p("                  %s\n", e)
		}
	}
	printCleanup(p, a)
	for _, r := range a.Runs {
		p("\nrun %d   %s · %s   %.0f ms\n", r.Seq, r.Outcome, r.Persistence, r.Took)
		for _, part := range r.Parts {
			p("  %s\n", part)
		}
	}
	if len(a.Requests) > 0 {
		p("\nrequests")
		for _, r := range a.Requests {
			p("   %s ×%d ≤ %.0f ms", r.Method, r.Count, math.Ceil(r.Slowest))
		}
		p("\n")
	}
	printUnfinished(p, a)
}

func printCleanup(p func(string, ...any), a *Analysis) {
	if len(a.Cleanup) == 0 {
		return
	}
	end := 1.0
	for _, s := range a.Cleanup {
		end = max(end, s.From+s.Took)
	}
	p("\ncleanup\n")
	for _, s := range a.Cleanup {
		from := int(s.From / end * barWidth)
		size := max(int(s.Took/end*barWidth), 1)
		mark, sign := "", " "
		if s.Open {
			mark, sign = "▶ cut", "≥"
		}
		p("  %-26s %s %6.0f ms  %s%s%s\n", strings.TrimPrefix(s.Name, "magi."), sign, s.Took, strings.Repeat(" ", from), strings.Repeat("█", size), mark)
	}
}

func printUnfinished(p func(string, ...any), a *Analysis) {
	if len(a.Unfinished) == 0 {
		return
	}
	p("\nunfinished\n")
	for _, u := range a.Unfinished {
		p("  %-40s ≥ %.0f ms\n", describe(u), u.Age)
	}
}
