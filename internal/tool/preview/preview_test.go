package preview

import (
	"fmt"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"magicode/internal/redact"
	"magicode/internal/session"
	"magicode/internal/tool"
)

var env = tool.Env{Cwd: "/w", CanonicalCwd: "/w"}

func nothing(string) bool { return false }

func edit(path, before, after string) tool.Edit {
	return tool.Edit{Tool: "edit", Path: path, Before: tool.Present([]byte(before)), After: tool.Present([]byte(after))}
}

const numbers = "1\n2\n3\n4\n5\n6\n7\n8\n9\n10\n11\n12\n"

func TestOf(t *testing.T) {
	created := tool.Edit{Tool: "write_file", Path: "/w/new", After: tool.Present([]byte("a\nb\n"))}
	removed := tool.Edit{Tool: "edit", Path: "/w/old", Before: tool.Present([]byte("a\n"))}
	moved := tool.Edit{Tool: "edit", Path: "/w/d/to", After: tool.Present([]byte("a\n"))}
	large := tool.Edit{Tool: "write_file", Path: "/w/f", Before: tool.Version{Exists: true, Size: tool.MaxCheckpoint + 1}, After: tool.Present([]byte("a\n"))}
	for _, tc := range []struct {
		name  string
		edits []tool.Edit
		want  string
		cut   bool
	}{
		{"a line", []tool.Edit{edit("/w/f", "a\nb\nc\n", "a\nB\nc\n")}, "--- f\n+++ f\n@@ -1,3 +1,3 @@\n a\n-b\n+B\n c", false},
		{"two hunks", []tool.Edit{edit("/w/f", numbers, strings.Replace(strings.Replace(numbers, "1\n", "one\n", 1), "12\n", "", 1))},
			"--- f\n+++ f\n@@ -1,4 +1,4 @@\n-1\n+one\n 2\n 3\n 4\n@@ -9,4 +9,3 @@\n 9\n 10\n 11\n-12", false},
		{"created", []tool.Edit{created}, "--- /dev/null\n+++ new\n@@ -0,0 +1,2 @@\n+a\n+b", false},
		{"removed", []tool.Edit{removed}, "--- old\n+++ /dev/null\n@@ -1,1 +0,0 @@\n-a", false},
		{"moved", []tool.Edit{moved, removed}, "--- old\n+++ d/to", false},
		{"moved, the source is still there", []tool.Edit{moved}, "--- /dev/null\n+++ d/to\n@@ -0,0 +1,1 @@\n+a", false},
		{"moved and changed", []tool.Edit{moved, {Tool: "edit", Path: "/w/old", Before: tool.Present([]byte("b\n"))}}, "--- old\n+++ d/to\n@@ -1,1 +1,1 @@\n-b\n+a", false},
		{"no last line end", []tool.Edit{edit("/w/f", "a", "a\n")}, "--- f\n+++ f\n@@ -1,1 +1,1 @@\n-a\n\\ No newline at end of file\n+a", false},
		{"outside", []tool.Edit{edit("/x/f", "a\n", "b\n")}, "--- /x/f\n+++ /x/f\n@@ -1,1 +1,1 @@\n-a\n+b", false},
		{"odd name", []tool.Edit{edit("/w/a\nb", "a\n", "b\n")}, "--- \"a\\nb\"\n+++ \"a\\nb\"\n@@ -1,1 +1,1 @@\n-a\n+b", false},
		{"two files", []tool.Edit{edit("/w/f", "a\n", "b\n"), edit("/w/g", "", "b\n")}, "--- f\n+++ f\n@@ -1,1 +1,1 @@\n-a\n+b\n--- g\n+++ g\n@@ -0,0 +1,1 @@\n+b", false},
		{"nothing changed", []tool.Edit{edit("/w/f", "a\n", "a\n")}, "", false},
		{"line ends only", []tool.Edit{edit("/w/f", "a\r\n", "a\n")}, "", false},
		{"too large before", []tool.Edit{large}, "", true},
		{"too large beside", []tool.Edit{large, edit("/w/g", "a\n", "b\n")}, "--- g\n+++ g\n@@ -1,1 +1,1 @@\n-a\n+b", true},
		{"not text", []tool.Edit{edit("/w/f", "\xff\n", "b\n")}, "", true},
		{"hidden", []tool.Edit{edit("/w/.env", "a\n", "b\n"), edit("/w/g", "a\n", "b\n")}, "--- g\n+++ g\n@@ -1,1 +1,1 @@\n-a\n+b", true},
		{"control characters", []tool.Edit{edit("/w/f", "a\n", "\x1b[31mb\x07\n")}, "--- f\n+++ f\n@@ -1,1 +1,1 @@\n-a\n+b", false},
		{"a long line", []tool.Edit{edit("/w/f", "", strings.Repeat("é", 600)+"\n")}, "--- f\n+++ f\n@@ -0,0 +1,1 @@\n+" + strings.Repeat("é", 511), true},
	} {
		t.Run(tc.name, func(t *testing.T) {
			p, ok := Of(env, tc.edits, func(path string) bool { return strings.HasSuffix(path, ".env") })
			if d := cmp.Diff(tc.want, p.Diff); d != "" || ok != (tc.want != "") || p.Truncated != tc.cut {
				t.Errorf("%v %v %s", ok, p.Truncated, d)
			}
		})
	}
}

