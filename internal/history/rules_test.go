package history_test

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"magicode/internal/history"
	"magicode/internal/session"
)

// script reads records written as "kind payload", one a line.
func script(text string) []session.Record {
	var out []session.Record
	for ln := range strings.Lines(text) {
		kind, payload, ok := strings.Cut(strings.TrimSpace(ln), " ")
		if ok {
			out = append(out, rec(session.Kind(kind), payload))
		}
	}
	return out
}

const (
	q         = `user_input {"text":"Q"}` + "\n"
	interrupt = "Interrupted turn; no durable completion recorded"
)

func result(id, name string, ok string) string {
	return `{"call_id":"` + id + `","result":{"content":"c","metadata":null,"success":` + ok + `,"tool_name":"` + name + `"}}`
}

// TestReasons: files and terminals are told why a call failed, a host is not.
func TestReasons(t *testing.T) {
	for content, want := range map[string]string{
		"":                                  "",
		" \n\t\n":                           "",
		"unknown tool 'x'":                  ": unknown tool 'x'",
		"--- FILE: n ---\nERROR: no such n": ": ERROR: no such n",
		"stdout:\na\nstderr:\nb: no\n\n[exit code 2]\n":                        ": b: no [exit code 2]",
		"stdout:\na\nstderr:\n\n[exit code 1]":                                 ": [exit code 1]",
		"gone\n[ended by signal 9]\n[output truncated]":                        ": gone [ended by signal 9] [output truncated]",
		"\x1b[31mred\x1b[0m":                                                   ": red",
		"token=ghp_" + strings.Repeat("a1B2", 9):                               ": token=<redacted>",
		"-----BEGIN PRIVATE KEY-----\nQUJDREVGR0g=\n-----END PRIVATE KEY-----": ": <redacted>",
		strings.Repeat("é", 150):                                               ": " + strings.Repeat("é", 100) + "…",
	} {
		quoted, err := json.Marshal(content)
		if err != nil {
			t.Fatal(err)
		}
		recs := script(q + "tool_call {\"id\":\"c\",\"name\":\"t\",\"arguments\":{}}\n")
		recs = append(recs, rec("tool_result", `{"call_id":"c","result":{"content":`+string(quoted)+`,"metadata":null,"success":false,"tool_name":"t"}}`))
		for f, label := range map[*history.Fold]string{history.NewWhole(counter()): "t: failed" + want, history.New(counter()): "t: failed"} {
			for _, r := range recs {
				if err := f.Apply(r); err != nil {
					t.Fatal(err)
				}
			}
			s, err := f.Snapshot("r")
			if err != nil {
				t.Fatal(err)
			}
			if m := s.Messages()[1]; m.Text != label || m.Partial {
				t.Errorf("%q: %+v, want %q", content, m, label)
			}
		}
	}
}

