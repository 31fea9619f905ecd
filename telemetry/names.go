package telemetry

import "magicode/telemetry/point"

// Every name that leaves the process stands in this file and in no other: spans,
// attributes, events and words (telemetry.md 4.1). The names that begin with
// gen_ai are the standalone GenAI conventions, release v0.1.0; expect renames.

const (
	scopeName   = "magi-code"
	serviceName = "magi-code"
	other       = "_OTHER"
	rpcSystem   = "magi-code.local-agent"
	// agentSubagent is what a delegated task is called.
	agentSubagent = "subagent"
)

// Names of records that are no spans.
const (
	recordStart      = "magi.span.start"
	recordOpen       = "magi.span.open"
	recordEvent      = "magi.span.event"
	recordHeartbeat  = "magi.heartbeat"
	recordGoroutines = "magi.goroutines"
	recordExit       = "magi.exit"
)

// Keys of records and metrics that no caller sets.
const (
	keySpanName      = "magi.span.name"
	keySpanParent    = "magi.span.parent"
	keySpanLate      = "magi.span.late"
	keySpanCut       = "magi.span.cut"
	keySpanAge       = "magi.span.age_ms"
	keyErrorType     = "error.type"
	keyRPCSystem     = "rpc.system.name"
	keyRPCStatus     = "rpc.response.status_code"
	keyOpen          = "magi.open"
	keyOldest        = "magi.oldest_ms"
	keyOutputOldest  = "magi.output.oldest_ms"
	keyWorkerPending = "magi.worker.pending"
	keyGoroutines    = "magi.goroutines.count"
	keyDropped       = "magi.telemetry.dropped"
	keyEventName     = "magi.event.name"
	keyOpenNames     = "magi.open.names"
	keyOpenAges      = "magi.open.ages_ms"
	keyRunSeqName    = "magi.run.seq"
	keyAgentName     = "gen_ai.agent.name"
	keyProviderName  = "gen_ai.provider.name"
	keyOperation     = "gen_ai.operation.name"
	keyToolType      = "gen_ai.tool.type"
	keyStream        = "gen_ai.request.stream"
	keyTokenModality = "gen_ai.token.modality"
	keyMemoryType    = "go.memory.type"
	keyCPUMode       = "cpu.mode"
	keySchema        = "magi.capture.schema"
	keyOverflow      = point.Overflow
)

// Words of the runtime's metrics.
const (
	memoryStack = "stack"
	memoryOther = "other"
	cpuUser     = "user"
	cpuSystem   = "system"
)

// Kind names a span of the catalogue (telemetry.md 4.3).
type Kind uint8

// Kinds.
const (
	SpanChild Kind = iota
	SpanRequest
	SpanStartup
	SpanStartupSettings
	SpanStartupInstructions
	SpanStartupSkills
	SpanStartupProfiles
	SpanMCPConnect
	SpanStartupReadiness
	SpanSessionWork
	SpanSessionLease
	SpanHistoryRead
	SpanHistoryProject
	SpanHistoryPage
	SpanHistoryFingerprint
	SpanRun
	SpanRunValidate
	SpanRunPrepare
	SpanRunPreflight
	SpanChat
	SpanProviderAttempt
	SpanProviderRetryWait
	SpanExecuteTool
	SpanApprovalWait
	SpanCompaction
	SpanSessionAppend
	SpanAuthRefresh
	SpanHook
	SpanMCPCall
	SpanSubagent
	SpanEventWait
	SpanOutputStall
	SpanCleanup
	SpanCleanupDrain
	SpanCleanupJoin
	SpanCleanupMCPRequest
	SpanCleanupMCPClose
	SpanCleanupLease
	SpanCleanupSnapshot
	kindCount
)

type spanRole uint8

const (
	roleInternal spanRole = iota
	roleServer
	roleClient
)

// kindInfo is a row of the catalogue.
type kindInfo struct {
	name string
	role spanRole
	now  bool    // its start record is written at once, not after 250 ms
	root bool    // it begins a trace and links to the span it was begun in
	tail EnumKey // its value belongs to the name: "execute_tool bash"; keyNone: none
	only bool    // the value is the whole name
	many bool    // it has more attributes than most
}

