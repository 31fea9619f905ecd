package replay

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"magicode/internal/protect/injection"
	"magicode/internal/provider"
	"magicode/internal/session"
)

// rec is one record of a test: its kind and payload.
type rec struct {
	kind    session.Kind
	payload string
}

func fold(recs ...rec) *Fold {
	f := new(Fold)
	for i, r := range recs {
		_ = f.Apply(session.Record{Kind: r.kind, Payload: []byte(r.payload), Index: i})
	}
	return f
}

// lines shows a conversation, one line per item.
func lines(items []provider.Item) []string {
	var out []string
	for _, it := range items {
		switch it.Kind {
		case provider.ItemMessage:
			out = append(out, it.Role+": "+it.Text)
		case provider.ItemCall:
			out = append(out, fmt.Sprintf("call %s %s %s", it.CallID, it.Name, it.Arguments))
		case provider.ItemResult:
			out = append(out, fmt.Sprintf("result %s %s ok=%v", it.CallID, it.Text, it.Success))
		case provider.ItemNote:
			out = append(out, "note: "+it.Text)
		case provider.ItemResponse:
			out = append(out, "raw "+string(it.Raw))
		}
	}
	return out
}

func quoted(s string) string { b, _ := json.Marshal(s); return string(b) }

func user(s string) rec {
	return rec{session.KindUserInput, `{"origin":"user","text":` + quoted(s) + `}`}
}
func chunk(s string) rec { return rec{session.KindAssistantChunk, `{"text":` + quoted(s) + `}`} }
func output(s string) rec {
	return rec{session.KindAssistantOutput, `{"text":` + quoted(s) + `,"usage":null}`}
}
func call(id string) rec {
	return rec{session.KindToolCall, `{"id":` + quoted(id) + `,"name":"bash","arguments":{"a":1}}`}
}
func item(id string) rec {
	return rec{session.KindProviderResponseItem, `{"item":{"type":"function_call","call_id":` + quoted(id) + `,"name":"bash","arguments":"{\"a\":1}","status":"completed"}}`}
}
func result(id, content string) rec {
	return resultWith(id, content, `{"action":"not_assessed","enforced":false,"result_id":null}`)
}
func resultWith(id, content, verdict string) rec {
	return rec{session.KindToolResult, `{"call_id":` + quoted(id) + `,"result":{"tool_name":"bash","success":true,"content":` + quoted(content) +
		`,"metadata":{"prompt_injection_protection":` + verdict + `}}}`}
}
func status(s, text string) rec {
	return rec{session.KindTurnStatus, `{"status":` + quoted(s) + `,"assistant_text":` + quoted(text) + `}`}
}
func auto(reason, text string) rec {
	return rec{session.KindUserInput, `{"text":` + quoted(text) + `,"auto_recovery":true,"reason":` + quoted(reason) + `}`}
}
func diagnostic(message string) rec {
	return rec{session.KindDiagnostic, `{"level":"warning","message":` + quoted(message) + `}`}
}
func checkpoint(summary, more string) rec {
	return rec{session.KindCompaction, `{"schema_version":1,"summary":` + quoted(summary) + `,"provider":"p","model":"m","cutoff_event_count":0,"execution_effects":{"mutation_calls":0,"shell_calls":0,"incomplete":false,"samples":[]}` + more + `}`}
}

const (
	answered = "result c1 out ok=true"
	called   = `call c1 bash {"a":1}`
	lostNote = "user: [The turn above ended early. These calls were started and have no recorded result; they may have had effects:]\n- bash {\"a\":1}"
)

