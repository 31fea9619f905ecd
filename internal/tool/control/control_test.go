package control

import (
	"strings"
	"testing"

	"magicode/internal/tool"
)

func TestRun(t *testing.T) {
	known := tool.Env{ContextUsage: func() (int, int, bool) { return 1999, 10000, true }}
	for _, c := range []struct {
		name, args string
		env        tool.Env
		off        bool
		ok         bool
		holds      string
	}{
		{"compact", `{"action":"compact"}`, tool.Env{}, false, true, "compacted"},
		{"with context and intent", `{"action":"compact","context":"keep the plan","intent":"x"}`, tool.Env{}, false, true, "compacted"},
		{"switched off", `{"action":"compact"}`, tool.Env{}, true, false, "switched off"},
		{"blank context", `{"action":"compact","context":"  "}`, tool.Env{}, false, false, "12000"},
		{"long context", `{"action":"compact","context":"` + strings.Repeat("x", maxContextChars+1) + `"}`, tool.Env{}, false, false, "12000"},
		{"usage", `{"action":"context_usage"}`, known, false, true, "context window: 19% used (1999/10000) tokens"},
		{"usage with context", `{"action":"context_usage","context":"x"}`, known, false, false, "belongs to"},
		{"usage unknown", `{"action":"context_usage"}`, tool.Env{}, false, false, "no usage"},
		{"other action", `{"action":"explode"}`, tool.Env{}, false, false, "must be"},
		{"no action", `{}`, tool.Env{}, false, false, "action"},
		{"unknown field", `{"action":"compact","more":1}`, tool.Env{}, false, false, "more"},
	} {
		t.Run(c.name, func(t *testing.T) {
			res := New(!c.off).Run(t.Context(), c.env, []byte(c.args))
			if res.Success != c.ok || !strings.Contains(res.Content, c.holds) {
				t.Errorf("%+v", res)
			}
			if got := res.Metadata["action"] == "compact"; got != (c.ok && strings.Contains(c.args, "compact")) {
				t.Errorf("metadata %v", res.Metadata)
			}
		})
	}
}