var kinds = [kindCount]kindInfo{
	SpanChild:               {name: "magi.child", now: true, root: true},
	SpanRequest:             {name: other, role: roleServer, tail: KeyMethod, only: true},
	SpanStartup:             {name: "magi.startup", now: true},
	SpanStartupSettings:     {name: "magi.startup.settings", now: true},
	SpanStartupInstructions: {name: "magi.startup.instructions", now: true},
	SpanStartupSkills:       {name: "magi.startup.skills", now: true},
	SpanStartupProfiles:     {name: "magi.startup.profiles", now: true},
	SpanMCPConnect:          {name: "magi.mcp.connect", now: true},
	SpanStartupReadiness:    {name: "magi.startup.readiness", now: true},
	SpanSessionWork:         {name: "magi.session.work", now: true},
	SpanSessionLease:        {name: "magi.session.lease", now: true},
	SpanHistoryRead:         {name: "magi.history.read"},
	SpanHistoryProject:      {name: "magi.history.project"},
	SpanHistoryPage:         {name: "magi.history.page"},
	SpanHistoryFingerprint:  {name: "magi.history.fingerprint"},
	SpanRun:                 {name: "invoke_agent magi-code", now: true, root: true, many: true},
	SpanRunValidate:         {name: "magi.run.validate"},
	SpanRunPrepare:          {name: "magi.run.prepare"},
	SpanRunPreflight:        {name: "magi.run.preflight"},
	SpanChat:                {name: "chat", role: roleClient, now: true, many: true},
	SpanProviderAttempt:     {name: "magi.provider.attempt", role: roleClient, now: true},
	SpanProviderRetryWait:   {name: "magi.provider.retry_wait", now: true},
	SpanExecuteTool:         {name: "execute_tool", now: true, tail: KeyTool},
	SpanApprovalWait:        {name: "magi.approval.wait", now: true},
	SpanCompaction:          {name: "magi.compaction", now: true},
	SpanSessionAppend:       {name: "magi.session.append"},
	SpanAuthRefresh:         {name: "magi.auth.refresh", now: true},
	SpanHook:                {name: "magi.hook", now: true},
	SpanMCPCall:             {name: other, role: roleClient, now: true, tail: KeyMCPMethod, only: true},
	SpanSubagent:            {name: "invoke_agent subagent", now: true},
	SpanEventWait:           {name: "magi.event.wait"},
	SpanOutputStall:         {name: "magi.output.stall", now: true},
	SpanCleanup:             {name: "magi.cleanup", now: true},
	SpanCleanupDrain:        {name: "magi.cleanup.drain", now: true},
	SpanCleanupJoin:         {name: "magi.cleanup.join", now: true},
	SpanCleanupMCPRequest:   {name: "magi.cleanup.mcp.request", now: true},
	SpanCleanupMCPClose:     {name: "magi.cleanup.mcp.close", now: true},
	SpanCleanupLease:        {name: "magi.cleanup.lease", now: true},
	SpanCleanupSnapshot:     {name: "magi.cleanup.snapshot", now: true},
}

// IntKey names a number.
type IntKey uint8

// Numbers. Those that end in MS are durations in milliseconds, see Span.Dur.
const (
	KeyPID IntKey = iota
	KeyProtocolVersion
	KeyExitCode
	KeyRequests
	KeyRuns
	KeyFramesIn
	KeyFramesOut
	KeyRequestSeq
	KeyFrameSize
	KeyCount
	KeySize
	KeyHistoryBytes
	KeyHistoryLines
	KeyHistoryParts
	KeyHistoryPages
	KeyHistoryPageIndex
	KeyRunSeq
	KeyPromptSize
	KeyRunInferenceCalls
	KeyRunToolCalls
	KeyRunSegments
	KeyRunContentBytes
	KeyRunDeltas
	KeyRunDeltasDropped
	KeyRequestBytes
	KeyMaxTokens
	KeyAttempts
	KeyStreamChunks
	KeyInputTokens
	KeyOutputTokens
	KeyCacheReadTokens
	KeyCacheWriteTokens
	KeyReasoningTokens
	KeyFirstChunkMS
	KeyAttempt
	KeyHTTPStatus
	KeyRetryWaitMS
	KeyToolSeq
	KeyToolOutputBytes
	KeyApprovalSeq
	KeyApprovalExpiresMS
	KeyTokensBefore
	KeyTokensAfter
	KeyAppendBytes
	KeyLockWaitMS
	KeyFsyncMS
	KeyOutputPending
	KeyOutputPeak
	KeyCleanupBudgetMS
	KeyDiagnostics
	KeySessionNotices
	KeyHistoryEntries
	KeyResponseBytes
	KeyCodeModeCalls
	KeySubagentIndex
	KeySubagentDepth
	KeySubagentQueueMS
	KeyStaleAnswers
	KeyOutputOldestMS
	keyOpenSpans
	intKeyCount
)

