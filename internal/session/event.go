package session

// Kind is the event_type of a session record (storage.md 6.3).
type Kind string

// Kinds that this program writes or reads on purpose. Unknown kinds are kept.
const (
	KindUserInput            Kind = "user_input"
	KindAssistantChunk       Kind = "assistant_chunk"
	KindAssistantOutput      Kind = "assistant_output"
	KindProviderResponseItem Kind = "provider_response_item"
	KindReasoningSummary     Kind = "reasoning_summary"
	KindToolCall             Kind = "tool_call"
	KindToolResult           Kind = "tool_result"
	KindToolResultAssessment Kind = "tool_result_assessment"
	KindToolDisplayResult    Kind = "tool_display_result"
	KindToolAppliedPreview   Kind = "tool_applied_preview"
	KindCodeModeToolCall     Kind = "code_mode_tool_call"
	KindCodeModeToolResult   Kind = "code_mode_tool_result"
	KindCodeModeContext      Kind = "code_mode_context"
	KindCodeModeWarning      Kind = "code_mode_warning"
	KindCodeModeAssessment   Kind = "code_mode_assessment"
	KindProviderContextItem  Kind = "provider_context_item"
	KindSubdirInstruction    Kind = "subdir_instruction_load"
	KindSkillSuggestion      Kind = "skill_suggestion"
	KindHookLifecycle        Kind = "hook_lifecycle"
	KindHookContextInjection Kind = "hook_context_injection"
	KindHookDiagnostic       Kind = "hook_diagnostic"
	KindDiagnostic           Kind = "diagnostic"
	KindTurnStatus           Kind = "turn_status"
	KindAbortRecovery        Kind = "abort_recovery"
	KindProviderStreamTrace  Kind = "provider_stream_trace"
	KindSessionTitle         Kind = "session_title"
	KindSessionUsage         Kind = "session_usage"
	KindSubagentSession      Kind = "subagent_session"
	KindTaskScope            Kind = "task_scope"
	KindCompaction           Kind = "compaction"
	KindRewind               Kind = "rewind"
	KindSessionPreferences   Kind = "session_preferences"
	KindSessionActiveTime    Kind = "session_active_time"
)

// Event is one record to append. Payload is marshalled with its keys in byte
// order, redacted (storage.md 11.3) and written as one line.
type Event struct {
	Kind    Kind
	Payload any // a struct, a map, or json.RawMessage holding an object
}

// Record is one stored line, validated. Its slices are only valid during the
// call that hands it over; a fold that keeps something copies it.
type Record struct {
	Kind        Kind
	Timestamp   string
	SessionID   string
	Cwd         string // "" when absent
	SessionPath string // "" when absent or null
	Payload     []byte // raw JSON value, validated
	Index       int    // 0-based position among the accepted records
}

// Fold consumes records in file order: first those read, then those appended.
// Folds of one handle are called one at a time.
type Fold interface {
	Apply(Record) error
}

// Durability says what an append waits for (decision 17).
type Durability uint8

const (
	// Required is synced before Append returns; its failure ends or refuses the run.
	Required Durability = iota
	// Ordered is written at once and synced together with the next Required record.
	Ordered
	// Optional is like Ordered, but its failure only degrades the run.
	Optional
)

// Outcome says what became of an append (storage.md 5.4).
type Outcome uint8

const (
	// Durable: written, and synced where the durability asks for it.
	Durable Outcome = iota
	// MetadataFailed: durable, but the sidecar could not be written.
	MetadataFailed
	// NotWritten: nothing reached the file.
	NotWritten
	// RolledBack: something was written and cut off again.
	RolledBack
	// Uncertain: the file may hold part of it, or lose it.
	Uncertain
)

// OK reports whether the records are in the file as promised.
func (o Outcome) OK() bool { return o <= MetadataFailed }
