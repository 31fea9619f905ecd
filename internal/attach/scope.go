package attach

import (
	"fmt"
	"slices"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// Bounds of a task scope (storage.md 8.4).
const (
	maxScopeBytes          = 524_288
	maxIntentBytes         = 32_768 // of agent and cwd too
	maxContextBytes        = 262_144
	maxDepth               = 4
	maxNames               = 1_024
	maxNameBytes           = 512
	maxClarifications      = 64
	maxClarificationsBytes = 65_536
	maxClientTools         = 32
)

// Scope is the ceiling under which a delegated session runs, for good
// (storage.md 8.4). It is not changed after it was handed out.
type Scope struct {
	Version        int      `json:"version"`
	Task           Task     `json:"original_task"`
	Ceiling        Ceiling  `json:"ceiling"`
	Clarifications []string `json:"clarifications"`
}

// Task is what was delegated.
type Task struct {
	Intent   string         `json:"intent"`
	Mode     string         `json:"mode"` // inspect or standard
	Agent    *string        `json:"agent"`
	Context  *string        `json:"context"`
	Cwd      *string        `json:"cwd"`
	Identity jsontext.Value `json:"identity,omitzero"`
}

// Inspect reports whether only the inspection tools may run.
func (t Task) Inspect() bool { return t.Mode == "inspect" }

// Ceiling is what the session may use at most.
type Ceiling struct {
	Cwd                    string            `json:"cwd"`
	Inspection             bool              `json:"inspection"`
	EnabledBuiltins        []string          `json:"enabled_builtins"`
	DisabledTools          []string          `json:"disabled_tools"`
	CodeModeDisabledTools  []string          `json:"code_mode_disabled_tools"`
	ReadAbsolutePaths      bool              `json:"read_absolute_paths"`
	ViewImageAbsolutePaths bool              `json:"view_image_absolute_paths"`
	HashlineAbsolutePaths  bool              `json:"hashline_absolute_paths"`
	WriteAbsolutePaths     bool              `json:"write_absolute_paths"`
	GrepAbsolutePaths      bool              `json:"grep_absolute_paths"`
	FindAbsolutePaths      bool              `json:"find_absolute_paths"`
	ListFilesAbsolutePaths bool              `json:"list_files_absolute_paths"`
	AstGrepAbsolutePaths   bool              `json:"ast_grep_absolute_paths"`
	BashAbsolutePaths      bool              `json:"bash_absolute_paths"`
	BashShellExpansion     bool              `json:"bash_shell_expansion"`
	SubagentsAbsolutePaths bool              `json:"subagents_absolute_paths"`
	RemainingDepth         int               `json:"remaining_depth"`
	ClientTools            map[string]string `json:"client_tools,omitempty"` // newer releases: extensions.md 18.3
}

// scopeKeys are the keys that must be present, by level. What a value may be is
// the decoder's business.
var scopeKeys = struct{ top, task, ceiling []string }{
	top:  []string{"version", "original_task", "ceiling", "clarifications"},
	task: []string{"intent", "mode", "agent", "context", "cwd"},
	ceiling: []string{"cwd", "inspection", "enabled_builtins", "disabled_tools", "read_absolute_paths", "view_image_absolute_paths",
		"hashline_absolute_paths", "write_absolute_paths", "grep_absolute_paths", "find_absolute_paths", "list_files_absolute_paths",
		"ast_grep_absolute_paths", "bash_absolute_paths", "bash_shell_expansion", "subagents_absolute_paths", "remaining_depth"},
}

// nullable are the keys whose value may be null.
var nullable = []string{"agent", "context"}

// parseScope reads a scope strictly: a ceiling that is not understood in full
// must stop the session, never be dropped. The error wraps ErrInvalid.
func parseScope(raw []byte) (*Scope, error) {
	if len(raw) > maxScopeBytes {
		return nil, fmt.Errorf("%w: task scope of %d bytes", ErrInvalid, len(raw))
	}
	if err := checkKeys(raw); err != nil {
		return nil, fmt.Errorf("%w: task scope: %v", ErrInvalid, err)
	}
	s := new(Scope)
	if err := json.Unmarshal(raw, s, json.RejectUnknownMembers(true)); err != nil {
		return nil, fmt.Errorf("%w: task scope does not decode", ErrInvalid)
	}
	for what, ok := range map[string]bool{
		"version": s.Version == 1, "task": s.Task.valid(), "ceiling": s.Ceiling.valid(), "clarifications": clarificationsFit(s.Clarifications),
	} {
		if !ok {
			return nil, fmt.Errorf("%w: task scope: %s", ErrInvalid, what)
		}
	}
	return s, nil
}

// checkKeys sees to it that nothing is left out at any of the three levels.
func checkKeys(raw []byte) error {
	top, err := object(raw, scopeKeys.top)
	if err != nil {
		return err
	}
	if _, err := object(top["original_task"], scopeKeys.task); err != nil {
		return err
	}
	_, err = object(top["ceiling"], scopeKeys.ceiling)
	return err
}

func object(raw []byte, keys []string) (map[string]jsontext.Value, error) {
	var m map[string]jsontext.Value
	if err := json.Unmarshal(raw, &m); err != nil || m == nil {
		return nil, fmt.Errorf("no object")
	}
	for _, k := range keys {
		v, ok := m[k]
		if !ok || v.Kind() == 'n' && !mayBeNull(k, keys) {
			return nil, fmt.Errorf("%s is missing", k)
		}
	}
	return m, nil
}

// mayBeNull: agent and context anywhere, cwd only in the task.
func mayBeNull(key string, level []string) bool {
	return slices.Contains(nullable, key) || key == "cwd" && slices.Contains(level, "intent")
}

func (t Task) valid() bool {
	return t.Intent != "" && len(t.Intent) <= maxIntentBytes && (t.Mode == "inspect" || t.Mode == "standard") &&
		fits(t.Agent, maxIntentBytes) && fits(t.Cwd, maxIntentBytes) && fits(t.Context, maxContextBytes)
}

func fits(s *string, bound int) bool { return s == nil || len(*s) <= bound }

func (c Ceiling) valid() bool {
	return c.Cwd != "" && len(c.Cwd) <= maxIntentBytes && c.RemainingDepth >= 0 && c.RemainingDepth <= maxDepth &&
		len(c.EnabledBuiltins) <= len(builtins)+2 && !slices.ContainsFunc(c.EnabledBuiltins, notBuiltin) &&
		namesFit(c.DisabledTools) && namesFit(c.CodeModeDisabledTools) && clientToolsFit(c.ClientTools)
}

// builtins are the tools a ceiling may enable (tools.md 1.1). Newer releases
// have bash_job too (extensions.md 18.3).
var builtins = []string{"read", "view_image", "bash", "hash_edit", "write", "grep", "find", "list_files", "subagents", "web", "ast_grep", "magi_control"}

func notBuiltin(name string) bool {
	return name != "jev" && name != "bash_job" && !slices.Contains(builtins, name)
}

func namesFit(names []string) bool {
	return len(names) <= maxNames && !slices.ContainsFunc(names, func(n string) bool {
		return len(n) > maxNameBytes || notBuiltin(n) && n != "code_mode" && !qualified(n, "mcp__") && !clientTool(n)
	})
}

// qualified reports whether name is prefix, a server, two underscores and a tool.
func qualified(name, prefix string) bool {
	rest, ok := strings.CutPrefix(name, prefix)
	server, tool, split := strings.Cut(rest, "__")
	return ok && split && server != "" && tool != ""
}

func clientTool(name string) bool {
	rest, ok := strings.CutPrefix(name, "client__")
	return ok && rest != ""
}

func clientToolsFit(m map[string]string) bool {
	for name, digest := range m {
		if len(name) > maxNameBytes || !clientTool(name) || len(digest) != 64 || strings.Trim(digest, "0123456789abcdefABCDEF") != "" {
			return false
		}
	}
	return len(m) <= maxClientTools
}

func clarificationsFit(all []string) bool {
	n := 0
	for _, c := range all {
		n += len(c)
	}
	return len(all) <= maxClarifications && n <= maxClarificationsBytes
}

// clarified returns the scope with one more clarification. The error wraps ErrInvalid.
func (s *Scope) clarified(text string) (*Scope, error) {
	c := *s
	c.Clarifications = append(slices.Clip(c.Clarifications), text)
	if !clarificationsFit(c.Clarifications) {
		return nil, fmt.Errorf("%w: task scope: clarifications", ErrInvalid)
	}
	return &c, nil
}

// Restricts reports whether the scope forbids a tool: it is disabled, or a
// built-in that is not enabled.
func (s *Scope) Restricts(tool string) bool {
	c := &s.Ceiling
	if slices.Contains(c.DisabledTools, tool) {
		return true
	}
	return slices.Contains(builtins, tool) && !slices.Contains(c.EnabledBuiltins, tool)
}
