package read

import (
	"strings"

	"magicode/internal/tool"
)

// Reasons why an entry is not complete.
const (
	callLimit = "byte limit of the call reached"
	lineLimit = "line limit reached"
)

// displayed tells of an entry that was read.
func displayed(r *resource, s shown) tool.Resource {
	out := tool.Resource{Location: r.source, Outcome: "success", Completeness: "complete", Supplied: tool.LineCount(s.plain), Retained: tool.LineCount(s.body)}
	if !r.sel.raw {
		out.Supplied = 0
		if s.last > 0 {
			out.Supplied = s.last - s.first + 1
		}
	}
	if s.truncated {
		out.Completeness, out.Reason = "partial", lineLimit
		if s.capped {
			out.Reason = callLimit
		}
	}
	return out
}

// failure tells of an entry that could not be read.
func failure(path, why string) tool.Resource {
	why, _, _ = strings.Cut(why, "\n")
	return tool.Resource{Location: path, Outcome: "failure", Supplied: -1, Retained: -1, Completeness: "unavailable", Reason: why}
}

// display tells of the whole call. limited: something was left out; full: the
// byte limit of the call was reached.
func display(entries []tool.Resource, limited, full bool) *tool.ResourceDisplay {
	n := map[string]int{}
	for _, e := range entries {
		n[e.Outcome]++
	}
	complete := n["success"] == len(entries) && !limited
	state := "complete"
	switch {
	case n["success"] == 0:
		state = "failed"
	case !complete:
		state = "incomplete"
	}
	d := tool.Describe("read", limited, map[string]any{
		"Requested resources": len(entries), "Result state": state,
		"Succeeded resources": n["success"], "Failed resources": n["failure"], "Omitted resources": n["omitted"],
		"Read complete": complete, "Results limited": limited, "Aggregate read limited": full,
	})
	d.Resources = entries
	return d
}
