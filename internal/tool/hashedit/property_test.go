package hashedit

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"magicode/internal/tool"
	"magicode/internal/vfs"
)

// model applies operations to lines in the plainest way: a list of slots, one
// per original line.
type slot struct {
	before, instead, after []string
	gone                   bool
}

type modelOp struct {
	verb        string
	first, last int
	rows        []string
}

func (o modelOp) String() string {
	var b strings.Builder
	switch o.verb {
	case "INS.HEAD", "INS.TAIL":
		b.WriteString(o.verb + ":")
	case "DEL":
		fmt.Fprintf(&b, "DEL %d.=%d", o.first, o.last)
	case "SWAP":
		fmt.Fprintf(&b, "SWAP %d.=%d:", o.first, o.last)
	default:
		fmt.Fprintf(&b, "%s %d:", o.verb, o.first)
	}
	for _, r := range o.rows {
		b.WriteString("\n+" + r)
	}
	return b.String()
}

func applyModel(lines []string, ops []modelOp) []string {
	slots := make([]slot, len(lines)+1)
	var head, tail []string
	for _, o := range ops {
		switch o.verb {
		case "INS.HEAD":
			head = append(head, o.rows...)
		case "INS.TAIL":
			tail = append(tail, o.rows...)
		case "INS.PRE":
			slots[o.first].before = append(slots[o.first].before, o.rows...)
		case "INS.POST":
			slots[o.first].after = append(slots[o.first].after, o.rows...)
		default:
			slots[o.first].instead = o.rows
			for n := o.first; n <= o.last; n++ {
				slots[n].gone = true
			}
		}
	}
	out := head
	for i, line := range lines {
		s := slots[i+1]
		out = append(append(out, s.before...), s.instead...)
		if !s.gone {
			out = append(out, line)
		}
		out = append(out, s.after...)
	}
	return append(out, tail...)
}

// drawOps draws operations that do not delete a line twice. Rows are new and
// without brackets or indent, so that no repair applies.
func drawOps(t *rapid.T, n int) []modelOp {
	var ops []modelOp
	taken := make([]bool, n+1)
	serial := 0
	for range rapid.IntRange(1, 5).Draw(t, "operations") {
		o := modelOp{verb: rapid.SampledFrom([]string{"SWAP", "DEL", "INS.PRE", "INS.POST", "INS.HEAD", "INS.TAIL"}).Draw(t, "verb")}
		o.first = rapid.IntRange(1, n).Draw(t, "first")
		o.last = min(n, o.first+rapid.IntRange(0, 3).Draw(t, "more"))
		if o.verb == "SWAP" || o.verb == "DEL" {
			if slices.Contains(taken[o.first:o.last+1], true) {
				continue
			}
			for i := o.first; i <= o.last; i++ {
				taken[i] = true
			}
		}
		if o.verb != "DEL" {
			for range rapid.IntRange(1, 3).Draw(t, "rows") {
				serial++
				o.rows = append(o.rows, fmt.Sprintf("%snew %d", rapid.SampledFrom([]string{"", "+", "#", "[x] ", "- "}).Draw(t, "start"), serial))
			}
		}
		ops = append(ops, o)
	}
	if len(ops) == 0 {
		ops = append(ops, modelOp{verb: "DEL", first: 1, last: 1})
	}
	return ops
}

func drawLines(t *rapid.T) []string {
	return rapid.SliceOfN(rapid.SampledFrom([]string{"a", "b", "c", "", "x = 1", "end", "é"}), 1, 15).Draw(t, "lines")
}

func text(lines []string) string {
	if len(lines) == 0 {
		return ""
	}
	return strings.Join(lines, "\n") + "\n"
}

func patchText(name, tag string, ops []modelOp) string {
	parts := []string{"[" + name + "#" + tag + "]"}
	for _, o := range ops {
		parts = append(parts, o.String())
	}
	return strings.Join(parts, "\n")
}

