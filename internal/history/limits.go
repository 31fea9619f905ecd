package history

import "errors"

// Bounds of a projection (protocol, "Bounds"; storage.md 7.3).
const (
	// maxSnapshotBytes bounds the serialized entries, and the text they are made from.
	maxSnapshotBytes = 8 << 20
	// maxParts bounds the parts of all messages, and so the messages.
	maxParts = 10_000
	// maxPageBytes bounds the serialized result of one page.
	maxPageBytes = 32_768
	// maxPageEntries bounds the entries of one page.
	maxPageEntries = 100
	// pageOverhead is what a page counts for everything but its entries.
	pageOverhead = 512
	// maxPartEscaped bounds the JSON-escaped text of one part. No character is
	// shorter escaped than raw, so a part also keeps the 16,384 raw bytes of
	// the protocol.
	maxPartEscaped = 12_000
	// maxActivityBytes bounds the text of an activity, its state included; the
	// protocol's bound of a summary.
	maxActivityBytes = 1024
	// maxCursorBytes bounds a cursor.
	maxCursorBytes = 64
	// projectionOverhead is where the count of serialized bytes starts.
	projectionOverhead = 2
)

// Sentinels. Their texts never leave the program.
var (
	// ErrInvalid: a record lacks what its entry must show (session_invalid).
	ErrInvalid = errors.New("history: a record cannot be shown")
	// ErrLimit: the projection is over its bounds (history_limit).
	ErrLimit = errors.New("history: projection over its bounds")
	// ErrContent: one entry cannot fit a page (content_limit).
	ErrContent = errors.New("history: entry over the page bound")
	// ErrStale: the cursor is none of this snapshot (stale_revision).
	ErrStale = errors.New("history: cursor of another snapshot")
	// ErrCursor: the cursor breaks the identifier grammar (invalid_params).
	ErrCursor = errors.New("history: malformed cursor")
)
