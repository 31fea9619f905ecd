// Package provider holds the neutral request, stream and result types of model
// providers, and the factory interface. One package per API lies below it.
package provider

import (
	"context"
	"encoding/json"
	"errors"
	"time"
)

// Purpose says what a generation is for. A provider is made per purpose.
type Purpose string

const (
	PurposeMain       Purpose = "main"
	PurposeSubagent   Purpose = "subagent"
	PurposeCompaction Purpose = "compaction"
	PurposeTitle      Purpose = "title"
	PurposeWeb        Purpose = "web"
	PurposeImage      Purpose = "image"
)

// Level is a thinking level as settings spell it.
type Level string

const (
	LevelDefault Level = "default"
	LevelLow     Level = "low"
	LevelMedium  Level = "medium"
	LevelHigh    Level = "high"
	LevelXHigh   Level = "x_high"
	LevelMax     Level = "max"
)

// Selection is what an attachment runs with. It belongs to the attachment, not
// to the startup snapshot.
type Selection struct {
	Provider string
	Model    string
	Level    Level
}

// ItemKind says what a conversation item is (providers.md 6).
type ItemKind uint8

const (
	ItemMessage  ItemKind = iota // Role, Text
	ItemResponse                 // Raw: a provider's own item, kept for replay
	ItemCall                     // CallID, Name, Arguments
	ItemResult                   // CallID, Name, Success, Text
	ItemNote                     // Text: an old or unmatched event, sent as a user message
)

// Item is one entry of a conversation.
type Item struct {
	Kind      ItemKind
	Role      string // system, user or assistant
	Text      string
	CallID    string
	Name      string
	Arguments string          // ItemCall: the JSON text as the provider sent it
	Success   bool            // ItemResult
	Raw       json.RawMessage // ItemResponse
	Image     *Image          // of a user's message; nil: none
	Cache     *Cache          // optional; see Cache
}

// Image is a picture that goes with a user's text.
type Image struct {
	MediaType string // image/png, image/jpeg, image/gif or image/webp
	Data      []byte
}

// ToolDef is one function that the model may call.
type ToolDef struct {
	Name        string
	Description string
	Parameters  json.RawMessage // a JSON schema object
}

// Request is one generation request.
type Request struct {
	Model           string
	Items           []Item
	Tools           []ToolDef // none: no tools
	ToolsCache      *Cache    // optional: the serialized form of Tools; a new one when they change
	Level           Level
	Levels          int // how many levels the model has; reasoning is sent when more than one
	Verbosity       string
	PromptCacheKey  string
	ConversationID  string
	MaxOutputTokens int // 0: unknown
	SemanticTimeout time.Duration
	RequestSequence int
	// Compacted: the conversation begins with a summary of an earlier part.
	Compacted bool
	// WebSearch asks the provider's own search (PurposeWeb; openai-codex only).
	WebSearch bool
	// Whole asks for one answer in place of a stream, within the bounds of
	// tools.md 1.15 and without further attempts. A service that only streams
	// streams all the same.
	Whole bool
}

// Usage is a token count; a nil field is unknown.
type Usage struct {
	Input, Output, CacheRead, CacheWrite, Total, Reasoning *int64
	// CacheSeparate: Input does not hold the cached parts (Anthropic's counters).
	CacheSeparate bool
}

// EventKind says which fields of an Event are set.
type EventKind uint8

const (
	// EventText: Text is answer text. Texts of one network read come merged.
	EventText EventKind = iota
	// EventSummaryDelta: Text is part of a provider summary of item ItemID.
	EventSummaryDelta
	// EventRawReasoning: Text is private reasoning; it never leaves the session file.
	EventRawReasoning
	// EventReasoningDone: Text is a completed summary or reasoning; ItemID may be empty; ProviderSummary tells which.
	EventReasoningDone
	// EventToolProgress: a call or more of its arguments is on the way (semantic progress only).
	EventToolProgress
	// EventCall: Call is complete.
	EventCall
	// EventItem: Raw is a response item to keep for replay.
	EventItem
	// EventUsage: Usage holds the counters seen so far in this attempt.
	EventUsage
	// EventTier: Text is the service tier the stream reported.
	EventTier
	// EventIdentity: Identity describes one finished attempt.
	EventIdentity
	// EventNotice: Text is for the run's diagnostics (for example: recovered after 2 attempts); Warning tells its level.
	EventNotice
	// EventTrace: Raw is the record of a stream that broke, for the session's
	// provider_stream_trace; it holds no text and no arguments (providers.md 14.2).
	EventTrace
	// EventSource: a web search rests on the page at ItemID, whose title is Text.
	EventSource
	// EventCut: the response counts as complete and is not whole. Text is CutLength or CutFilter.
	EventCut
)

// Why a response that counts as complete is not whole.
const (
	CutLength = "length"         // it reached the most that the model writes at once
	CutFilter = "content_filter" // the provider held the rest back
)

// Call is a tool call as the provider sent it.
type Call struct {
	ID        string
	Name      string
	Arguments string // one JSON value, or text that is none (decision 8)
	ItemID    string // the provider's own item id, if any
}

// Identity is the record of one attempt (providers.md 8.4).
type Identity struct {
	Provider       string // "": the API keeps no record, and what is here goes into no session
	Attempt        int
	RequestedModel string
	ResponseModel  string
	RequestID      string
	Outcome        string // success or error
}

// Event is one thing that a stream told.
type Event struct {
	Kind            EventKind
	Text            string
	ItemID          string
	ProviderSummary bool
	Warning         bool
	Call            *Call
	Raw             json.RawMessage
	Usage           *Usage
	Identity        *Identity
}

// Provider streams one generation at a time.
type Provider interface {
	// Stream sends the request and calls emit for each event in order, from one
	// goroutine. It returns nil when the response is complete, an *Error, the
	// error of emit, or the context's cause.
	Stream(ctx context.Context, req Request, emit func(Event) error) error
}

// Errors of Factory.Make, beside those of a login.
var (
	ErrUnsupported = errors.New("unsupported provider")
	ErrNotReady    = errors.New("provider not ready")
	// ErrNoImages: the provider cannot be sent an image.
	ErrNoImages = errors.New("provider takes no images")
)

// Factory makes providers. It is part of the startup snapshot and safe for
// concurrent use.
type Factory interface {
	// Make checks the credential of the selection as a turn's start does
	// (providers.md 4.3) and returns a provider for one purpose.
	Make(ctx context.Context, sel Selection, purpose Purpose) (Provider, error)
}

// ErrorKind classifies a failed generation (providers.md 9).
type ErrorKind uint8

const (
	ErrPlain ErrorKind = iota
	ErrHTTPStatus
	ErrTransport
	ErrStreamTerminal // the stream ended, stalled or overflowed
	ErrStreamFailed   // the provider reported failed or incomplete
	ErrPromptTooLong
	ErrIncomplete // any of these after semantic progress
)

// Error is a failed generation. Its text is redacted and bounded; it may be
// stored, never sent on the wire.
type Error struct {
	Kind         ErrorKind
	Status       int  // ErrHTTPStatus
	Retryable    bool // before progress
	ToolProgress bool // ErrIncomplete: arguments of a call had begun to arrive
	Attempts     int
	Err          error
}

func (e *Error) Error() string { return e.Err.Error() }
func (e *Error) Unwrap() error { return e.Err }
