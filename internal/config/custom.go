package config

import (
	"net/url"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"sync"
)

// customShape is the table of providers.custom.<id> (providers.md 19).
var customShape = sync.OnceValue(func() *shape[Custom] {
	return newShape([]rule[Custom]{
		special("label", nil, fixed(object{"type": "string"}), takeLabel).must(),
		special("base_url", nil, fixed(object{"type": "string"}), takeBaseURL).must(),
		blankable("api_key_env_var", keyVariable, func(c *Custom) *string { return &c.KeyVariable }),
		blankable("models_dev_provider", customID, func(c *Custom) *string { return &c.ModelsDevProvider }),
		special("fast_mode", nil, fastModeSchema, takeFastMode),
		boolean("use_responses_endpoint", true, func(c *Custom) *bool { return &c.Responses }),
		boolean("supports_text_verbosity", false, func(c *Custom) *bool { return &c.SupportsVerbosity }),
		special("reasoning_protocol", "gpt-like", fixed(object{"enum": []any{"gpt-like", "anthropic-like"}, "default": "gpt-like"}), takeReasoning),
		list("extra_models", extraModels, func(c *Custom) *[]string { return &c.ExtraModels }),
		special("request_headers", map[string]any{}, headersSchema, takeHeaders),
	}, nil, nil)
})

func customProvider(id string, v any) (Custom, *problem) {
	var c Custom
	if reason := customID(id); reason != "" {
		return c, wrong(reason)
	}
	switch id {
	case "openai-codex", "anthropic", "claude-subscription", "claude-code":
		return c, wrong("is the name of a built-in provider")
	}
	p := customShape().decode(&c, v)
	return c, p
}

// customID is ^[a-z][a-z0-9-]{0,62}$ without a hyphen at the end.
func customID(s string) string {
	ok := s != "" && len(s) <= 63 && s[0] >= 'a' && s[0] <= 'z' && s[len(s)-1] != '-'
	for i := 0; ok && i < len(s); i++ {
		c := s[i]
		ok = 'a' <= c && c <= 'z' || '0' <= c && c <= '9' || c == '-'
	}
	if !ok {
		return "is no provider id (lower-case letters, digits and hyphens, at most 63)"
	}
	return ""
}

// keyVariable is ^[A-Z_][A-Z0-9_]*$, and no key put in the variable's place.
func keyVariable(s string) string {
	for i := 0; i < len(s); i++ {
		c := s[i]
		if c != '_' && (c < 'A' || c > 'Z') && (i == 0 || c < '0' || c > '9') {
			return "is no name of a variable (capital letters, digits and underscores)"
		}
	}
	if SecretLike(s) {
		return "looks like a secret; it must name a variable"
	}
	return ""
}

func takeLabel(c *Custom, v any) *problem {
	s, ok := v.(string)
	if !ok {
		return wrong("must be a string")
	}
	c.Label = strings.TrimSpace(s)
	switch {
	case c.Label == "" || len(c.Label) > 100:
		return wrong("must have 1 to 100 bytes")
	case secretLabel(c.Label):
		return wrong("looks like a secret")
	}
	return nil
}

func takeBaseURL(c *Custom, v any) *problem {
	s, ok := v.(string)
	if !ok {
		return wrong("must be a string")
	}
	u, reason := plainURL(strings.TrimSpace(s))
	if reason != "" {
		return wrong(reason)
	}
	path := strings.TrimRight(u.Path, "/")
	for _, end := range []string{"/responses", "/models", "/completions"} { // the last one covers /chat/completions
		if strings.HasSuffix(path, end) {
			return wrong("must not end in an operation's path")
		}
	}
	c.BaseURL = strings.TrimRight(u.String(), "/")
	return nil
}

// plainURL parses an absolute http or https URL that has a host and neither
// userinfo nor query nor fragment.
func plainURL(s string) (*url.URL, string) {
	u, err := url.Parse(s)
	switch {
	case err != nil || u.Opaque != "":
		return nil, "is no URL"
	case u.Scheme != "http" && u.Scheme != "https":
		return nil, "must be an http or https URL"
	case u.Hostname() == "":
		return nil, "has no host"
	case u.User != nil:
		return nil, "must not hold a user name"
	case u.RawQuery != "" || u.ForceQuery || strings.Contains(s, "#"):
		return nil, "must have neither query nor fragment"
	}
	return u, ""
}

// gatewayURL is plainURL with https, or http to a loopback address.
func gatewayURL(s string) (string, string) {
	u, reason := plainURL(s)
	if reason != "" {
		return "", reason
	}
	if u.Scheme != "https" && !loopback(u.Hostname()) {
		return "", "must be https, or http to a loopback address"
	}
	return strings.TrimRight(u.String(), "/"), ""
}

