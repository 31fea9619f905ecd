package agent

import (
	"context"
	"encoding/json"
	"fmt"

	"magicode/internal/server"
	"magicode/internal/tool"
	"magicode/internal/worker"
)

// watched is a tool whose panic fails its call alone: the model is told that
// it failed, the session where.
type watched struct {
	tool.Tool
	tell func(worker.Panic)
}

// Run implements tool.Tool.
func (w watched) Run(ctx context.Context, env tool.Env, args json.RawMessage) (res tool.Result) {
	returned := false
	defer func() {
		if returned {
			return
		}
		_ = recover() // its text may hold anything
		w.tell(worker.Here())
		res = tool.Failed("the tool '%s' failed because of an internal error", w.Definition().Name)
	}()
	res = w.Tool.Run(ctx, env, args)
	returned = true
	return res
}

// watch makes all tools of a set watched.
func (a *Agent) watch(tools []tool.Tool) []tool.Tool {
	out := make([]tool.Tool, 0, len(tools))
	for _, t := range tools {
		out = append(out, watched{Tool: t, tell: func(p worker.Panic) { a.crashed("tool", p) }})
	}
	return out
}

// panicked leaves a trace of a worker's panic in the attached session.
func (a *Agent) panicked(w server.Worker, p worker.Panic) {
	if w != server.WorkerConnection {
		a.crashed(string(w)+" worker", p)
	}
}

// crashed records where an internal error happened, never with what values. The
// session may be what is broken: a second panic ends here.
func (a *Agent) crashed(where string, p worker.Panic) {
	defer func() { _ = recover() }()
	if a.runtime != nil {
		a.runtime.diagnose(fmt.Sprintf("internal error in the %s at %s (%s:%d)", where, p.Function, p.File, p.Line))
	}
}
