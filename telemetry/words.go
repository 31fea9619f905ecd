package telemetry

import "slices"

// Word is a row of the closed list of words. The zero value is "_OTHER".
type Word uint16

// words are all values that an EnumKey can have, sorted but for the first, which
// stands for everything else (telemetry.md 4.3 "Values").
var words = [...]string{
	other,
	"active", "allow", "anthropic", "approval.answer", "assistant", "ast_grep", "auth", "bash", "broken", "busy", "cancelled",
	"chat_completions", "claude-subscription", "closing_deadline", "code_mode", "compaction", "completed", "connect", "content_filter",
	"create", "custom", "deadline", "default", "degraded", "delivered", "denied", "deny", "detached", "direct", "done", "drain",
	"drained", "durable", "eof", "error", "expired", "failed", "find", "frame_too_large", "grep", "hash_edit", "headers", "high",
	"history.page", "image", "initialize", "input", "input_error", "input_persisted", "instructions", "invalid", "judgment", "lease",
	"length", "list_files", "low", "magi_control", "main", "max", "mcp", "mcp_close", "mcp_request", "medium", "messages",
	"metadata_failed", "minimal", "no_progress", "none", "not_started", "not_written", "off", "ok", "open", "openai", "openai-codex",
	"output_broken", "output_deadline", "output_overflow", "overflow", "page", "pipe", "preflight", "profiles", "prompt_too_long",
	"protocol_mismatch", "provider", "rate_limit", "read", "readiness", "request_limit", "responses", "rolled_back", "session",
	"session.create", "session.open", "session_join", "settings", "shutdown", "signal", "skills", "stale", "startup", "startup_join", "status",
	"stop", "stream", "stream_incomplete", "subagent", "subagents", "summary", "tcp", "timeout", "title", "tool", "tool_calls", "total",
	"transport", "turn", "turn.cancel", "turn.start", "turn_end", "turn_join", "uncertain", "undelivered", "usage", "view_image", "web",
	"write", "writer", "xhigh",
}

// WordOf returns the word s, or "_OTHER" when s is none: free text has no way in.
func WordOf(s string) Word {
	i, ok := slices.BinarySearch(words[1:], s)
	if !ok {
		return 0
	}
	return Word(i + 1)
}

func (w Word) text() string {
	if int(w) < len(words) {
		return words[w]
	}
	return other
}

// Code is a row of the closed list of error types: the codes of the protocol
// and the words of telemetry.md 4.3. The zero value is "_OTHER".
type Code uint16

// codes is sorted but for the first.
var codes = [...]string{
	other,
	"already_initialized", "append", "auth", "busy", "cancelled", "configuration_invalid", "content_limit", "cwd_mismatch",
	"duplicate_id", "execution_failed", "execution_notice", "frame_too_large", "history_limit", "hook_notice", "incomplete_frame", "invalid_frame",
	"invalid_params", "invalid_request", "mcp_unavailable", "no_progress", "not_initialized", "operation_cancelled",
	"output_unavailable", "panic", "persistence_failed", "profile_invalid", "prompt_too_long", "protocol", "protocol_mismatch",
	"provider_unavailable", "request_limit", "session_busy", "session_invalid", "session_missing", "stale_approval",
	"stale_revision", "stale_run", "stale_session", "startup_cancelled", "startup_failed", "stream_incomplete", "stream_terminal",
	"timeout", "tool_error", "transport", "unsupported_capability", "unsupported_method",
}

// httpCode is the first of the codes that stand for an HTTP status.
const httpCode Code = 1000

// CodeOf returns the code s, or "_OTHER". Three digits are an HTTP status.
func CodeOf(s string) Code {
	if len(s) == 3 && s[0] >= '1' && s[0] <= '5' && digit(s[1]) && digit(s[2]) {
		return httpCode + Code(s[0]-'0')*100 + Code(s[1]-'0')*10 + Code(s[2]-'0')
	}
	i, ok := slices.BinarySearch(codes[1:], s)
	if !ok {
		return 0
	}
	return Code(i + 1)
}

func digit(c byte) bool { return c >= '0' && c <= '9' }

func (c Code) text() string {
	switch {
	case int(c) < len(codes):
		return codes[c]
	case c >= httpCode+100 && c < httpCode+600:
		n := c - httpCode
		return string([]byte{'0' + byte(n/100), '0' + byte(n/10%10), '0' + byte(n%10)})
	}
	return other
}

// serverFault reports the codes that are no condition of the client's making:
// only they make a request's status an error (telemetry.md 4.4).
func (c Code) serverFault() bool {
	switch c.text() {
	case "startup_failed", "configuration_invalid", "provider_unavailable", "profile_invalid", "mcp_unavailable", "session_invalid",
		"history_limit", "content_limit", "execution_failed", "persistence_failed", "output_unavailable":
		return true
	}
	return false
}
