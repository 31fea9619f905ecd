package protect

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"mvdan.cc/sh/v3/syntax"
	"pgregory.net/rapid"
)

// prefixed forms do what the command does.
var prefixed = map[string]func(string) string{
	"cd":         func(c string) string { return "cd . && " + c },
	"time":       func(c string) string { return "time " + c },
	"group":      func(c string) string { return "{ " + c + "\n}" },
	"subshell":   func(c string) string { return "( " + c + "\n)" },
	"env":        func(c string) string { return "env A=1 " + c },
	"command":    func(c string) string { return "command " + c },
	"assignment": func(c string) string { return "A=1 " + c },
	"negation":   func(c string) string { return "! " + c },
	"true":       func(c string) string { return "true; " + c },
	"nohup":      func(c string) string { return "nohup " + c },
	"bash -c":    func(c string) string { return "bash -c " + quoted(c) },
	"eval":       func(c string) string { return "eval " + quoted(c) },
	"if":         func(c string) string { return "if true; then " + c + "\nfi" },
	"function":   func(c string) string { return "f() { " + c + "\n}; f" },
	"here-doc":   func(c string) string { return "bash <<'END_OF_IT'\n" + c + "\nEND_OF_IT" },
	"double env": func(c string) string { return "env -i nice " + c },
}

func quoted(c string) string { return "'" + strings.ReplaceAll(c, "'", `'\''`) + "'" }

func parses(c string) bool {
	_, err := syntax.NewParser(syntax.Variant(syntax.LangBash)).Parse(strings.NewReader(c), "")
	return err == nil
}

// simple commands stay what they are behind a word.
func simple(c string) bool {
	f, err := syntax.NewParser(syntax.Variant(syntax.LangBash)).Parse(strings.NewReader(c), "")
	if err != nil || len(f.Stmts) != 1 || f.Stmts[0].Negated || len(f.Stmts[0].Redirs) > 0 {
		return false
	}
	call, ok := f.Stmts[0].Cmd.(*syntax.CallExpr)
	return ok && len(call.Args) > 0 && len(call.Assigns) == 0
}

// builtin words mean nothing to a program that runs others.
var builtinWords = set("eval source . alias trap hash enable mapfile complete cd pushd set export declare exec read history printf let unset test [")

func TestAPrefixNeverLowersADecision(t *testing.T) {
	for _, r := range rows(t) {
		if len(r.command) > 4096 || !parses(r.command) {
			continue
		}
		word := simple(r.command)
		for name, f := range prefixed {
			switch name {
			case "time", "env", "command", "assignment", "negation", "nohup", "double env":
				if !word || builtinWords[strings.Fields(r.command)[0]] {
					continue
				}
			}
			if got, _ := decisions(Assess(f(r.command), here)); lower(got, r.levels) {
				t.Errorf("%s: %s\n got %s\nwant %s", name, r.command, got, r.levels)
			}
		}
	}
}

// lower reports a level that asked before and no longer does.
func lower(got, want string) bool {
	for i := range want {
		if want[i] != '-' && got[i] == '-' {
			return true
		}
	}
	return false
}

// Words of plain letters, quoted character by character in any way, are the
// same words.
func TestQuotingNeverLowersADecision(t *testing.T) {
	var plain []row
	for _, r := range rows(t) {
		if strings.Trim(r.command, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789 /.-_:=+@,") == "" && simple(r.command) {
			plain = append(plain, r)
		}
	}
	if len(plain) < 80 {
		t.Fatalf("only %d plain rows", len(plain))
	}
	rapid.Check(t, func(t *rapid.T) {
		r := rapid.SampledFrom(plain).Draw(t, "row")
		var b strings.Builder
		for i := 0; i < len(r.command); i++ {
			c := r.command[i]
			if c == ' ' {
				b.WriteByte(c)
				continue
			}
			form := rapid.SampledFrom([]string{"%c", "%c", "\\%c", "'%c'", "\"%c\"", "$'%c'", "$'\\x%02x'", "$'\\%03o'", "\\\n%c", "''%c"}).Draw(t, "form")
			fmt.Fprintf(&b, form, c)
		}
		if got, _ := decisions(Assess(b.String(), here)); lower(got, r.levels) {
			t.Fatalf("%q\n got %s\nwant %s", b.String(), got, r.levels)
		}
	})
}

