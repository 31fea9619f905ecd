package startup

import (
	"context"
	"errors"
	"time"

	"magicode/internal/auth"
	"magicode/internal/config"
	"magicode/internal/profile"
	"magicode/telemetry"
)

// Start reads everything once and judges it (storage.md 2.6, providers.md 4).
// Beside an error the Info holds what was known by then: nothing unless all of
// the configuration loaded, context, provider and model after that. The error
// is one of the package's sentinels, or the cause of the context's end, which
// is looked at between the steps.
func Start(ctx context.Context, env Env) (*Snapshot, Info, error) {
	ctx, span := env.Telemetry.Begin(ctx, telemetry.SpanStartup)
	defer span.End()
	s := &starter{env: env, snap: new(Snapshot)}
	for _, step := range []struct {
		stage Stage
		run   func(context.Context) error
	}{
		{StageSettings, s.settings},
		{StageAuth, s.auth},
		{StageInstructions, s.instructions},
		{StageSkills, s.skills},
		{StageProfiles, s.profiles},
		{StageMCP, s.connect},
		{StageReadiness, s.readiness},
	} {
		err := context.Cause(ctx)
		if err == nil {
			err = s.step(ctx, step.stage, step.run)
		}
		if err != nil {
			span.Fail(telemetry.CodeOf(codeOf(err)))
			span.Bool(telemetry.KeyStartupCancelled, codeOf(err) == "")
			return nil, s.info, s.failed(err)
		}
	}
	return s.snap, s.info, nil
}

// starter is one start in progress.
type starter struct {
	env   Env
	snap  *Snapshot
	info  Info
	store auth.File
}

// spanOf names the span of a stage. Reading the credentials has none, and each
// MCP server has one of its own.
func spanOf(stage Stage) (telemetry.Kind, bool) {
	switch stage {
	case StageSettings:
		return telemetry.SpanStartupSettings, true
	case StageInstructions:
		return telemetry.SpanStartupInstructions, true
	case StageSkills:
		return telemetry.SpanStartupSkills, true
	case StageProfiles:
		return telemetry.SpanStartupProfiles, true
	case StageReadiness:
		return telemetry.SpanStartupReadiness, true
	}
	return 0, false
}

// step runs one stage inside its span.
func (s *starter) step(ctx context.Context, stage Stage, run func(context.Context) error) error {
	kind, ok := spanOf(stage)
	if stage == StageMCP && len(s.snap.MCP.Servers) > 0 && s.env.Telemetry.On() {
		began := time.Now()
		err := run(ctx)
		s.env.Telemetry.StageTook(telemetry.WordOf("mcp"), time.Since(began), err != nil, telemetry.CodeOf(codeOf(err)))
		return err
	}
	if !ok {
		return run(ctx)
	}
	ctx, span := s.env.Telemetry.Begin(ctx, kind)
	defer span.End()
	err := run(ctx)
	if err != nil {
		span.Fail(telemetry.CodeOf(codeOf(err)))
	}
	return err
}

// failed closes what was connected and leaves the note. A cancelled start is
// nobody's fault and leaves none.
func (s *starter) failed(err error) error {
	if s.snap.Servers != nil {
		err = errors.Join(err, s.snap.Servers.Close())
	}
	if codeOf(err) != "" {
		note(s.env, s.snap.Paths, err)
	}
	return err
}

func (s *starter) settings(ctx context.Context) error {
	l, err := config.Load(ctx, s.env.config())
	s.snap.Paths = l.Paths
	s.startTelemetry(ctx, l)
	if err != nil {
		return s.configuration(ctx, StageSettings, err)
	}
	s.snap.Settings, s.snap.MCP, s.snap.IgnoredSettings = l.Settings, l.MCP, l.Ignored
	s.snap.Selection = Selected(l.Settings.Agent.Model)
	s.snap.Custom = Customs(l.Settings.Providers.Custom, s.env.Lookup)
	return nil
}

// startTelemetry is where telemetry decides: from the global file, even if the
// rest of it is wrong, and never from the project's (telemetry.md 2.3).
func (s *starter) startTelemetry(ctx context.Context, l *config.Loaded) {
	s.info.Telemetry = l.Telemetry
	id := s.env.Child
	id.Project = l.ProjectTelemetry
	if l.Paths.Root != "" {
		id.StateDir = l.Paths.State()
	}
	s.env.Telemetry.Start(l.Telemetry, id)
	span := telemetry.Current(ctx)
	span.Bool(telemetry.KeySettingsMigrated, l.Migrated)
	span.Bool(telemetry.KeySettingsProject, l.Project)
}

// configuration tells a broken configuration from a context that ended while a
// lock was waited for.
func (s *starter) configuration(ctx context.Context, stage Stage, err error) error {
	if cause := context.Cause(ctx); cause != nil && errors.Is(err, cause) {
		return cause
	}
	return fail(ErrConfiguration, stage, err)
}