func TestReplay(t *testing.T) {
	summary := "user: The conversation up to here was compacted. This is its summary; go on from it:\n\n"
	for name, test := range map[string]struct {
		recs []rec
		want []string
	}{
		// Committed turns.
		"text":                    {[]rec{user("hi"), chunk("hel"), chunk("lo"), output("hello")}, []string{"user: hi", "assistant: hello"}},
		"output alone":            {[]rec{user("hi"), output("hello")}, []string{"user: hi", "assistant: hello"}},
		"output without text":     {[]rec{user("hi"), chunk("hello"), {session.KindAssistantOutput, `{"usage":null}`}}, []string{"user: hi", "assistant: hello"}},
		"empty output":            {[]rec{user("hi"), output("")}, []string{"user: hi"}},
		"chunks were redacted":    {[]rec{user("hi"), chunk("half"), output("another text")}, []string{"user: hi", "assistant: another text"}},
		"a tool":                  {[]rec{user("hi"), chunk("look "), item("c1"), call("c1"), result("c1", "out"), chunk("done"), output("done")}, []string{"user: hi", "assistant: look ", called, answered, "assistant: done"}},
		"a tool without its item": {[]rec{user("hi"), call("c1"), result("c1", "out"), output("x")}, []string{"user: hi", called, answered, "assistant: x"}},
		"without its tool_call":   {[]rec{user("hi"), item("c1"), result("c1", "out"), output("x")}, []string{"user: hi", called, answered, "assistant: x"}},
		"chat items": {[]rec{user("hi"), {session.KindProviderResponseItem, `{"item":{"role":"assistant","tool_calls":[{"id":"c1","function":{"name":"bash","arguments":"{\"a\":1}"}}]}}`}, call("c1"), result("c1", "out"), output("x")},
			[]string{"user: hi", called, answered, "assistant: x"}},
		"arguments that are no JSON":  {[]rec{user("hi"), {session.KindToolCall, `{"id":"c1","name":"bash","arguments":"{oops"}`}, result("c1", "out"), output("x")}, []string{"user: hi", "call c1 bash {oops", answered, "assistant: x"}},
		"no arguments":                {[]rec{user("hi"), {session.KindToolCall, `{"id":"c1","name":"bash"}`}, result("c1", "out"), output("x")}, []string{"user: hi", "call c1 bash {}", answered, "assistant: x"}},
		"output of older form":        {[]rec{user("hi"), call("c1"), {session.KindToolResult, `{"call_id":"c1","result":{"tool_name":"bash","success":true,"output":"out"}}`}, output("x")}, []string{"user: hi", called, answered, "assistant: x"}},
		"reasoning is not sent":       {[]rec{user("hi"), {session.KindReasoningSummary, `{"text":"hm"}`}, {session.KindProviderResponseItem, `{"item":{"type":"reasoning","encrypted_content":"e"}}`}, output("x")}, []string{"user: hi", "assistant: x"}},
		"other items, as they are":    {[]rec{user("hi"), {session.KindProviderResponseItem, `{"item":{"type":"web_search_call","n":12345678901234567890,"a":[{"encrypted_content":"e","b":1}]}}`}, output("x")}, []string{"user: hi", `raw {"a":[{"b":1}],"n":12345678901234567890,"type":"web_search_call"}`, "assistant: x"}},
		"items byte for byte":         {[]rec{user("hi"), {session.KindProviderResponseItem, `{"item":{"type":"web_search_call", "z":1,"a":2}}`}, output("x")}, []string{"user: hi", `raw {"type":"web_search_call", "z":1,"a":2}`, "assistant: x"}},
		"a completed message item":    {[]rec{user("hi"), chunk("text"), {session.KindProviderResponseItem, `{"item":{"type":"message","status":"completed"}}`}}, []string{"user: hi", "assistant: text"}},
		"status complete":             {[]rec{user("hi"), chunk("text"), status("complete", "text")}, []string{"user: hi", "assistant: text"}},
		"an unpaired call is dropped": {[]rec{user("hi"), call("c1"), call("c2"), result("c1", "out"), output("x")}, []string{"user: hi", called, answered, "assistant: x"}},

		// The text of a segment and what replaces it.
		"text around an item":         {[]rec{user("hi"), chunk("one "), {session.KindProviderResponseItem, `{"item":{"type":"reasoning"}}`}, chunk("two"), output("one two")}, []string{"user: hi", "assistant: one ", "assistant: two"}},
		"a broken reply, cumulative":  {[]rec{user("hi"), chunk("first half of it "), diagnostic("goes on"), chunk("second half"), output("first half of it second half")}, []string{"user: hi", "assistant: first half of it ", "assistant: second half"}},
		"a broken reply, apart":       {[]rec{user("hi"), chunk("first half of it "), diagnostic("goes on"), chunk("second half"), output("second half")}, []string{"user: hi", "assistant: first half of it ", "assistant: second half"}},
		"cumulative over a tool":      {[]rec{user("hi"), chunk("one "), call("c1"), result("c1", "out"), chunk("two"), output("one \n\ntwo")}, []string{"user: hi", "assistant: one ", called, answered, "assistant: two"}},
		"the same words again":        {[]rec{user("hi"), chunk("Done."), call("c1"), result("c1", "out"), chunk("Done."), output("Done.")}, []string{"user: hi", "assistant: Done.", called, answered, "assistant: Done."}},
		"the same words after a hint": {[]rec{user("hi"), chunk("Done."), {session.KindProviderContextItem, `{"role":"user","content":"H"}`}, chunk("Done."), output("Done.")}, []string{"user: hi", "assistant: Done.", "user: H", "assistant: Done."}},
		"a blank chunk":               {[]rec{user("hi"), chunk(" \n"), call("c1"), result("c1", "out"), output("x")}, []string{"user: hi", called, answered, "assistant: x"}},

		// Automatic prompts and steering.
		"recovery goes on":          {[]rec{user("hi"), chunk("I will."), auto("dangling_tool_intent", "Call it."), chunk("ok"), output("ok")}, []string{"user: hi", "assistant: I will.", "user: Call it.", "assistant: ok"}},
		"recovery after an end":     {[]rec{user("hi"), output("x"), auto("incomplete_semantic_progress_timeout", "Continue"), output("y")}, []string{"user: hi", "assistant: x", "user: Continue", "assistant: y"}},
		"steering goes on":          {[]rec{user("hi"), call("c1"), result("c1", "out"), user(steeringHeader + "\nfaster"), output("x")}, []string{"user: hi", called, answered, "user: " + steeringHeader + "\nfaster", "assistant: x"}},
		"steering without activity": {[]rec{user("hi"), user(steeringHeader + "\nfaster"), output("x")}, []string{"user: hi", "user: " + steeringHeader + "\nfaster", "assistant: x"}},
		"steering after a failure":  {[]rec{user("hi"), chunk("half"), status("failed", "half"), user(steeringHeader + "\nfaster"), output("x")}, []string{"user: hi", "assistant: half", "user: " + steeringHeader + "\nfaster", "assistant: x"}},

		"steering after an older failure": {[]rec{user("hi"), chunk("half"), diagnostic("provider stream ended"), user(steeringHeader + "\nfaster"), output("x")},
			[]string{"user: [A turn ended with a failure of the model's provider (stream ended). What is recorded of it:]\nuser: hi\nassistant: half", "user: " + steeringHeader + "\nfaster", "assistant: x"}},

		// Stopped turns.
		"cancelled":                      {[]rec{user("hi"), chunk("half "), status("cancelled", "half ")}, []string{"user: hi", "assistant: half "}},
		"cancelled, other spelling":      {[]rec{user("hi"), chunk("half"), status("canceled", "")}, []string{"user: hi", "assistant: half"}},
		"failed, text in its status":     {[]rec{user("hi"), status("failed", "half")}, []string{"user: hi", "assistant: half"}},
		"failed, chunks lag behind":      {[]rec{user("hi"), chunk("one "), call("c1"), result("c1", "out"), chunk("tw"), status("failed", "one \n\ntwo words")}, []string{"user: hi", "assistant: one ", called, answered, "assistant: two words"}},
		"failed, a segment has none":     {[]rec{user("hi"), chunk("one "), call("c1"), result("c1", "out"), status("failed", "one \n\ntwo")}, []string{"user: hi", "assistant: one ", called, answered, "assistant: two"}},
		"failed before any activity":     {[]rec{user("hi"), status("failed", "")}, []string{"user: hi"}},
		"a lost call":                    {[]rec{user("hi"), item("c1"), call("c1"), status("cancelled", "")}, []string{"user: hi", lostNote}},
		"one answered, one lost":         {[]rec{user("hi"), item("c1"), item("c2"), call("c1"), result("c1", "out"), call("c2"), status("failed", "")}, []string{"user: hi", called, answered, lostNote}},
		"nothing is told of begun calls": {[]rec{user("hi"), call("c1"), status("failed", ""), {session.KindAbortRecovery, `{"unsafe_tool_call_progress":true,"partial_tool_call_summary":"rm"}`}}, []string{"user: hi"}},
		"reasoning was cut off": {[]rec{user("hi"), status("cancelled", ""), {session.KindAbortRecovery, `{"observed_reasoning_delta":true,"reasoning_preview":"I think"}`}},
			[]string{"user: hi", "user: [The turn above ended early, while the reply was being made; what it would have been is not known.]\n[Recorded of the reply that was cut off:]\nI think"}},
		"raw items of a stopped turn": {[]rec{user("hi"), {session.KindProviderResponseItem, `{"item":{"type":"web_search_call"}}`}, status("failed", "")}, []string{"user: hi"}},
		"compaction required":         {[]rec{user("hi"), call("c1"), result("c1", "out"), status("compaction_required", ""), user("go on"), output("x")}, []string{"user: hi", called, answered, "user: go on", "assistant: x"}},

		// Turns without an end.
		"interrupted":                    {[]rec{user("hi"), chunk("half"), call("c1"), result("c1", "out"), chunk("more")}, []string{"user: hi"}},
		"interrupted, then another":      {[]rec{user("hi"), call("c1"), user("again"), output("x")}, []string{"user: hi", "user: again", "assistant: x"}},
		"a result after its turn":        {[]rec{user("hi"), call("c1"), user("again"), result("c1", "out"), output("x")}, []string{"user: hi", "user: again", "note: [A result of bash without its call was recorded:]\nout", "assistant: x"}},
		"incomplete":                     {[]rec{user("hi"), chunk("half"), status("incomplete", ""), user("again"), output("x")}, []string{"user: again", "assistant: x"}},
		"incomplete, the input alone":    {[]rec{user("hi"), status("incomplete", "")}, nil},
		"incomplete, and yet an answer":  {[]rec{user("hi"), status("incomplete", ""), output("x")}, []string{"user: hi", "assistant: x"}},
		"oversized":                      {[]rec{user("hi"), chunk(strings.Repeat("x", 128_001)), call("c1"), user("again"), output("x")}, []string{"user: again", "assistant: x"}},
		"oversized prompt":               {[]rec{user(strings.Repeat("é", 128_001))}, nil},
		"just as large":                  {[]rec{user(strings.Repeat("é", 128_000))}, []string{"user: " + strings.Repeat("é", 128_000)}},
		"older failure, the input alone": {[]rec{user("hi"), diagnostic("provider stream ended before it was complete"), user("again"), output("x")}, []string{"user: again", "assistant: x"}},
		"older failure with activity": {[]rec{user("hi"), chunk("half"), call("c1"), result("c1", "out"), diagnostic("Provider stream idle timeout"), user("again"), output("x")},
			[]string{"user: [A turn ended with a failure of the model's provider (no progress). What is recorded of it:]\nuser: hi\nassistant: half\ncall of bash: {\"a\":1}\nresult of bash: out", "user: again", "assistant: x"}},
		"a failure with a status":     {[]rec{user("hi"), chunk("half"), diagnostic("response.failed"), status("failed", "half")}, []string{"user: hi", "assistant: half"}},
		"a failure that was overcome": {[]rec{user("hi"), chunk("half"), diagnostic("response.incomplete"), output("x")}, []string{"user: hi", "assistant: half", "assistant: x"}},

		// Results and ids.
		"an orphan":               {[]rec{user("hi"), result("c9", "out"), output("x")}, []string{"user: hi", "note: [A result of bash without its call was recorded:]\nout", "assistant: x"}},
		"the first result counts": {[]rec{user("hi"), call("c1"), result("c1", "out"), result("c1", "late"), output("x")}, []string{"user: hi", called, answered, "note: [A result of bash without its call was recorded:]\nlate", "assistant: x"}},
		"ids again, pair by pair": {[]rec{user("hi"), call("c1"), result("c1", "out"), call("c1"), result("c1", "two"), output("x"), user("again"), call("c1"), result("c1", "three"), output("y")},
			[]string{"user: hi", called, answered, `call c1-2 bash {"a":1}`, "result c1-2 two ok=true", "assistant: x", "user: again", `call c1-3 bash {"a":1}`, "result c1-3 three ok=true", "assistant: y"}},
		"a new name that is taken": {[]rec{user("hi"), call("c1-2"), result("c1-2", "a"), call("c1"), result("c1", "out"), call("c1"), result("c1", "b"), output("x")},
			[]string{"user: hi", `call c1-2 bash {"a":1}`, "result c1-2 a ok=true", called, answered, `call c1-3 bash {"a":1}`, "result c1-3 b ok=true", "assistant: x"}},
		"blank ids": {[]rec{user("hi"), call(""), result("", "out"), call(""), result("", "two"), output("x")}, []string{"user: hi", `call call-2 bash {"a":1}`, "result call-2 out ok=true", `call call-3 bash {"a":1}`, "result call-3 two ok=true", "assistant: x"}},

		// What else a model is sent.
		"a hint":            {[]rec{user("hi"), call("c1"), result("c1", "out"), {session.KindProviderContextItem, `{"role":"user","content":"AGENTS"}`}, output("x")}, []string{"user: hi", called, answered, "user: AGENTS", "assistant: x"}},
		"a hint of no user": {[]rec{user("hi"), {session.KindProviderContextItem, `{"role":"system","content":"S"}`}, output("x")}, []string{"user: hi", "assistant: x"}},
		"a skill":           {[]rec{user("hi"), {session.KindSkillSuggestion, `{"hint":"use it"}`}, output("x")}, []string{"user: hi", "user: use it", "assistant: x"}},
		"a rewind":          {[]rec{user("hi"), output("x"), {session.KindRewind, `{"target_turn":1,"paths":[{"path":"a.go","status":"restored"}]}`}}, []string{"user: hi", "assistant: x", "user: [The user has put files back to their state before turn 1. Read them again before you rely on them.]\n- a.go: restored"}},
		"no valid rewind":   {[]rec{user("hi"), {session.KindRewind, `{"paths":[]}`}, output("x")}, []string{"user: hi", "assistant: x"}},
		"local kinds": {[]rec{user("hi"), {session.KindSessionTitle, `{"title":"T","text":"T"}`}, {session.KindSessionUsage, `{}`}, {session.KindHookDiagnostic, `{"message":"m"}`}, {session.KindToolAppliedPreview, `{"text":"p"}`}, {session.KindToolDisplayResult, `{"result":{},"text":"d"}`},
			{session.KindTaskScope, `{"text":"t"}`}, {"context_cache", `{"text":"t"}`}, {session.KindSessionPreferences, `{}`}, output("x")}, []string{"user: hi", "assistant: x"}},
		"an unknown kind":  {[]rec{user("hi"), {"plan_note", `{"text":"step 1"}`}, output("x")}, []string{"user: hi", "note: [A record of kind plan_note says:]\nstep 1", "assistant: x"}},
		"an unknown, mute": {[]rec{user("hi"), {"plan_note", `{"n":1}`}, output("x")}, []string{"user: hi", "assistant: x"}},

		// Checkpoints.
		"a checkpoint":            {[]rec{checkpoint("S", ""), user("hi"), output("x")}, []string{summary + "S", "user: hi", "assistant: x"}},
		"the latest checkpoint":   {[]rec{user("a"), output("b"), checkpoint("S1", `,"cutoff_event_count":2`), user("c"), output("d"), checkpoint("S2", `,"cutoff_event_count":5`), user("e")}, []string{summary + "S2", "user: e"}},
		"records behind a cutoff": {[]rec{user("a"), output("b"), user("c"), output("d"), checkpoint("S", `,"cutoff_event_count":2`)}, []string{summary + "S", "user: c", "assistant: d"}},
		"a cutoff beyond itself":  {[]rec{user("a"), output("b"), checkpoint("S", `,"cutoff_event_count":9`)}, []string{"user: a", "assistant: b"}},
		"a blank summary":         {[]rec{user("a"), output("b"), checkpoint(" \n", "")}, []string{"user: a", "assistant: b"}},
		"another schema":          {[]rec{user("a"), output("b"), {session.KindCompaction, `{"schema_version":2,"summary":"S","provider":"p","model":"m","cutoff_event_count":0}`}}, []string{"user: a", "assistant: b"}},
		"without its model":       {[]rec{user("a"), output("b"), {session.KindCompaction, `{"schema_version":1,"summary":"S","provider":"p","model":" ","cutoff_event_count":0}`}}, []string{"user: a", "assistant: b"}},
		"evidence": {[]rec{{session.KindCompaction, `{"schema_version":1,"summary":"S","provider":"p","model":"m","cutoff_event_count":0,"execution_effects":{"mutation_calls":2,"shell_calls":1,"incomplete":false,"samples":[{"call_id":"c","path":"/w/a"}]}}`}},
			[]string{summary + "S", "user: [Recorded evidence of the compacted part; not written by the model]\nCalls that changed files: 2. Shell commands run: 1.\n- /w/a\n[End of recorded evidence]"}},
		"evidence is missing": {[]rec{{session.KindCompaction, `{"schema_version":1,"summary":"S","provider":"p","model":"m","cutoff_event_count":0}`}},
			[]string{summary + "S", "user: [Recorded evidence of the compacted part; not written by the model]\nCalls that changed files: 0. Shell commands run: 0.\nThis evidence is incomplete: more may have been changed than is listed.\n[End of recorded evidence]"}},
		"a stopped turn before a cutoff": {[]rec{user("a"), call("c1"), status("failed", "late text"), checkpoint("S", `,"cutoff_event_count":3`), user("e")}, []string{summary + "S", "user: e"}},

		// Nested calls.
		"a script that ended": {[]rec{user("hi"), call("c1"), {session.KindCodeModeToolCall, `{"parent_call_id":"c1","sequence":1,"id":"c1:inner:1","name":"read"}`}, result("c1", "out"), output("x")}, []string{"user: hi", called, answered, "assistant: x"}},
		"a script that was cut off": {[]rec{user("hi"), call("c1"),
			{session.KindCodeModeToolCall, `{"parent_call_id":"c1","sequence":1,"id":"c1:inner:1","name":"write"}`}, {session.KindCodeModeToolResult, `{"parent_call_id":"c1","sequence":1,"call_id":"c1:inner:1","result":{"success":true}}`},
			{session.KindCodeModeToolCall, `{"parent_call_id":"c1","sequence":2,"id":"c1:inner:2","name":"bash"}`},
			{session.KindCodeModeContext, `{"parent_call_id":"c1","code_mode_context_id":"c1:context:0","role":"user","content":"AGENTS"}`},
			{session.KindCodeModeWarning, `{"parent_call_id":"c1","warning":"slow"}`}, status("cancelled", "")},
			[]string{"user: hi", "user: [Recorded by the host: a script ended without a result. It had made these calls:]\n- write: succeeded\n- bash: no result is recorded; it may have had effects\nWarning: slow", "user: AGENTS", lostNote}},
		"a context that was delivered": {[]rec{user("hi"), call("c1"), {session.KindCodeModeContext, `{"parent_call_id":"c1","code_mode_context_id":"c1:context:0","role":"user","content":"AGENTS"}`}, result("c1", "out"),
			{session.KindProviderContextItem, `{"role":"user","content":"AGENTS","code_mode_context_id":"c1:context:0"}`}, output("x")}, []string{"user: hi", called, answered, "user: AGENTS", "assistant: x"}},
	} {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(test.want, lines(fold(test.recs...).Items())); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestVerdicts(t *testing.T) {
	sum := sha256.Sum256([]byte("out"))
	hash := hex.EncodeToString(sum[:])
	whole := `"assessed_bytes":3,"original_bytes":3,"sha256":"` + hash + `"`
	marked := injection.Project(injection.Annotate, "out", "")
	verdict := func(call, v string) rec {
		return rec{session.KindToolResultAssessment, `{"call_id":"` + call + `","prompt_injection_protection":{` + v + `}}`}
	}
	pending := resultWith("c1", "out", `{"action":"pending","enforced":true,"result_id":"r1"}`)
	unnamed := resultWith("c1", "out", `{"action":"pending","enforced":true}`)
	for name, test := range map[string]struct {
		recs []rec
		want string
	}{
		"not enforced":               {[]rec{resultWith("c1", "out", `{"action":"quarantine","enforced":false}`)}, "out"},
		"allowed":                    {[]rec{resultWith("c1", "out", `{"action":"allow","enforced":true,`+whole+`}`)}, "out"},
		"allowed as persisted":       {[]rec{resultWith("c1", "out", `{"action":"allow","enforced":true,"assessed_bytes":9,"original_bytes":9,"persisted_content":{"bytes":3,"sha256":"`+hash+`"}}`)}, "out"},
		"allowed, other bytes":       {[]rec{resultWith("c1", "tuo", `{"action":"allow","enforced":true,`+whole+`}`)}, injection.Withheld},
		"allowed, a part":            {[]rec{resultWith("c1", "out", `{"action":"allow","enforced":true,"assessed_bytes":2,"original_bytes":3,"sha256":"`+hash+`"}`)}, injection.Withheld},
		"allowed without a hash":     {[]rec{resultWith("c1", "out", `{"action":"allow","enforced":true,"assessed_bytes":3,"original_bytes":3}`)}, injection.Withheld},
		"annotated":                  {[]rec{resultWith("c1", "out", `{"action":"annotate","enforced":true,`+whole+`}`)}, marked},
		"annotated, other bytes":     {[]rec{resultWith("c1", "tuo", `{"action":"annotate","enforced":true,`+whole+`}`)}, injection.Withheld},
		"quarantined":                {[]rec{resultWith("c1", "out", `{"action":"quarantine","enforced":true,`+whole+`}`)}, injection.Withheld},
		"escalated":                  {[]rec{resultWith("c1", "out", `{"action":"escalate","enforced":true}`)}, injection.Withheld},
		"unknown action":             {[]rec{resultWith("c1", "out", `{"action":"shrug","enforced":true}`)}, injection.Withheld},
		"pending for ever":           {[]rec{pending}, injection.Withheld},
		"pending, then allowed":      {[]rec{pending, verdict("c1", `"action":"allow","enforced":true,"result_id":"r1",`+whole)}, "out"},
		"pending, allowed later":     {[]rec{pending, chunk("x"), verdict("c1", `"action":"allow","enforced":true,"result_id":"r1",`+whole)}, "out"},
		"the first verdict counts":   {[]rec{pending, verdict("c1", `"action":"quarantine","enforced":true,"result_id":"r1"`), verdict("c1", `"action":"allow","enforced":true,"result_id":"r1",`+whole)}, injection.Withheld},
		"verdict of another call":    {[]rec{pending, verdict("c2", `"action":"allow","enforced":true,"result_id":"r1",`+whole)}, injection.Withheld},
		"verdict of another result":  {[]rec{pending, verdict("c1", `"action":"allow","enforced":true,"result_id":"r2",`+whole)}, injection.Withheld},
		"verdict not enforced":       {[]rec{pending, verdict("c1", `"action":"allow","enforced":false,"result_id":"r1",`+whole)}, injection.Withheld},
		"a verdict that was not due": {[]rec{resultWith("c1", "out", `{"action":"annotate","enforced":true,"result_id":"r1",`+whole+`}`), verdict("c1", `"action":"allow","enforced":true,"result_id":"r1",`+whole)}, marked},
		"unnamed, next record":       {[]rec{unnamed, verdict("c1", `"action":"annotate","enforced":true,`+whole)}, marked},
		"unnamed, later":             {[]rec{unnamed, chunk("x"), verdict("c1", `"action":"annotate","enforced":true`)}, injection.Withheld},
	} {
		t.Run(name, func(t *testing.T) {
			recs := append([]rec{user("hi"), call("c1")}, test.recs...)
			for _, it := range fold(append(recs, output("x"))...).Items() {
				if it.Kind == provider.ItemResult {
					if diff := cmp.Diff(test.want, it.Text); diff != "" {
						t.Error(diff)
					}
					return
				}
			}
			t.Error("no result")
		})
	}
}

func TestLongOutputs(t *testing.T) {
	for _, test := range []struct {
		n     int
		short bool
	}{{24_000, false}, {24_001, true}} {
		head, tail := strings.Repeat("é", 6000), strings.Repeat("ü", 6000)
		content := head + strings.Repeat("x", test.n-12_000) + tail
		got := fold(user("hi"), call("c1"), result("c1", content), output("x")).Items()[2].Text
		if !test.short {
			if got != content {
				t.Errorf("%d characters were shortened", test.n)
			}
			continue
		}
		want := "[Output of bash from an earlier turn: 24001 characters, shortened to the first and last 6000.]\n" + head + "\n[... 12001 characters left out ...]\n" + tail
		if got != want {
			t.Errorf("%.100s ... %d bytes", got, len(got))
		}
	}
}

func TestNoteBounds(t *testing.T) {
	big := strings.Repeat("é", 20_000)
	recs := []rec{user(big)}
	for i := range 9 {
		recs = append(recs, rec{session.KindToolCall, fmt.Sprintf(`{"id":"c%d","name":"bash","arguments":{"a":%q}}`, i, big[:8000])})
	}
	note := fold(append(recs, status("failed", ""))...).Items()[1].Text
	if n := len([]rune(note)); n != maxNoteChars {
		t.Errorf("a note of %d characters", n)
	}
	one := fold(user("hi"), rec{session.KindToolCall, fmt.Sprintf(`{"id":"c","name":"bash","arguments":{"a":%q}}`, big)}, status("failed", "")).Items()[1].Text
	if n := len([]rune(one)); n < maxFieldChars || n > maxFieldChars+200 {
		t.Errorf("a field of %d characters", n)
	}
	huge := fold(user("hi"), call("c"), result("c", "RESULT"), chunk(strings.Repeat("x", maxInterruptedChars)), diagnostic("provider stream ended")).Items()
	if len(huge) != 1 || strings.Contains(huge[0].Text, "RESULT") || !strings.Contains(huge[0].Text, "call of bash") {
		t.Errorf("%d items, %.300s", len(huge), huge[0].Text)
	}
	older := fold(user("hi"), call("c"), result("c", big), diagnostic("provider stream ended")).Items()
	if n := len([]rune(older[0].Text)); len(older) != 1 || n < maxNoteOutputChars || n > maxNoteOutputChars+300 {
		t.Errorf("%d items, %d characters", len(older), n)
	}
}