const key = "-----BEGIN RSA PRIVATE KEY-----\nMIIEowIBAAKCAQEAu1SU1\nabcdefghijkl\n-----END RSA PRIVATE KEY-----\n"

// What is secret by its surroundings is hidden where only a part of it is shown.
func TestSecretsOfSeveralLines(t *testing.T) {
	before := "top\n" + key + "a\nb\nc\nd\n"
	for name, after := range map[string]string{
		"beside":  "top\n" + key + "A\nb\nc\nd\n",
		"within":  strings.Replace(before, "abcdefghijkl", "ABCDEFGHIJKL", 1),
		"removed": "top\na\nb\nc\nd\n",
	} {
		t.Run(name, func(t *testing.T) {
			p, ok := Of(env, []tool.Edit{edit("/w/f", before, after)}, nothing)
			if !ok || strings.Contains(strings.ToLower(p.Diff), "abcdefghijkl") || strings.Contains(p.Diff, "MIIE") || !strings.Contains(p.Diff, hidden) {
				t.Errorf("%v\n%s", ok, p.Diff)
			}
		})
	}
	p, _ := Of(env, []tool.Edit{edit("/w/f", "password = hunter2hunter2\n", "password = swordfish123\n")}, nothing)
	if strings.Contains(p.Diff, "hunter2") || strings.Contains(p.Diff, "swordfish") || strings.Count(p.Diff, hidden) != 2 {
		t.Error(p.Diff)
	}
}

// A cut must not end a text so that redaction finds something in it, and a
// secret across the cut must not be shown in part.
func TestSecretAtACut(t *testing.T) {
	for n := 990; n < 1030; n++ {
		line := strings.Repeat("x", n) + " ghp_" + strings.Repeat("A1b2", 9) + strings.Repeat(" y", 100)
		p, ok := Of(env, []tool.Edit{edit("/w/f", "", line+"\n")}, nothing)
		if !ok || !p.Truncated || strings.Contains(p.Diff, "ghp_") || redact.Display(p.Diff) != p.Diff {
			t.Fatalf("%d: %v %v %s", n, ok, p.Truncated, p.Diff)
		}
	}
}

var pieces = []string{"a", "b", "", "func f() {", "}", "\tx := 1", "password = hunter2hunter2", "é\u2028\u2029", strings.Repeat("w ", 700), "\x1b[31mred", "token: ghp_" + strings.Repeat("A1b2", 9),
	"-----BEGIN RSA PRIVATE KEY-----", "MIIEowIBAAKCAQEAu1SU1", "-----END RSA PRIVATE KEY-----", "\"", "\\", "<&>", "\x00\x01"}

func content(t *rapid.T, name string, from []string, most int) string {
	return strings.Join(rapid.SliceOfN(rapid.SampledFrom(from), 0, most).Draw(t, name), "\n") + rapid.SampledFrom([]string{"", "\n"}).Draw(t, name+"'s end")
}