func TestRules(t *testing.T) {
	user, asst := shown{"user", "Q", false}, func(s string) shown { return shown{"assistant", s, false} }
	cut := shown{"diagnostic", interrupt, true}
	act := func(s string) shown { return shown{"activity", s, false} }
	for _, c := range []struct {
		what     string
		in       string
		want     []shown
		complete bool
	}{
		{"nothing", "", []shown{}, true},
		{"unknown kinds and kinds without a row", "future_kind 7\nsession_title {\"title\":\"t\"}\n", []shown{}, true},
		{"text turn", q + `assistant_output {"text":"A"}`, []shown{user, asst("A")}, true},
		{"chunks are joined", q + "assistant_chunk {\"text\":\"a\"}\nassistant_chunk {\"text\":\"b\"}\nassistant_output {}", []shown{user, asst("ab")}, true},
		{"output replaces chunks", q + "assistant_chunk {\"text\":\"a\"}\nassistant_output {\"text\":\"other\"}", []shown{user, asst("other")}, true},
		{"empty output leaves chunks", q + "assistant_chunk {\"text\":\"a\"}\nassistant_output {\"text\":\"\"}", []shown{user, asst("a")}, true},
		{"empty output alone", q + `assistant_output {"text":""}`, []shown{user}, true},
		{"repeated key: the last wins", `user_input {"text":"P","text":"Q"}` + "\n" + `assistant_output {"text":"A"}`, []shown{user, asst("A")}, true},
		{"control sequences are stripped", `user_input {"text":"Q\u001b[31m\r"}` + "\n" + `assistant_output {"text":"A\u0007"}`, []shown{{"user", "Q\n", false}, asst("A")}, true},

		{"hidden origins", "user_input {\"origin\":\"automatic_compaction\"}\nassistant_output {\"text\":\"A\"}\nuser_input {\"origin\":\"automatic_continuation\"}\nuser_input {\"origin\":\"provider_only\",\"text\":1}", []shown{asst("A")}, true},
		{"a hidden input ends the turn", q + `user_input {"origin":"provider_only"}`, []shown{user, cut}, false},
		{"an origin of another type hides nothing", `user_input {"origin":1,"text":"Q"}` + "\n" + `assistant_output {"text":"A"}`, []shown{user, asst("A")}, true},
		{"recovery prompts do not end the turn", q + "assistant_chunk {\"text\":\"a\"}\nuser_input {\"auto_recovery\":true,\"text\":\"Continue\"}\nassistant_chunk {\"text\":\"b\"}\nassistant_output {\"text\":\"b\"}", []shown{user, asst("a"), asst("b")}, true},
		{"auto_recovery that is not true is an ordinary prompt", q + "assistant_output {\"text\":\"A\"}\nuser_input {\"auto_recovery\":\"true\",\"text\":\"Q\"}\nassistant_output {\"text\":\"A\"}", []shown{user, asst("A"), user, asst("A")}, true},

		{"compaction", q + "assistant_output {\"text\":\"A\"}\ncompaction {\"summary\":\"S\"}", []shown{user, asst("A"), {"compaction", "S", false}}, true},
		{"compaction ends a turn", q + `compaction {"summary":"S"}`, []shown{user, cut, {"compaction", "S", false}}, false},

		{"text after a tool is its own message", q + "assistant_chunk {\"text\":\"a\"}\ntool_call {\"id\":\"1\",\"name\":\"bash\",\"arguments\":{\"command\":\"ls\"}}\ntool_result " + result("1", "bash", "true") + "\nassistant_output {\"text\":\"b\"}", []shown{user, asst("a"), act("bash ls: completed"), asst("b")}, true},
		{"a cumulative output loses what came before the tool", q + "assistant_chunk {\"text\":\"a\"}\ntool_call {\"id\":\"1\",\"name\":\"x\"}\ntool_result " + result("1", "x", "true") + "\nassistant_chunk {\"text\":\"b\"}\nassistant_output {\"text\":\"abc\"}", []shown{user, asst("a"), act("x: completed"), asst("bc")}, true},
		{"cumulative over two segments", q + "assistant_chunk {\"text\":\"a\"}\ndiagnostic {\"message\":\"1\"}\nassistant_chunk {\"text\":\"b\"}\ndiagnostic {\"message\":\"2\"}\nassistant_output {\"text\":\"abc\"}", []shown{user, asst("a"), {"diagnostic", "1", false}, asst("b"), {"diagnostic", "2", false}, asst("c")}, true},
		{"an output that repeats nothing else replaces the last segment only", q + "assistant_chunk {\"text\":\"a\"}\ndiagnostic {\"message\":\"1\"}\nassistant_chunk {\"text\":\"b\"}\nassistant_output {\"text\":\"ax\"}", []shown{user, asst("a"), {"diagnostic", "1", false}, asst("ax")}, true},
		{"an output equal to what came before adds nothing", q + "assistant_chunk {\"text\":\"a\"}\ndiagnostic {\"message\":\"1\"}\nassistant_output {\"text\":\"a\"}", []shown{user, asst("a"), {"diagnostic", "1", false}}, true},
		{"after an output the part before it no longer counts", q + "assistant_chunk {\"text\":\"a\"}\ndiagnostic {\"message\":\"1\"}\nassistant_output {\"text\":\"b\"}\ndiagnostic {\"message\":\"2\"}\nassistant_output {\"text\":\"bc\"}", []shown{user, asst("a"), {"diagnostic", "1", false}, asst("b"), {"diagnostic", "2", false}, asst("c")}, true},
		{"chunks after an output go on with it", q + "assistant_output {\"text\":\"a\"}\nassistant_chunk {\"text\":\"b\"}", []shown{user, asst("ab")}, true},
		{"an orphan chunk", `assistant_chunk {"text":"a"}`, []shown{{"assistant", "a", true}, cut}, false},
		{"an input without anything", q, []shown{user, cut}, false},
		{"incomplete for good", q + q + `assistant_output {"text":"A"}`, []shown{user, cut, user, asst("A")}, false},

		{"summaries by provenance", q + "reasoning_summary {\"text\":\"no\"}\nreasoning_summary {\"text\":\"no\",\"provider_summary\":\"true\"}\nreasoning_summary {\"text\":\"yes\",\"provider_summary\":true}\nassistant_output {\"text\":\"A\"}", []shown{user, {"reasoning_summary", "yes", false}, asst("A")}, true},
		{"a repeated summary replaces the earlier one in place", q + "reasoning_summary {\"text\":\"1\",\"provider_summary\":true,\"item_id\":\"i\"}\nassistant_chunk {\"text\":\"a\"}\nreasoning_summary {\"text\":\"2\",\"provider_summary\":true,\"item_id\":\"i\"}\nassistant_chunk {\"text\":\"b\"}\nassistant_output {}", []shown{user, {"reasoning_summary", "2", false}, asst("a"), asst("b")}, true},
		{"other turn ids are other summaries", q + "reasoning_summary {\"text\":\"1\",\"provider_summary\":true,\"item_id\":\"i\"}\nreasoning_summary {\"text\":\"2\",\"provider_summary\":true,\"item_id\":\"i\",\"turn_id\":\"1\"}\nassistant_output {\"text\":\"A\"}", []shown{user, {"reasoning_summary", "1", false}, {"reasoning_summary", "2", false}, asst("A")}, true},
		{"summaries without an id are added", q + "reasoning_summary {\"text\":\"1\",\"provider_summary\":true}\nreasoning_summary {\"text\":\"2\",\"provider_summary\":true,\"item_id\":null}\nassistant_output {\"text\":\"A\"}", []shown{user, {"reasoning_summary", "1", false}, {"reasoning_summary", "2", false}, asst("A")}, true},
		{"ids are known within a turn", q + "reasoning_summary {\"text\":\"1\",\"provider_summary\":true,\"item_id\":\"i\"}\nassistant_output {\"text\":\"A\"}\n" + q + "reasoning_summary {\"text\":\"2\",\"provider_summary\":true,\"item_id\":\"i\"}\nassistant_output {\"text\":\"A\"}", []shown{user, {"reasoning_summary", "1", false}, asst("A"), user, {"reasoning_summary", "2", false}, asst("A")}, true},
		{"a hidden summary is no boundary", q + "assistant_chunk {\"text\":\"a\"}\nreasoning_summary {\"text\":\"no\"}\nassistant_chunk {\"text\":\"b\"}\nassistant_output {}", []shown{user, asst("ab")}, true},

		{"a call without a result", q + `tool_call {"id":"1","name":"read","arguments":{"paths":["a","b"]}}`, []shown{user, {"activity", "read 2 files: started", true}, cut}, false},
		{"a call without a result under an output", q + "tool_call {\"id\":\"1\",\"name\":\"x\"}\nassistant_output {\"text\":\"A\"}", []shown{user, {"activity", "x: started", true}, {"assistant", "A", true}, cut}, false},
		{"a result without a call", q + "tool_result " + result("9", "bash", "false") + "\nassistant_output {\"text\":\"A\"}", []shown{user, act("bash: failed"), asst("A")}, true},
		{"a result without a call id", q + "tool_result {\"result\":{\"content\":\"\",\"metadata\":{},\"success\":true,\"tool_name\":\"t\"}}\nassistant_output {\"text\":\"A\"}", []shown{user, act("t: completed"), asst("A")}, true},
		{"a display result ends a call", q + "tool_call {\"id\":\"1\",\"name\":\"x\"}\ntool_display_result " + result("1", "x", "false") + "\nassistant_output {\"text\":\"A\"}", []shown{user, act("x: failed"), asst("A")}, true},
		{"nested calls follow the outer one, which keeps its place", q + "tool_call {\"id\":\"1\",\"name\":\"code_mode\"}\ncode_mode_tool_call {\"id\":\"1:inner:1\",\"name\":\"write\",\"arguments\":{\"path\":\"f\"}}\ncode_mode_tool_result " + result("1:inner:1", "write", "true") + "\ntool_result " + result("1", "code_mode", "true") + "\nassistant_output {\"text\":\"A\"}", []shown{user, act("code_mode: completed"), act("write f: completed"), asst("A")}, true},
		{"a state is never taken for a secret", q + "tool_call {\"id\":\"1\",\"name\":\"grep\",\"arguments\":{\"pattern\":\"token\"}}\ntool_result " + result("1", "grep", "true") + "\nassistant_output {\"text\":\"A\"}", []shown{user, act("grep token: completed"), asst("A")}, true},
		{"an open escape sequence does not swallow the state", q + "tool_call {\"id\":\"1\",\"name\":\"bash\",\"arguments\":{\"command\":\"a\\u001b]b\"}}\ntool_result " + result("1", "bash", "true") + "\nassistant_output {\"text\":\"A\"}", []shown{user, act("bash a: completed"), asst("A")}, true},

		{"failed keeps the partial text", q + "assistant_chunk {\"text\":\"a\"}\nturn_status {\"status\":\"failed\",\"error_summary\":\"E\",\"assistant_text\":\"other\"}", []shown{user, {"assistant", "a", true}, {"diagnostic", "Turn Failed", true}, {"diagnostic", "E", true}}, true},
		{"cancelled brings its text", q + `turn_status {"status":"cancelled","assistant_text":"a"}`, []shown{user, {"assistant", "a", true}, {"diagnostic", "Turn Cancelled", true}}, true},
		{"the other spelling", q + `turn_status {"status":"canceled","error_summary":" "}`, []shown{user, {"diagnostic", "Turn Cancelled", true}}, true},
		{"incomplete", q + `turn_status {"status":"incomplete","assistant_text":null}`, []shown{user, {"diagnostic", "Turn Incomplete", true}}, true},
		{"compaction_required", q + `turn_status {"status":"compaction_required"}`, []shown{user, {"diagnostic", "Turn CompactionRequired", true}}, true},
		{"complete", q + "assistant_chunk {\"text\":\"a\"}\nturn_status {\"status\":\"complete\"}", []shown{user, asst("a")}, true},
		{"a status forgets open calls", q + "tool_call {\"id\":\"1\",\"name\":\"x\"}\nturn_status {\"status\":\"cancelled\"}", []shown{user, {"activity", "x: started", true}, {"diagnostic", "Turn Cancelled", true}}, true},
		{"all segments of a failed turn are partial", q + "assistant_chunk {\"text\":\"a\"}\ndiagnostic {\"message\":\"d\"}\nassistant_output {\"text\":\"b\"}\nturn_status {\"status\":\"failed\"}", []shown{user, {"assistant", "a", true}, {"diagnostic", "d", false}, {"assistant", "b", true}, {"diagnostic", "Turn Failed", true}}, true},

		{"diagnostics", q + "diagnostic {\"message\":\"d\"}\ndiagnostic {\"kind\":\"completion_verification\"}\nhook_diagnostic {\"message\":\"h\"}\ncode_mode_warning {\"warning\":\"w\"}\ncode_mode_warning {\"message\":\"no\"}\ndiagnostic [1]\nassistant_output {\"text\":\"A\"}", []shown{user, {"diagnostic", "d", false}, {"diagnostic", "h", false}, {"diagnostic", "w", false}, asst("A")}, true},
		{"a diagnostic without a message is no boundary", q + "assistant_chunk {\"text\":\"a\"}\ndiagnostic {}\nassistant_chunk {\"text\":\"b\"}\nassistant_output {}", []shown{user, asst("ab")}, true},
	} {
		got, complete := project(t, script(c.in)...)
		if d := cmp.Diff(c.want, got); d != "" {
			t.Errorf("%s (-want +got):\n%s", c.what, d)
		}
		if complete != c.complete {
			t.Errorf("%s: complete %v", c.what, complete)
		}
	}
}

