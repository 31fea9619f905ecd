package app

import (
	"bufio"
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"magicode/internal/agenttest"
	"magicode/pkg/client"
)

// TestAskFailures: a turn or a start that fails says why, in the words that the
// history and the home have of it.
func TestAskFailures(t *testing.T) {
	t.Parallel()
	const call = `tool:bash {"command":"printf x >> effect.txt","intent":"try"}`
	for name, c := range map[string]struct {
		script, more string
		args         string
		status       int
		want         []string
	}{
		"refused":  {"status:401", "", "ask hi", exitError, []string{"magi-code: the turn failed: ", "401", " (which key is used: magi-code auth status)", " (session "}},
		"denied":   {call, agenttest.Strictly, "ask hi", exitError, []string{"denied: ", "the turn failed: the command was not approved (see --approve) (session "}},
		"allowed":  {call + "\ntext:Done.", agenttest.Strictly, "ask --approve=allow hi", exitOK, []string{"allowed: ", "Done.", "session "}},
		"two":      {"text:First. | tool:list_files {\"path\":\".\"}\ntext:Last.", "", "ask hi", exitOK, []string{"First.\n- list_files", "completed\nLast.\nsession "}},
		"settings": {"", `,"interface":7`, "ask hi", exitError, []string{"could not start: configuration_invalid: ", "settings.json:2: interface: "}},
		"dash":     {"text:Fine.", "", "ask -- -x", exitOK, []string{"Fine."}},
		"no dash":  {"", "", "ask -x", exitUsage, []string{"magi-code ask -- "}},
		"session":  {"", "", "ask --session=nosuch hi", exitError, []string{"there is no session nosuch; 'magi-code sessions list' shows them\n"}},
		"no id":    {"", "", "ask --session=a/b hi", exitUsage, []string{`"a/b" is no session id`}},
		"mode":     {"", "", "ask --approve=often hi", exitUsage, []string{"--approve: must be one of ask, deny, allow\n"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p, home := agenttest.Start(t, c.script), t.TempDir()
			if err := p.Settings(home, c.more); err != nil {
				t.Fatal(err)
			}
			out, status := command(t, home, nil, strings.Fields(c.args)...)
			if status != c.status {
				t.Errorf("status %d", status)
			}
			rest, ok := out, true
			for _, w := range c.want {
				if _, rest, ok = strings.Cut(rest, w); !ok {
					t.Fatalf("no %q in\n%s", w, out)
				}
			}
		})
	}
}

// TestAskMCP: a server that does not come up is named, and how to look into it.
func TestAskMCP(t *testing.T) {
	t.Parallel()
	p := newMCPPlace(t, map[string]any{"bad": map[string]any{"command": "false"}})
	if err := agenttest.Start(t, "").Settings(p.home, ""); err != nil {
		t.Fatal(err)
	}
	p.runs(0, "approve bad")
	cmd := p.command()
	cmd.Args = []string{cmd.Args[0], "ask", "hi"}
	out, _ := cmd.CombinedOutput()
	if want := "could not start: mcp_unavailable: mcpServers.bad: the server failed in the phase initialize; see magi-code mcp test bad"; !strings.Contains(string(out), want) {
		t.Errorf("no %q in %s", want, out)
	}
}

func TestAskPrompt(t *testing.T) {
	for _, c := range []struct {
		words       []string
		stdin, want string
		fails       string
	}{
		{[]string{"a", "b"}, "", "a b", ""},
		{[]string{"-"}, "from a pipe", "from a pipe", ""},
		{[]string{"-", "x"}, "unread", "- x", ""},
		{[]string{"-"}, "caf\xe9", "", "not UTF-8"},
		{[]string{"\xff"}, "", "", "not UTF-8"},
		{[]string{"-"}, " \n", "", "blank"},
	} {
		got, err := askPrompt(c.words, strings.NewReader(c.stdin))
		if got != c.want || (err == nil) != (c.fails == "") || err != nil && !strings.Contains(err.Error(), c.fails) {
			t.Errorf("%q: %q, %v", c.words, got, err)
		}
	}
}

// TestApproveEnd: the end of input is no answer, and no answer denies.
func TestApproveEnd(t *testing.T) {
	for stdin, c := range map[string]struct {
		allow bool
		ends  string
	}{
		"y\n":   {true, "[y/N] \n"},
		"yes\n": {true, "[y/N] \n"},
		"n\n":   {false, "[y/N] \n"},
		"\n":    {false, "[y/N] \n"},
		"y":     {false, "\ndenied: no answer\n"},
		"":      {false, "\ndenied: no answer\n"},
	} {
		var errs bytes.Buffer
		a := &asker{cmd: askCmd{Approve: "ask"}, stderr: &errs, stdin: bufio.NewReader(strings.NewReader(stdin))}
		if got := a.approve("rm x"); got != c.allow || !strings.HasSuffix(errs.String(), c.ends) {
			t.Errorf("%q: %v, %q", stdin, got, errs.String())
		}
	}
}

// TestNoTerminal: /dev/null is a character device, and nobody sits at it.
func TestNoTerminal(t *testing.T) {
	null, err := os.Open(os.DevNull)
	if err != nil {
		t.Fatal(err)
	}
	defer null.Close()
	if isTerminal(null) {
		t.Error("/dev/null is taken for a terminal")
	}
}

func TestLastDiagnostics(t *testing.T) {
	d := func(kind, text string) client.HistoryMessage { return client.HistoryMessage{Kind: kind, Text: text} }
	for _, c := range []struct {
		messages []client.HistoryMessage
		want     string
	}{
		{nil, ""},
		{[]client.HistoryMessage{d("diagnostic", "old"), d("user", "hi"), d("diagnostic", "Turn Failed"), d("diagnostic", "a\n"), d("diagnostic", "b")}, "a; b"},
		{[]client.HistoryMessage{d("diagnostic", "old"), d("assistant", "hi")}, ""},
	} {
		if got := lastDiagnostics(c.messages); got != c.want {
			t.Errorf("%q, not %q", got, c.want)
		}
	}
}

// TestAskSession: the beginning of an id is enough, and what cannot be opened is
// explained.
func TestAskSession(t *testing.T) {
	t.Parallel()
	p, home, dir := agenttest.Start(t, "text:One.\ntext:Two."), t.TempDir(), t.TempDir()
	if err := p.Settings(home, ""); err != nil {
		t.Fatal(err)
	}
	out, status := commandIn(t, dir, home, nil, "ask", "hi")
	_, id, ok := strings.Cut(strings.TrimSpace(out), "session ")
	if status != exitOK || !ok {
		t.Fatal(status, out)
	}
	if out, status = commandIn(t, dir, home, nil, "ask", "--session", id[:8], "again"); status != exitOK || !strings.Contains(out, "session "+id) {
		t.Errorf("%d %s", status, out)
	}
	if out, status = command(t, home, nil, "ask", "--session", id, "elsewhere"); status != exitError || !strings.Contains(out, "recorded in another folder: go there") {
		t.Errorf("%d %s", status, out)
	}
	if err := os.Chmod(filepath.Join(home, "sessions", id+".jsonl"), 0o644); err != nil {
		t.Fatal(err)
	}
	if out, status = commandIn(t, dir, home, nil, "ask", "--session", id, "again"); status != exitError || !strings.Contains(out, "'magi-code doctor'") {
		t.Errorf("%d %s", status, out)
	}
}
