package factory

import (
	"strconv"
	"strings"

	"magicode/internal/provider"
)

// fastPurpose reports whether Fast applies (providers.md 16.3).
func fastPurpose(p provider.Purpose) bool {
	switch p {
	case provider.PurposeMain, provider.PurposeSubagent, provider.PurposeCompaction:
		return true
	}
	return false
}

const ultrafastTier = "ultrafast"

// codexTier is the service tier to ask for, or "".
func (f *Factory) codexTier(model string, p provider.Purpose) string {
	c := &f.config
	if !fastPurpose(p) || !c.Fast {
		return ""
	}
	var tiers []Tier
	if c.Tiers != nil {
		tiers = c.Tiers("openai-codex", model)
	}
	for _, t := range tiers {
		if c.Ultrafast && t.ID == ultrafastTier || !c.Ultrafast && strings.EqualFold(t.Name, "fast") {
			return t.ID
		}
	}
	if !c.Ultrafast && fastByName(model) {
		return "priority"
	}
	return ""
}

// fastByName reports gpt models from 5.4 on.
func fastByName(model string) bool {
	rest, ok := strings.CutPrefix(model, "gpt-")
	if !ok {
		return false
	}
	rest, _, _ = strings.Cut(rest, "-")
	whole, part, _ := strings.Cut(rest, ".")
	major, err := strconv.ParseUint(whole, 10, 16)
	if err != nil {
		return false
	}
	minor, err := strconv.ParseUint(part, 10, 16)
	if err != nil {
		minor = 0
	}
	return major > 5 || major == 5 && minor >= 4
}
