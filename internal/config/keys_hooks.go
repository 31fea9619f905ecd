package config

import (
	"strconv"
	"strings"
	"sync"
)

const hooksAt = "automation.hooks."

func hookKeys() []rule[Settings] {
	return []rule[Settings]{
		boolean(hooksAt+"enabled", false, func(s *Settings) *bool { return &s.Hooks.Enabled }),
		boolean(hooksAt+"show_in_tui", false, func(s *Settings) *bool { return &s.Hooks.ShowInTUI }),
		enum(hooksAt+"payload", PayloadRedacted, func(s *Settings) *HookPayload { return &s.Hooks.Defaults.Payload }, PayloadRedacted, PayloadFull),
		integer(hooksAt+"timeout_seconds", 5, 1, 60, func(s *Settings) *int { return &s.Hooks.Defaults.TimeoutSeconds }),
		integer(hooksAt+"stdout_max_bytes", 8192, 1, 65536, func(s *Settings) *int { return &s.Hooks.Defaults.StdoutMaxBytes }),
		integer(hooksAt+"stderr_max_bytes", 8192, 1, 65536, func(s *Settings) *int { return &s.Hooks.Defaults.StderrMaxBytes }),
		enum(hooksAt+"failure_policy", PolicyWarn, func(s *Settings) *HookPolicy { return &s.Hooks.Defaults.Policy }, hookPolicies()...),
		boolean(hooksAt+"provider_context_injection", false, func(s *Settings) *bool { return &s.Hooks.Defaults.ContextInjection }),
		integer(hooksAt+"provider_context_max_bytes", 4096, 1, 16384, func(s *Settings) *int { return &s.Hooks.Defaults.ContextMaxBytes }),
		boolean(hooksAt+"injected_content.show_in_transcript", false, func(s *Settings) *bool { return &s.Hooks.Injected.InTranscript }),
		boolean(hooksAt+"injected_content.show_in_activity_tree", false, func(s *Settings) *bool { return &s.Hooks.Injected.InActivityTree }),
		enum(hooksAt+"injected_content.style", "content", func(s *Settings) *string { return &s.Hooks.Injected.Style }, "content", "metadata"),
		// The phases come last: their hooks inherit from what stands above.
		phase("before_tool", true, func(s *Settings) *[]Hook { return &s.Hooks.BeforeTool }),
		phase("after_tool", false, func(s *Settings) *[]Hook { return &s.Hooks.AfterTool }),
		phase("after_assistant", false, func(s *Settings) *[]Hook { return &s.Hooks.AfterText }),
		phase("after_reasoning", false, func(s *Settings) *[]Hook { return &s.Hooks.AfterThink }),
	}
}

func hookPolicies() []HookPolicy {
	return []HookPolicy{PolicyIgnore, PolicyWarn, PolicyBlock, PolicyFail}
}

// hookEntry is a hook before it inherits.
type hookEntry struct {
	label, payload, policy           *string
	command                          string
	timeout, stdout, stderr, context *int
	injection                        *bool
	include, exclude                 []string
}

var hookShape = sync.OnceValue(func() *shape[hookEntry] {
	return newShape([]rule[hookEntry]{
		text("command", notBlank, func(h *hookEntry) *string { return &h.command }).must(),
		optText("label", anyText, func(h *hookEntry) **string { return &h.label }),
		optText("payload", oneOf(PayloadRedacted, PayloadFull), func(h *hookEntry) **string { return &h.payload }),
		optText("failure_policy", oneOf(hookPolicies()...), func(h *hookEntry) **string { return &h.policy }),
		optInteger("timeout_seconds", -1, 1, 60, func(h *hookEntry) **int { return &h.timeout }),
		optInteger("stdout_max_bytes", -1, 1, 65536, func(h *hookEntry) **int { return &h.stdout }),
		optInteger("stderr_max_bytes", -1, 1, 65536, func(h *hookEntry) **int { return &h.stderr }),
		optBoolean("provider_context_injection", func(h *hookEntry) **bool { return &h.injection }),
		optInteger("provider_context_max_bytes", -1, 1, 16384, func(h *hookEntry) **int { return &h.context }),
		list("include_tools", asIs, func(h *hookEntry) *[]string { return &h.include }),
		list("exclude_tools", asIs, func(h *hookEntry) *[]string { return &h.exclude }),
	}, nil, nil)
})

func oneOf[E ~string](values ...E) checker {
	return func(s string) string {
		var e E
		if p := choose(&e, s, values); p != nil {
			return p.reason
		}
		return ""
	}
}

func phase(name string, mayBlock bool, at func(*Settings) *[]Hook) rule[Settings] {
	schema := func() object { return object{"type": "array", "items": hookShape().schema(), "default": []any{}} }
	return special(hooksAt+name, []any{}, schema, func(s *Settings, v any) *problem {
		items, ok := v.([]any)
		if !ok {
			return wrong("must be an array")
		}
		hooks := make([]Hook, 0, len(items))
		for i, item := range items {
			var e hookEntry
			if p := hookShape().decode(&e, item); p != nil {
				return p.under(strconv.Itoa(i))
			}
			h := e.inherit(s.Hooks.Defaults)
			if h.Policy == PolicyBlock && !mayBlock {
				return wrong("resolves to block, which only before_tool knows", strconv.Itoa(i), "failure_policy")
			}
			hooks = append(hooks, h)
		}
		*at(s) = hooks
		return nil
	})
}

func (e *hookEntry) inherit(d HookOptions) Hook {
	h := Hook{HookOptions: d, Label: "hook", Command: e.command, IncludeTools: e.include, ExcludeTools: e.exclude}
	if e.label != nil && strings.TrimSpace(*e.label) != "" {
		h.Label = *e.label
	}
	if e.payload != nil {
		h.Payload = HookPayload(*e.payload)
	}
	if e.policy != nil {
		h.Policy = HookPolicy(*e.policy)
	}
	override(&h.TimeoutSeconds, e.timeout)
	override(&h.StdoutMaxBytes, e.stdout)
	override(&h.StderrMaxBytes, e.stderr)
	override(&h.ContextInjection, e.injection)
	override(&h.ContextMaxBytes, e.context)
	return h
}

func override[V any](to *V, with *V) {
	if with != nil {
		*to = *with
	}
}
