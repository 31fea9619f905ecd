package config

// Level is a thinking level as settings spell it.
type Level string

// Thinking levels.
const (
	LevelDefault Level = "default"
	LevelLow     Level = "low"
	LevelMedium  Level = "medium"
	LevelHigh    Level = "high"
	LevelXHigh   Level = "x_high"
	LevelMax     Level = "max"
)

// Verbosity is a text verbosity; "" means unset.
type Verbosity string

// Text verbosities.
const (
	VerbosityLow    Verbosity = "low"
	VerbosityMedium Verbosity = "medium"
	VerbosityHigh   Verbosity = "high"
)

// CacheTTL is how long Anthropic's prompt cache lives; "" is off.
type CacheTTL string

// Cache lifetimes.
const (
	CacheFiveMinutes CacheTTL = "5m"
	CacheOneHour     CacheTTL = "1h"
)

// ProjectMode says how far a project's settings are trusted (decision 32).
type ProjectMode string

// Project modes.
const (
	ProjectFull ProjectMode = "full"
	ProjectSafe ProjectMode = "safe"
)

// Settings is one validated settings document with defaults filled in. It is
// immutable after Load and safe for concurrent reading. Integers beyond the
// range of int stand as the largest int. A nil *string, *int or *bool is JSON
// null or an absent key.
type Settings struct {
	Agent        Agent
	Providers    Providers
	Capabilities Capabilities
	Knowledge    Knowledge
	Hooks        Hooks
	Herdr        bool // automation.integrations.herdr.enabled
	Sessions     Sessions
	Interface    Interface
	Jev          Jev
}

// Agent is the object "agent".
type Agent struct {
	PrimaryAgent *string // "" names no profile and is an error of package profile
	Model        Model
	Fast         Fast
	Context      Context
	Compaction   Compaction
	Summarizer   Summarizer
	Side         ModelRef // both or neither
	Subagents    Subagents
}

// Model is the startup selection after the environment. A nil Provider or Model
// means the default; "" is a value.
type Model struct {
	Provider *string
	Model    *string
	Level    Level // never ""
}

// ModelRef names a model that may be unset.
type ModelRef struct {
	Provider *string
	Model    *string
}

// Fast is agent.fast, global only.
type Fast struct{ Enabled, Ultrafast bool }

// Context is agent.context: the token budget.
type Context struct {
	Enabled          bool
	MaxTokens        int
	ReserveTokens    int
	KeepRecentTokens int
	Overrides        map[string]ContextOverride // key: provider/model
}

// ContextOverride replaces what is not nil.
type ContextOverride struct{ MaxTokens, ReserveTokens, KeepRecentTokens *int }

// Compaction is agent.compaction. Provider without Model (or the reverse) is
// reported when a compaction runs, not here.
type Compaction struct {
	ModelRef
	Auto   AutoCompaction
	Claude ClaudeCompaction
}

// AutoCompaction is agent.compaction.auto.
type AutoCompaction struct {
	Enabled          bool
	ThresholdPercent *int // 1-100
	ThresholdTokens  *int // above 0
	MaxPerRun        *int // nil means 4, 0 means no cap
}

// ClaudeCompaction is agent.compaction.claude_subscription.
type ClaudeCompaction struct {
	AllowCompaction  bool
	ReserveTokens    int
	ThresholdPercent *int
	ThresholdTokens  *int
}

// Summarizer is agent.summarizer; serve does not use it.
type Summarizer struct {
	AutoStart bool
	ModelRef
	Reasoning Level // "" when unset
	Prompt    *string
}

// Subagents is agent.subagents.
type Subagents struct {
	Disabled         []string // trimmed, none blank
	SchemaMaxRetries *int     // 0-5
	AbsolutePaths    bool
	MaxDepth         int // 1-4
}

// Providers is the object "providers".
type Providers struct {
	CodexVerbosity        Verbosity // never ""
	ExperimentalReasoning bool
	CodexBaseURL          string    // "" is the built-in endpoint; no trailing slash
	ResponsesVerbosity    Verbosity // overrides CodexVerbosity unless ""
	CacheTTL              CacheTTL
	AnthropicBaseURL      string
	Custom                map[string]Custom
	CatalogDisabled       []string // provider/model, trimmed
	SemanticTimeout       *int     // seconds, 1-600
	SubagentTimeout       *int     // seconds, 1-600
}

