package provider_test

import (
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// mutant is one rule of a parser that is dropped: in its file, old is replaced
// by new, in which dropped() tells whether this mutant is on.
type mutant struct{ file, old, new string }

// TestMutants drops the rules of the parsers one by one and demands that the
// corpus notices each. All of them are compiled into one test binary, as an
// overlay over the sources, and switched on by a variable of the environment.
func TestMutants(t *testing.T) {
	if testing.Short() {
		t.Skip("compiles a test binary")
	}
	if os.Getenv(mutantVariable) != "" {
		t.Skip("inside the mutated binary")
	}
	goTool, err := exec.LookPath("go")
	if err != nil {
		t.Skip("no go command")
	}
	bin := buildMutants(t, goTool)
	if out, err := runMutant(t, bin, "none"); err != nil {
		t.Fatalf("the binary fails without a mutant: %v\n%s", err, out)
	}
	for i, m := range mutants {
		t.Run(m.file+"/"+strconv.Itoa(i), func(t *testing.T) {
			if _, err := runMutant(t, bin, strconv.Itoa(i)); err == nil {
				t.Errorf("no file of the corpus notices that this rule is gone:\n%s\n%s", m.old, m.new)
			}
		})
	}
}

const mutantVariable = "MAGI_PARSER_MUTANT"

func runMutant(t *testing.T, bin, id string) ([]byte, error) {
	t.Helper()
	cmd := exec.CommandContext(context.Background(), bin, "-test.run", "^TestCorpus")
	cmd.Env = append(os.Environ(), mutantVariable+"="+id)
	return cmd.CombinedOutput()
}

// buildMutants compiles this package's tests with every mutant in place.
func buildMutants(t *testing.T, goTool string) string {
	t.Helper()
	dir := t.TempDir()
	here, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	sources := make(map[string]string)
	for i, m := range mutants {
		path := filepath.Join(here, m.file)
		if sources[path] == "" {
			data, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			sources[path] = string(data)
		}
		if strings.Count(sources[path], m.old) != 1 {
			t.Fatalf("%s: the source of this rule is not there once:\n%s", m.file, m.old)
		}
		with := strings.ReplaceAll(m.new, "dropped()", "dropped("+strconv.Itoa(i)+")")
		sources[path] = strings.Replace(sources[path], m.old, with, 1)
	}
	replace := make(map[string]string)
	write := func(path, text string) {
		tmp := filepath.Join(dir, strings.ReplaceAll(strings.TrimPrefix(path, here), string(filepath.Separator), "_"))
		if err := os.WriteFile(tmp, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		replace[path] = tmp
	}
	for path, text := range sources {
		write(path, text)
		pkg := filepath.Base(filepath.Dir(path))
		write(filepath.Join(filepath.Dir(path), "mutants_overlay.go"), "package "+pkg+"\n\nimport (\"os\"; \"strconv\")\n\nvar on = os.Getenv(\""+mutantVariable+"\")\n\nfunc dropped(id int) bool { return on == strconv.Itoa(id) }\n")
	}
	overlay, err := json.Marshal(map[string]any{"Replace": replace})
	if err != nil {
		t.Fatal(err)
	}
	list, bin := filepath.Join(dir, "overlay.json"), filepath.Join(dir, "corpus.test")
	if err := os.WriteFile(list, overlay, 0o600); err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), goTool, "test", "-c", "-vet=off", "-overlay", list, "-o", bin, ".")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("compiling the mutants: %v\n%s", err, out)
	}
	return bin
}

