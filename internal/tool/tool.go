package tool

import (
	"context"
	"encoding/json"
)

// Call is one call to dispatch. Arguments is one valid JSON value.
type Call struct {
	ID        string
	Name      string // as sent, alias included
	Arguments json.RawMessage
}

// Result is what a call gave. Content goes to the model, Metadata stays local.
type Result struct {
	ToolName string // the call's name as sent
	Success  bool
	Content  string
	Metadata map[string]any
	Touched  []Touched
	Changed  []string // canonical paths of files this call changed
	// Display is for those who show the call later; nil for tools without one.
	Display *ResourceDisplay
	// Fatal ends the run with this error once the result is recorded. It is for
	// calls that hold other calls, one of which the user denied; a failure that
	// the model may go on from is none.
	Fatal error
}

// Touched is a path that a call read, listed or changed (tools.md 1.3).
type Touched struct {
	Path      string // canonical
	Kind      string // read, list, search, write, edit, move, delete
	Success   bool
	InsideCwd bool
	Directory bool
}

// Definition is what the model is offered.
type Definition struct {
	Name        string
	Description string
	Parameters  json.RawMessage // object schema, additionalProperties false
}

// Env is where a call runs. It is made per run and not changed by tools.
type Env struct {
	Cwd          string // as given
	CanonicalCwd string
	Inspect      bool // only the inspection set may run
	CallID       string
	// ContextUsage tells how full the model's context is, in tokens; nil or not
	// known where nothing was counted yet.
	ContextUsage func() (current, limit int, known bool)
	// Edits is told of every file that a tool changes; nil: nobody keeps them.
	Edits Edits
	// WebSearch searches by the run's own provider; nil: it has no search.
	WebSearch func(ctx context.Context, query string, limit int) (SearchAnswer, error)
	// Nest is what the runner offers to a call that holds runs of its own: a
	// *runner.Nest, or nil outside of a run.
	Nest any
}

// SearchAnswer is what a provider's own search found.
type SearchAnswer struct {
	Provider string // its id
	Text     string
	Sources  []Source // each address once
}

// Source is a page that an answer rests on.
type Source struct{ URL, Title string }

// Tool is one tool. Run never panics on bad input and never ends the run: a
// failure is a Result. It returns soon after ctx ends.
type Tool interface {
	Definition() Definition
	Run(ctx context.Context, env Env, args json.RawMessage) Result
}
