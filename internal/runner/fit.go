package runner

import (
	"fmt"
	"sort"
	"unicode/utf8"

	"magicode/internal/provider"
	"magicode/internal/redact"
)

// Fitting a compaction request (docs/decisions/0003-compaction-that-fits.md).
//
// A conversation can be larger than the model that has to summarise it: results
// came in after the last check, or the model is a smaller one now. Without a way
// out such a session could never be used again, so what the summary needs least
// is shortened first, and the oldest of the conversation goes last.

// fitSteps bounds the bytes of a result (and of a call's arguments), and those
// of a message; 0: no bound. The later, the more is lost.
var fitSteps = [...]struct{ result, message int }{{0, 0}, {6000, 0}, {2000, 0}, {500, 0}, {500, 6000}, {500, 500}}

// fromStep is the first step that may also drop the oldest of the conversation.
const fromStep = 4

// fit returns conversation shortened so far that, between head and tail, it
// counts at most limit tokens; false when even the shortest does not.
func fit(head, conversation, tail []provider.Item, limit int, count func([]provider.Item) int) ([]provider.Item, bool) {
	whole := func(middle []provider.Item) []provider.Item {
		out := make([]provider.Item, 0, len(head)+len(middle)+len(tail))
		return append(append(append(out, head...), middle...), tail...)
	}
	for i, step := range fitSteps {
		short := conversation
		if step.result > 0 {
			short = shortened(conversation, step.result, step.message)
		}
		if all := whole(short); count(all) <= limit {
			return all, true
		}
		if i < fromStep {
			continue
		}
		cuts := cutPoints(short)
		n := sort.Search(len(cuts), func(n int) bool { return count(whole(short[cuts[n]:]))+count(cutNote) <= limit })
		if n < len(cuts) {
			return whole(append(cutNote[:1:1], short[cuts[n]:]...)), true
		}
	}
	return nil, false
}

// cutNote stands in the place of what was dropped; some wires want a
// conversation to begin with the user.
var cutNote = []provider.Item{{Kind: provider.ItemMessage, Role: "user", Text: "[The beginning of the conversation is left out here: it is too long.]"}}

// shortened copies items with shorter texts. A provider's own items go: they
// cannot be shortened, and only help a model to go on.
func shortened(items []provider.Item, result, text int) []provider.Item {
	out := make([]provider.Item, 0, len(items))
	for _, it := range items {
		long := false
		switch it.Kind {
		case provider.ItemResponse:
			continue
		case provider.ItemCall:
			if long = len(it.Arguments) > result; long {
				it.Arguments = fmt.Sprintf(`{"left_out_bytes":%d}`, len(it.Arguments))
			}
		case provider.ItemResult:
			it.Text, long = middleOut(it.Text, result)
		default:
			it.Text, long = middleOut(it.Text, text)
		}
		if long {
			it.Cache = nil // it holds the long form
		}
		out = append(out, it)
	}
	return out
}

// middleOut keeps about limit bytes of s, two thirds of them from its beginning.
func middleOut(s string, limit int) (string, bool) {
	if limit <= 0 || len(s) <= limit {
		return s, false
	}
	head := redact.Cut(s, limit*2/3)
	from := len(s) - (limit - len(head))
	for from < len(s) && !utf8.RuneStart(s[from]) {
		from++
	}
	return fmt.Sprintf("%s\n[%d bytes left out]\n%s", head, from-len(head), s[from:]), true
}

// cutPoints are the places, ascending, where a conversation can begin: none
// parts a call from its result. The end is not among them.
func cutPoints(items []provider.Item) []int {
	result := make(map[string]int) // call id → its next result, walking backwards
	answered := make([]int, len(items))
	for i := len(items) - 1; i >= 0; i-- {
		switch it := items[i]; it.Kind {
		case provider.ItemResult:
			result[it.CallID] = i
		case provider.ItemCall:
			answered[i] = result[it.CallID]
			delete(result, it.CallID)
		}
	}
	var cuts []int
	open := 0
	for i := range items {
		if i > open || i == 0 {
			cuts = append(cuts, i)
		}
		open = max(open, answered[i])
	}
	return cuts
}