// Custom is one custom provider.
type Custom struct {
	Label             string
	BaseURL           string // no trailing slash
	KeyVariable       string // "" means no credential
	ModelsDevProvider string
	FastMode          *FastMode
	Responses         bool // the Responses endpoint, else Chat Completions
	SupportsVerbosity bool
	AnthropicLike     bool // reasoning_protocol anthropic-like
	ExtraModels       []string
	// ConversationHeaders are the names of headers that carry the conversation id, sorted.
	ConversationHeaders []string
}

// FastMode asks for a service tier. Models is either ["*"] or names.
type FastMode struct {
	ServiceTier string
	Models      []string
}

// Capabilities is the object "capabilities".
type Capabilities struct {
	Tools           Tools
	MCPApprovals    map[string]map[string]MCPApproval // canonical source, server
	Approvals       Approvals
	ProjectSettings ProjectMode
	LSP             LSP
}

// Tools is capabilities.tools.
type Tools struct {
	// RelativeOnly holds the tools whose absolute_paths is false.
	RelativeOnly   map[string]bool
	ShellExpansion bool
	MaxImageBytes  int // unchecked; the tool wants 1 to 20 MiB
	VisionModel    *ModelPair
	Compact        bool // magi_control.compact
	CodeMode       CodeMode
	Disabled       []string // trimmed; may hold unknown names
}

// ModelPair names a model.
type ModelPair struct{ Provider, Model string }

// CodeMode is capabilities.tools.code_mode.
type CodeMode struct {
	Enabled            bool
	CompactDirectTools bool
	Nudges             bool
	Disabled           []string // may hold names that this program does not know
	Limits             CodeModeLimits
}

// CodeModeLimits is capabilities.tools.code_mode.limits: bytes, calls and milliseconds.
type CodeModeLimits struct {
	MaxSourceBytes, MaxInnerCalls, MaxRuntimeMS, MaxMemoryBytes int
	MaxInnerResultBytes, MaxTotalResultBytes, MaxReturnBytes    int
}

// LSP is capabilities.lsp.
type LSP struct {
	Enabled             bool
	InjectDiagnostics   bool
	DiagnosticsWaitMS   int
	IdleShutdownMinutes int
	Servers             map[string]LSPServer
}

// LSPServer is one language server.
type LSPServer struct {
	Command string
	Args    []string
	Enabled bool
}

// Knowledge is the object "knowledge".
type Knowledge struct {
	SubdirDiscovery bool
	MarkdownPaths   []string // absolute, .md
	SkillPaths      []string // absolute; relative entries are dropped
	SkillsDisabled  []string // trimmed
}

// HookPayload is how much of a call a hook sees.
type HookPayload string

// Hook payloads.
const (
	PayloadRedacted HookPayload = "redacted"
	PayloadFull     HookPayload = "full"
)

// HookPolicy says what a failing hook does.
type HookPolicy string

// Hook policies. PolicyBlock is valid before a tool only.
const (
	PolicyIgnore HookPolicy = "ignore"
	PolicyWarn   HookPolicy = "warn"
	PolicyBlock  HookPolicy = "block"
	PolicyFail   HookPolicy = "fail"
)

// Hooks is automation.hooks. Every Hook has the defaults filled in.
type Hooks struct {
	Enabled    bool
	ShowInTUI  bool
	Defaults   HookOptions
	Injected   InjectedContent
	BeforeTool []Hook
	AfterTool  []Hook
	AfterText  []Hook // after_assistant
	AfterThink []Hook // after_reasoning
}

// HookOptions are what a hook inherits.
type HookOptions struct {
	Payload          HookPayload
	Policy           HookPolicy
	TimeoutSeconds   int
	StdoutMaxBytes   int
	StderrMaxBytes   int
	ContextInjection bool
	ContextMaxBytes  int
}

// InjectedContent is how the terminal front end shows injected context.
type InjectedContent struct {
	InTranscript   bool
	InActivityTree bool
	Style          string // content or metadata
}

// Hook is one command.
type Hook struct {
	HookOptions
	Label        string // "hook" when blank
	Command      string
	IncludeTools []string
	ExcludeTools []string
}

// Sessions is the object "sessions".
type Sessions struct {
	RetentionDays int
	Titles        Titles
}

// Titles is sessions.titles. Enabled without provider and model is a warning
// of each turn.
type Titles struct {
	Enabled bool
	ModelRef
}

// Interface is the object "interface"; serve does not use it.
type Interface struct {
	Theme               string // "" when unset
	ReducedMotion       bool
	NoColor             *bool
	SubagentCardRows    *int
	OpenPanels          []string // may hold names that this program does not know
	PanelPinned         bool
	PanelOpenedByPin    bool
	AutocompleteIgnores bool // interface.tui.autocomplete.respects_gitignore
}