var intKeys = [intKeyCount]string{
	KeyPID: "process.pid", KeyProtocolVersion: "magi.protocol.version", KeyExitCode: "process.exit.code",
	KeyRequests: "magi.requests", KeyRuns: "magi.runs", KeyFramesIn: "magi.frames.in", KeyFramesOut: "magi.frames.out",
	KeyRequestSeq: "magi.request.seq", KeyFrameSize: "magi.frame.size",
	KeyCount: "magi.count", KeySize: "magi.size", KeyHistoryBytes: "magi.history.bytes", KeyHistoryLines: "magi.history.lines", KeyHistoryParts: "magi.history.parts",
	KeyHistoryPages: "magi.history.pages", KeyHistoryPageIndex: "magi.history.page.index",
	KeyRunSeq: keyRunSeqName, KeyPromptSize: "magi.prompt.size", KeyRunInferenceCalls: "magi.run.inference_calls",
	KeyRunToolCalls: "magi.run.tool_calls", KeyRunSegments: "magi.run.segments", KeyRunContentBytes: "magi.run.content_bytes",
	KeyRunDeltas: "magi.run.deltas", KeyRunDeltasDropped: "magi.run.deltas_dropped",
	KeyRequestBytes: "magi.request.bytes", KeyMaxTokens: "gen_ai.request.max_tokens", KeyAttempts: "magi.provider.attempts",
	KeyStreamChunks: "magi.stream.chunks", KeyInputTokens: "gen_ai.usage.input_tokens", KeyOutputTokens: "gen_ai.usage.output_tokens",
	KeyCacheReadTokens: "gen_ai.usage.cache_read.input_tokens", KeyCacheWriteTokens: "gen_ai.usage.cache_write.input_tokens",
	KeyReasoningTokens: "gen_ai.usage.reasoning.output_tokens", KeyFirstChunkMS: "gen_ai.response.time_to_first_chunk",
	KeyAttempt: "magi.attempt", KeyHTTPStatus: "http.response.status_code", KeyRetryWaitMS: "magi.retry.wait_ms", KeyToolSeq: "magi.tool.seq", KeyToolOutputBytes: "magi.tool.output_bytes",
	KeyApprovalSeq: "magi.approval.seq", KeyApprovalExpiresMS: "magi.approval.expires_ms", KeyTokensBefore: "magi.compaction.tokens_before", KeyTokensAfter: "magi.compaction.tokens_after",
	KeyAppendBytes: "magi.append.bytes", KeyLockWaitMS: "magi.append.lock_wait_ms", KeyFsyncMS: "magi.append.fsync_ms",
	KeyOutputPending: "magi.output.pending", KeyOutputPeak: "magi.output.peak",
	KeyCleanupBudgetMS: "magi.cleanup.budget_ms", keyOpenSpans: keyOpen,
	KeyDiagnostics: "magi.diagnostics", KeySessionNotices: "magi.session.notices", KeyHistoryEntries: "magi.history.entries",
	KeyResponseBytes: "magi.response.bytes", KeyCodeModeCalls: "magi.code_mode.calls",
	KeySubagentIndex: "magi.subagent.index", KeySubagentDepth: "magi.subagent.depth", KeySubagentQueueMS: "magi.subagent.queue_ms",
	KeyStaleAnswers: "magi.approval.stale_answers", KeyOutputOldestMS: keyOutputOldest,
}

// BoolKey names a yes or no.
type BoolKey uint8

// Booleans.
const (
	KeyDetached BoolKey = iota
	KeyStartupCancelled
	KeySettingsMigrated
	KeySettingsProject
	KeyHistoryComplete
	KeyCompacted
	boolKeyCount
)

var boolKeys = [boolKeyCount]string{
	KeyDetached: "magi.detached", KeyStartupCancelled: "magi.startup.cancelled", KeySettingsMigrated: "magi.settings.migrated",
	KeySettingsProject: "magi.settings.project", KeyHistoryComplete: "magi.history.complete", KeyCompacted: "gen_ai.conversation.compacted",
}

// EnumKey names a word out of a closed list.
type EnumKey uint8