// TestInvalidRecords: what an entry must show has to be there, with its type.
func TestInvalidRecords(t *testing.T) {
	for _, in := range []string{
		`user_input {}`, `user_input {"text":null}`, `user_input {"text":1}`, `user_input []`, `user_input 1`,
		`assistant_chunk {}`, `assistant_chunk {"text":[]}`,
		`assistant_output {"text":null}`, `assistant_output {"text":1}`,
		`reasoning_summary {}`, `reasoning_summary {"provider_summary":false,"text":1}`,
		`tool_call {"id":"1"}`, `tool_call {"name":"n"}`, `tool_call {"id":1,"name":"n"}`, `code_mode_tool_call {"id":"1","name":null}`,
		`tool_result {}`, `tool_result {"result":null}`,
		`tool_result {"result":{"content":"","metadata":{},"success":true}}`,
		`tool_result {"result":{"content":"","metadata":{},"success":"true","tool_name":"t"}}`,
		`tool_result {"result":{"metadata":{},"success":true,"tool_name":"t"}}`,
		`tool_display_result {"result":{"content":null,"metadata":{},"success":true,"tool_name":"t"}}`,
		`code_mode_tool_result {"result":{"content":"","success":true,"tool_name":"t"}}`,
		`turn_status {}`, `turn_status {"status":"done"}`, `turn_status {"status":1}`,
		`diagnostic {"message":null}`, `hook_diagnostic {"message":1}`, `code_mode_warning {"warning":{}}`,
		`compaction {}`, `compaction {"summary":null}`,
	} {
		f := history.New(counter())
		if err := f.Apply(script(in)[0]); !errors.Is(err, history.ErrInvalid) {
			t.Errorf("%s: %v", in, err)
		}
		if err := f.Apply(rec(session.KindUserInput, `{"text":"Q"}`)); !errors.Is(err, history.ErrInvalid) {
			t.Errorf("%s: the next record: %v", in, err)
		}
		if _, err := f.Snapshot("r"); !errors.Is(err, history.ErrInvalid) {
			t.Errorf("%s: a snapshot: %v", in, err)
		}
		f.Reset()
		if s, err := f.Snapshot("r"); err != nil || s.Parts() != 0 {
			t.Errorf("%s: after a reset: %v", in, err)
		}
	}
}

