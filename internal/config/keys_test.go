package config

import (
	"fmt"
	"strings"
	"testing"
)

// row is one settings document.
type row struct{ name, doc string }

func rowsOf(pairs [][2]string) []row {
	out := make([]row, len(pairs))
	for i, p := range pairs {
		out[i] = row{name: p[0] + " = " + p[1], doc: at(p[0], p[1])}
	}
	return out
}

// custom puts fields into a valid custom provider.
func custom(fields string) string {
	return `{"label":"Other","base_url":"http://127.0.0.1:9/v1",` + fields + `}`
}

// both gives a row for a number just inside and one for just outside each end.
type span struct {
	path      string
	low, high int
	nullable  bool
}

var spans = []span{
	{"agent/compaction/auto/threshold_percent", 1, 100, true},
	{"agent/compaction/auto/max_compactions_per_run", 0, 255, true},
	{"agent/compaction/claude_subscription/reserve_tokens", 1, 201999, false},
	{"agent/compaction/claude_subscription/threshold_percent", 1, 100, true},
	{"agent/subagents/schema_validation_max_retries", 0, 5, true},
	{"providers/streaming/semantic_progress_timeout_seconds", 1, 600, true},
	{"providers/streaming/subagent_semantic_progress_timeout_seconds", 1, 600, true},
	{"capabilities/tools/code_mode/limits/max_source_bytes", 1, 1048576, false},
	{"capabilities/tools/code_mode/limits/max_inner_calls", 1, 1000, false},
	{"capabilities/tools/code_mode/limits/max_runtime_ms", 1, 3600000, false},
	{"capabilities/tools/code_mode/limits/max_memory_bytes", 1048576, 268435456, false},
	{"capabilities/tools/code_mode/limits/max_inner_result_bytes", 1, 16777216, false},
	{"capabilities/tools/code_mode/limits/max_total_result_bytes", 1, 67108864, false},
	{"capabilities/tools/code_mode/limits/max_return_bytes", 1, 4194304, false},
	{"capabilities/lsp/diagnostics_wait_ms", 1, 30000, false},
	{"capabilities/lsp/idle_shutdown_minutes", 1, 240, false},
	{"automation/hooks/timeout_seconds", 1, 60, false},
	{"automation/hooks/stdout_max_bytes", 1, 65536, false},
	{"automation/hooks/stderr_max_bytes", 1, 65536, false},
	{"automation/hooks/provider_context_max_bytes", 1, 16384, false},
	{"interface/tui/subagent_card_rows", 1, 50, true},
	{"internal_tooling/jev/completion_verification/max_continuations", 0, 255, false},
	{"internal_tooling/jev/compaction_timing/soft_threshold_percent", 1, 99, false},
}

func acceptedSpans() (out []row) {
	for _, s := range spans {
		for _, v := range []int{s.low, s.high} {
			out = append(out, row{fmt.Sprint(s.path, " = ", v), at(s.path, fmt.Sprint(v))})
		}
		if s.nullable && s.path != "agent/compaction/auto/threshold_percent" { // that one leaves no threshold
			out = append(out, row{s.path + " = null", at(s.path, "null")})
		}
	}
	return out
}

func refusedSpans() (out []row) {
	for _, s := range spans {
		values := []string{fmt.Sprint(s.high + 1), "-1", "1.5", fmt.Sprint(s.high, ".0"), fmt.Sprint(s.high, "e0"), `"1"`, "true", "[]", "{}"}
		if s.low > 0 {
			values = append(values, fmt.Sprint(s.low-1))
		}
		if !s.nullable {
			values = append(values, "null")
		}
		for _, v := range values {
			name := s.path + " = " + v
			out = append(out, row{name, at(s.path, v)})
		}
	}
	return out
}

