package app

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"magicode/internal/agenttest"
)

// TestLostTask: the report of a cancelled call with a task did not reach the
// file. The next turn's model is told what the task did last, from its own log;
// while the report is there, from the report alone.
func TestLostTask(t *testing.T) {
	const head = "recorded of task 1 of 1"
	m := agenttest.Start(t, `tool:subagents {"tasks":[{"intent":"first"}]}
text:I write first. | tool:write {"path":"a.txt","content":"one\n"}
tool:bash {"command":"sleep 60","intent":"wait"}
text:With the report.
text:Without.`)
	home, work := filepath.Join(t.TempDir(), "home"), t.TempDir()
	if err := m.Settings(home, ""); err != nil {
		t.Fatal(err)
	}
	d := reopened(t, home, work)
	d.session, _ = d.ask("r2", "session.create", "{}").Res["session_id"].(string)
	d.run, _ = d.ask("r3", "turn.start", `{"session_id":"`+d.session+`","prompt":"Delegate."}`).Res["run_id"].(string)
	d.until(func(f agenttest.Frame) bool {
		name, _ := f.Data["name"].(string)
		return f.Event == "activity" && f.Data["state"] == "started" && strings.HasPrefix(name, "bash ")
	})
	if err := d.send("r4", "turn.cancel", `{"session_id":"`+d.session+`","run_id":"`+d.run+`"}`); err != nil {
		t.Fatal(err)
	}
	d.until(finished)
	d.goOn("r5")
	if got := m.Seen()[3]; strings.Contains(got, head) || !strings.Contains(got, "I write first.") {
		t.Errorf("the report and the log are told: %.3000s", got)
	}
	d.ask("r6", "shutdown", "{}")

	log := filepath.Join(home, "sessions", d.session+".jsonl")
	dropResults(t, log)
	again := reopened(t, home, work)
	again.session = d.session
	again.ask("r2", "session.open", `{"session_id":"`+d.session+`"}`)
	again.goOn("r3")
	got := m.Seen()[4]
	for _, want := range []string{head, "assistant: I write first.", "call of write: ", "result of write: ", "call of bash: "} {
		if !strings.Contains(got, want) {
			t.Errorf("no %q", want)
		}
	}
}

func reopened(t *testing.T, home, work string) *delegated {
	t.Helper()
	c, err := startChild(work, []string{"PATH=" + os.Getenv("PATH"), "MC_HOME=" + home, "HOME=" + home, "NO_PROXY=127.0.0.1"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.kill)
	d := &delegated{child: c, t: t, home: home}
	d.ask("r1", "initialize", `{"required_capabilities":[]}`)
	return d
}

// goOn runs one more turn.
func (d *delegated) goOn(id string) {
	d.t.Helper()
	d.ask(id, "turn.start", `{"session_id":"`+d.session+`","prompt":"Go on."}`)
	if f := d.until(finished); f.Data["outcome"] != "completed" {
		d.t.Fatal(f.Raw)
	}
}

func dropResults(t *testing.T, log string) {
	t.Helper()
	data, err := os.ReadFile(log)
	if err != nil {
		t.Fatal(err)
	}
	var kept []byte
	for line := range bytes.Lines(data) {
		if !bytes.Contains(line, []byte(`"event_type":"tool_result"`)) {
			kept = append(kept, line...)
		}
	}
	if len(kept) == len(data) {
		t.Fatal("no result in the log")
	}
	if err := os.WriteFile(log, kept, 0o600); err != nil {
		t.Fatal(err)
	}
}
