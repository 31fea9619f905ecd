package replay

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"

	"magicode/internal/jsonscan"
	"magicode/internal/provider"
)

// recoveryNote tells the model what of a stopped turn is lost: calls without a
// recorded result, and what is known of a response that was cut off. It is empty
// when nothing was lost, and when arguments had only begun to arrive (they must
// not be repeated to the model).
func recoveryNote(t *turn, items []entry) string {
	if t.unsafeProgress {
		return ""
	}
	lost := unanswered(items)
	if len(lost) == 0 && !t.abort {
		return ""
	}
	var n strings.Builder
	n.WriteString("[The turn above ended early")
	if len(lost) > 0 {
		n.WriteString(". These calls were started and have no recorded result; they may have had effects:]\n" + strings.Join(lost, "\n"))
	} else {
		n.WriteString(", while the reply was being made; what it would have been is not known.]")
	}
	for _, fact := range t.facts {
		n.WriteString("\n[Recorded of the reply that was cut off:]\n" + cutRunes(fact, maxFieldChars))
	}
	return cutRunes(n.String(), maxNoteChars)
}

func unanswered(items []entry) []string {
	answered := make(map[string]bool)
	for _, e := range items {
		if e.item.Kind == provider.ItemResult {
			answered[e.item.CallID] = true
		}
	}
	var lost []string
	for _, e := range items {
		if e.item.Kind == provider.ItemCall && !answered[e.item.CallID] {
			lost = append(lost, fmt.Sprintf("- %s %s", e.item.Name, cutRunes(e.item.Arguments, maxFieldChars)))
		}
	}
	return lost
}

// maxNoteOutputChars bounds a tool's output in a note.
const maxNoteOutputChars = 3_000

// failureNote is all that is kept of a turn whose provider failed and which has
// no status: older files cannot say how far it came.
func failureNote(t *turn, items []entry) string {
	var n strings.Builder
	fmt.Fprintf(&n, "[A turn ended with a failure of the model's provider (%s). What is recorded of it:]", t.failure)
	oversized := t.chars > maxInterruptedChars
	for _, e := range items {
		switch {
		case e.item.Kind == provider.ItemMessage:
			fmt.Fprintf(&n, "\n%s: %s", e.item.Role, cutRunes(e.item.Text, maxFieldChars))
		case e.item.Kind == provider.ItemCall:
			fmt.Fprintf(&n, "\ncall of %s: %s", e.item.Name, cutRunes(e.item.Arguments, maxFieldChars))
		case e.item.Kind == provider.ItemResult && !oversized:
			fmt.Fprintf(&n, "\nresult of %s: %s", e.item.Name, cutRunes(e.item.Text, maxNoteOutputChars))
		}
	}
	return cutRunes(n.String(), maxNoteChars)
}

// failures are the categories of provider failures, by what the lower-cased
// payload of a diagnostic holds (storage.md 6.6).
var failures = []struct {
	category string
	signs    []string
}{
	{"request or response body", []string{"request or response body error", "request body", "response body", "failed to read provider error body"}},
	{"failed response", []string{"response.failed", "failed or incomplete response"}},
	{"incomplete response", []string{"response.incomplete", "incomplete response"}},
	{"no progress", []string{"provider stream no semantic progress before timeout", "provider stream idle timeout"}},
	{"stream ended", []string{"provider stream ended"}},
}

func failureCategory(payload []byte) string {
	lower := bytes.ToLower(payload)
	for _, f := range failures {
		for _, sign := range f.signs {
			if bytes.Contains(lower, []byte(sign)) {
				return f.category
			}
		}
	}
	return ""
}

// rewindNote tells the model that files were put back to an earlier state; ""
// for a record that does not say so.
func rewindNote(p jsonscan.Value) string {
	target, ok := p.Get("target_turn").Uint64()
	if !ok || p.Get("paths").Kind() != jsonscan.Array {
		return ""
	}
	var n strings.Builder
	fmt.Fprintf(&n, "[The user has put files back to their state before turn %d. Read them again before you rely on them.]", target)
	for path := range p.Get("paths").Elements() {
		fmt.Fprintf(&n, "\n- %s: %s", path.Get("path").LenientText(), path.Get("status").LenientText())
	}
	return cutRunes(n.String(), maxNoteChars)
}

// withoutEncrypted copies a provider's item without encrypted parts, which are
// bound to the response that they came from.
func withoutEncrypted(item jsonscan.Value) json.RawMessage {
	const name = "encrypted_content"
	if !bytes.Contains(item, []byte(name)) {
		return bytes.Clone(item)
	}
	var v any
	dec := json.NewDecoder(bytes.NewReader(item))
	dec.UseNumber() // numbers stay as they were written
	if dec.Decode(&v) != nil {
		return bytes.Clone(item)
	}
	out, err := json.Marshal(drop(v, name))
	if err != nil {
		return bytes.Clone(item)
	}
	return out
}

func drop(v any, name string) any {
	switch v := v.(type) {
	case map[string]any:
		delete(v, name)
		for k := range v {
			v[k] = drop(v[k], name)
		}
	case []any:
		for i := range v {
			v[i] = drop(v[i], name)
		}
	}
	return v
}