var booleans = strings.Fields(`
agent/fast/enabled agent/fast/ultrafast agent/context/enabled agent/compaction/auto/enabled agent/compaction/claude_subscription/allow_compaction
agent/summarizer/auto_start agent/subagents/execution/absolute_paths providers/openai_codex/experimental_reasoning_updates
capabilities/tools/read/absolute_paths capabilities/tools/hash_edit/absolute_paths capabilities/tools/write/absolute_paths capabilities/tools/grep/absolute_paths
capabilities/tools/find/absolute_paths capabilities/tools/list_files/absolute_paths capabilities/tools/ast_grep/absolute_paths
capabilities/tools/view_image/absolute_paths capabilities/tools/bash/absolute_paths capabilities/tools/bash/shell_expansion
capabilities/tools/subagents/absolute_paths capabilities/tools/magi_control/compact capabilities/tools/code_mode/enabled
capabilities/tools/code_mode/compact_direct_tools capabilities/tools/code_mode/nudges_enabled capabilities/lsp/enabled
capabilities/lsp/inject_diagnostics_on_edit knowledge/instructions/subdir_discovery automation/hooks/enabled automation/hooks/show_in_tui
automation/hooks/provider_context_injection automation/hooks/injected_content/show_in_transcript automation/hooks/injected_content/show_in_activity_tree
automation/integrations/herdr/enabled sessions/titles/enabled interface/appearance/reduced_motion interface/tui/panel_layout/pinned
interface/tui/panel_layout/opened_by_pin interface/tui/autocomplete/respects_gitignore internal_tooling/jev/enabled internal_tooling/jev/show_debug_messages
internal_tooling/jev/bash_protection/enabled internal_tooling/jev/bash_file_tracking/enabled internal_tooling/jev/humanize_protection/enabled
internal_tooling/jev/prompt_injection_protection/enabled internal_tooling/jev/prompt_injection_protection/enforcement_enabled
internal_tooling/jev/completion_verification/enabled internal_tooling/jev/completion_verification/enforcement_enabled
internal_tooling/jev/skill_suggestion/enabled internal_tooling/jev/compaction_timing/enabled`)

var objects = strings.Fields(`
agent agent/fast agent/model agent/compaction agent/compaction/auto agent/compaction/claude_subscription agent/summarizer agent/side agent/subagents
agent/subagents/execution providers providers/openai_codex providers/openai_responses providers/anthropic providers/custom providers/catalog providers/streaming
capabilities capabilities/tools capabilities/tools/read capabilities/tools/view_image capabilities/tools/bash capabilities/tools/subagents
capabilities/tools/magi_control capabilities/tools/code_mode capabilities/tools/code_mode/limits capabilities/mcp_approvals capabilities/approvals
capabilities/lsp capabilities/lsp/servers knowledge knowledge/instructions knowledge/skills automation automation/hooks automation/hooks/injected_content
automation/integrations automation/integrations/herdr sessions sessions/titles interface interface/appearance interface/tui interface/tui/panel_layout
interface/tui/autocomplete internal_tooling internal_tooling/jev internal_tooling/jev/bash_protection internal_tooling/jev/bash_file_tracking
internal_tooling/jev/humanize_protection internal_tooling/jev/prompt_injection_protection internal_tooling/jev/completion_verification
internal_tooling/jev/skill_suggestion internal_tooling/jev/compaction_timing agent/context/model_overrides`)

var lists = strings.Fields(`agent/subagents/disabled providers/catalog/disabled capabilities/tools/code_mode/disabled capabilities/tools/disabled
knowledge/instructions/additional_markdown_paths knowledge/skills/additional_paths knowledge/skills/disabled interface/tui/panel_layout/open
internal_tooling/jev/prompt_injection_protection/tools automation/hooks/before_tool automation/hooks/after_tool automation/hooks/after_assistant
automation/hooks/after_reasoning`)

// kinds refuses every wrong JSON type of every key of a type.
func kinds() (out []row) {
	add := func(paths []string, values ...string) {
		for _, path := range paths {
			for _, v := range values {
				out = append(out, row{path + " = " + v, at(path, v)})
			}
		}
	}
	add(booleans, "null", "0", `"true"`, "[]", "{}")
	add(objects, "null", "[]", "1", `"x"`, "true")
	add([]string{"agent/context"}, "[]", "1", `"x"`)
	add(lists, "null", "{}", `"x"`, "1", "[1]", "[null]")
	add([]string{"interface/no_color"}, "1", `"x"`, "[]")
	add([]string{"agent/context/max_tokens", "agent/context/reserve_tokens", "agent/context/keep_recent_tokens", "sessions/retention_days",
		"agent/subagents/execution/max_depth", "capabilities/tools/view_image/max_image_bytes", "capabilities/tools/subagents/max_depth"},
		"null", "-1", "2.0", "2.5", `"2"`, "18446744073709551616", "true")
	add([]string{"agent/primary_agent", "agent/model/provider", "agent/model/model", "agent/compaction/provider", "agent/compaction/model",
		"sessions/titles/provider", "sessions/titles/model", "agent/side/model", "agent/summarizer/prompt",
		"providers/anthropic/base_url", "providers/openai_codex/base_url"}, "1", "true", "[]", "{}")
	add([]string{"interface/appearance/theme"}, "null", "1", "[]")
	return out
}

