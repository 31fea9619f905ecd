package config

import (
	"slices"
	"strings"
)

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
	settleInjection(global, merged, lookup)
}

// settleInjection decides what the protection against injected instructions
// runs with. A project may add it, but neither weaken what the user has chosen
// nor have results sent away that the user does not send.
func settleInjection(global, merged *Settings, lookup Lookup) {
	own, out := global.Jev.Injection, &merged.Jev.Injection
	chosen := global.Jev.Enabled && own.Enabled
	out.Active = chosen || merged.Jev.Enabled && out.Enabled
	out.Remote = chosen && serviceKey(lookup)
	if !chosen {
		return
	}
	out.Enforcement = own.Enforcement || out.Enforcement
	out.Level = stricter(own.Level, out.Level)
	out.MaxAssessedBytes = min(own.MaxAssessedBytes, out.MaxAssessedBytes)
	if own.Policy == Quarantine {
		out.Policy = Quarantine
	}
	for _, t := range own.Tools {
		if !slices.Contains(out.Tools, t) {
			out.Tools = append(slices.Clip(out.Tools), t)
		}
	}
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
	return global.Jev.Enabled && global.Jev.BashProtection.Enabled && serviceKey(lookup)
}

// serviceKey reports whether the judgement service can be asked at all.
func serviceKey(lookup Lookup) bool {
	key, _ := lookup("TYPESAFE_API_KEY")
	return strings.TrimSpace(key) != ""
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