func TestBounds(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var edits []tool.Edit
		for i := range rapid.IntRange(1, 4).Draw(t, "files") {
			edits = append(edits, edit("/w/f"+strconv.Itoa(i), content(t, "before", pieces, 200), content(t, "after", pieces, 200)))
		}
		p, ok := Of(env, edits, nothing)
		if !ok {
			return
		}
		size, err := session.EncodedSize(p.Payload())
		if err != nil || strings.Contains(p.Diff, "hunter2") || strings.Contains(p.Diff, "ghp_") || strings.Contains(p.Diff, "MIIE") && strings.Contains(p.Diff, "BEGIN") {
			t.Fatalf("%v\n%s", err, p.Diff)
		}
		if redact.Display(p.Diff) != p.Diff {
			t.Fatal("not sanitised")
		}
		lines := strings.Split(p.Diff, "\n")
		if len(lines) > maxLines || size > MaxBytes {
			t.Fatalf("%d lines, %d bytes", len(lines), size)
		}
		for _, l := range lines {
			if len(l) > maxLineBytes {
				t.Fatalf("a line of %d bytes", len(l))
			}
		}
	})
}

// Without bounds and secrets in the way, the diff turns one text into the other.
func TestDiffApplies(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		from := []string{"a", "b", "c", "d", "e", "", "}"}
		before, after := content(t, "before", from, 30), content(t, "after", from, 30)
		p, ok := Of(env, []tool.Edit{edit("/w/f", before, after)}, nothing)
		if !ok {
			if before != after {
				t.Fatalf("nothing between %q and %q", before, after)
			}
			return
		}
		if got := apply(t, before, p.Diff); got != after && !p.Truncated {
			t.Fatalf("%q becomes %q, wanted %q\n%s", before, got, after, p.Diff)
		}
	})
}

// apply is a plain reader of unified diffs.
func apply(t *rapid.T, before, diff string) string {
	old := strings.SplitAfter(before, "\n")
	if old[len(old)-1] == "" {
		old = old[:len(old)-1]
	}
	var out []string
	at, added := 0, false
	for _, row := range strings.Split(diff, "\n")[2:] {
		var a, b, n, m int
		switch {
		case row[0] == '@':
			if _, err := fmt.Sscanf(row, "@@ -%d,%d +%d,%d @@", &a, &b, &n, &m); err != nil {
				t.Fatal(err)
			}
			for ; at < max(a-1, 0); at++ {
				out = append(out, old[at])
			}
			if m > 0 && len(out) != n-1 {
				t.Fatalf("hunk %s begins on line %d", row, len(out)+1)
			}
		case row[0] == '\\':
			if added {
				out[len(out)-1] = strings.TrimSuffix(out[len(out)-1], "\n")
			}
		case row[0] == '+':
			out = append(out, row[1:]+"\n")
		default:
			if strings.TrimSuffix(old[at], "\n") != row[1:] {
				t.Fatalf("line %d is %q, not %q", at+1, old[at], row[1:])
			}
			if row[0] == ' ' {
				out = append(out, old[at])
			}
			at++
		}
		added = row[0] == '+'
	}
	return strings.Join(append(out, old[at:]...), "")
}

func TestHugeFiles(t *testing.T) {
	short, long := strings.Repeat("a\n", 400_000), strings.Repeat("x", 1<<20)
	var many []tool.Edit
	for i := range 2000 {
		many = append(many, edit("/w/f"+strconv.Itoa(i), strings.Repeat("l\n", 2000), strings.Repeat("l\n", 1999)+"m\n"))
	}
	for name, edits := range map[string][]tool.Edit{
		"many lines": {edit("/w/f", short, strings.Replace(short, "a", "b", 1))}, "all lines": {edit("/w/f", short, strings.ReplaceAll(short, "a", "b")), edit("/w/g", "a\n", "b\n")},
		"created": {{Tool: "write_file", Path: "/w/f", After: tool.Present([]byte(short))}}, "one line": {edit("/w/f", long, "y"+long[1:])}, "many files": many,
	} {
		from := time.Now()
		p, ok := Of(env, edits, nothing)
		if spent := time.Since(from); !ok || len(p.Diff) > MaxBytes || spent > 5*time.Second {
			t.Errorf("%s: %v, %d bytes, %v", name, ok, len(p.Diff), spent)
		}
		if p.Truncated != (name != "many lines") {
			t.Errorf("%s: truncated %v", name, p.Truncated)
		}
	}
}
