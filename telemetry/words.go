package telemetry

import (
	"slices"
	"strconv"
	"sync"
)

// Word is a row of the closed list of words. The zero value is "_OTHER".
type Word uint16

// words are all values that an EnumKey can have, sorted but for the first, which
// stands for everything else (telemetry.md 4.3 "Values").
var words = [...]string{
	other,
	"2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25", "active", "activity", "after_assistant", "after_reasoning", "after_tool", "allow",
	"anthropic", "approval.answer", "approval.requested", "assistant", "ast_grep", "auth", "bash", "batch_history", "before_tool", "block",
	"broken", "busy", "cancelled", "chat_completions", "claude-subscription", "closing_deadline", "code_mode", "compaction", "completed",
	"connect", "content_filter", "create", "custom", "data", "deadline", "default", "degraded", "delivered", "denied", "deny", "detached",
	"diagnostic", "direct", "directory", "done", "drain", "drained", "durable", "eof", "error", "expired", "fail", "failed", "find",
	"frame_too_large", "grep", "hash_edit", "headers", "high", "history.page", "ignore", "image", "initialize", "inner_calls", "inner_result",
	"input", "input.persisted", "input_error", "input_persisted", "instructions", "invalid", "judgment", "lease", "length", "list_files",
	"low", "magi_control", "main", "max", "mcp", "mcp-1", "mcp-10", "mcp-11", "mcp-12", "mcp-13", "mcp-14", "mcp-15", "mcp-16", "mcp-2",
	"mcp-3", "mcp-4", "mcp-5", "mcp-6", "mcp-7", "mcp-8", "mcp-9", "mcp-other", "mcp_close", "mcp_request", "medium", "memory",
	"message.delta", "message.reconcile", "messages", "metadata", "metadata_failed", "minimal", "no_progress", "none", "not_started",
	"not_written", "off", "ok", "open", "openai", "openai-codex", "other", "output_broken", "output_deadline", "output_overflow", "overflow", "page",
	"pipe", "preflight", "profiles", "prompt_too_long", "protocol_mismatch", "provider", "rate_limit", "read", "readiness", "request_limit",
	"responses", "return", "rolled_back", "routes", "run.finished", "session", "session.create", "session.open", "session_delete",
	"session_history", "session_join", "settings", "shutdown", "signal", "skills", "source", "spawn", "stale", "startup", "startup_join",
	"status", "stderr_join", "stdout_join", "stop", "stream", "stream_incomplete", "stream_join", "subagent", "subagents", "summary", "tcp",
	"terminate", "time", "timeout", "title", "tool", "tool_calls", "tools/call", "tools/list", "tools_list", "total", "total_result",
	"transport", "turn", "turn.cancel", "turn.start", "turn_end", "turn_join", "uncertain", "undelivered", "usage", "view_image", "warn",
	"web", "write", "writer", "x_high", "xhigh",
}

// WordOf returns the word s, or "_OTHER" when s is none: free text has no way in.
func WordOf(s string) Word { return wordIndex()[s] }

// wordIndex is made at the first use: most children never need it.
var wordIndex = sync.OnceValue(func() map[string]Word {
	index := make(map[string]Word, len(words))
	for i, s := range words[1:] {
		index[s] = Word(i + 1)
	}
	return index
})

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

// httpCode is the first of the codes that stand for an HTTP status, rpcCode of
// those that stand for an error number of JSON-RPC: -32768 and up.
const (
	httpCode Code = 1000
	rpcCode  Code = 2000
)

// Bounds of the numbers that JSON-RPC reserves.
const (
	firstRPC = -32768
	lastRPC  = -32000
	lastCode = rpcCode + (lastRPC - firstRPC)
)

// RPCCode is an error number of JSON-RPC, or "_OTHER" when it is none of those
// that the standard reserves: a server's own numbers could say anything.
func RPCCode(n int64) Code {
	if n < firstRPC || n > lastRPC {
		return 0
	}
	return rpcCode + Code(n-firstRPC)
}

// CodeOf returns the code s, or "_OTHER". Three digits are an HTTP status.
func CodeOf(s string) Code {
	if s != "" && s[0] == '-' { // else its error would be an allocation, also where telemetry is off
		if n, err := strconv.ParseInt(s, 10, 64); err == nil && n < 0 {
			return RPCCode(n)
		}
		return 0
	}
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
	case c.rpc():
		return strconv.Itoa(int(c-rpcCode) + firstRPC)
	}
	return other
}

// rpc reports an error number of JSON-RPC.
func (c Code) rpc() bool { return c >= rpcCode && c <= lastCode }

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