func acceptedSettings() []row {
	return append(acceptedSpans(), rowsOf([][2]string{
		{"nobody/knows/this", "[1]"}, {"$schema", "3"}, {"welcome_release_notes_seen", "3"}, {"welcome_release_notes_progress", "[1]"},
		{"schema_version", "2"}, {"telemetry", "{}"},
		{"agent/primary_agent", `""`}, {"agent/model/provider", `""`}, {"agent/model/provider", "null"}, {"agent/model/thinking_level", "null"},
		{"agent/model/thinking_level", `"x_high"`}, {"agent/context", "null"}, {"agent/context/max_tokens", "0"}, {"agent/context/max_tokens", "18446744073709551615"},
		{"agent/context/model_overrides", `{"a/b":{"max_tokens":1}}`}, {"agent/context/model_overrides", `{"a/b/c":{"reserve_tokens":0,"x":1}}`},
		{"agent/compaction", `{"provider":"x"}`}, {"agent/compaction/auto", `{"enabled":false,"threshold_percent":null}`},
		{"agent/compaction/auto", `{"threshold_percent":null,"threshold_tokens":1}`},
		{"agent/compaction", `{"provider":"x","model":"y","claude_subscription":{"allow_compaction":false}}`},
		{"agent/compaction/claude_subscription", `{"threshold_percent":null,"threshold_tokens":null}`},
		{"agent/summarizer", `{"provider":"a"}`}, {"agent/side", `{"provider":"a","model":"b"}`}, {"agent/subagents/disabled", `[" a ",""]`},
		{"agent/subagents/execution/max_depth", "99"}, {"agent/subagents/execution/max_depth", "0"},
		{"providers/openai_responses/text_verbosity", "null"}, {"providers/anthropic/cache_ttl", "null"}, {"providers/anthropic/cache_ttl", `"1h"`},
		{"providers/catalog/disabled", `["x",""," a/b "]`}, {"providers/catalog/enabled", "3"},
		{"providers/anthropic/base_url", `"https://gw.example/a/"`}, {"providers/anthropic/base_url", `"http://127.0.0.1:9"`},
		{"providers/openai_codex/base_url", `"http://[::1]:9/x"`}, {"providers/openai_codex/base_url", `"http://localhost"`}, {"providers/openai_codex/base_url", "null"},
		{"providers/custom", `{"` + strings.Repeat("a", 63) + `":` + custom(`"unknown":1`) + `}`},
		{"providers/custom/o", custom(`"label":" two words "`)}, {"providers/custom/o", custom(`"label":"` + strings.Repeat("-", 100) + `"`)},
		{"providers/custom/o", custom(`"base_url":" HTTPS://x.example/Responses "`)}, {"providers/custom/o", custom(`"base_url":"http://x/xresponses"`)},
		{"providers/custom/o", custom(`"api_key_env_var":" KEY_1 "`)}, {"providers/custom/o", custom(`"api_key_env_var":" "`)}, {"providers/custom/o", custom(`"api_key_env_var":null`)},
		{"providers/custom/o", custom(`"models_dev_provider":"anthropic"`)}, {"providers/custom/o", custom(`"models_dev_provider":""`)},
		{"providers/custom/o", custom(`"fast_mode":null`)}, {"providers/custom/o", custom(`"fast_mode":{"service_tier":" p.1 ","models":["*"]}`)},
		{"providers/custom/o", custom(`"fast_mode":{"service_tier":"p","models":["a","a*"],"x":1}`)},
		{"providers/custom/o", custom(`"reasoning_protocol":"anthropic-like"`)}, {"providers/custom/o", custom(`"extra_models":["a"," a ","b"]`)},
		{"providers/custom/o", custom(`"request_headers":{"X-Conv":{"source":"conversation_id","x":1}}`)},
		{"capabilities/tools/view_image/max_image_bytes", "0"}, {"capabilities/tools/view_image/vision_model", `{"provider":"a b","model":""}`},
		{"capabilities/tools/view_image/vision_model", "null"}, {"capabilities/tools/disabled", `["not_a_tool",""]`}, {"capabilities/tools/subagents", `{"x":1}`},
		{"capabilities/tools/code_mode/disabled", `["shell","mcp__a__b","jev","bash_job","from_the_future"]`},
		{"capabilities/mcp_approvals", `{"/s":{"a":true,"b":false,"c":{"version":1,"digest":"x"},"d":7}}`},
		{"capabilities/lsp/servers", `{"a":{"command":"x","args":["y"],"enabled":false}}`},
		{"capabilities/approvals/level", `"off"`}, {"capabilities/project_settings", `"safe"`},
		{"knowledge/instructions/additional_markdown_paths", `["/a/B.MD"]`}, {"knowledge/skills/additional_paths", `["rel","/abs"]`},
		{"automation/hooks/failure_policy", `"block"`}, {"automation/hooks", `{"failure_policy":"block","before_tool":[{"command":"x"}]}`},
		{"automation/hooks", `{"failure_policy":"block","after_tool":[{"command":"x","failure_policy":"warn"}]}`},
		{"automation/hooks/before_tool", `[{"command":"x","label":" ","timeout_seconds":null,"payload":null,"failure_policy":"block","x":1}]`},
		{"sessions/retention_days", "0"}, {"sessions/retention_days", "18446744073709551615"}, {"sessions/titles/enabled", "true"}, {"sessions/psm", "7"},
		{"interface/no_color", "null"}, {"interface/no_color", "true"}, {"interface/tui/panel_layout/open", `["summary","background_jobs"]`},
		{"internal_tooling/jev/enabled", "true"}, {"internal_tooling/jev/humanize_protection", `{"enabled":true,"content_threshold":1,"humanized_threshold":0.0}`},
		{"internal_tooling/jev", `{"enabled":true,"skill_suggestion":{"enabled":true},"compaction_timing":{"enabled":true}}`},
		{"internal_tooling/jev/prompt_injection_protection/tools", `["a b",""]`}, {"internal_tooling/jev", `{"nope":1}`},
	})...)
}

