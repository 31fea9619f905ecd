package history_test

import (
	"encoding/json"
	"strings"
	"testing"

	"magicode/internal/jsonscan"
	"magicode/internal/redact"
	"magicode/internal/session"
	"magicode/internal/tool"
)

// accepted reports whether a session line with this payload would be read.
func accepted(payload []byte) bool {
	if !json.Valid(payload) {
		return false
	}
	_, err := jsonscan.Parse(payload, jsonscan.Options{})
	return err == nil
}

// naiveFold follows the words of storage.md 7.1 one by one, with the prior text
// as a string, every message kept, and encoding/json. It knows valid records
// only.
type naiveFold struct {
	list                          []shown
	current                       int
	prior                         string
	turnStart                     int
	hasOutput, terminal, tPartial bool
	calls                         map[string]string
	index                         map[string]int
	reasons                       map[string]int
}

func naive(t testing.TB, recs []session.Record) []shown {
	n := &naiveFold{}
	n.reset()
	for _, r := range recs {
		var p map[string]any
		if err := json.Unmarshal(r.Payload, &p); err != nil {
			t.Fatal(err)
		}
		n.apply(r.Kind, p)
	}
	n.endTurn()
	for i, m := range n.list {
		if m.Kind != "activity" {
			n.list[i].Text = redact.Display(m.Text)
		}
	}
	return n.list
}

func (n *naiveFold) reset() {
	n.current, n.prior, n.turnStart = -1, "", len(n.list)
	n.hasOutput, n.terminal, n.tPartial = false, false, false
	n.calls, n.index, n.reasons = map[string]string{}, map[string]int{}, map[string]int{}
}

func (n *naiveFold) boundary() {
	if n.current >= 0 {
		n.prior += n.list[n.current].Text
		n.current = -1
	}
}

func (n *naiveFold) add(kind, text string, partial bool) int {
	if kind != "activity" {
		text = redact.Strip(text)
	}
	n.list = append(n.list, shown{kind, text, partial})
	return len(n.list) - 1
}

func (n *naiveFold) assistant(text string, replace bool) {
	switch text = redact.Strip(text); {
	case text == "":
	case n.current < 0:
		n.current = n.add("assistant", text, true)
	case replace:
		n.list[n.current].Text = text
	default:
		n.list[n.current].Text += text
	}
}

func (n *naiveFold) has(kinds ...string) bool {
	for _, m := range n.list[n.turnStart:] {
		for _, k := range kinds {
			if m.Kind == k {
				return true
			}
		}
	}
	return false
}

func (n *naiveFold) setPartial(v bool) {
	for i := n.turnStart; i < len(n.list); i++ {
		if n.list[i].Kind == "assistant" {
			n.list[i].Partial = v
		}
	}
}

func (n *naiveFold) endTurn() {
	if !n.terminal && (len(n.calls) > 0 || !n.hasOutput && n.has("user", "assistant")) {
		n.tPartial = true
		n.add("diagnostic", interrupt, true)
	}
	if (n.terminal || n.hasOutput) && !n.tPartial {
		n.setPartial(false)
	}
	n.reset()
}

func (n *naiveFold) apply(kind session.Kind, p map[string]any) {
	str := func(key string) string { s, _ := p[key].(string); return s }
	switch kind {
	case session.KindUserInput:
		if p["auto_recovery"] == true {
			n.boundary()
			return
		}
		n.endTurn()
		if str("origin") != "provider_only" {
			n.add("user", str("text"), false)
		}
	case session.KindCompaction:
		n.endTurn()
		n.add("compaction", str("summary"), false)
	case session.KindAssistantChunk:
		n.assistant(str("text"), false)
	case session.KindAssistantOutput:
		now := ""
		if n.current >= 0 {
			now = n.list[n.current].Text
		}
		text := now
		if s, ok := p["text"]; ok {
			text = redact.Strip(s.(string))
		}
		if n.prior != "" && strings.HasPrefix(text, n.prior) && strings.HasPrefix(text[len(n.prior):], now) {
			text = text[len(n.prior):]
		}
		n.assistant(text, true)
		n.hasOutput, n.prior = true, ""
	case session.KindReasoningSummary:
		if p["provider_summary"] != true {
			return
		}
		n.boundary()
		key := str("turn_id") + "\x00" + str("item_id")
		at, known := n.reasons[key]
		switch _, identified := p["item_id"].(string); {
		case identified && known:
			n.list[at].Text = redact.Strip(str("text"))
		case identified:
			n.reasons[key] = n.add("reasoning_summary", str("text"), false)
		default:
			n.add("reasoning_summary", str("text"), false)
		}
	case session.KindToolCall:
		n.boundary()
		args, _ := json.Marshal(p["arguments"])
		l := redact.Display(tool.Label(str("name"), args))
		n.calls[str("id")] = l
		n.index[str("id")] = n.add("activity", l+": started", true)
	case session.KindToolResult:
		n.result(str("call_id"), p["result"].(map[string]any))
	case session.KindTurnStatus:
		n.status(str("status"), str("assistant_text"), str("error_summary"))
	case session.KindDiagnostic:
		n.boundary()
		n.add("diagnostic", str("message"), false)
	case session.KindCodeModeWarning:
		n.boundary()
		n.add("diagnostic", str("warning"), false)
	}
}

func (n *naiveFold) result(id string, r map[string]any) {
	n.boundary()
	l, open := n.calls[id]
	if !open {
		l = redact.Display(tool.Label(r["tool_name"].(string), nil))
	}
	delete(n.calls, id)
	l += map[any]string{true: ": completed", false: ": failed"}[r["success"]]
	if at, known := n.index[id]; known {
		n.list[at] = shown{"activity", l, false}
	} else {
		n.add("activity", l, false)
	}
}

func (n *naiveFold) status(status, text, summary string) {
	n.tPartial = status != "complete"
	if !n.has("assistant") {
		n.assistant(text, false)
	}
	n.setPartial(n.tPartial)
	if n.tPartial {
		n.add("diagnostic", "Turn "+strings.ToUpper(status[:1])+status[1:], true)
		if strings.TrimSpace(summary) != "" {
			n.add("diagnostic", summary, true)
		}
	}
	n.terminal = true
	clear(n.calls)
}
