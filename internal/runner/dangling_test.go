package runner

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"magicode/internal/provider"
	"magicode/internal/session"
)

var offered = []provider.ToolDef{{Name: "bash"}, {Name: "read"}, {Name: "list_files"}, {Name: "grep"}}

// TestPromises: what is a promise in each of the two forms, and what is an answer.
func TestPromises(t *testing.T) {
	p := promises{names: toolNames(offered)}
	for _, test := range []struct {
		text          string
		strict, loose bool
	}{
		{"I'll call bash now.", true, true},
		{"I’ll call bash now.", true, true},
		{"I will use the tool now.", true, false},
		{"Let me invoke a tool now.", true, false},
		{"I'm going to use tools now.", true, true},
		{"I am going to call read now.", true, true},
		{"Okay, I'll use read and grep now.", true, false},
		{"I'll actually call bash tool now.", true, true},
		{"I'll use read and grep tools now.", true, false},
		{"I'll call tool bash now.", true, false},
		{"I'll call tool now.", true, false},
		{"Now running bash.", true, false},
		{"Now actually running list_files.", true, false},
		{"Now running the tool.", true, false},
		{"Now running read and bash.", true, false},

		{"I'll call bash.", false, true},
		{"I'll run all your tools.", false, true},
		{"I'll run all your tools now.", false, true},
		{"Let me run a smoke test of all your tools.", false, true},
		{"Let me first run a smoke test of bash.", false, true},
		{"Okay, let me start the bash tool first.", false, true},
		{"Now I will exercise every tool.", false, true},
		{"I'll run bash. Let me test read. I will use grep.", false, true},
		{"I will now actually execute list_files.", false, true},
		{"Okay I'll test the tools.", false, true},

		{"", false, false},
		{".", false, false},
		{"Done.", false, false},
		{"I called bash.", false, false},
		{"I'll call bash now", false, false},
		{"I'll call bash now!", false, false},
		{"I'll call bash now?", false, false},
		{"I'll  call bash now.", false, false},
		{" I'll call bash now.", false, false},
		{"I'll call bash now. ", false, false},
		{"I'll call `bash` now.", false, false},
		{"I'll call \"bash\" now.", false, false},
		{"I'll call “bash” now.", false, false},
		{"I'll call bash\nnow.", false, false},
		{"I'll call bash now: it lists files.", false, false},
		{"I'll call bash; then read.", false, false},
		{"I'll call zsh now.", false, false},
		{"I'll call Bash now.", false, false},
		{"I'll call bash and bash now.", false, false},
		{"I'll call bash and zsh now.", false, false},
		{"I'll call bash, read and grep now.", false, false},
		{"I'll call bash and read and grep now.", false, false},
		{"I'll call the function now.", false, false},
		{"I'll call you now.", false, false},
		{"I'll call my mother now.", false, false},
		{"I'll use the tool that you like now.", false, false},
		{"I will use care now.", false, false},
		{"I would call bash now.", false, false},
		{"I won't call bash now.", false, false},
		{"I'll not call bash now.", false, false},
		{"You should call bash now.", false, false},
		{"If you like, I'll call bash now.", false, false},
		{"Should I call bash now.", false, false},
		{"I'll call bash now when you say so.", false, false},
		{"I'll call bash later.", false, false},
		{"I'll run the tests.", false, false},
		{"I'll run a marathon.", false, false},
		{"I'll start with the summary.", false, false},
		{"Let me use this occasion now.", false, false},
		{"Let me run bash. It is ready.", false, false},
		{"Let me run bash. Let me run read. Let me run grep. Let me run bash.", false, false},
		{"Now running late.", false, false},
		{"Now running.", false, false},
		{"Running bash now.", false, false},
		{"The tool bash is called now.", false, false},
		{"I'll run all your tests.", false, false},
		{"Let me run a smoke test of the website.", false, false},
		{"okay, I'll call bash now.", false, true},
		{"I'LL call bash now.", false, true},
		{"I'll run " + strings.Repeat("now ", 100) + "bash.", false, false},
	} {
		if got := p.strict(test.text); got != test.strict {
			t.Errorf("strict %q: %v", test.text, got)
		}
		if got := p.loose(test.text); got != test.loose {
			t.Errorf("loose %q: %v", test.text, got)
		}
	}
}

func TestPlainRequests(t *testing.T) {
	p := promises{names: toolNames(offered)}
	for request, want := range map[string]bool{
		"run tools": true, "Run all your tools.": true, "please run your tools": true, "Use the bash tool!": true, "Could you please test all tools?": true,
		"run bash now": true, "run a smoke test of your tools": true, "Run your tools please": true,
		"":      false,
		"tools": false, "run the tests": false, "Fix the bug and run bash": false, "run tools and tell me what happens": false, "run \"tools\"": false,
		"how do I run tools": false, "do not run tools": false, "run tools.\nThen stop.": false,
	} {
		if got := p.plain(request); got != want {
			t.Errorf("%q: %v", request, got)
		}
	}
}

func TestDanglingIntent(t *testing.T) {
	promise := says(text("I'll call bash now."))
	t.Run("asked once, in a segment of its own", func(t *testing.T) {
		b := newBench(promise, says(callEvent("c", "bash", `{"command":"x"}`)), says(text("Done.")))
		b.cfg.Request.Tools = offered
		if res := b.run(t, background(t)); res.Err != nil || res.Degraded {
			t.Fatalf("%+v", res)
		}
		want := []string{"input", `segment 0 "I'll call bash now." closed=true`, "notice", "start c bash x", "finish c ok=true", `segment 1 "Done." closed=false`}
		if diff := cmp.Diff(want, b.tape.lines); diff != "" {
			t.Error(diff)
		}
		in := b.log.of(session.KindUserInput)
		if len(in) != 2 || in[1]["auto_recovery"] != true || in[1]["reason"] != danglingReason || in[1]["origin"] != nil {
			t.Errorf("%v", in)
		}
		if d := b.log.of(session.KindDiagnostic); len(d) != 1 || d[0]["level"] != "info" || d[0]["reason"] != danglingReason {
			t.Errorf("%v", d)
		}
		second := b.prov.requests[1].Items
		if n := len(second); second[n-2].Text != "I'll call bash now." || second[n-1].Text != danglingPrompt || second[n-1].Role != "user" {
			t.Errorf("%+v", second)
		}
	})
	for name, test := range map[string]struct {
		replies  []reply
		input    string
		tools    []provider.ToolDef
		requests int
	}{
		"twice is an answer":         {[]reply{promise, promise}, "q", offered, 2},
		"after a call":               {[]reply{says(callEvent("c", "bash", `{}`)), promise}, "q", offered, 2},
		"without tools":              {[]reply{promise}, "q", nil, 1},
		"an answer":                  {[]reply{says(text("I called bash."))}, "q", offered, 1},
		"loose, asked for tools":     {[]reply{says(text("I'll run all your tools.")), says(text("Sorry."))}, "Run all your tools", offered, 2},
		"loose, asked for an answer": {[]reply{says(text("I'll run all your tools."))}, "What will you do?", offered, 1},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBench(test.replies...)
			b.cfg.Request.Tools = test.tools
			if res := Run(background(t), b.cfg, test.input); res.Err != nil || len(b.prov.requests) != test.requests {
				t.Errorf("%v after %d requests", res.Err, len(b.prov.requests))
			}
		})
	}
}