func refusedSettings() []row {
	rows := append(refusedSpans(), kinds()...)
	rows = append(rows, rowsOf([][2]string{
		{"schema_version", "1"}, {"schema_version", "99"}, {"schema_version", "2.0"}, {"schema_version", "2.5"}, {"schema_version", "-2"},
		{"schema_version", `"2"`}, {"schema_version", "null"}, {"schema_version", "true"}, {"schema_version", "2e0"},
		{"agent/model/provider", `"claude-code"`}, {"agent/model/thinking_level", `"xhigh"`}, {"agent/model/thinking_level", `""`}, {"agent/model/thinking_level", "1"},
		{"agent/context/model_overrides", `{"a":{"max_tokens":1}}`}, {"agent/context/model_overrides", `{"/b":{"max_tokens":1}}`},
		{"agent/context/model_overrides", `{"a/":{"max_tokens":1}}`}, {"agent/context/model_overrides", `{"a b/c":{"max_tokens":1}}`},
		{"agent/context/model_overrides", `{"a/b":{}}`}, {"agent/context/model_overrides", `{"a/b":{"max_tokens":null}}`}, {"agent/context/model_overrides", `{"a/b":1}`},
		{"agent/compaction/auto", `{"threshold_percent":null}`}, {"agent/compaction/auto/threshold_percent", "256"},
		{"agent/compaction/auto/threshold_tokens", "0"}, {"agent/compaction/claude_subscription/threshold_tokens", "0"},
		{"agent/compaction/claude_subscription/allow_compaction", "false"},
		{"agent/compaction", `{"provider":"x","claude_subscription":{"allow_compaction":false}}`},
		{"agent/compaction", `{"provider":"claude-subscription","model":"y","claude_subscription":{"allow_compaction":false}}`},
		{"agent/summarizer/provider", `""`}, {"agent/summarizer/provider", `"a b"`}, {"agent/summarizer/model", `"sk-x"`}, {"agent/summarizer/model", `"a=b"`},
		{"agent/summarizer/prompt", `" "`}, {"agent/summarizer/reasoning", `"nope"`},
		{"agent/side", `{"provider":"a"}`}, {"agent/side", `{"model":"a"}`}, {"agent/side", `{"provider":"a b","model":"b"}`}, {"agent/side", `{"provider":"a","model":"b=c"}`},
		{"agent/side", `{"provider":"` + strings.Repeat("a", 48) + `","model":"b"}`},
		{"providers/openai_codex/text_verbosity", `"x"`}, {"providers/openai_codex/text_verbosity", "null"}, {"providers/openai_responses/text_verbosity", `"x"`},
		{"providers/anthropic/cache_ttl", `"2h"`}, {"providers/anthropic/cache_ttl", "5"},
		{"providers/anthropic/base_url", `""`}, {"providers/anthropic/base_url", `"http://gw.example"`}, {"providers/anthropic/base_url", `"https://u@gw.example"`},
		{"providers/anthropic/base_url", `"https://gw.example/?q"`}, {"providers/anthropic/base_url", `"https://gw.example/#f"`},
		{"providers/openai_codex/base_url", `"ftp://gw.example"`}, {"providers/openai_codex/base_url", `"https://"`}, {"providers/openai_codex/base_url", `"http://127.0.0.1.example"`},
		{"capabilities/tools/code_mode", `{"enabled":false,"compact_direct_tools":true}`}, {"capabilities/tools/code_mode/nope", "1"}, {"capabilities/tools/code_mode/limits/nope", "1"},
		{"capabilities/tools/code_mode/disabled", `["magi_control"]`}, {"capabilities/tools/code_mode/disabled", `["code_mode"]`}, {"capabilities/tools/disabled", `[" code_mode "]`},
		{"capabilities/tools/view_image/vision_model", `{"provider":"a"}`}, {"capabilities/tools/view_image/vision_model", `{"provider":"a","model":1}`}, {"capabilities/tools/view_image/vision_model", "[]"},
		{"capabilities/mcp_approvals", `{"a":1}`}, {"capabilities/mcp_approvals", `{"a":true}`},
		{"capabilities/lsp/servers", `{"":{"command":"x"}}`}, {"capabilities/lsp/servers", `{" ":{"command":"x"}}`}, {"capabilities/lsp/servers", `{"a__b":{"command":"x"}}`},
		{"capabilities/lsp/servers", `{"a":{"command":" "}}`}, {"capabilities/lsp/servers", `{"a":{}}`}, {"capabilities/lsp/servers", `{"a":{"command":"x","enabled":null}}`},
		{"capabilities/lsp/servers", `{"a":{"command":"x","args":null}}`}, {"capabilities/lsp/servers", `{"a":null}`},
		{"capabilities/approvals/level", `"loose"`}, {"capabilities/approvals/level", "null"}, {"capabilities/approvals/level", "1"},
		{"capabilities/project_settings", `"none"`}, {"capabilities/project_settings", "null"},
		{"knowledge/instructions/additional_markdown_paths", `["relative.md"]`}, {"knowledge/instructions/additional_markdown_paths", `["/a.txt"]`},
		{"knowledge/instructions/additional_markdown_paths", `[""]`}, {"knowledge/instructions/additional_markdown_paths", `["~/a.md"]`},
		{"automation/hooks/payload", `"x"`}, {"automation/hooks/payload", "null"}, {"automation/hooks/failure_policy", `"x"`}, {"automation/hooks/injected_content/style", `"x"`},
		{"automation/hooks/after_tool", `[{"command":"true","failure_policy":"block"}]`}, {"automation/hooks", `{"failure_policy":"block","after_tool":[{"command":"x"}]}`},
		{"automation/hooks", `{"failure_policy":"block","after_assistant":[{"command":"x"}]}`}, {"automation/hooks", `{"failure_policy":"block","after_reasoning":[{"command":"x"}]}`},
		{"automation/hooks/before_tool", `[{"command":" "}]`}, {"automation/hooks/before_tool", `[{}]`}, {"automation/hooks/before_tool", `[{"command":1}]`},
		{"automation/hooks/before_tool", `[{"command":"x","timeout_seconds":61}]`}, {"automation/hooks/before_tool", `[{"command":"x","stdout_max_bytes":0}]`},
		{"automation/hooks/before_tool", `[{"command":"x","stderr_max_bytes":65537}]`}, {"automation/hooks/before_tool", `[{"command":"x","provider_context_max_bytes":16385}]`},
		{"automation/hooks/before_tool", `[{"command":"x","payload":"x"}]`}, {"automation/hooks/before_tool", `[{"command":"x","failure_policy":"x"}]`},
		{"automation/hooks/before_tool", `[{"command":"x","label":1}]`}, {"automation/hooks/before_tool", `[{"command":"x","include_tools":null}]`},
		{"automation/hooks/before_tool", `[{"command":"x","exclude_tools":[1]}]`}, {"automation/hooks/before_tool", `[{"command":"x","provider_context_injection":1}]`},
		{"internal_tooling/jev/bash_protection/protection_level", `"off"`}, {"internal_tooling/jev/bash_protection/protection_level", `"x"`},
		{"internal_tooling/jev/bash_protection/failure_policy", `"x"`}, {"internal_tooling/jev/bash_file_tracking/enabled", "true"},
		{"internal_tooling/jev/humanize_protection/content_threshold", "1.1"}, {"internal_tooling/jev/humanize_protection/content_threshold", `"1"`},
		{"internal_tooling/jev/humanize_protection/humanized_threshold", "-0.1"}, {"internal_tooling/jev/humanize_protection/failure_policy", `"quarantine"`},
		{"internal_tooling/jev/prompt_injection_protection/max_assessed_bytes", "0"}, {"internal_tooling/jev/prompt_injection_protection/protection_level", `"off"`},
		{"internal_tooling/jev/prompt_injection_protection/failure_policy", `"auto_deny"`}, {"internal_tooling/jev/completion_verification/enabled", "true"},
		{"internal_tooling/jev/completion_verification/max_state_bytes", "0"}, {"internal_tooling/jev/completion_verification/threshold", "1.01"},
		{"internal_tooling/jev/completion_verification/failure_policy", `"x"`}, {"internal_tooling/jev/skill_suggestion/enabled", "true"},
		{"internal_tooling/jev/skill_suggestion/gate_threshold", "null"}, {"internal_tooling/jev/skill_suggestion/fit_threshold", "2"},
		{"internal_tooling/jev/compaction_timing/enabled", "true"}, {"internal_tooling/jev/compaction_timing/threshold", "2"},
	})...)
	return append(rows, refusedCustom()...)
}

