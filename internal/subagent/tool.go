package subagent

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"magicode/internal/runner"
	"magicode/internal/tool"
	"magicode/internal/vfs"
	"magicode/telemetry"
)

// Name is the tool's name.
const Name = "subagents"

// Request is a task that is to be opened.
type Request struct {
	Task
	ID           string // "g1", by its place in the call
	Scope        string // the ids from the first level down: "g1/g2"
	Depth        int    // of the task's run; 1 for tasks of the primary
	Cwd          string // as given
	CanonicalCwd string
}

// Child is an opened task.
type Child struct {
	SessionID string
	Path      string // of the session's log
	Provider  string // whom the task asks
	Model     string
	Schema    string // what the answer must look like, a JSON Schema; "" for free text
	// Begin prepares the session; the parent's has the link to it by then.
	Begin func(ctx context.Context) error
	// Config makes the configuration of a run of this session, without its Sink:
	// the first, and each time that the task is asked again.
	Config func(ctx context.Context) (runner.Config, error)
	// Close releases the session. It is called once.
	Close func()
}

// Open finds a task's profile and makes its session. Nothing is written yet. The
// error is told to the model. It is called by several goroutines at a time.
type Open func(ctx context.Context, r Request) (*Child, error)

// Options are what the tool of one run works with.
type Options struct {
	Open     Open
	FS       vfs.FS
	Absolute bool // agent.subagents.execution.absolute_paths
	// Depth is that of the run that is offered the tool; the primary's is 0.
	// Remaining is how many levels may lie below it.
	Depth, Remaining int
	Scope            string // of that run's own task, "" for the primary
	SchemaRetries    int
	// Crashed is called behind a panic in a task, while its stack is there; nil
	// is allowed.
	Crashed func()
	Tel     telemetry.Tel
}

// Tool implements tool.Tool. It is safe for concurrent use.
type Tool struct{ opt Options }

// New returns the tool of one run.
func New(o Options) *Tool { return &Tool{opt: o} }

// Definition implements tool.Tool.
func (*Tool) Definition() tool.Definition {
	return tool.Definition{Name: Name, Description: description, Parameters: json.RawMessage(parameters)}
}

// Run implements tool.Tool. It returns when every task has ended.
func (t *Tool) Run(ctx context.Context, env tool.Env, args json.RawMessage) tool.Result {
	tasks, concurrency, err := parse(args)
	if err != nil {
		return tool.Failed("%v", err)
	}
	nest, ok := env.Nest.(*runner.Nest)
	if !ok || t.opt.Open == nil {
		return tool.Failed("tasks cannot be delegated here")
	}
	if t.opt.Remaining <= 0 {
		return tool.Failed("tasks cannot be delegated further: the nesting depth is used up")
	}
	b := &batch{opt: t.opt, nest: nest, workers: min(concurrency, len(tasks))}
	for i, task := range tasks {
		r := Request{Task: task, ID: fmt.Sprintf("g%d", i+1), Depth: t.opt.Depth + 1}
		r.Scope = r.ID
		if t.opt.Scope != "" {
			r.Scope = t.opt.Scope + "/" + r.ID
		}
		if r.Cwd, r.CanonicalCwd, err = place(t.opt.FS, env, t.opt.Absolute, task.Cwd); err != nil {
			return tool.Failed("invalid arguments: task %d: %v", i+1, err)
		}
		t := newTask(b, r)
		t.place, t.queued = i+1, time.Now()
		b.tasks = append(b.tasks, t)
	}
	return b.run(ctx)
}
