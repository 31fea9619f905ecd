package config

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

func TestMerge(t *testing.T) {
	w := newWorld(t)
	w.global(`{"agent":{"model":{"provider":"fixture","model":"g","thinking_level":"high"},"subagents":{"disabled":["a","b"]}},
	"providers":{"custom":{"one":{"label":"One","base_url":"http://one"}}},"sessions":{"retention_days":7}}`)
	w.project(`{"agent":{"model":{"provider":null,"model":"p"},"subagents":{"disabled":["c"]}},
	"providers":{"custom":{"one":{"label":"Uno"},"two":{"label":"Two","base_url":"http://two"}}}}`)
	s := w.load().Settings
	if m := s.Agent.Model; m.Provider != nil || *m.Model != "p" || m.Level != LevelHigh {
		t.Errorf("model %+v", m)
	}
	if diff := cmp.Diff([]string{"c"}, s.Agent.Subagents.Disabled); diff != "" {
		t.Errorf("an array is replaced:\n%s", diff)
	}
	if s.Providers.Custom["one"].Label != "Uno" || s.Providers.Custom["one"].BaseURL != "http://one" || s.Providers.Custom["two"].Label != "Two" || s.Sessions.RetentionDays != 7 {
		t.Errorf("%+v", s.Providers.Custom)
	}
}

func TestProjectIsJudgedAfterTheMerge(t *testing.T) {
	for _, text := range []string{at("agent", "[]"), at("agent", "null"), at("providers", "null"), at("automation", "1"), at("schema_version", "3"), at("schema_version", "null"), at("interface/tui", "[]")} {
		w := newWorld(t)
		w.project(text)
		if e := w.refuse(); !strings.HasPrefix(e.File, workDir) {
			t.Errorf("%s: %+v", text, e)
		}
	}
}

// TestGlobalOnlyKeys: a project's value, good or bad, changes nothing.
func TestGlobalOnlyKeys(t *testing.T) {
	for _, c := range [][3]string{
		{"agent/fast/enabled", "true", "1"}, {"agent/fast/ultrafast", "true", "null"},
		{"interface/appearance/theme", `"dark"`, "1"}, {"interface/appearance/reduced_motion", "true", "[]"},
		{"interface/tui/panel_layout/open", `["summary"]`, "null"}, {"interface/tui/panel_layout/pinned", "true", "2"}, {"interface/tui/panel_layout/opened_by_pin", "true", "2"},
		{"capabilities/mcp_approvals", `{"/s":{"a":true}}`, "7"}, {"capabilities/project_settings", `"safe"`, `"x"`},
		{"providers/anthropic/base_url", `"https://evil.example"`, "1"}, {"providers/openai_codex/base_url", `"https://evil.example"`, "1"},
		{"telemetry", `{"enabled":true}`, "1"},
	} {
		for _, value := range c[1:] {
			w := newWorld(t)
			plain := w.load().Settings
			w.project(at(c[0], value))
			if diff := cmp.Diff(plain, w.load().Settings); diff != "" {
				t.Errorf("%s = %s of a project counts:\n%s", c[0], value, diff)
			}
			if c[0] == "telemetry" {
				continue
			}
			g := newWorld(t)
			g.global(at(c[0], c[1]))
			if cmp.Equal(plain, g.load().Settings) {
				t.Errorf("%s of the global file does not count", c[0])
			}
		}
	}
}

// TestDelimiterAttack: one key spelled with the delimiter never becomes a path,
// whatever it stands for (decision 26).
func TestDelimiterAttack(t *testing.T) {
	for _, path := range []string{
		"capabilities mcp_approvals", "capabilities mcp_approvals /srv/p/.mcp.json fx", "capabilities approvals level", "agent fast enabled",
		"providers anthropic base_url", "telemetry enabled", "agent model model", "sessions retention_days",
	} {
		parts := strings.Fields(path)
		for cut := 1; cut < len(parts); cut++ {
			// a/b␟c, a␟b/c, a␟b␟c: every way to glue the end.
			glued := append(append([]string{}, parts[:cut-1]...), strings.Join(parts[cut-1:], `\u001f`))
			w := newWorld(t)
			plain := w.load().Settings
			for _, value := range []string{`"x"`, "true", "-1", "[]", "{}", `{"enabled":true}`} {
				text := value
				for i := len(glued) - 1; i >= 0; i-- {
					text = `{"` + glued[i] + `":` + text + `}`
				}
				w.project(text)
				if diff := cmp.Diff(plain, w.load().Settings); diff != "" {
					t.Errorf("%s of a project counts:\n%s", text, diff)
				}
				g := newWorld(t)
				g.global(text)
				if diff := cmp.Diff(plain, g.load().Settings); diff != "" {
					t.Errorf("%s of the global file counts:\n%s", text, diff)
				}
			}
		}
	}
	w := newWorld(t)
	w.global(`{"automation":{"hooks":{"before_tool":[{"command":"true","timeout\u001fseconds":99}]}}}`)
	w.load() // inside arrays as well
}

