package replay

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strings"
	"testing"

	"magicode/internal/protect/injection"
	"magicode/internal/session"
)

func tasks(id string) rec {
	return rec{session.KindToolCall, `{"id":` + quoted(id) + `,"name":"subagents","arguments":{"tasks":[{"intent":"look"}]}}`}
}

func tasksResult(id, content string, success bool, verdict string) rec {
	return rec{session.KindToolResult, fmt.Sprintf(`{"call_id":%q,"result":{"tool_name":"subagents","success":%v,"content":%s,"metadata":{"prompt_injection_protection":%s}}}`,
		id, success, quoted(content), verdict)}
}

func linked(id string) rec {
	return rec{session.KindSubagentSession, `{"session_id":` + quoted(id) + `}`}
}

// logs are the logs of tasks, and the ids that were asked for.
type logs struct {
	of    map[string][]rec
	asked []string
}

func (l *logs) read(id string) (out []session.Record) {
	l.asked = append(l.asked, id)
	for i, r := range l.of[id] {
		out = append(out, session.Record{Kind: r.kind, Payload: []byte(r.payload), Index: i})
	}
	return out
}

func (l *logs) fold(recs ...rec) *Fold {
	f := &Fold{Children: l.read}
	for i, r := range recs {
		_ = f.Apply(session.Record{Kind: r.kind, Payload: []byte(r.payload), Index: i})
	}
	return f
}

const (
	tasksLost = "user: [The turn above ended early. These calls were started and have no recorded result; they may have had effects:]\n- subagents {\"tasks\":[{\"intent\":\"look\"}]}"
	taskHead  = "\n[The last that is recorded of task 1 of 1, which may not have ended:]\n"
)

// TestLastWordsOfTasks: which turns tell of tasks, and that no log is read for
// the others.
func TestLastWordsOfTasks(t *testing.T) {
	off := `{"action":"not_assessed","enforced":false}`
	finished := []rec{user("look"), chunk("I look"), call("c1"), result("c1", "out"), output("DONE")}
	lost := []rec{user("hi"), tasks("t"), linked("k"), status("cancelled", "")}
	edit := func(mid ...rec) []rec {
		return append(append([]rec{user("hi"), tasks("t"), linked("k")}, mid...), status("failed", ""))
	}
	for name, c := range map[string]struct {
		recs  []rec
		log   []rec
		want  string // the last item; "": no note
		asked string
	}{
		"task finished":            {lost, finished, tasksLost + taskHead + "user: look\nassistant: I look\ncall of bash: {\"a\":1}\nresult of bash: out\nassistant: DONE", "k"},
		"task failed without text": {lost, []rec{call("c1"), result("c1", "out"), call("c2"), status("failed", "")}, tasksLost + taskHead + "call of bash: {\"a\":1}\nresult of bash: out\ncall of bash: {\"a\":1}", "k"},
		"log missing":              {lost, nil, tasksLost, "k"},
		"log without a word":       {lost, []rec{{session.KindTaskScope, `{"original_task":"x"}`}, {session.KindSessionUsage, `{"usage":{}}`}}, tasksLost, "k"},
		"failed, not told":         {edit(tasksResult("t", "lost", false, off)), []rec{output("W")}, "user: [The turn above ended early.]" + taskHead + "assistant: W", "k"},
		"failed, log missing":      {edit(tasksResult("t", "lost", false, off)), nil, "", "k"},
		"failed and told":          {edit(tasksResult("t", `{"session_id":"k"}`, false, off)), finished, "", ""},
		"withheld":                 {edit(tasksResult("t", "lost", false, `{"action":"quarantine","enforced":true}`)), finished, "", ""},
		"succeeded":                {edit(tasksResult("t", "ok", true, off)), finished, "", ""},
		"another call succeeded":   {edit(call("c1"), result("c1", "x")), []rec{output("W")}, tasksLost + taskHead + "assistant: W", "k"},
		"committed":                {[]rec{user("hi"), tasks("t"), linked("k"), output("x")}, finished, "", ""},
		"interrupted":              {[]rec{user("hi"), tasks("t"), linked("k")}, finished, "", ""},
		"arguments had begun":      {append(lost[:len(lost):len(lost)], rec{session.KindAbortRecovery, `{"unsafe_tool_call_progress":true}`}), finished, "", ""},
		"no tasks":                 {[]rec{user("hi"), call("c1"), status("failed", "")}, finished, lostNote, ""},
		"hostile id":               {[]rec{user("hi"), tasks("t"), linked("../k"), linked("/k"), linked(""), linked("k\x00"), linked(strings.Repeat("k", 129)), status("failed", "")}, finished, tasksLost, ""},
		"linked twice":             {[]rec{user("hi"), tasks("t"), linked("k"), linked("k"), status("failed", "")}, []rec{output("W")}, tasksLost + taskHead + "assistant: W", "k"},
	} {
		t.Run(name, func(t *testing.T) {
			l := &logs{of: map[string][]rec{"k": c.log}}
			f := l.fold(c.recs...)
			if l.asked != nil {
				t.Fatal("a log is read before the conversation is asked for")
			}
			got := lines(f.Items())
			if last := got[len(got)-1]; c.want != "" && last != c.want || c.want == "" && strings.Contains(last, "The turn above") {
				t.Errorf("got %q\nwant %q", last, c.want)
			}
			if got := strings.Join(l.asked, " "); got != c.asked {
				t.Errorf("asked for %q, want %q", got, c.asked)
			}
			delete(l.of, "k") // what was sent stays as it was
			_ = f.Apply(session.Record{Kind: session.KindUserInput, Payload: []byte(`{"text":"next"}`), Index: 99})
			if again := lines(f.Earlier()); c.asked != "" && strings.Join(again, "|") != strings.Join(got, "|") {
				t.Errorf("the note changed: %q", again)
			}
		})
	}
}

