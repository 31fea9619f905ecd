package agent

import (
	"context"
	"errors"
	"net/http"
	"os"
	"os/user"
	"runtime"
	"time"

	"magicode/internal/attach"
	"magicode/internal/lease"
	"magicode/internal/ledger"
	"magicode/internal/models"
	"magicode/internal/prompt"
	"magicode/internal/redact"
	"magicode/internal/server"
	"magicode/internal/session"
	"magicode/internal/startup"
	"magicode/internal/vfs"
	"magicode/internal/worktree"
	"magicode/telemetry"
)

// Agent makes the runtime of one child. It implements server.Startup.
type Agent struct {
	fs      vfs.FS
	leases  *lease.Manager
	cwd     string // canonical
	environ []string
	lookup  func(string) (string, bool)
	tel     telemetry.Tel
	// instance is the child's id on the wire.
	instance string

	// service is asked in place of the judgement service; tests only.
	service http.RoundTripper

	runtime *agentRuntime // after a successful start
}

// Start implements server.Startup.
func (a *Agent) Start(ctx context.Context) (server.Runtime, server.Info, error) {
	snap, info, err := startup.Start(ctx, startup.Env{
		FS: a.fs, Locks: a.leases, Lookup: a.lookup, Now: time.Now, CWD: a.cwd, PID: os.Getpid(), UID: os.Geteuid(),
		PasswordHome: PasswordHome, Telemetry: a.tel, Child: telemetry.Identity{InstanceID: a.instance, Version: Version}, Connect: a.connectServers,
		ClaudeReady: a.claude().Ready,
	})
	shown := server.Info{ContextID: info.ContextID, Provider: ShownName(info.Provider), Model: ShownName(info.Model)}
	if err != nil {
		return nil, shown, err
	}
	a.runtime = a.assemble(snap)
	return a.runtime, shown, nil
}

// ShownName is a provider's or model's name if it is safe to show, else "".
func ShownName(name string) string {
	safe, ok := redact.SafeName(name)
	if !ok {
		return ""
	}
	return safe
}

// assemble builds all that the snapshot's turns share.
func (a *Agent) assemble(snap *startup.Snapshot) *agentRuntime {
	r := &agentRuntime{agent: a, snap: snap}
	r.store = session.NewStore(session.Options{
		FS: a.fs, Leases: a.leases, Dir: snap.Paths.Sessions(), RecoveredDir: recoveredDir(snap.Paths.State()), Cwd: a.cwd,
		SessionPath: func() string { return worktree.Main(a.fs, a.cwd) }, NewID: NewID, Now: time.Now, Tel: a.tel,
	})
	r.ledger = ledger.New(ledger.Options{FS: a.fs, Leases: a.leases, Root: snap.Paths.CanonicalRoot})
	r.models = a.Models(snap)
	r.providers = newFactory(a, snap, r.models)
	r.tools = newToolset(a, snap, r.providers)
	r.judge = a.newJudgement(snap)
	r.lsp = a.newLSP(snap)
	r.system = r.systemOf(r.tools.whole.inner != nil, true, snap.Agent)
	r.attach = attach.New(attach.Options{
		Store: r.store, FS: a.fs, Cwd: a.cwd, Startup: snap.Selection, Models: r.models, NewID: NewID, Tel: a.tel,
	})
	return r
}

// Models are those of a snapshot.
func (a *Agent) Models(snap *startup.Snapshot) *models.Models {
	return models.New(a.fs, a.lookup, a.claude(), snap)
}

// promptParts maps the snapshot to what a system prompt is made of.
func promptParts(snap *startup.Snapshot) prompt.Parts {
	p := prompt.Parts{OS: runtime.GOOS + "/" + runtime.GOARCH, Terminal: "none: a host application shows your replies", Overrides: snap.Fragments}
	for _, s := range snap.Skills {
		p.Skills = append(p.Skills, prompt.Row{Name: s.Name, Description: s.Description})
	}
	for _, i := range snap.Instructions {
		p.Instructions = append(p.Instructions, prompt.File{Path: i.Path, Text: i.Text})
	}
	for _, s := range snap.Subagents.Profiles {
		p.Subagents = append(p.Subagents, prompt.Row{Name: s.ID, Description: s.Description})
	}
	for _, d := range snap.Subagents.Diagnostics {
		p.Subagents = append(p.Subagents, prompt.Row{Name: d.File + " " + d.Reason + " and is not available"})
	}
	return p
}

// userHome asks the password database.
func userHome() string {
	u, err := user.Current()
	if err != nil {
		return ""
	}
	return u.HomeDir
}

var errNoSession = errors.New("no session is attached")
