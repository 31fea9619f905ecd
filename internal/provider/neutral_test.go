package provider_test

import (
	"testing"

	"magicode/internal/provider"
)

func TestKeys(t *testing.T) {
	// Facts of the released program: SHA-256 of the text, 32 digits of it.
	if got := provider.ConversationID("abc"); got != "magi-code-session-ba7816bf8f01cfea414140de5dae2223" {
		t.Errorf("conversation id %s", got)
	}
	a, b := provider.SubagentCacheKey("p", "m", "worker"), provider.SubagentCacheKey("p", "m", "other")
	if a == b || a != provider.ConversationID("provider=p\nmodel=m\nidentity=worker") {
		t.Errorf("keys %s and %s", a, b)
	}
}

func TestCache(t *testing.T) {
	var none *provider.Cache
	none.Store("w", 1)
	if _, ok := none.Load("w"); ok {
		t.Error("a nil cache keeps something")
	}
	c := new(provider.Cache)
	if _, ok := c.Load("w"); ok {
		t.Error("an empty cache holds something")
	}
	c.Store("w", 1)
	if v, ok := c.Load("w"); !ok || v != 1 {
		t.Errorf("%v, %v", v, ok)
	}
	c.Store("x", 2)
	if _, ok := c.Load("w"); ok {
		t.Error("two wires are kept")
	}
}

func TestThinkingBudget(t *testing.T) {
	for _, c := range []struct {
		level            provider.Level
		max, budget, all int
	}{
		{provider.LevelDefault, 0, 0, 4096}, {provider.LevelDefault, 9000, 0, 9000}, {provider.LevelLow, 0, 0, 4096},
		{provider.LevelHigh, 0, 16384, 20480}, {provider.LevelMax, 0, 32768, 36864},
		{provider.LevelHigh, 64000, 16384, 64000}, {provider.LevelMax, 8192, 8191, 8192}, {provider.LevelHigh, 1, 0, 1},
	} {
		if budget, all := provider.ThinkingBudget(c.level, c.max); budget != c.budget || all != c.all {
			t.Errorf("%s, %d: %d, %d", c.level, c.max, budget, all)
		}
	}
}