// TestWhatOfATaskIsForAModel: nothing that is recorded for others.
func TestWhatOfATaskIsForAModel(t *testing.T) {
	sum := sha256.Sum256([]byte("SECRET"))
	whole := `"assessed_bytes":6,"original_bytes":6,"sha256":"` + hex.EncodeToString(sum[:]) + `"`
	res := func(v string) rec {
		return rec{session.KindToolResult, `{"call_id":"c","display_id":"CANARY","result":{"tool_name":"read","success":true,"content":"SECRET","metadata":{"code_mode_execution":{"x":"CANARY"},"prompt_injection_protection":` + v + `}}}`}
	}
	verdict := func(action string) rec {
		return rec{session.KindToolResultAssessment, `{"call_id":"c","note":"CANARY","prompt_injection_protection":{"action":"` + action + `","enforced":true,"result_id":"r",` + whole + `}}`}
	}
	pending := res(`{"action":"pending","enforced":true,"result_id":"r"}`)
	local := []rec{{session.KindToolAppliedPreview, `{"text":"CANARY"}`}, {session.KindToolDisplayResult, `{"content":"CANARY"}`}, {session.KindCodeModeAssessment, `{"message":"CANARY"}`},
		{session.KindHookDiagnostic, `{"message":"CANARY"}`}, {session.KindCodeModeToolResult, `{"parent_call_id":"c","call_id":"i","result":{"content":"CANARY","success":true}}`},
		{session.KindProviderResponseItem, `{"item":{"type":"reasoning","encrypted_content":"CANARY"}}`}, {session.KindSessionTitle, `{"text":"CANARY"}`}}
	for name, c := range map[string]struct {
		recs []rec
		want string
	}{
		"not judged":       {[]rec{call("c"), res(`{"enforced":false}`)}, "SECRET"},
		"allowed":          {[]rec{call("c"), pending, verdict("allow")}, "SECRET"},
		"marked":           {[]rec{call("c"), pending, verdict("annotate")}, injection.Project(injection.Annotate, "SECRET", "")},
		"quarantined":      {[]rec{call("c"), pending, verdict("quarantine")}, injection.Withheld},
		"no verdict":       {[]rec{call("c"), pending}, injection.Withheld},
		"call is gone":     {[]rec{pending}, injection.Withheld},
		"other text":       {[]rec{call("c"), res(`{"action":"allow","enforced":true,"assessed_bytes":6,"original_bytes":6,"sha256":"00"}`)}, injection.Withheld},
		"no id, no effect": {[]rec{call("c"), res(`{"action":"pending","enforced":true}`), chunk("x"), verdict("allow")}, injection.Withheld},
	} {
		t.Run(name, func(t *testing.T) {
			l := &logs{of: map[string][]rec{"k": append(c.recs, local...)}}
			items := l.fold(user("hi"), tasks("t"), linked("k"), status("failed", "")).Items()
			note := items[len(items)-1].Text
			if !strings.Contains(note, c.want) || strings.Contains(note, "CANARY") || !strings.Contains(c.want, "SECRET") && strings.Contains(note, "SECRET") {
				t.Error(note)
			}
		})
	}
}

