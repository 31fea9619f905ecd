package localagent

// Code is a stable error code. It is the only thing that an error says on the wire.
type Code string

// Protocol errors.
const (
	CodeInvalidFrame          Code = "invalid_frame"
	CodeInvalidRequest        Code = "invalid_request"
	CodeInvalidParams         Code = "invalid_params"
	CodeProtocolMismatch      Code = "protocol_mismatch"
	CodeUnsupportedMethod     Code = "unsupported_method"
	CodeUnsupportedCapability Code = "unsupported_capability"
	CodeNotInitialized        Code = "not_initialized"
	CodeAlreadyInitialized    Code = "already_initialized"
	CodeDuplicateID           Code = "duplicate_id"
	CodeRequestLimit          Code = "request_limit"
	CodeFrameTooLarge         Code = "frame_too_large"
	CodeIncompleteFrame       Code = "incomplete_frame"
)

// Startup errors. They are also the readiness of a failed child.
const (
	CodeConfigurationInvalid Code = "configuration_invalid"
	CodeProviderUnavailable  Code = "provider_unavailable"
	CodeProfileInvalid       Code = "profile_invalid"
	CodeMCPUnavailable       Code = "mcp_unavailable"
	CodeStartupCancelled     Code = "startup_cancelled"
	CodeStartupFailed        Code = "startup_failed"
)

// Session and history errors.
const (
	CodeBusy               Code = "busy"
	CodeStaleSession       Code = "stale_session"
	CodeSessionMissing     Code = "session_missing"
	CodeSessionBusy        Code = "session_busy"
	CodeSessionInvalid     Code = "session_invalid"
	CodeCwdMismatch        Code = "cwd_mismatch"
	CodeHistoryLimit       Code = "history_limit"
	CodeStaleRevision      Code = "stale_revision"
	CodeContentLimit       Code = "content_limit"
	CodeOperationCancelled Code = "operation_cancelled"
)

// Turn errors.
const (
	CodeStaleRun          Code = "stale_run"
	CodeStaleApproval     Code = "stale_approval"
	CodeExecutionFailed   Code = "execution_failed"
	CodePersistenceFailed Code = "persistence_failed"
	CodeOutputUnavailable Code = "output_unavailable"
)

// Diagnostic codes that are no error codes.
const (
	DiagnosticExecutionNotice Code = "execution_notice"
	DiagnosticHookNotice      Code = "hook_notice"
)

// Codes lists every error code of version 1, in the order of the protocol's tables.
func Codes() []Code {
	return []Code{
		CodeInvalidFrame, CodeInvalidRequest, CodeInvalidParams, CodeProtocolMismatch, CodeUnsupportedMethod,
		CodeUnsupportedCapability, CodeNotInitialized, CodeAlreadyInitialized, CodeDuplicateID, CodeRequestLimit,
		CodeFrameTooLarge, CodeIncompleteFrame,
		CodeConfigurationInvalid, CodeProviderUnavailable, CodeProfileInvalid, CodeMCPUnavailable,
		CodeStartupCancelled, CodeStartupFailed,
		CodeBusy, CodeStaleSession, CodeSessionMissing, CodeSessionBusy, CodeSessionInvalid, CodeCwdMismatch,
		CodeHistoryLimit, CodeStaleRevision, CodeContentLimit, CodeOperationCancelled,
		CodeStaleRun, CodeStaleApproval, CodeExecutionFailed, CodePersistenceFailed, CodeOutputUnavailable,
	}
}