func takeReasoning(c *Custom, v any) *problem {
	switch v {
	case "gpt-like":
		c.AnthropicLike = false
	case "anthropic-like":
		c.AnthropicLike = true
	default:
		return wrong("is none of gpt-like, anthropic-like")
	}
	return nil
}

// extraModels trims, checks and drops duplicates; 64 count before that.
func extraModels(items []string) ([]string, *problem) {
	if len(items) > 64 {
		return nil, wrong("has more than 64 entries")
	}
	out := make([]string, 0, len(items))
	for i, m := range items {
		m = strings.TrimSpace(m)
		if len(m) == 0 || len(m) > 200 {
			return nil, wrong("must have 1 to 200 bytes", strconv.Itoa(i))
		}
		if reason := identifier(m); reason != "" {
			return nil, wrong(reason, strconv.Itoa(i))
		}
		if !slices.Contains(out, m) {
			out = append(out, m)
		}
	}
	return out, nil
}

func fastModeSchema() object {
	return object{
		"type":     []any{"object", "null"},
		"required": []any{"service_tier", "models"},
		"properties": object{
			"service_tier": object{"type": "string"},
			"models":       object{"type": "array", "items": object{"type": "string"}, "minItems": 1, "maxItems": 64},
		},
	}
}

func takeFastMode(c *Custom, v any) *problem {
	if v == nil {
		c.FastMode = nil
		return nil
	}
	f := new(FastMode)
	p := newShape([]rule[FastMode]{
		text("service_tier", tier, func(f *FastMode) *string { return &f.ServiceTier }).must(),
		list("models", fastModels, func(f *FastMode) *[]string { return &f.Models }).must(),
	}, nil, nil).decode(f, v)
	f.ServiceTier = strings.TrimSpace(f.ServiceTier)
	c.FastMode = f
	return p
}

func tier(s string) string {
	s = strings.TrimSpace(s)
	if len(s) == 0 || len(s) > 64 {
		return "must have 1 to 64 characters"
	}
	for i := 0; i < len(s); i++ {
		if !wordByte(s[i]) && s[i] != '.' {
			return "may hold letters, digits, underscore, point and hyphen only"
		}
	}
	if SecretLike(s) {
		return "looks like a secret"
	}
	return ""
}

// wordByte is one of [A-Za-z0-9_-].
func wordByte(c byte) bool {
	return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9' || c == '_' || c == '-'
}

func fastModels(items []string) ([]string, *problem) {
	if len(items) == 0 || len(items) > 64 {
		return nil, wrong("must have 1 to 64 entries")
	}
	for i, m := range items {
		reason := identifier(m)
		switch {
		case reason != "":
		case utf8.RuneCountInString(m) > 200:
			reason = "must have 1 to 200 characters"
		case m == "*" && len(items) > 1:
			reason = "stands for all models and must be alone"
		case slices.Contains(items[:i], m):
			reason = "is there twice"
		}
		if reason != "" {
			return nil, wrong(reason, strconv.Itoa(i))
		}
	}
	return items, nil
}

func headersSchema() object {
	entry := object{"type": "object", "required": []any{"source"}, "properties": object{"source": object{"const": "conversation_id"}}}
	return object{"type": "object", "maxProperties": 32, "additionalProperties": entry, "default": object{}}
}

func takeHeaders(c *Custom, v any) *problem {
	m, ok := v.(map[string]any)
	if !ok {
		return wrong("must be an object")
	}
	if len(m) > 32 {
		return wrong("has more than 32 headers")
	}
	seen := make(map[string]bool, len(m))
	c.ConversationHeaders = sortedKeys(m)
	for _, name := range c.ConversationHeaders {
		if reason := headerName(name, seen); reason != "" {
			return wrong(reason, name)
		}
		entry, ok := m[name].(map[string]any)
		if !ok || entry["source"] != "conversation_id" {
			return wrong("must be {\"source\":\"conversation_id\"}", name)
		}
	}
	return nil
}

func headerName(name string, seen map[string]bool) string {
	lower := strings.ToLower(name)
	switch lower {
	case "accept", "authorization", "content-length", "content-type", "host", "proxy-authorization", "transfer-encoding", "user-agent":
		return "is a header that the program sets"
	}
	if !headerToken(name) {
		return "is no header name"
	}
	if seen[lower] {
		return "is there twice, in other letters"
	}
	seen[lower] = true
	return ""
}

// headerToken is a token of RFC 9110.
func headerToken(s string) bool {
	for i := 0; i < len(s); i++ {
		c := s[i]
		if !wordByte(c) && !strings.ContainsRune("!#$%&'*+.^`|~", rune(c)) {
			return false
		}
	}
	return s != ""
}