// TestBoundsOfTasksInANote: in the whole, of a task, of its results.
func TestBoundsOfTasksInANote(t *testing.T) {
	big := strings.Repeat("é", 20_000)
	sum := sha256.Sum256([]byte(big))
	marked := resultWith("c1", big, fmt.Sprintf(`{"action":"annotate","enforced":true,"assessed_bytes":%d,"original_bytes":%[1]d,"sha256":"%x"}`, len(big), sum))
	for _, c := range []struct {
		name  string
		tasks int
		log   []rec
		calls int // that are lost besides, with large arguments
	}{
		{"long answer", 1, []rec{output(big)}, 0},
		{"long result", 1, []rec{call("c1"), result("c1", big), output("END")}, 0},
		{"long marked result", 1, []rec{call("c1"), marked, output("END")}, 0},
		{"ten tasks", 10, []rec{call("c1"), marked, output("END")}, 0},
		{"more tasks than a call has", 30, []rec{call("c1"), result("c1", big), output("END")}, 0},
		{"no room beside them", 10, []rec{call("c1"), marked, output(big)}, 9},
	} {
		t.Run(c.name, func(t *testing.T) {
			l, recs := &logs{of: map[string][]rec{}}, []rec{user("hi"), tasks("t")}
			for i := range c.calls {
				recs = append(recs, rec{session.KindToolCall, fmt.Sprintf(`{"id":"x%d","name":"bash","arguments":{"a":%q}}`, i, big)})
			}
			for i := range c.tasks {
				id := fmt.Sprint("k", i)
				l.of[id], recs = c.log, append(recs, linked(id))
			}
			items := l.fold(append(recs, status("failed", ""))...).Items()
			note := items[len(items)-1].Text
			if n := len([]rune(note)); n > maxNoteChars || c.tasks == 1 && n > maxFieldChars+200 {
				t.Errorf("%d characters", n)
			}
			told := min(c.tasks, maxChildren)
			if n := strings.Count(note, "[The last that is recorded of task"); n != told || len(l.asked) != told {
				t.Errorf("%d tasks, %d logs read, want %d", n, len(l.asked), told)
			}
			if open, end := strings.Count(note, "<untrusted_tool_data"), strings.Count(note, "</untrusted_tool_data>"); open != end {
				t.Errorf("%d marks, %d of them end", open, end)
			}
		})
	}
}

// TestLogsReadAreBounded: however many turns were stopped; the latest are told.
func TestLogsReadAreBounded(t *testing.T) {
	l, recs := &logs{of: map[string][]rec{}}, []rec(nil)
	for i := range 3 * maxChildReads {
		id := fmt.Sprint("k", i)
		l.of[id] = []rec{output("W" + fmt.Sprint(i) + ".")}
		recs = append(recs, user("hi"), tasks("t"), linked(id), status("failed", ""))
	}
	f := l.fold(recs...)
	text := strings.Join(lines(f.Items()), "\n")
	if len(l.asked) != maxChildReads || !strings.Contains(text, fmt.Sprintf("W%d.", 3*maxChildReads-1)) || strings.Contains(text, "W0.") {
		t.Errorf("%d logs read", len(l.asked))
	}
	if again := strings.Join(lines(f.Items()), "\n"); again != text || len(l.asked) != maxChildReads {
		t.Errorf("asked again: %d logs read, same %v", len(l.asked), again == text)
	}
}
