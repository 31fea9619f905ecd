package responses

import (
	"math"

	"magicode/internal/jsonscan"
	"magicode/internal/provider"
)

// MergeUsage reads a usage object of either OpenAI wire into u: a counter that
// is present overwrites, an absent one leaves the old (providers.md 17). It
// reports whether the object held any.
func MergeUsage(u *provider.Usage, v jsonscan.Value) bool {
	if v.Kind() != jsonscan.Object {
		return false
	}
	in, out := v.Get("input_tokens_details"), v.Get("output_tokens_details")
	promptIn, promptOut := v.Get("prompt_tokens_details"), v.Get("completion_tokens_details")
	found := merge(&u.Input, v.Get("input_tokens"), v.Get("prompt_tokens"))
	found = merge(&u.Output, v.Get("output_tokens"), v.Get("completion_tokens")) || found
	found = merge(&u.CacheRead, in.Get("cached_tokens"), promptIn.Get("cached_tokens")) || found
	found = merge(&u.CacheWrite, v.Get("cache_write_tokens"), in.Get("cache_write_tokens"), promptIn.Get("cache_write_tokens")) || found
	found = merge(&u.Reasoning, out.Get("reasoning_tokens"), promptOut.Get("reasoning_tokens")) || found
	if merge(&u.Total, v.Get("total_tokens")) {
		return true
	}
	if found && u.Input != nil && u.Output != nil {
		total := *u.Input + *u.Output
		u.Total = &total
	}
	return found
}

// merge sets dst from the first value that is a count.
func merge(dst **int64, values ...jsonscan.Value) bool {
	for _, v := range values {
		if n, ok := v.Uint64(); ok && n <= math.MaxInt64/4 {
			count := int64(n)
			*dst = &count
			return true
		}
	}
	return false
}