func refusedCustom() []row {
	long := strings.Repeat("x", 101)
	models65 := strings.TrimSuffix(strings.Repeat(`"a",`, 65), ",")
	var headers33 []string
	for i := range 33 {
		headers33 = append(headers33, fmt.Sprintf(`"h%d":{"source":"conversation_id"}`, i))
	}
	pairs := [][2]string{{"providers/custom/o", "null"}, {"providers/custom/o", "{}"}, {"providers/custom/o", `{"label":"x"}`}, {"providers/custom/o", `{"base_url":"http://x"}`}}
	for _, id := range []string{"Bad", "a-", "1a", strings.Repeat("a", 64), "claude-code", "anthropic", "openai-codex", "claude-subscription", "a_b", "", "é"} {
		pairs = append(pairs, [2]string{"providers/custom/" + id, custom(`"x":1`)})
	}
	for _, f := range []string{
		`"label":" "`, `"label":"` + long + `"`, `"label":"sk-a"`, `"label":"Bearer x"`, `"label":"a=b"`, `"label":null`, `"label":1`,
		`"base_url":"ftp://x"`, `"base_url":"http://x/?q"`, `"base_url":"http://x/?"`, `"base_url":"http://x/#"`, `"base_url":"http://u:p@x/v1"`, `"base_url":"http://x/a/responses/"`,
		`"base_url":"http://x//responses//"`, `"base_url":"http://x/models"`, `"base_url":"http://x/completions"`, `"base_url":"http://x/chat/completions"`, `"base_url":"http://"`, `"base_url":"x"`, `"base_url":1`,
		`"api_key_env_var":"lower"`, `"api_key_env_var":"1KEY"`, `"api_key_env_var":"A B"`, `"api_key_env_var":"` + strings.Repeat("A", 48) + `"`, `"api_key_env_var":1`,
		`"models_dev_provider":"Bad"`, `"models_dev_provider":"a-"`,
		`"fast_mode":[]`, `"fast_mode":{"service_tier":"x"}`, `"fast_mode":{"models":["a"]}`, `"fast_mode":{"service_tier":"x","models":[]}`, `"fast_mode":{"service_tier":"x y","models":["a"]}`,
		`"fast_mode":{"service_tier":"","models":["a"]}`, `"fast_mode":{"service_tier":"` + long + `","models":["a"]}`, `"fast_mode":{"service_tier":"sk-x","models":["a"]}`,
		`"fast_mode":{"service_tier":"x","models":["a","a"]}`, `"fast_mode":{"service_tier":"x","models":["*","a"]}`, `"fast_mode":{"service_tier":"x","models":["sk-a"]}`,
		`"fast_mode":{"service_tier":"x","models":[" a "]}`, `"fast_mode":{"service_tier":"x","models":["` + long + long + `"]}`, `"fast_mode":{"service_tier":"x","models":[` + models65 + `]}`,
		`"use_responses_endpoint":null`, `"supports_text_verbosity":1`, `"reasoning_protocol":"x"`, `"reasoning_protocol":null`,
		`"extra_models":null`, `"extra_models":["a b"]`, `"extra_models":[""]`, `"extra_models":["sk-a"]`, `"extra_models":["` + long + long + `"]`, `"extra_models":[` + models65 + `]`,
		`"request_headers":null`, `"request_headers":{"A":{"source":"conversation_id"},"a":{"source":"conversation_id"}}`, `"request_headers":{"a b":{"source":"conversation_id"}}`,
		`"request_headers":{"":{"source":"conversation_id"}}`, `"request_headers":{"a":{"source":"x"}}`, `"request_headers":{"a":{}}`, `"request_headers":{"a":1}`,
		`"request_headers":{` + strings.Join(headers33, ",") + `}`, `"request_headers":{"Authorization":{"source":"conversation_id"}}`, `"request_headers":{"hOst":{"source":"conversation_id"}}`,
	} {
		pairs = append(pairs, [2]string{"providers/custom/o", custom(f)})
	}
	return rowsOf(pairs)
}

