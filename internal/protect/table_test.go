package protect

import (
	_ "embed"
	"strings"
	"testing"
)

var here = Place{Dir: "/w/p", Workspace: "/w/p", Home: "/home/u", StateRoot: "/home/u/.magi-code"}

//go:embed testdata/commands.txt
var commandTable string

//go:embed testdata/blind.txt
var blindTable string

//go:embed testdata/blind2.txt
var secondTable string

// row is one line of a table.
type row struct {
	kind, levels, dimension, command string
}

func rows(t testing.TB) []row {
	var out []row
	kind := ""
	for line := range strings.SplitSeq(commandTable, "\n") {
		switch {
		case strings.HasPrefix(line, "## "):
			kind = line[3:]
		case line == "" || line[0] == '#':
		default:
			f := strings.Fields(line)
			if len(f) < 3 || len(f[0]) != 6 {
				t.Fatalf("not a row: %s", line)
			}
			at := len(f[0]) + strings.Index(line[len(f[0]):], f[1]) + len(f[1])
			out = append(out, row{kind, f[0], f[1], command(strings.TrimLeft(line[at:], " "))})
		}
	}
	return out
}

// command writes out what a table abbreviates.
func command(c string) string {
	c = strings.ReplaceAll(c, "⏎", "\n")
	switch first, rest, _ := strings.Cut(c, " "); first {
	case "@pad", "@padonly":
		return strings.Repeat("true; ", 20_000) + rest
	case "@comment":
		return "# " + strings.Repeat("x", 60_000) + "\n" + rest
	case "@nest":
		return strings.Repeat("$(", 50_000) + strings.Repeat(")", 50_000)
	}
	return c
}

var levels = []Level{Off, Permissive, Relaxed, Balanced, Cautious, Strict}

// decisions writes an assessment as a row of the table does.
func decisions(a Assessment) (letters, dimension string) {
	dimension = "-"
	for i, l := range levels {
		ask, why := a.Decide(l)
		if !ask {
			letters += "-"
			continue
		}
		if letters += "OPRBCS"[i : i+1]; dimension == "-" || l == Relaxed {
			dimension = string(why)
		}
	}
	return letters, dimension
}

func short(c string) string { return c[:min(len(c), 120)] }

func TestCommands(t *testing.T) {
	for _, r := range rows(t) {
		letters, dimension := decisions(Assess(r.command, here))
		if letters != r.levels || dimension != r.dimension {
			t.Errorf("%s: %s\n got %s %s\nwant %s %s", r.kind, short(r.command), letters, dimension, r.levels, r.dimension)
		}
	}
}

// The table is as large and as even as it was meant to be.
func TestTheTableIsComplete(t *testing.T) {
	kinds, quiet, evasions, all := map[string]int{}, map[string]int{}, 0, rows(t)
	for _, r := range all {
		kinds[r.kind]++
		asks := r.levels[2] == 'R'
		if !asks {
			quiet[r.kind]++
		}
		if asks && strings.Contains(r.kind, "(evasion)") {
			evasions++
		}
	}
	if len(all) < 250 || len(kinds) < 40 || evasions < 100 {
		t.Errorf("%d rows, %d kinds, %d evasions", len(all), len(kinds), evasions)
	}
	for kind, n := range kinds {
		if n > 10 || quiet[kind] < 2 {
			t.Errorf("%s: %d rows, %d of them quiet", kind, n, quiet[kind])
		}
	}
}

func TestCommandsWrittenBlind(t *testing.T) {
	n := 0
	for line := range strings.SplitSeq(blindTable+secondTable, "\n") {
		if line == "" || line[0] == '#' {
			continue
		}
		n++
		a := Assess(command(line[3:]), here)
		for i, l := range []Level{Relaxed, Strict} {
			if ask, why := a.Decide(l); ask != (line[i] == '!') {
				t.Errorf("%s: asks %v (%s): %s", l, ask, why, line[3:])
			}
		}
	}
	if n < 200 {
		t.Errorf("%d rows", n)
	}
}