func TestDottedNamesStayWhole(t *testing.T) {
	w := newWorld(t)
	w.global(`{"agent.model":{"model":"x"},"capabilities":{"mcp_approvals":{"/home/u/.mcp.json":{"a":true}}},"agent":{"context":{"model_overrides":{"a/b.c":{"max_tokens":1}}}}}`)
	w.project(`{"agent.model.model":"y"}`)
	s := w.load().Settings
	if s.Agent.Model.Model != nil || s.Capabilities.MCPApprovals["/home/u/.mcp.json"]["a"].Kind != ApprovalTrue || s.Agent.Context.Overrides["a/b.c"].MaxTokens == nil {
		t.Errorf("%+v", s)
	}
}

func TestEnvironment(t *testing.T) {
	for name, c := range map[string]struct {
		vars            map[string]string
		provider, model string
	}{
		"none":     {nil, "fixture", "m"},
		"provider": {map[string]string{"MC_PROVIDER": "anthropic"}, "anthropic", "m"},
		"model":    {map[string]string{"MC_MODEL": " x "}, "fixture", " x "},
		"empty":    {map[string]string{"MC_PROVIDER": "", "MC_MODEL": ""}, "", ""},
		"both":     {map[string]string{"MC_PROVIDER": "p", "MC_MODEL": "q"}, "p", "q"},
	} {
		t.Run(name, func(t *testing.T) {
			for _, project := range []bool{false, true} {
				w := newWorld(t)
				w.global(at("agent/model", `{"provider":"fixture","model":"m","thinking_level":"low"}`))
				if project {
					w.global("{}")
					w.project(at("agent/model", `{"provider":"fixture","model":"m","thinking_level":"low"}`))
				}
				for k, v := range c.vars {
					w.vars[k] = v
				}
				if m := w.load().Settings.Agent.Model; *m.Provider != c.provider || *m.Model != c.model || m.Level != LevelLow {
					t.Errorf("%+v", m)
				}
			}
		})
	}
	w := newWorld(t)
	w.vars["MC_PROVIDER"] = "claude-code"
	if e := w.refuse(); e.Key != "MC_PROVIDER" || e.File != "" {
		t.Errorf("%+v", e)
	}
	w = newWorld(t)
	w.vars["MC_MODEL"] = "m"
	w.global(at("agent/model/model", "5"))
	w.refuse() // the environment hides no wrong type
	w.global(at("agent", "[]"))
	w.refuse()
}

func TestSafeMode(t *testing.T) {
	project := `{"automation":{"hooks":{"enabled":true,"before_tool":[{"command":"evil"}]}},
	"capabilities":{"lsp":{"enabled":true,"servers":{"go":{"command":"evil"}}}},
	"providers":{"custom":{"fixture":{"api_key_env_var":"OTHER_KEY"},"evil":{"label":"E","base_url":"http://evil"}}},
	"agent":{"model":{"model":"p"}}}`
	global := `{"capabilities":{"project_settings":"MODE"},"providers":{"custom":{"fixture":{"label":"F","base_url":"http://x","api_key_env_var":"KEY"}}},
	"automation":{"hooks":{"before_tool":[{"command":"mine"}]}}}`
	load := func(mode string) *Loaded {
		w := newWorld(t)
		w.global(strings.Replace(global, "MODE", mode, 1))
		w.project(project)
		return w.load()
	}
	safe, full := load("safe"), load("full")
	if diff := cmp.Diff([]string{"automation.hooks", "capabilities.lsp", "providers.custom"}, safe.Ignored); diff != "" {
		t.Errorf("ignored (-want +got):\n%s", diff)
	}
	s := safe.Settings
	if s.Hooks.Enabled || s.Hooks.BeforeTool[0].Command != "mine" || len(s.Capabilities.LSP.Servers) != 0 || s.Capabilities.LSP.Enabled ||
		len(s.Providers.Custom) != 1 || s.Providers.Custom["fixture"].KeyVariable != "KEY" || *s.Agent.Model.Model != "p" {
		t.Errorf("safe: %+v", s)
	}
	f := full.Settings
	if full.Ignored != nil || !f.Hooks.Enabled || f.Hooks.BeforeTool[0].Command != "evil" || len(f.Capabilities.LSP.Servers) != 1 || f.Providers.Custom["fixture"].KeyVariable != "OTHER_KEY" {
		t.Errorf("full: %+v", f)
	}
}

