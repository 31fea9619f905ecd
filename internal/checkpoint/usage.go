package checkpoint

import (
	"encoding/json"
	"slices"
	"strconv"
	"strings"

	"magicode/internal/jsonscan"
)

// usage sums token counts. A record replaces earlier ones of its id unless its
// sequence is lower, or equal after a final one (storage.md 6.4).
type usage struct {
	records map[string]usageRecord
	order   []string

	input, output, cacheRead, unknownCache uint64 // of checkpoints before
	recorded, incomplete                   bool
}

type usageRecord struct {
	raw                      json.RawMessage
	sequence                 uint64
	final, cacheKnown        bool
	input, output, cacheRead uint64
}

func (u *usage) record(p jsonscan.Value) {
	id, ok := p.Get("id").Text()
	if !ok {
		return
	}
	r := usageRecord{raw: slices.Clone(json.RawMessage(p))}
	r.sequence, _ = p.Get("request_sequence").Uint64()
	r.final, _ = p.Get("final_usage").Bool()
	v := p.Get("usage")
	r.input, _ = v.Get("effective_input").Uint64()
	r.output, _ = v.Get("output").Uint64()
	r.cacheRead, _ = v.Get("cache_read").Uint64()
	r.cacheKnown, _ = v.Get("cache_known").Bool()
	u.recorded = true
	old, known := u.records[id]
	switch {
	case !known:
		if u.records == nil {
			u.records = make(map[string]usageRecord)
		}
		u.order = append(u.order, id)
	case r.sequence < old.sequence, r.sequence == old.sequence && old.final && !r.final:
		return
	case r.sequence > old.sequence && !old.final:
		u.incomplete = true
	}
	u.records[id] = r
}

// earlier starts from the sums of a checkpoint.
func (u *usage) earlier(v jsonscan.Value) {
	number := func(key string) uint64 {
		n, err := strconv.ParseUint(v.Get(key).LenientText(), 10, 64)
		if err != nil {
			u.incomplete = true
		}
		return n
	}
	u.records, u.order = nil, nil
	u.recorded, _ = v.Get("recorded").Bool()
	incomplete, _ := v.Get("incomplete").Bool()
	u.incomplete = incomplete || v.Kind() != jsonscan.Object
	u.input, u.output, u.cacheRead = number("input"), number("output"), number("cache_read")
	u.unknownCache, _ = v.Get("unknown_cache").Uint64()
	for _, rec := range v.Get("records").Members() {
		u.record(rec)
	}
}

// payload sums everything but the records of the run in progress.
func (u *usage) payload(runID string) map[string]any {
	input, output, cacheRead, unknown, incomplete := u.input, u.output, u.cacheRead, u.unknownCache, u.incomplete
	kept := map[string]json.RawMessage{}
	for _, id := range u.order {
		r := u.records[id]
		if strings.HasPrefix(id, "session-usage/"+runID+"/") {
			kept[id] = r.raw
			continue
		}
		input, output, cacheRead = input+r.input, output+r.output, cacheRead+r.cacheRead
		if !r.cacheKnown {
			unknown++
		}
		incomplete = incomplete || !r.final
	}
	return map[string]any{
		"records": kept, "input": decimal(input), "output": decimal(output), "cache_read": decimal(cacheRead),
		"unknown_cache": unknown, "recorded": u.recorded, "incomplete": incomplete,
	}
}

func decimal(n uint64) string { return strconv.FormatUint(n, 10) }
