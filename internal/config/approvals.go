package config

import "strings"

// settleApprovals decides what the assessor runs with (decision 5). global is
// the global file alone, merged the whole; without a project they are the same.
// The raw keys of merged are brought in line, so that no reader of them finds
// something looser.
func settleApprovals(global, merged *Settings, lookup Lookup) {
	out := Approvals{
		Level:         stricter(levelOf(global), levelOf(merged)),
		FailurePolicy: stricterPolicy(global.Jev.BashProtection.Policy, merged.Jev.BashProtection.Policy),
		Remote:        remote(global, lookup),
	}
	bash := &merged.Jev.BashProtection
	bash.Enabled = global.Jev.BashProtection.Enabled
	bash.Policy = out.FailurePolicy
	if bash.Enabled {
		bash.Level = out.Level
	} else {
		bash.Level = global.Jev.BashProtection.Level
	}
	merged.Capabilities.Approvals = out
}

// levelOf is the level that one view of the settings asks for.
func levelOf(s *Settings) Protection {
	if s.Jev.BashProtection.Enabled {
		return s.Jev.BashProtection.Level
	}
	return s.Capabilities.Approvals.Level
}

// remote: the judgement service sees the commands, so a project can neither
// switch it on nor off; without its key the local assessor stands in.
func remote(global *Settings, lookup Lookup) bool {
	key, _ := lookup("TYPESAFE_API_KEY")
	return global.Jev.Enabled && global.Jev.BashProtection.Enabled && strings.TrimSpace(key) != ""
}

func stricter(a, b Protection) Protection {
	if b.rank() > a.rank() {
		return b
	}
	return a
}

func stricterPolicy(a, b FailurePolicy) FailurePolicy {
	if b == AutoDeny {
		return b
	}
	return a
}