var mutants = []mutant{
	// Framing.
	{"sse/sse.go", `n > 0 && line[n-1] == '\r'`, `!dropped() && n > 0 && line[n-1] == '\r'`},
	{"sse/sse.go", `line = bytes.TrimPrefix(line, bom)`, `if !dropped() { line = bytes.TrimPrefix(line, bom) }`},
	{"sse/sse.go", `if !bytes.HasPrefix(line, dataField) {`, `if !dropped() && !bytes.HasPrefix(line, dataField) {`},
	{"sse/sse.go", `d.data = append(append(d.data, '\n'), line...)`, `if dropped() { d.data = d.data[:0] }; d.data = append(append(d.data, '\n'), line...)`},
	{"sse/sse.go", "	if !complete(d.data) {", "	if dropped() || !complete(d.data) {"},
	{"sse/sse.go", "	if len(d.line) > 0 {\n		if err := d.endLine(nil, event)", "	if !dropped() && len(d.line) > 0 {\n		if err := d.endLine(nil, event)"},
	{"sse/sse.go", "if d.lines == 0 {\n		return nil\n	}\n	data := d.data", "if !dropped() && d.lines == 0 {\n		return nil\n	}\n	data := d.data"},
	// Bodies and the end of streams.
	{"exchange/stream.go", `		case '{':`, `		case byte(map[bool]int{true: 1, false: '{'}[dropped()]):`},
	{"exchange/stream.go", `if f.parser.State() == Final {`, `if !dropped() && f.parser.State() == Final {`},
	{"exchange/stream.go", "		if f.parser.State() != Open {\n			return nil\n		}", "		if !dropped() && f.parser.State() != Open {\n			return nil\n		}"},
	{"exchange/stream.go", `return terminal(errEnded)`, `if dropped() { return nil }; return terminal(errEnded)`},
	{"exchange/data.go", `if errors.Is(err, jsonscan.ErrUTF8) {`, `if !dropped() && errors.Is(err, jsonscan.ErrUTF8) {`},
	{"exchange/data.go", `func IsDone(data []byte) bool {`, `func IsDone(data []byte) bool { if dropped() { return false };`},
	{"exchange/sink.go", `		return append(dst, v.LenientText()...)`, `		if dropped() { return dst }; return append(dst, v.LenientText()...)`},
	{"exchange/sink.go", `s.usageOwed = u.Input != nil`, `s.usageOwed = dropped() || u.Input != nil`},
	{"exchange/errors.go", `if v.Get("object").Is("error") {`, `if !dropped() && v.Get("object").Is("error") {`},
	{"exchange/errors.go", "	case jsonscan.String:\n		if len(e) > 2 {", "	case jsonscan.String:\n		if !dropped() && len(e) > 2 {"},
	{"exchange/errors.go", `case v.Is("context_length_exceeded"),`, `case !dropped() && v.Is("context_length_exceeded"),`},
	{"exchange/errors.go", `v.Is("exceed_context_size_error"),`, `!dropped() && v.Is("exceed_context_size_error"),`},
	{"exchange/errors.go", `if strings.Contains(msg, sign) {`, `if !dropped() && strings.Contains(msg, sign) {`},
	{"exchange/tier.go", `		case c != '.' && c != '_' && c != '-':`, `		case !dropped() && c != '.' && c != '_' && c != '-':`},
	// Arguments.
	{"transcript/arguments.go", `if base == "" {`, `if !dropped() && base == "" {`},
	{"transcript/arguments.go", `for strings.HasSuffix(base, "{}") {`, `for !dropped() && strings.HasSuffix(base, "{}") {`},
	{"transcript/arguments.go", `		return text, false`, `		return text, dropped()`},
	{"transcript/arguments.go", `case u < 0xdc00 && unit(s, i+6)&^0x3ff == 0xdc00:`, `case !dropped() && u < 0xdc00 && unit(s, i+6)&^0x3ff == 0xdc00:`},
	{"transcript/arguments.go", `			copy(out[i:], `, `			if !dropped() { _ = 0 } else { i += 6; continue }; copy(out[i:], `},
	{"transcript/arguments.go", "		case u < 0:\n			i += 2", "		case u < 0:\n			i += 2; if dropped() { i-- }"},
	// Responses.
	{"responses/parser.go", `if e.object.Is("response") && e.response == nil && e.typ == nil {`, `if !dropped() && e.object.Is("response") && e.response == nil && e.typ == nil {`},
	{"responses/parser.go", `if s := r.Get("status"); s.Is("failed") || s.Is("incomplete") {`, `if s := r.Get("status"); !dropped() && (s.Is("failed") || s.Is("incomplete")) {`},
	{"responses/parser.go", "	case `\"error\"`:\n		return reported", "	case `\"error\"`:\n		if dropped() { break }; return reported"},
	{"responses/parser.go", `if exchange.ErrorObject(e.v) != nil {`, `if !dropped() && exchange.ErrorObject(e.v) != nil {`},
	{"responses/parser.go", `case "response.output_text.delta", "response.refusal.delta":`, `case "response.output_text.delta", map[bool]string{true: "-", false: "response.refusal.delta"}[dropped()]:`},
	{"responses/parser.go", "	case \"response.reasoning_text.delta\":\n", "	case \"response.reasoning_text.delta\":\n if dropped() { p.text.delta(e) }\n"},
	{"responses/parser.go", "	case \"response.completed\":\n		return p.completed(e.response)\n	}", "	case \"response.completed\":\n		return p.completed(e.response)\n	default:\n if dropped() { p.text.delta(e) }\n	}"},
	{"responses/parser.go", `case typ.Is("function_call"):`, `case !dropped() && typ.Is("function_call"):`},
	{"responses/parser.go", `case typ.Is("reasoning"):`, `case !dropped() && typ.Is("reasoning"):`},
	{"responses/parser.go", `case typ.Is("message"):`, `case !dropped() && typ.Is("message"):`},
	{"responses/parser.go", `		if err := p.itemDone(item, nil, nth[kind]); err != nil {`, `		if dropped() { continue }; if err := p.itemDone(item, nil, nth[kind]); err != nil {`},
	{"responses/parser.go", `return p.calls.unfinished()`, `if dropped() { return nil }; return p.calls.unfinished()`},
	{"responses/parser.go", `p.reasoning.rest()`, `if !dropped() { p.reasoning.rest() }`},
	{"responses/parser.go", "	p.state = exchange.Final\n", "	p.state = exchange.Final; if dropped() { p.state = exchange.Terminal }\n"},
	{"responses/parser.go", `p.noteUsage(r.Get("usage"))`, `if !dropped() { p.noteUsage(r.Get("usage")) }`},
	{"responses/parser.go", "	if e.usage != nil {\n", "	if !dropped() && e.usage != nil {\n"},
	{"responses/parser.go", `p.noteTier(r.Get("service_tier"))`, `if !dropped() { p.noteTier(r.Get("service_tier")) }`},
	{"responses/parser.go", `if m := r.Get("model").LenientText(); m != "" {`, `if m := r.Get("model").LenientText(); !dropped() && m != "" {`},
	{"responses/parser.go", `if cause.Kind() != jsonscan.Object {`, `if dropped() || cause.Kind() != jsonscan.Object {`},
	{"responses/parser.go", `reason := e.response.Get("incomplete_details").Get("reason").LenientText(); reason != "" {`, `reason := e.response.Get("incomplete_details").Get("reason").LenientText(); !dropped() && reason != "" {`},
	{"responses/text.go", `if n >= 0 && n < t.done {`, `if !dropped() && n >= 0 && n < t.done {`},
	{"responses/text.go", `if t.open || id != "" && t.seen[id] {`, `if !dropped() && t.open || id != "" && t.seen[id] {`},
	{"responses/text.go", "		t.open = false\n", "		t.open = dropped()\n"},
	{"responses/text.go", `role != nil && !role.Is("assistant") {`, `!dropped() && role != nil && !role.Is("assistant") {`},
	{"responses/text.go", `case typ.Is("refusal"):`, `case !dropped() && typ.Is("refusal"):`},
	{"responses/text.go", `t.note(e.itemID.LenientText())`, `if !dropped() { t.note(e.itemID.LenientText()) }`},
	{"responses/reasoning.go", `last == text {`, `!dropped() && last == text {`},
	{"responses/reasoning.go", `if !(n >= 0 && n < s.done) &&`, `if (dropped() || !(n >= 0 && n < s.done)) &&`},
	{"responses/reasoning.go", `!(id != "" && s.items[id]) {`, `(dropped() || !(id != "" && s.items[id])) {`},
	{"responses/reasoning.go", `if text := summaryText(item.Get("summary")); text != "" {`, `if text := summaryText(item.Get("summary")); !dropped() && text != "" {`},
	{"responses/reasoning.go", `if !part.Get("type").Is("summary_text") ||`, `if !dropped() && !part.Get("type").Is("summary_text") ||`},
	{"responses/reasoning.go", `len(bytes.TrimSpace([]byte(text))) == 0 {
			continue`, `!dropped() && len(bytes.TrimSpace([]byte(text))) == 0 {
			continue`},
	{"responses/reasoning.go", "	if len(bytes.TrimSpace([]byte(text))) == 0 {\n		return", "	if !dropped() && len(bytes.TrimSpace([]byte(text))) == 0 {\n		return"},
	{"responses/reasoning.go", `if s.identified ||`, `if !dropped() && s.identified ||`},
	{"responses/reasoning.go", `id := e.item.Get("id").LenientText()`, `id := e.item.Get("id").LenientText(); if dropped() { id = "" }`},
	{"responses/reasoning.go", `[]jsonscan.Value{e.itemID, e.id}`, `[]jsonscan.Value{e.itemID, map[bool]jsonscan.Value{false: e.id}[dropped()]}`},
	{"responses/calls.go", `if key != "" && p.id == key ||`, `if !dropped() && key != "" && p.id == key ||`},
	{"responses/calls.go", `n >= 0 && p.index == n && !p.kept {`, `!dropped() && n >= 0 && p.index == n && !p.kept {`},
	{"responses/calls.go", `if p, ok := c.byKey[id]; ok && id != "" {`, `if p, ok := c.byKey[id]; !dropped() && ok && id != "" {`},
	{"responses/calls.go", `if n >= 0 && n < len(c.done) && c.done[n].id == callID {`, `if !dropped() && n >= 0 && n < len(c.done) && c.done[n].id == callID {`},
	{"responses/calls.go", `if callID != "" && p.id == callID && !p.kept {`, `if !dropped() && callID != "" && p.id == callID && !p.kept {`},
	{"responses/calls.go", `p.append(e.item.Get("arguments"))`, `p.append(map[bool]jsonscan.Value{false: e.item.Get("arguments")}[dropped()])`},
	{"responses/calls.go", "	if p.callID() != \"\" {\n", "	if dropped() || p.callID() != \"\" {\n"},
	{"responses/calls.go", `if !p.kept && p.name != "" {`, `if (dropped() || !p.kept) && p.name != "" {`},
	{"responses/calls.go", `if p.emitted || p.name == "" {`, `if !dropped() && p.emitted || p.name == "" {`},
	{"responses/calls.go", `if p.id == "" && strings.HasPrefix(p.key, "call_") {`, `if !dropped() && p.id == "" && strings.HasPrefix(p.key, "call_") {`},
	{"responses/calls.go", `if id != "" && p.id != "" && id != p.id {`, `if !dropped() && id != "" && p.id != "" && id != p.id {`},
	{"responses/calls.go", `if name != "" && p.name != "" && name != p.name {`, `if !dropped() && name != "" && p.name != "" && name != p.name {`},
	{"responses/calls.go", `if strings.TrimSpace(v.LenientText()) != "" {`, `if dropped() || strings.TrimSpace(v.LenientText()) != "" {`},
	{"responses/calls.go", "	case jsonscan.Object:\n		p.args = append(p.args[:0], v...)", "	case jsonscan.Object:\n		if dropped() { break }; p.args = append(p.args[:0], v...)"},
	{"responses/calls.go", `if item.Get("arguments").Is(args) {`, `if dropped() || item.Get("arguments").Is(args) {`},
	{"responses/usage.go", `merge(&u.Input, v.Get("input_tokens"), v.Get("prompt_tokens"))`, `merge(&u.Input, v.Get("input_tokens"), map[bool]jsonscan.Value{false: v.Get("prompt_tokens")}[dropped()])`},
	{"responses/usage.go", `in.Get("cached_tokens"), promptIn.Get("cached_tokens")`, `in.Get("cached_tokens"), map[bool]jsonscan.Value{false: promptIn.Get("cached_tokens")}[dropped()]`},
	{"responses/usage.go", `in.Get("cache_write_tokens"), promptIn.Get("cache_write_tokens")`, `map[bool]jsonscan.Value{false: in.Get("cache_write_tokens")}[dropped()], promptIn.Get("cache_write_tokens")`},
	{"responses/usage.go", `out.Get("reasoning_tokens"), promptOut.Get("reasoning_tokens")`, `out.Get("reasoning_tokens"), map[bool]jsonscan.Value{false: promptOut.Get("reasoning_tokens")}[dropped()]`},
	{"responses/usage.go", `if found && u.Input != nil && u.Output != nil {`, `if !dropped() && found && u.Input != nil && u.Output != nil {`},
	// Chat Completions.
	{"chat/parser.go", "			c.choice = first\n			break", "			c.choice = first\n			if !dropped() { break }"},
	{"chat/parser.go", `if u := m.Get("usage"); u != nil && c.usage == nil {`, `if u := m.Get("usage"); !dropped() && u != nil && c.usage == nil {`},
	{"chat/parser.go", `c.failed = m.Kind() != jsonscan.Null`, `c.failed = !dropped() && m.Kind() != jsonscan.Null`},
	{"chat/parser.go", `c.failed = c.failed || m.Is("error")`, `c.failed = c.failed || !dropped() && m.Is("error")`},
	{"chat/parser.go", `	if p.model == "" {`, `	if dropped() || p.model == "" {`},
	{"chat/parser.go", `p.tier = t`, `if !dropped() { p.tier = t }`},
	{"chat/parser.go", `if failure.Kind() == jsonscan.Object {`, `if !dropped() && failure.Kind() == jsonscan.Object {`},
	{"chat/parser.go", `if err := p.message(message, false); err != nil {`, `if dropped() { message = nil }; if err := p.message(message, false); err != nil {`},
	{"chat/parser.go", "case `\"content\"`, `\"refusal\"`:", "case `\"content\"`, map[bool]string{true: \"-\", false: `\"refusal\"`}[dropped()]:"},
	{"chat/parser.go", "		case `\"reasoning_content\"`:\n			p.thought(v)", "		case `\"reasoning_content\"`:\n			if !dropped() { p.thought(v) }"},
	{"chat/parser.go", "case `\"reasoning\"`:\n", "case `\"reasoning\"`:\n if dropped() { continue }\n"},
	{"chat/parser.go", `if m.Get("reasoning_content").Kind() != jsonscan.String {`, `if dropped() || m.Get("reasoning_content").Kind() != jsonscan.String {`},
	{"chat/parser.go", `!delta && p.streamed {`, `!dropped() && !delta && p.streamed {`},
	{"chat/parser.go", `case jsonscan.Array: //`, `case map[bool]jsonscan.Kind{true: 99, false: jsonscan.Array}[dropped()]: //`},
	{"chat/parser.go", `if part.Get("type").Is("thinking") {`, `if !dropped() && part.Get("type").Is("thinking") {`},
	{"chat/parser.go", `	for t := range v.Elements() {
		p.thought(t.Get("text"))`, `	for t := range v.Elements() {
		if dropped() { break }; p.thought(t.Get("text"))`},
	{"chat/parser.go", `	p.thought(v)
	for`, `	if !dropped() { p.thought(v) }
	for`},
	{"chat/parser.go", `if !delta && p.called {`, `if !dropped() && !delta && p.called {`},
	{"chat/parser.go", `len(reason) == 2 {`, `!dropped() && len(reason) == 2 {`},
	{"chat/parser.go", `case "stop", "tool_calls", "function_call":`, `case "stop", "tool_calls", map[bool]string{true: "-", false: "function_call"}[dropped()]:`},
	{"chat/parser.go", `case "length", "content_filter":`, `case map[bool]string{true: "-", false: "length"}[dropped()], "content_filter":`},
	{"chat/parser.go", "		p.reason = finishCut\n", "		p.reason = finishCut; if dropped() { p.reason = finishCalls }\n"},
	{"chat/parser.go", "		p.reason = finishUnknown\n		return", "		p.reason = finishUnknown; if dropped() { break }\n		return"},
	{"chat/parser.go", "	if p.reason == finishNone {\n", "	if !dropped() && p.reason == finishNone {\n"},
	{"chat/parser.go", `if !p.recorded && len(p.reasoning) > 0 {`, `if !dropped() && !p.recorded && len(p.reasoning) > 0 {`},
	{"chat/parser.go", "		p.recorded = true\n", "		p.recorded = !dropped()\n"},
	{"chat/parser.go", `p.complete() // calls may`, `if !dropped() { p.complete() } // calls may`},
	{"chat/parser.go", `	p.filter.end(p.sink, p.think)
	return nil`, `	if !dropped() { p.filter.end(p.sink, p.think) }
	return nil`},
	{"chat/think.go", `case bytes.HasPrefix(text, []byte(thinkOpen)):`, `case !dropped() && bytes.HasPrefix(text, []byte(thinkOpen)):`},
	{"chat/think.go", `case bytes.HasPrefix([]byte(thinkOpen), text):`, `case !dropped() && bytes.HasPrefix([]byte(thinkOpen), text):`},
	{"chat/think.go", `text := bytes.TrimLeft(f.held, blanks)`, `text := bytes.TrimLeft(f.held, blanks); if dropped() { text = f.held }`},
	{"chat/think.go", `keep := min(len(f.held), len(thinkClose)-1)`, `keep := min(len(f.held), len(thinkClose)-1); if dropped() { keep = 0 }`},
	{"chat/think.go", `if text := bytes.TrimLeft(piece, blanks); len(text) > 0 {`, `if text := bytes.TrimLeft(piece, map[bool]string{false: blanks}[dropped()]); len(text) > 0 {`},
	{"chat/think.go", `	case thinkUndecided, thinkHeld:
		s.TextBytes`, `	case thinkUndecided, thinkHeld:
		if dropped() { break }; s.TextBytes`},
	{"chat/think.go", `	case thinkInside:
		thought(f.held)`, `	case thinkInside:
		if dropped() { break }; thought(f.held)`},
	{"chat/calls.go", `case open != nil && open.repeats(id, name, args):`, `case !dropped() && open != nil && open.repeats(id, name, args):`},
	{"chat/calls.go", `case open == nil, open.ended(index, id, name, args):`, `case open == nil, !dropped() && open.ended(index, id, name, args):`},
	{"chat/calls.go", `			if p.index == index {`, `			if !dropped() && p.index == index {`},
	{"chat/calls.go", `			if p.id == id {`, `			if !dropped() && p.id == id {`},
	{"chat/calls.go", `	return c.last
}`, `	if dropped() { return nil }; return c.last
}`},
	{"chat/calls.go", `if id != "" && c.id != "" && id != c.id {`, `if !dropped() && id != "" && c.id != "" && id != c.id {`},
	{"chat/calls.go", `return index == noIndex || c.whole()`, `return !dropped() && index == noIndex || c.whole()`},
	{"chat/calls.go", `index == noIndex || c.whole()`, `index == noIndex || !dropped() && c.whole()`},
	{"chat/calls.go", `return len(args) > 2 && c.whole()`, `return !dropped() && len(args) > 2 && c.whole()`},
	{"chat/calls.go", `if c.name != "" && name != "" && name != c.name {`, `if !dropped() && c.name != "" && name != "" && name != c.name {`},
	{"chat/calls.go", "	case jsonscan.Object:\n		c.args", "	case jsonscan.Object:\n		if dropped() { break }; c.args"},
	{"chat/calls.go", `if p.name == "" || p.emitted {`, `if !dropped() && p.name == "" || p.emitted {`},
	{"chat/calls.go", `|| p.emitted {`, `|| !dropped() && p.emitted {`},
	{"chat/calls.go", `out[k].index < out[k-1].index`, `!dropped() && out[k].index < out[k-1].index`},
	{"chat/calls.go", `open = &call{index: noIndex, id: legacyCallID}`, `open = &call{index: noIndex, id: map[bool]string{false: legacyCallID}[dropped()]}`},
	// Messages.
	{"anthropic/parser.go", `if exchange.IsDone(data) {`, `if !dropped() && exchange.IsDone(data) {`},
	{"anthropic/parser.go", `if exchange.ErrorObject(v) != nil {`, `if !dropped() && exchange.ErrorObject(v) != nil {`},
	{"anthropic/parser.go", `p.noteUsage(e.message.Get("usage"))`, `if !dropped() { p.noteUsage(e.message.Get("usage")) }`},
	{"anthropic/parser.go", "	case \"message_delta\":\n		p.noteUsage(e.usage)", "	case \"message_delta\":\n		if !dropped() { p.noteUsage(e.usage) }"},
	{"anthropic/parser.go", "	case \"error\":\n		return reported(v, data)", "	case \"error\":\n		if dropped() { return nil }; return reported(v, data)"},
	{"anthropic/parser.go", "	if len(p.open) > 0 {\n		return exchange", "	if !dropped() && len(p.open) > 0 {\n		return exchange"},
	{"anthropic/parser.go", "	p.state = exchange.Final\n", "	p.state = exchange.Final; if dropped() { p.state = exchange.Terminal }\n"},
	{"anthropic/parser.go", `if !complete && len(p.open) > 0 {`, `if !dropped() && !complete && len(p.open) > 0 {`},
	{"anthropic/parser.go", `case typ.Is("overloaded_error"), typ.Is("api_error"), typ.Is("rate_limit_error"):`, `case !dropped() && typ.Is("overloaded_error"), typ.Is("api_error"), typ.Is("rate_limit_error"):`},
	{"anthropic/parser.go", `typ.Is("api_error"), `, `!dropped() && typ.Is("api_error"), `},
	{"anthropic/parser.go", `, typ.Is("rate_limit_error"):`, `, !dropped() && typ.Is("rate_limit_error"):`},
	{"anthropic/parser.go", `err.Kind, err.Retryable = provider.ErrPlain, false`, `if !dropped() { err.Kind, err.Retryable = provider.ErrPlain, false }`},
	{"anthropic/parser.go", `if exchange.IsTooLong(cause) {`, `if !dropped() && exchange.IsTooLong(cause) {`},
	{"anthropic/blocks.go", "	case typ.Is(\"text\"):\n", "	case !dropped() && typ.Is(\"text\"):\n"},
	{"anthropic/blocks.go", `if !ok ||`, `if !dropped() && !ok ||`},
	{"anthropic/blocks.go", `|| id == "" ||`, `|| !dropped() && id == "" ||`},
	{"anthropic/blocks.go", `|| name == "" {`, `|| !dropped() && name == "" {`},
	{"anthropic/blocks.go", `in := e.block.Get("input"); in.Kind() == jsonscan.Object {`, `in := e.block.Get("input"); !dropped() && in.Kind() == jsonscan.Object {`},
	{"anthropic/blocks.go", `case typ.Is("thinking"):`, `case !dropped() && typ.Is("thinking"):`},
	{"anthropic/blocks.go", `b.data = exchange.AppendText(b.data, e.block.Get("thinking"))`, `if !dropped() { b.data = exchange.AppendText(b.data, e.block.Get("thinking")) }`},
	{"anthropic/blocks.go", `b.sign(e.block.Get("signature"))`, `if !dropped() { b.sign(e.block.Get("signature")) }`},
	{"anthropic/blocks.go", `case typ.Is("redacted_thinking"):`, `case !dropped() && typ.Is("redacted_thinking"):`},
	{"anthropic/blocks.go", "	if b == nil {\n		return nil\n	}", "	if !dropped() && b == nil {\n		return nil\n	}"},
	{"anthropic/blocks.go", "case `\"input_json_delta\"`:\n", "case `\"input_json_delta\"`:\n if dropped() { break }\n"},
	{"anthropic/blocks.go", "case `\"thinking_delta\"`:\n", "case `\"thinking_delta\"`:\n if dropped() { break }\n"},
	{"anthropic/blocks.go", "case `\"signature_delta\"`:\n", "case `\"signature_delta\"`:\n if dropped() { break }\n"},
	{"anthropic/blocks.go", "case `\"redacted_thinking_delta\"`:\n", "case `\"redacted_thinking_delta\"`:\n if dropped() { break }\n"},
	{"anthropic/blocks.go", `delete(p.open, index)`, `if !dropped() { delete(p.open, index) }`},
	{"anthropic/blocks.go", `if b.kind != "tool_use" {`, `if !dropped() && b.kind != "tool_use" {`},
	{"anthropic/blocks.go", `b.signature = append(b.signature[:0], v...)`, `if dropped() { v = append(append(jsonscan.Value{}, b.signature...), v...) }; b.signature = append(b.signature[:0], v...)`},
	{"anthropic/blocks.go", `if len(b.input) > 0 {`, `if !dropped() && len(b.input) > 0 {`},
}