// Words.
const (
	keyNone EnumKey = iota
	KeyMethod
	KeyExitReason
	KeyProvider
	KeyProviderName
	KeySessionAction
	KeyLease
	KeyLeaseOutcome
	KeyHistoryTrigger
	KeyRunOutcome
	KeyRunPersistence
	KeyReasoningLevel
	KeyChatPurpose
	KeyAttemptPhase
	KeyRetryReason
	KeyTool
	KeyToolOrigin
	KeyToolOutcome
	KeyApprovalOutcome
	KeyCompactionPlace
	KeyAppendClass
	KeyAppendOutcome
	KeyOutputOutcome
	KeyWorker
	KeyMCPServer
	KeyTransport
	KeyStartupPhase
	KeyCleanupPhase
	KeyCleanupOutcome
	KeyAnswer
	KeyMCPPhase
	KeyMCPStep
	KeyMCPMethod
	KeyMCPProtocol
	KeyAPIMode
	KeyFinishReasons
	KeyHookEvent
	KeyHookOutcome
	KeySubagentOutcome
	KeyCodeModeLimit
	KeyEvent
	KeyEventOutcome
	KeyFsyncTarget
	enumKeyCount
)

var enumKeys = [enumKeyCount]string{
	KeyMethod: "rpc.method", KeyExitReason: "magi.exit.reason", KeyProvider: "magi.provider", KeyProviderName: keyProviderName,
	KeySessionAction: "magi.session.action", KeyLease: "magi.lease", KeyLeaseOutcome: "magi.lease.outcome",
	KeyHistoryTrigger: "magi.history.trigger", KeyRunOutcome: "magi.run.outcome", KeyRunPersistence: "magi.run.persistence",
	KeyReasoningLevel: "gen_ai.request.reasoning.level", KeyChatPurpose: "magi.chat.purpose", KeyAttemptPhase: "magi.attempt.phase", KeyRetryReason: "magi.retry.reason", KeyTool: "gen_ai.tool.name", KeyToolOrigin: "magi.tool.origin",
	KeyToolOutcome: "magi.tool.outcome", KeyApprovalOutcome: "magi.approval.outcome", KeyCompactionPlace: "magi.compaction.place",
	KeyAppendClass: "magi.session.class", KeyAppendOutcome: "magi.append.outcome", KeyOutputOutcome: "magi.output.outcome",
	KeyWorker: "magi.worker", KeyMCPServer: "magi.mcp.server", KeyTransport: "network.transport",
	KeyStartupPhase: "magi.startup.phase", KeyCleanupPhase: "magi.cleanup.phase", KeyCleanupOutcome: "magi.cleanup.outcome",
	KeyAnswer: "magi.answer", KeyMCPPhase: "magi.mcp.phase", KeyMCPStep: "magi.mcp.step", KeyMCPMethod: "mcp.method.name", KeyMCPProtocol: "mcp.protocol.version",
	KeyAPIMode: "magi.api_mode", KeyFinishReasons: "gen_ai.response.finish_reasons", KeyHookEvent: "magi.hook.event", KeyHookOutcome: "magi.hook.outcome",
	KeySubagentOutcome: "magi.subagent.outcome", KeyCodeModeLimit: "magi.code_mode.limit", KeyEvent: keyEvent, KeyEventOutcome: "magi.event.outcome",
	KeyFsyncTarget: "magi.fsync.target",
}

// NameKey names a name that a user configured, or an id.
type NameKey uint8

// Names.
const (
	KeyRequestHash NameKey = iota
	KeyRunHash
	KeyApprovalHash
	KeySessionRef
	KeyConversation
	KeyModel
	KeyResponseModel
	KeyMCPHash
	KeyMCPName
	KeyMCPTool
	KeySubagentHash
	KeyAgent
	KeyProviderHash
	KeyProviderID // takes the place of KeyProviderName
	nameKeyCount
)

var nameKeys = [nameKeyCount]string{
	KeyRequestHash: "magi.request.hash", KeyRunHash: "magi.run.hash", KeyApprovalHash: "magi.approval.hash",
	KeySessionRef: "magi.session.ref", KeyConversation: "gen_ai.conversation.id",
	KeyModel: "gen_ai.request.model", KeyResponseModel: "gen_ai.response.model",
	KeyMCPHash: "magi.mcp.hash", KeyMCPName: "magi.mcp.name", KeyMCPTool: "magi.mcp.tool",
	KeySubagentHash: "magi.subagent.hash", KeyAgent: keyAgentName, KeyProviderHash: "magi.provider.hash", KeyProviderID: keyProviderName,
}