func TestAcceptedSettings(t *testing.T) {
	for _, c := range acceptedSettings() {
		doc, err := parseDocument("x", []byte(c.doc))
		if err != nil {
			t.Fatalf("%s: %v", c.name, err)
		}
		if _, p := decodeSettings(doc.tree); p != nil {
			t.Errorf("%s: %v %s", c.name, p.path, p.reason)
		}
	}
}

// TestRefusedSettings: every row is refused, at a key on the way of the row's
// path, with a reason, and without the value in the text.
func TestRefusedSettings(t *testing.T) {
	for _, c := range refusedSettings() {
		doc, err := parseDocument("x", []byte(c.doc))
		if err != nil {
			t.Fatalf("%s: %v", c.name, err)
		}
		_, p := decodeSettings(doc.tree)
		if p == nil {
			t.Errorf("%s: accepted", c.name)
			continue
		}
		e := errorIn(p, doc)
		if e.File != "x" || e.Line != 1 || e.Key == "" || e.Reason == "" {
			t.Errorf("%s: %+v", c.name, e)
		}
		row := strings.ReplaceAll(strings.SplitN(c.name, " = ", 2)[0], "/", ".")
		if !strings.HasPrefix(e.Key+".", row+".") && !strings.HasPrefix(row+".", e.Key+".") {
			t.Errorf("%s: complains about %s", c.name, e.Key)
		}
	}
}