func TestOptionalFieldsOfOtherTypesAreIgnored(t *testing.T) {
	got, complete := project(t, script(`
		user_input {"text":"Q","auto_recovery":1,"origin":[]}
		tool_call {"id":"1","name":"x","arguments":"no object"}
		tool_result {"call_id":"1","result":{"content":"","metadata":null,"success":true,"tool_name":"x","more":1},"more":2}
		reasoning_summary {"text":"r","provider_summary":true,"item_id":1,"turn_id":2}
		turn_status {"status":"failed","assistant_text":1,"error_summary":{}}`)...)
	want := []shown{{"user", "Q", false}, {"activity", "x: completed", false}, {"reasoning_summary", "r", false}, {"diagnostic", "Turn Failed", true}}
	if d := cmp.Diff(want, got); d != "" || !complete {
		t.Errorf("complete %v (-want +got):\n%s", complete, d)
	}
}

// TestTornTail: a cut-off last record is told and forgotten with the next one.
func TestTornTail(t *testing.T) {
	f := fold(t, script(q+`assistant_output {"text":"A"}`)...)
	f.SetTorn()
	first := snapshot(t, f)
	all, complete := entries(t, first)
	got := joined(t, all)
	if len(got) != 3 || got[2].Kind != "diagnostic" || !got[2].Partial || complete {
		t.Errorf("complete %v: %+v", complete, got)
	}
	if again, _ := entries(t, snapshot(t, f)); cmp.Diff(all, again) != "" {
		t.Errorf("ids changed: %+v, %+v", all, again)
	}
	if err := f.Apply(rec(session.KindDiagnostic, `{"message":"set aside"}`)); err != nil {
		t.Fatal(err)
	}
	got, complete = project(t, script(q+"assistant_output {\"text\":\"A\"}\ndiagnostic {\"message\":\"set aside\"}")...)
	now, nowComplete := entries(t, snapshot(t, f))
	if d := cmp.Diff(got, joined(t, now)); d != "" || nowComplete != complete {
		t.Errorf("after the repair (-scratch +live):\n%s", d)
	}
}

func TestLastUser(t *testing.T) {
	f := history.New(counter())
	last := func() string { return snapshot(t, f).LastUser() }
	if got := last(); got != "" {
		t.Errorf("empty: %q", got)
	}
	for _, r := range script(q + `assistant_output {"text":"A"}` + "\n" + `user_input {"text":"R"}`) {
		if err := f.Apply(r); err != nil {
			t.Fatal(err)
		}
	}
	want := last()
	all, _ := entries(t, snapshot(t, f))
	if got := all[2]; got.Text != "R" || got.MessageID != want {
		t.Errorf("last user %q, entry %+v", want, got)
	}
	for _, r := range script("assistant_output {\"text\":\"B\"}\nuser_input {\"origin\":\"provider_only\"}\nassistant_output {\"text\":\"C\"}") {
		if err := f.Apply(r); err != nil {
			t.Fatal(err)
		}
	}
	if got := last(); got != want {
		t.Errorf("a hidden prompt became the last user message: %q, want %q", got, want)
	}
}
