package localagent

import "time"

// Name and Version identify the protocol in every frame.
const (
	Name    = "magi-code.local-agent"
	Version = 1
)

// Bounds of version 1 (protocol, "Bounds and failure policy"). Bytes are UTF-8 bytes.
const (
	// MaxFrameBytes bounds an input frame without its LF and an output frame with it.
	MaxFrameBytes = 65536
	// MaxReadBytes is the size of one read batch.
	MaxReadBytes = 4096
	// MaxDepth is the number of nested containers a frame may hold.
	MaxDepth = 32
	// MaxIDBytes bounds request ids, method and capability names, revisions, cursors and message ids.
	MaxIDBytes = 64
	// MaxRequests is the number of request ids one child retains.
	MaxRequests = 4096
	// MaxCapabilities is the number of names in required_capabilities.
	MaxCapabilities = 16
	// MaxPromptBytes bounds a prompt.
	MaxPromptBytes = 16384
	// MaxPendingFrames is the length of the output queue.
	MaxPendingFrames = 32
	// MaxWorkerEvents is the length of the channel between a run and the connection.
	MaxWorkerEvents = 32
	// MaxLiveTextBytes bounds the text of one live event, delta or reconciliation part.
	MaxLiveTextBytes = 4000
	// MaxSummaryBytes bounds activity names, approval and diagnostic summaries.
	MaxSummaryBytes = 1024
	// MaxPageBytes bounds one serialized history page result.
	MaxPageBytes = 32768
	// MaxPageEntries bounds the entries of one history page.
	MaxPageEntries = 100
	// MaxChunkBytes bounds the text of one history entry part.
	MaxChunkBytes = 16384
	// MaxSnapshotBytes bounds the serialized entry projection of one session.
	MaxSnapshotBytes = 8 << 20
	// MaxSnapshotParts bounds the parts of one session's projection.
	MaxSnapshotParts = 10000
	// MaxStoredBytes bounds the original JSONL bytes that a session read takes in.
	MaxStoredBytes = 64 << 20
	// MaxStoredLines bounds the lines that a session read takes in.
	MaxStoredLines = 100000
	// MaxContentBytes bounds the assistant content of one run.
	MaxContentBytes = 8 << 20
	// MaxSegments bounds the assistant segments of one run.
	MaxSegments = 512
	// MaxActivities bounds the activity identities of one run.
	MaxActivities = 4096
	// MaxActivityIDBytes bounds an internal activity id.
	MaxActivityIDBytes = 1024
)

// Deadlines of version 1. All are absolute: none is reset by partial progress.
const (
	// OutputDeadline runs from the moment a frame is queued.
	OutputDeadline = 2000 * time.Millisecond
	// ClosingDeadline bounds the drain after closing began.
	ClosingDeadline = 2000 * time.Millisecond
	// CleanupWait bounds the wait for teardown after draining stopped.
	CleanupWait = 2000 * time.Millisecond
	// CriticalEventWait bounds how long a run waits for room for an event that must not be lost.
	CriticalEventWait = 2000 * time.Millisecond
	// ApprovalExpiry denies an approval nobody answered.
	ApprovalExpiry = 60000 * time.Millisecond
)

// Limits is what the initialize result publishes.
type Limits struct {
	FrameBytes         int `json:"frame_bytes"`
	JSONDepth          int `json:"json_depth"`
	IDBytes            int `json:"id_bytes"`
	PromptBytes        int `json:"prompt_bytes"`
	HistoryPageBytes   int `json:"history_page_bytes"`
	HistoryPageEntries int `json:"history_page_entries"`
	ContentChunkBytes  int `json:"content_chunk_bytes"`
	PendingResponses   int `json:"pending_responses"`
	RequestsPerChild   int `json:"requests_per_child"`
	OutputDeadlineMS   int `json:"output_deadline_ms"`
}

// V1Limits returns the limits that every version 1 server publishes.
func V1Limits() Limits {
	return Limits{
		FrameBytes: MaxFrameBytes, JSONDepth: MaxDepth, IDBytes: MaxIDBytes, PromptBytes: MaxPromptBytes,
		HistoryPageBytes: MaxPageBytes, HistoryPageEntries: MaxPageEntries, ContentChunkBytes: MaxChunkBytes,
		PendingResponses: MaxPendingFrames, RequestsPerChild: MaxRequests,
		OutputDeadlineMS: int(OutputDeadline / time.Millisecond),
	}
}