// TestProjectsOnlyTighten: whatever a project says on whichever road, the
// outcome is never looser than the global file alone (decision 5).
func TestProjectsOnlyTighten(t *testing.T) {
	levels := func(q *rapid.T, name string, all []Protection) string {
		return `"` + string(rapid.SampledFrom(all).Draw(q, name)) + `"`
	}
	layer := func(q *rapid.T, who string) string {
		var parts []string
		if rapid.Bool().Draw(q, who+" says level") {
			parts = append(parts, `"capabilities":{"approvals":{"level":`+levels(q, who+" level", protections[:])+`}}`)
		}
		var bash []string
		if rapid.Bool().Draw(q, who+" says bash enabled") {
			bash = append(bash, `"enabled":`+rapid.SampledFrom([]string{"true", "false"}).Draw(q, who+" bash enabled"))
		}
		if rapid.Bool().Draw(q, who+" says bash level") {
			bash = append(bash, `"protection_level":`+levels(q, who+" bash level", protections[1:]))
		}
		if rapid.Bool().Draw(q, who+" says policy") {
			bash = append(bash, `"failure_policy":"`+rapid.SampledFrom([]string{"auto_approve", "auto_deny"}).Draw(q, who+" policy")+`"`)
		}
		jev := `"bash_protection":{` + strings.Join(bash, ",") + `}`
		if rapid.Bool().Draw(q, who+" says jev") {
			jev += `,"enabled":` + rapid.SampledFrom([]string{"true", "false"}).Draw(q, who+" jev")
		}
		parts = append(parts, `"internal_tooling":{"jev":{`+jev+`}}`)
		return "{" + strings.Join(parts, ",") + "}"
	}
	rapid.Check(t, func(q *rapid.T) {
		w := newWorld(t)
		if rapid.Bool().Draw(q, "key") {
			w.vars["TYPESAFE_API_KEY"] = "k"
		}
		w.global(layer(q, "global"))
		alone := w.load().Settings
		project := layer(q, "project")
		w.project(project)
		got := w.load().Settings
		a, b := alone.Capabilities.Approvals, got.Capabilities.Approvals
		if b.Level.rank() < a.Level.rank() || a.FailurePolicy == AutoDeny && b.FailurePolicy != AutoDeny || a.Remote != b.Remote {
			q.Fatalf("%s loosens %+v to %+v", project, a, b)
		}
		if raw := got.Jev.BashProtection; raw.Enabled && raw.Level.rank() < a.Level.rank() || raw.Policy != b.FailurePolicy || raw.Enabled != alone.Jev.BashProtection.Enabled {
			q.Fatalf("%s leaves a looser raw value: %+v", project, raw)
		}
	})
}