// EventName names something that happened inside a span.
type EventName uint8

// Events.
const (
	EventInitializeAdmitted EventName = iota
	EventReady
	EventInputClosed
	EventOutputFailed
	EventResponseQueued
	EventInputPersisted
	EventCancelRequested
	EventFirstDelta
	EventTerminalQueued
	EventFirstChunk
	EventHeaders
	EventRequestedQueued
	EventAnswered
	EventMCPSpawned
	EventMCPTerminate
	EventMCPStderrJoin
	EventMCPStdoutJoin
	EventMCPStreamJoin
	EventMCPSessionDelete
	EventMCPDone
	eventNameCount
)

var eventNames = [eventNameCount]string{
	EventInitializeAdmitted: "magi.initialize.admitted", EventReady: "magi.ready", EventInputClosed: "magi.input.closed",
	EventOutputFailed: "magi.output.failed", EventResponseQueued: "magi.response.queued", EventInputPersisted: "magi.input.persisted",
	EventCancelRequested: "magi.cancel.requested", EventFirstDelta: "magi.first_delta", EventTerminalQueued: "magi.terminal.queued",
	EventFirstChunk: "first_chunk", EventHeaders: "magi.headers", EventRequestedQueued: "requested_queued", EventAnswered: "answered",
	EventMCPSpawned: "magi.mcp.spawned", EventMCPTerminate: "terminate", EventMCPStderrJoin: "stderr_join", EventMCPStdoutJoin: "stdout_join",
	EventMCPStreamJoin: "stream_join", EventMCPSessionDelete: "session_delete", EventMCPDone: "done",
}

// Labels of the transport's metrics.
const (
	keyDirection    = "magi.direction"
	keyFrameType    = "magi.frame.type"
	keyEvent        = "magi.event"
	keyDeltaOutcome = "magi.delta.outcome"
	keySignal       = "magi.signal"
	keySink         = "magi.sink"
	keyDrop         = "magi.drop"
	keyProblem      = "magi.problem"
)

var (
	directionIn       = point.Label{Key: keyDirection, Value: "in"}
	directionOut      = point.Label{Key: keyDirection, Value: "out"}
	frameTypeRequest  = point.Label{Key: keyFrameType, Value: "request"}
	frameTypeInvalid  = point.Label{Key: keyFrameType, Value: "invalid"}
	frameTypeResponse = point.Label{Key: keyFrameType, Value: "response"}
	frameTypeEvent    = point.Label{Key: keyFrameType, Value: "event"}
)

var frameEvents = [frameKindCount]string{
	FrameInputPersisted: "input.persisted", FrameMessageDelta: "message.delta", FrameMessageReconcile: "message.reconcile",
	FrameActivity: "activity", FrameApprovalRequested: "approval.requested", FrameDiagnostic: "diagnostic", FrameRunFinished: "run.finished",
}

// Names of metrics by the GenAI conventions.
const (
	nameRunDuration  = "gen_ai.invoke_agent.duration"
	nameRunInference = "gen_ai.invoke_agent.inference_calls"
	nameRunTools     = "gen_ai.invoke_agent.tool_calls"
	nameChatDuration = "gen_ai.client.inference.duration"
	nameChatFirst    = "gen_ai.client.inference.time_to_first_chunk"
	nameChatInput    = "gen_ai.client.inference.operation.input_tokens"
	nameChatOutput   = "gen_ai.client.inference.operation.output_tokens"
	nameToolDuration = "gen_ai.execute_tool.duration"
	nameErrors       = "magi.telemetry.errors"

	nameUsageInput      = "gen_ai.client.inference.usage.input_tokens"
	nameUsageOutput     = "gen_ai.client.inference.usage.output_tokens"
	nameUsageCacheRead  = "gen_ai.client.inference.usage.cache_read.input_tokens"
	nameUsageCacheWrite = "gen_ai.client.inference.usage.cache_write.input_tokens"
	nameUsageReasoning  = "gen_ai.client.inference.usage.reasoning.output_tokens"
)

// String is the attribute's name, for readers of captures.
func (k IntKey) String() string { return intKeys[k] }

// String is the attribute's name, for readers of captures.
func (k EnumKey) String() string { return enumKeys[k] }

// String is the attribute's name, for readers of captures.
func (k NameKey) String() string { return nameKeys[k] }

// String is the name of the kind's spans, or what it begins with.
func (k Kind) String() string { return kinds[k].name }
