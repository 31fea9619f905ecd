package runner

import (
	"strconv"

	"magicode/internal/provider"
	"magicode/internal/session"
)

func value(n *int64) int64 {
	if n == nil {
		return 0
	}
	return *n
}

// usageID names a request of a run in usage records.
func usageID(runID, stream string, sequence int) string {
	return "session-usage/" + runID + "/" + stream + "/" + strconv.Itoa(sequence)
}

// usageEvent records what one request cost, under an id of its own, so that no
// request of a run replaces the one before (decision 21).
func usageEvent(id string, sequence int, u provider.Usage, final bool) session.Event {
	return session.Event{Kind: session.KindSessionUsage, Payload: map[string]any{
		"id":               id,
		"request_sequence": sequence,
		"final_usage":      final,
		"usage": map[string]any{
			"effective_input": u.Effective(), "output": value(u.Output), "cache_read": value(u.CacheRead), "cache_known": u.CacheKnown(),
		}}}
}

func usagePayload(u provider.Usage) any {
	if u.Input == nil && u.Output == nil {
		return nil
	}
	total := value(u.Total)
	if u.Total == nil {
		total = value(u.Input) + value(u.Output)
	}
	out := map[string]any{"input": value(u.Input), "output": value(u.Output), "cache_read": value(u.CacheRead),
		"cache_write": value(u.CacheWrite), "total": total}
	if u.Reasoning != nil {
		out["reasoning_tokens"] = *u.Reasoning
	}
	return out
}
