package localagent

// Operation names, which are the capability names too.
const (
	MethodInitialize     = "initialize"
	MethodStatus         = "status"
	MethodShutdown       = "shutdown"
	MethodSessionCreate  = "session.create"
	MethodSessionOpen    = "session.open"
	MethodHistoryPage    = "history.page"
	MethodTurnStart      = "turn.start"
	MethodTurnCancel     = "turn.cancel"
	MethodApprovalAnswer = "approval.answer"
)

// Event names.
const (
	EventInputPersisted    = "input.persisted"
	EventMessageDelta      = "message.delta"
	EventMessageReconcile  = "message.reconcile"
	EventActivity          = "activity"
	EventApprovalRequested = "approval.requested"
	EventDiagnostic        = "diagnostic"
	EventRunFinished       = "run.finished"
)

// Status is the result of status and part of the initialize result. Nil names
// mean unknown, or not safe to show.
type Status struct {
	ContextID *string `json:"context_id"`
	Model     *string `json:"model"`
	Provider  *string `json:"provider"`
	Readiness string  `json:"readiness"`
	RunID     *string `json:"run_id"`
	SessionID *string `json:"session_id"`
	State     string  `json:"state"`
}

// States of a child.
const (
	StateStarting = "starting"
	StateIdle     = "idle"
	StateRunning  = "running"
	StateFailed   = "failed"
	StateStopping = "stopping"
)

// Readiness values that are no error codes.
const (
	ReadinessInitializing = "initializing"
	ReadinessReady        = "ready"
)

// Notices of session.open.
const (
	NoticeCwdUnverified             = "cwd_unverified"
	NoticeSavedSelectionUnavailable = "saved_selection_unavailable"
	NoticeSavedSelection            = "saved_selection_notice"
)

// Activity kinds and states.
const (
	ActivityTool       = "tool"
	ActivitySubagent   = "subagent"
	ActivityCompaction = "compaction"

	ActivityStarted   = "started"
	ActivityCompleted = "completed"
	ActivityFailed    = "failed"
)

// Run outcomes and persistence.
const (
	OutcomeCompleted = "completed"
	OutcomeCancelled = "cancelled"
	OutcomeFailed    = "failed"

	PersistenceDurable    = "durable"
	PersistenceDegraded   = "degraded"
	PersistenceNotStarted = "not_started"
)

// Entry is one part of one message of a history page.
type Entry struct {
	Kind      string `json:"kind"`
	LastPart  bool   `json:"last_part"`
	MessageID string `json:"message_id"`
	Part      int    `json:"part"`
	Partial   bool   `json:"partial"`
	Text      string `json:"text"`
}

// Entry kinds.
const (
	EntryUser             = "user"
	EntryAssistant        = "assistant"
	EntryReasoningSummary = "reasoning_summary"
	EntryActivity         = "activity"
	EntryCompaction       = "compaction"
	EntryDiagnostic       = "diagnostic"
)