// hostile inputs are large, deep or many-headed.
func hostile() map[string]string {
	const mib = 1 << 20
	rep := func(s string) string { return strings.Repeat(s, mib/len(s)) }
	return map[string]string{
		"commands": rep("ls -la a; "), "and": rep("a && "), "pipes": rep("a | "), "parens": rep("("), "substitutions": rep("$("), "backticks": rep("`"), "braces": rep("{a,b}"), "groups": rep("{ "),
		"ifs": rep("if "), "arithmetic": "((" + rep("-"), "conditions": "((" + rep("a?"), "defaults": rep("${a:-"), "env": rep("env "), "sudo": rep("sudo "), "word": rep("x"), "variables": rep("a=$a$a;"), "assignments": "a=1; " + rep("$a "),
		"functions": rep("f() { f|f& };"), "heredocs": rep("cat <<E\n"), "slashes": "rm " + rep("/"), "dots": "rm " + rep("../"), "globs": "rm " + rep("*"), "loops": rep("for i in a b; do "), "evals": rep("eval "), "links": rep("ln -s / x;"), "writes": rep("a>b;"),
		"cases": rep("case x in x) "), "nul": rep("\x00"), "awk": "awk '" + rep("/") + "'", "sed": "sed '" + rep("s/a/b/;") + "'", "finds": "find . " + rep("-exec rm {} + "), "quotes": rep("'"), "alias": rep("alias a=a;a;"), "cds": rep("cd a;"), "python": "python3 -c '" + rep("/a ~/ ") + "'",
	}
}

// Whatever comes in, the answer comes soon. The bound is wide: machines are slow.
func TestHostileInputIsBounded(t *testing.T) {
	for name, c := range hostile() {
		begin := spent(t)
		Assess(c, here)
		if took := spent(t) - begin; took > 10*time.Second {
			t.Errorf("%s took %v", name, took)
		} else {
			t.Logf("%s took %v", name, took)
		}
	}
}

// Inputs that once took for ever or broke the parser.
func TestInputsThatFuzzingFound(t *testing.T) {
	for _, c := range []string{"cd ''; rm -rf *", "<<''&0\x95", "cd '' && ls ./*/*"} {
		Assess(c, here)
		Assess(c, Place{})
	}
}

func FuzzAssess(f *testing.F) {
	for _, r := range rows(f) {
		if len(r.command) < 4096 {
			f.Add(r.command)
		}
	}
	f.Fuzz(func(t *testing.T, c string) {
		done := make(chan Assessment, 1)
		go func() { done <- Assess(c, here) }()
		var a Assessment
		select {
		case a = <-done:
		case <-time.After(5 * time.Second):
			t.Fatal("takes for ever")
		}
		for _, d := range a.dimensions() {
			if d.s.Score < 0 || d.s.Score > 2 || d.s.Confidence < 0 || d.s.Confidence > 1 {
				t.Fatalf("%+v", a)
			}
		}
		if ask, _ := a.Decide(Off); ask {
			t.Fatal("off asks")
		}
		asked := false
		for _, l := range levels {
			ask, _ := a.Decide(l)
			if asked && !ask {
				t.Fatalf("%s does not ask, a looser level does: %+v", l, a)
			}
			asked = asked || ask
		}
	})
}

func BenchmarkAssess(b *testing.B) {
	for name, c := range map[string]string{
		"short": "ls -la", "usual": "cd src && go test ./... 2>&1 | tail -n 40", "script": "for f in *.go; do gofmt -l \"$f\"; done; git add -A && git commit -m 'x' && echo done > out.txt",
		"long": strings.Repeat("grep -n foo a.txt | head -3; ", 1000),
	} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			b.SetBytes(int64(len(c)))
			for b.Loop() {
				Assess(c, here)
			}
		})
	}
}