func (s *starter) auth(ctx context.Context) error {
	path := s.snap.Paths.Auth()
	s.snap.Auth = s.env.store(path)
	var err error
	if s.store, err = s.snap.Auth.Read(ctx); err != nil {
		return s.configuration(ctx, StageAuth, err)
	}
	return nil
}

func (s *starter) instructions(ctx context.Context) error {
	var err error
	snap, paths := s.snap, s.snap.Paths
	snap.Instructions, err = profile.ReadInstructions(s.env.FS, paths.Root, paths.CWD, snap.Settings.Knowledge.MarkdownPaths)
	if err == nil {
		snap.Fragments, err = profile.ReadFragments(s.env.FS, paths.Root)
	}
	if err != nil {
		return fail(ErrConfiguration, StageInstructions, err)
	}
	if span := telemetry.Current(ctx); span.On() {
		size := 0
		for _, i := range snap.Instructions {
			size += len(i.Text)
		}
		span.Int(telemetry.KeyCount, int64(len(snap.Instructions)))
		span.Int(telemetry.KeySize, int64(size))
	}
	return nil
}

// skills ends the configuration: from here on the context and the selection are
// known, whatever follows.
func (s *starter) skills(ctx context.Context) error {
	paths, know := s.snap.Paths, s.snap.Settings.Knowledge
	s.snap.Skills = profile.FindSkills(s.env.FS, profile.SkillRoots{
		Home: paths.Home, Root: paths.Root, Additional: know.SkillPaths, CWD: paths.CWD,
	}, know.SkillsDisabled)
	telemetry.Current(ctx).Int(telemetry.KeyCount, int64(len(s.snap.Skills)))
	telemetry.Current(ctx).Int(telemetry.KeyDiagnostics, 0) // what is no skill is passed over without a word
	s.snap.ContextID = config.ContextID(paths.CWD, paths.CanonicalRoot)
	s.info.ContextID = s.snap.ContextID
	s.info.Provider, s.info.Model = s.snap.Selection.Provider, s.snap.Selection.Model
	return nil
}

func (s *starter) profiles(ctx context.Context) error {
	var err error
	agent := s.snap.Settings.Agent
	s.snap.Subagents, err = profile.ReadSubagents(s.env.FS, s.snap.Paths.Root, agent.Subagents.Disabled)
	if err == nil {
		s.snap.Agent, err = profile.ReadAgent(s.env.FS, s.snap.Paths.Root, agent.PrimaryAgent)
	}
	if err != nil {
		return fail(ErrProfile, StageProfiles, err)
	}
	span := telemetry.Current(ctx)
	span.Int(telemetry.KeyCount, int64(len(s.snap.Subagents.Profiles)))
	span.Int(telemetry.KeyDiagnostics, int64(len(s.snap.Subagents.Diagnostics)))
	return nil
}

func (s *starter) connect(ctx context.Context) error {
	if len(s.snap.MCP.Servers) == 0 || s.env.Connect == nil {
		return nil
	}
	servers, err := s.env.Connect(ctx, s.snap.MCP.Servers)
	if err != nil {
		if cause := context.Cause(ctx); cause != nil {
			return cause
		}
		return fail(ErrMCP, StageMCP, err)
	}
	s.snap.Servers = servers
	return nil
}

// unready says why a provider cannot be used: a key and a fixed phrase.
type unready struct{ key, reason string }

func (u *unready) Error() string { return u.key + ": " + u.reason }

func (s *starter) readiness(ctx context.Context) error {
	telemetry.Current(ctx).Str(telemetry.KeyProvider, providerWord(s.snap.Selection.Provider))
	why := s.unready(ctx, s.snap.Selection.Provider)
	if why == nil {
		return nil
	}
	if cause := context.Cause(ctx); cause != nil {
		return cause
	}
	return fail(ErrProvider, StageReadiness, why)
}

// providerWord is telemetry's word for a provider; one of the user's own has a
// name that is nobody's business.
func providerWord(id string) telemetry.Word {
	if builtin(id) || id == "claude-subscription" {
		return telemetry.WordOf(id)
	}
	return telemetry.WordOf("custom")
}

func (s *starter) unready(ctx context.Context, id string) *unready {
	const key = "agent.model.provider"
	custom, known := s.snap.Custom[id]
	switch {
	case known:
		if !custom.Ready {
			return &unready{"providers.custom." + id + ".api_key_env_var", "the variable it names is empty or not set"}
		}
	case id == "claude-subscription":
		return s.claude(ctx)
	case !builtin(id):
		return &unready{key, "no such provider"}
	case s.store.Ready(id, s.env.Lookup, s.env.Now()) == auth.Missing:
		return &unready{key, "no usable credential"}
	}
	return nil
}

func (s *starter) claude(ctx context.Context) *unready {
	if name := auth.ClaudeConflict(s.env.Lookup); name != "" {
		return &unready{name, "is set and would override the login of the claude command"}
	}
	if s.env.ClaudeReady == nil || !s.env.ClaudeReady(ctx) {
		return &unready{"agent.model.provider", "the claude command is not logged in"}
	}
	return nil
}
