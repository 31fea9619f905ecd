package runner

import (
	"context"
	"hash/maphash"

	"magicode/internal/script"
	"magicode/internal/session"
	"magicode/internal/tool"
)

// Loops that go nowhere (decision 24): after hintRepeats the model is told,
// after maxRepeats the run fails.
const (
	hintRepeats = 5
	maxRepeats  = 20
)

// repeats counts how often the same call gave the same result in a row.
type repeats struct {
	seed  maphash.Seed
	last  uint64
	count int
}

func (p *repeats) add(name, arguments string, res tool.Result) int {
	if p.count == 0 {
		p.seed = maphash.MakeSeed()
	}
	var h maphash.Hash
	h.SetSeed(p.seed)
	content := res.Content
	if name == script.Name {
		content = script.Timeless(content)
	}
	for _, s := range []string{name, canonical(arguments), content} {
		h.WriteString(s)
		h.WriteByte(0)
	}
	if sum := h.Sum64(); p.count > 0 && sum == p.last {
		p.count++
	} else {
		p.last, p.count = sum, 1
	}
	return p.count
}

// watchRepeats breaks a loop whose calls change nothing. A poll whose output
// changes is never touched.
func (r *run) watchRepeats(ctx context.Context, calls []adopted, results []tool.Result) error {
	for i, res := range results {
		switch n := r.repeats.add(calls[i].call.Name, calls[i].call.Arguments, res); {
		case n >= maxRepeats:
			_ = r.notice(ctx, "warning", "The run was ended: the model made the same call with the same result twenty times in a row.")
			return ErrNoProgress
		case n == hintRepeats:
			const hint = "The last five calls were identical and gave the identical result. Another repetition will not change it: try something else, or answer."
			r.rec.later(session.Event{Kind: session.KindProviderContextItem, Payload: map[string]any{"role": "user", "content": hint}})
			r.turn = append(r.turn, message("user", hint))
		}
	}
	return nil
}