func TestApprovalLevels(t *testing.T) {
	for name, c := range map[string]struct {
		global, project string
		key             string
		want            Approvals
	}{
		"default":                  {"{}", "", "", Approvals{ProtectionRelaxed, AutoApprove, false}},
		"own level":                {at("capabilities/approvals/level", `"strict"`), "", "", Approvals{ProtectionStrict, AutoApprove, false}},
		"off":                      {at("capabilities/approvals/level", `"off"`), "", "", Approvals{ProtectionOff, AutoApprove, false}},
		"bash protection wins":     {`{"capabilities":{"approvals":{"level":"off"}},"internal_tooling":{"jev":{"bash_protection":{"enabled":true,"protection_level":"cautious","failure_policy":"auto_deny"}}}}`, "", "k", Approvals{ProtectionCautious, AutoDeny, false}},
		"remote":                   {`{"internal_tooling":{"jev":{"enabled":true,"bash_protection":{"enabled":true}}}}`, "", "k", Approvals{ProtectionRelaxed, AutoApprove, true}},
		"remote without key":       {`{"internal_tooling":{"jev":{"enabled":true,"bash_protection":{"enabled":true}}}}`, "", " ", Approvals{ProtectionRelaxed, AutoApprove, false}},
		"project tightens":         {"{}", at("capabilities/approvals/level", `"balanced"`), "", Approvals{ProtectionBalanced, AutoApprove, false}},
		"project loosens":          {"{}", at("capabilities/approvals/level", `"off"`), "", Approvals{ProtectionRelaxed, AutoApprove, false}},
		"project turns it down":    {"{}", at("internal_tooling/jev/bash_protection", `{"enabled":true,"protection_level":"permissive"}`), "", Approvals{ProtectionRelaxed, AutoApprove, false}},
		"project turns it up":      {"{}", at("internal_tooling/jev/bash_protection", `{"enabled":true,"protection_level":"strict"}`), "", Approvals{ProtectionStrict, AutoApprove, false}},
		"project switches it off":  {at("internal_tooling/jev/bash_protection", `{"enabled":true,"protection_level":"strict"}`), at("internal_tooling/jev/bash_protection/enabled", "false"), "", Approvals{ProtectionStrict, AutoApprove, false}},
		"project asks the service": {"{}", `{"internal_tooling":{"jev":{"enabled":true,"bash_protection":{"enabled":true}}}}`, "k", Approvals{ProtectionRelaxed, AutoApprove, false}},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			w.global(c.global)
			if c.project != "" {
				w.project(c.project)
			}
			if c.key != "" {
				w.vars["TYPESAFE_API_KEY"] = c.key
			}
			if got := w.load().Settings.Capabilities.Approvals; got != c.want {
				t.Errorf("%+v", got)
			}
		})
	}
}

// TestInjectionProtection: a project adds to it, and takes nothing away.
func TestInjectionProtection(t *testing.T) {
	const own = `{"internal_tooling":{"jev":{"enabled":true,"prompt_injection_protection":{"enabled":true,"enforcement_enabled":true,"protection_level":"cautious","tools":["web","bash"],"max_assessed_bytes":1000}}}}`
	inj := func(members string) string {
		return `{"internal_tooling":{"jev":{"enabled":true,"prompt_injection_protection":{` + members + `}}}}`
	}
	base := InjectionProtection{Active: true, Remote: true, Enabled: true, Enforcement: true, Level: ProtectionCautious, MaxAssessedBytes: 1000, Policy: Quarantine, Tools: []string{"web", "bash"}}
	with := func(change func(*InjectionProtection)) InjectionProtection {
		out := base
		change(&out)
		return out
	}
	for name, c := range map[string]struct {
		global, project string
		want            InjectionProtection
	}{
		"off":               {"{}", "", InjectionProtection{Level: ProtectionBalanced, MaxAssessedBytes: 32768, Policy: Quarantine, Tools: []string{"web"}}},
		"the user's":        {own, "", base},
		"a project loosens": {own, inj(`"enforcement_enabled":false,"protection_level":"permissive","failure_policy":"annotate","tools":[],"max_assessed_bytes":9999`), with(func(i *InjectionProtection) {})},
		"a project tightens": {own, inj(`"protection_level":"strict","tools":["read"],"max_assessed_bytes":10`), with(func(i *InjectionProtection) {
			i.Level, i.MaxAssessedBytes, i.Tools = ProtectionStrict, 10, []string{"read", "web", "bash"}
		})},
		"a project ends it":   {own, inj(`"enabled":false`), with(func(i *InjectionProtection) { i.Enabled = false })},
		"a project ends jev":  {own, at("internal_tooling/jev/enabled", "false"), base},
		"a project begins it": {"{}", inj(`"enabled":true`), InjectionProtection{Active: true, Enabled: true, Level: ProtectionBalanced, MaxAssessedBytes: 32768, Policy: Quarantine, Tools: []string{"web"}}},
		"without jev":         {at("internal_tooling/jev/prompt_injection_protection/enabled", "true"), "", InjectionProtection{Enabled: true, Level: ProtectionBalanced, MaxAssessedBytes: 32768, Policy: Quarantine, Tools: []string{"web"}}},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			w.vars["TYPESAFE_API_KEY"] = "k"
			w.global(c.global)
			if c.project != "" {
				w.project(c.project)
			}
			got := w.load().Settings.Jev.Injection
			slices.Sort(got.Tools)
			slices.Sort(c.want.Tools)
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}