// TestModel: random files and patches, with each kind of line end.
func TestModel(t *testing.T) {
	b := newBench(t, vfs.OS())
	rapid.Check(t, func(rt *rapid.T) {
		lines := drawLines(rt)
		ops := drawOps(rt, len(lines))
		style := rapid.SampledFrom([]func(string) string{
			func(s string) string { return s },
			func(s string) string { return strings.ReplaceAll(s, "\n", "\r\n") },
			func(s string) string { return "\ufeff" + s },
		}).Draw(rt, "style")
		b.put("f.txt", style(text(lines)))
		res := b.run(patchText("f.txt", b.read("f.txt"), ops))
		want := style(text(applyModel(lines, ops)))
		if want == "" || want == "\ufeff" {
			rt.Skip()
		}
		if got := b.get("f.txt"); !res.Success || got != want {
			rt.Fatalf("%v\n%s\ngot  %q\nwant %q", ops, res.Content, got, want)
		}
	})
}

// TestStaleModel: somebody else changes the file between read and edit. An edit
// that succeeds must be the edit of the right lines: what the others did and
// what the patch did are both there. One that fails changes nothing.
func TestStaleModel(t *testing.T) {
	b := newBench(t, vfs.OS())
	carried := 0
	rapid.Check(t, func(rt *rapid.T) {
		// Unique lines: then there is only one right place.
		n := rapid.IntRange(8, 30).Draw(rt, "lines")
		var lines []string
		for i := range n {
			lines = append(lines, fmt.Sprintf("line %d", i+1))
		}
		b.put("f.txt", text(lines))
		tag := b.read("f.txt")
		ops := drawOps(rt, n)
		theirs := []modelOp{{verb: "INS.PRE", first: rapid.IntRange(1, n).Draw(rt, "their line"), rows: []string{"theirs 1", "theirs 2"}}}
		switch rapid.IntRange(0, 2).Draw(rt, "their change") {
		case 1:
			theirs[0] = modelOp{verb: "DEL", first: theirs[0].first, last: theirs[0].first}
		case 2:
			theirs[0] = modelOp{verb: "SWAP", first: theirs[0].first, last: theirs[0].first, rows: []string{"theirs"}}
		}
		now := applyModel(lines, theirs)
		b.put("f.txt", text(now))
		res := b.run(patchText("f.txt", tag, ops))
		got := b.get("f.txt")
		if !res.Success {
			if got != text(now) {
				rt.Fatalf("failed and changed the file: %q", got)
			}
			return
		}
		if onlyEnds(ops) {
			return
		}
		carried++
		// The two changes are independent when they name different lines.
		want := text(applyModel(lines, append(slices.Clone(theirs), ops...)))
		if alternative := text(applyModel(lines, append(slices.Clone(ops), theirs...))); got != want && got != alternative {
			rt.Fatalf("theirs %v, ours %v\n%s\ngot  %q\nwant %q", theirs, ops, res.Content, got, want)
		}
	})
	if carried == 0 {
		t.Error("nothing was ever carried over")
	}
}

func onlyEnds(ops []modelOp) bool {
	return !slices.ContainsFunc(ops, func(o modelOp) bool { return o.verb != "INS.HEAD" && o.verb != "INS.TAIL" })
}

// FuzzParse: whatever is sent, the parser answers, and what it accepts applies
// or is refused without harm.
func FuzzParse(f *testing.F) {
	for _, s := range []string{"[f#0000]\nSWAP 1.=2:\n+x", "[f#0000]\nINS.BLK.POST 1\n+x\n*** End Patch", "[*** Update File: f#0000]\n# c\nDEL 1-2", "[f#0000]\nMV 'g'", "[f#0000]\nSWAP 1 .:\n1:x\n\n2:y"} {
		f.Add(s, "a\nb\n")
	}
	env := tool.Env{Cwd: "/w", CanonicalCwd: "/w"}
	f.Fuzz(func(t *testing.T, patch, file string) {
		sections, err := parse(strings.TrimSpace(patch), env)
		if err != nil {
			return
		}
		d := newDocument(tool.Normalize([]byte(file)))
		for _, s := range sections {
			if len(s.ops) == 0 {
				t.Fatalf("a section without operations: %+v", s)
			}
			for _, name := range []string{"f.txt", "f.go", "f.py", "f.tsx", "f.rs"} {
				p, err := makePlan(context.Background(), d, s.lineOps(), name)
				if err != nil {
					continue
				}
				for _, n := range p.anchors {
					if n < 1 || n > len(d.lines) {
						t.Fatalf("anchor %d of %d lines", n, len(d.lines))
					}
				}
				p.apply(d)
				p.counts(d)
			}
		}
	})
}
