package replay

import (
	"crypto/sha256"
	"encoding/hex"

	"magicode/internal/jsonscan"
	"magicode/internal/protect/injection"
	"magicode/internal/provider"
)

// judged is what the model is shown of a result: a verdict that is enforced
// decides, and then long text is shortened (storage.md 6.6): see shorten for limit.
func judged(v jsonscan.Value, tool, content, evidence string, limit int) string {
	if enforced, _ := v.Get("enforced").Bool(); !enforced {
		return shorten(tool, content, limit)
	}
	action := injection.Action(v.Get("action").LenientText())
	if !action.Shown() || !covers(v, content) {
		return injection.Project(injection.Quarantine, "", evidence)
	}
	return injection.Project(action, shorten(tool, content, limit), evidence)
}

// evidenceOf is what the host knows of a script beside its result.
func evidenceOf(metadata jsonscan.Value) string { return string(metadata.Get("code_mode_execution")) }

// covers reports whether an assessment looked at the whole text that is stored.
func covers(v jsonscan.Value, content string) bool {
	size, sum := v.Get("original_bytes"), v.Get("sha256")
	if kept := v.Get("persisted_content"); kept.Kind() == jsonscan.Object {
		size, sum = kept.Get("bytes"), kept.Get("sha256")
	} else if n, ok := v.Get("assessed_bytes").Uint64(); !ok || n != uint64(len(content)) {
		return false
	}
	n, ok := size.Uint64()
	hash := sha256.Sum256([]byte(content))
	return ok && n == uint64(len(content)) && sum.Is(hex.EncodeToString(hash[:]))
}

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
func (t *turn) await(at int, callID string, v jsonscan.Value, content, evidence string) {
	enforced, _ := v.Get("enforced").Bool()
	if enforced && v.Get("action").Is("pending") {
		t.awaiting = append(t.awaiting, awaiting{len(t.items) - 1, at, callID, v.Get("result_id").LenientText(), content, evidence})
	}
}

// assess applies the first verdict that belongs to a pending result.
func (t *turn) assess(at int, p jsonscan.Value) {
	v := p.Get("prompt_injection_protection")
	id, call := v.Get("result_id").LenientText(), p.Get("call_id").LenientText()
	enforced, _ := v.Get("enforced").Bool()
	for i, w := range t.awaiting {
		if w.callID != call || w.id != id || !enforced || id == "" && at != w.at+1 {
			continue
		}
		item := &t.items[w.item].item
		item.Text, item.Cache = judged(v, item.Name, w.content, w.host, t.outputs), new(provider.Cache)
		t.awaiting = append(t.awaiting[:i:i], t.awaiting[i+1:]...)
		return
	}
}
