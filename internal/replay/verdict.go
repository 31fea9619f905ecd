package replay

import (
	"magicode/internal/jsonscan"
	"magicode/internal/protect/injection"
	"magicode/internal/provider"
)

// judged is what the model is shown of a result: a verdict that is enforced
// decides, and then long text is shortened (storage.md 6.6): see shorten for limit.
func judged(v injection.Recorded, tool, content, evidence string, limit int) string {
	return v.Project(content, evidence, func(text string) string { return shorten(tool, text, limit) })
}

// evidenceOf is what the host knows of a script beside its result.
func evidenceOf(metadata jsonscan.Value) string { return string(metadata.Get("code_mode_execution")) }

// awaiting is a result whose verdict is a record of its own.
type awaiting struct {
	item    int // in turn.items
	at      int // of the result's record
	callID  string
	id      string // result_id; "" pairs with the very next record only
	content string
	host    string // evidence of the host
}

// await notes a result whose assessment is pending.
func (t *turn) await(at int, callID string, v injection.Recorded, content, evidence string) {
	if v.Pending() {
		t.awaiting = append(t.awaiting, awaiting{len(t.items) - 1, at, callID, v.ResultID(), content, evidence})
	}
}

// assess applies the first verdict that belongs to a pending result.
func (t *turn) assess(at int, p jsonscan.Value) {
	v := injection.RecordedIn(p)
	id, call := v.ResultID(), p.Get("call_id").LenientText()
	for i, w := range t.awaiting {
		if w.callID != call || w.id != id || !v.Enforced() || id == "" && at != w.at+1 {
			continue
		}
		item := &t.items[w.item].item
		item.Text, item.Cache = judged(v, item.Name, w.content, w.host, t.outputs), new(provider.Cache)
		t.awaiting = append(t.awaiting[:i:i], t.awaiting[i+1:]...)
		return
	}
}
