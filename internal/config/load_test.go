package config

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"magicode/internal/vfs"
)

func TestNewHomeGetsItsFiles(t *testing.T) {
	w := newWorld(t)
	l := w.load()
	if got := w.read(rootDir + "/settings.json"); got != emptySettings {
		t.Errorf("settings.json is %q", got)
	}
	if got := w.read(rootDir + "/state/settings.schema.json"); got != string(Schema()) {
		t.Error("another schema was written")
	}
	if diff := cmp.Diff([]string{rootDir + "/settings.json"}, w.took); diff != "" {
		t.Errorf("locks (-want +got):\n%s", diff)
	}
	for dir, mode := range map[string]uint32{"": 0o755, "/cache": 0o755, "/state": 0o755, "/sessions": 0o700, "/checkpoints": 0o755} {
		info, err := w.fs.Lstat(rootDir + dir)
		if err != nil || uint32(info.Mode.Perm()) != mode || !info.Mode.IsDir() {
			t.Errorf("%s: %v %v", dir, info.Mode, err)
		}
	}
	want := Paths{Root: rootDir, CanonicalRoot: rootDir, CWD: workDir, Home: homeDir}
	if l.Paths != want || l.Project || l.Migrated {
		t.Errorf("%+v", l)
	}
	before := w.read(rootDir + "/settings.json")
	w.load()
	if w.read(rootDir+"/settings.json") != before {
		t.Error("an existing file was rewritten")
	}
}

func TestSchemaFileOfAnotherProgramStays(t *testing.T) {
	w := newWorld(t)
	w.write(rootDir+"/state/settings.schema.json", "theirs")
	w.load()
	if got := w.read(rootDir + "/state/settings.schema.json"); got != "theirs" {
		t.Errorf("overwritten with %.20q", got)
	}
}

func TestDefaults(t *testing.T) {
	s := newWorld(t).load().Settings
	if s.Agent.Model.Provider != nil || s.Agent.Model.Model != nil || s.Agent.Model.Level != LevelDefault {
		t.Errorf("model %+v", s.Agent.Model)
	}
	five, eighty, sixty := 16, 80, 60
	got := []any{
		s.Agent.Context.MaxTokens, s.Agent.Context.ReserveTokens, s.Agent.Context.KeepRecentTokens, s.Agent.Context.Enabled,
		s.Agent.Compaction.Auto.Enabled, s.Agent.Compaction.Auto.ThresholdPercent, s.Agent.Compaction.Auto.ThresholdTokens, s.Agent.Compaction.Auto.MaxPerRun,
		s.Agent.Subagents.MaxDepth, s.Providers.CodexVerbosity, s.Providers.ResponsesVerbosity, s.Providers.CacheTTL, s.Providers.SemanticTimeout,
		s.Capabilities.Tools.ShellExpansion, s.Capabilities.Tools.MaxImageBytes, s.Capabilities.Tools.CodeMode.Enabled, s.Capabilities.Tools.CodeMode.Limits.MaxMemoryBytes,
		s.Capabilities.Approvals, s.Capabilities.ProjectSettings, s.Hooks.Defaults, s.Sessions.RetentionDays, s.Interface.SubagentCardRows, s.Jev.Injection.Tools,
	}
	want := []any{
		128000, 16384, 20000, true, true, &eighty, (*int)(nil), (*int)(nil), 2, VerbosityLow, Verbosity(""), CacheTTL(""), &sixty,
		true, 5242880, true, 33554432, Approvals{Level: ProtectionRelaxed, FailurePolicy: AutoApprove}, ProjectFull,
		HookOptions{Payload: PayloadRedacted, Policy: PolicyWarn, TimeoutSeconds: 5, StdoutMaxBytes: 8192, StderrMaxBytes: 8192, ContextMaxBytes: 4096},
		30, &five, []string{"web"},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("defaults (-want +got):\n%s", diff)
	}
}

func TestSyntheticValues(t *testing.T) {
	w := newWorld(t)
	w.global(`{"agent":{"context":null,"subagents":{"execution":{"max_depth":99},"disabled":[" a ",""]}},
	"providers":{"custom":{"o":{"label":" Two Words ","base_url":" http://127.0.0.1:9/v1// ","api_key_env_var":" K ","extra_models":["a"," a ","b"],
	"request_headers":{"x-b":{"source":"conversation_id"},"X-A":{"source":"conversation_id"}},"fast_mode":{"service_tier":" t ","models":["*"]}}},
	"openai_codex":{"base_url":"https://gw.example/codex/"}},
	"capabilities":{"tools":{"read":{"absolute_paths":false}}},
	"automation":{"hooks":{"timeout_seconds":9,"after_tool":[{"command":"x","label":" ","stdout_max_bytes":7}]}}}`)
	s := w.load().Settings
	custom := Custom{
		Label: "Two Words", BaseURL: "http://127.0.0.1:9/v1", KeyVariable: "K", Responses: true, ExtraModels: []string{"a", "b"},
		ConversationHeaders: []string{"X-A", "x-b"}, FastMode: &FastMode{ServiceTier: "t", Models: []string{"*"}},
	}
	if diff := cmp.Diff(custom, s.Providers.Custom["o"]); diff != "" {
		t.Errorf("custom (-want +got):\n%s", diff)
	}
	hook := Hook{
		HookOptions: HookOptions{Payload: PayloadRedacted, Policy: PolicyWarn, TimeoutSeconds: 9, StdoutMaxBytes: 7, StderrMaxBytes: 8192, ContextMaxBytes: 4096},
		Label:       "hook", Command: "x", IncludeTools: []string{}, ExcludeTools: []string{},
	}
	if diff := cmp.Diff([]Hook{hook}, s.Hooks.AfterTool); diff != "" {
		t.Errorf("hook (-want +got):\n%s", diff)
	}
	if s.Agent.Context.MaxTokens != 128000 || s.Agent.Subagents.MaxDepth != 4 || s.Providers.CodexBaseURL != "https://gw.example/codex" ||
		!s.Capabilities.Tools.RelativeOnly["read"] || s.Capabilities.Tools.RelativeOnly["write"] || len(s.Agent.Subagents.Disabled) != 1 {
		t.Errorf("%+v", s)
	}
}

func TestUnusableFiles(t *testing.T) {
	deep := func(n int) string { return `{"x":` + strings.Repeat("[", n) + strings.Repeat("]", n) + `}` }
	big := `{"x":"` + strings.Repeat("a", 1<<20-8) + `"}`
	for name, c := range map[string]struct {
		text string
		line int
		ok   bool
	}{
		"empty":        {"", 1, false},
		"no JSON":      {"{nope", 1, false},
		"array":        {"[]", 1, false},
		"null":         {"null", 1, false},
		"trailing":     {"{}\n\nx", 3, false},
		"BOM":          {"\ufeff{}", 1, false},
		"not UTF-8":    {"{\n\"a\":\"\xff\"}", 2, false},
		"surrogate":    {`{"a":"\ud800"}`, 1, false},
		"overflow":     {`{"a":1e999}`, 0, false},
		"comma":        {"{\n\"a\":1,\n}", 2, false},
		"too deep":     {deep(127), 0, false},
		"deep":         {deep(126), 0, true},
		"just fits":    {big, 0, true},
		"a byte over":  {big + " ", 0, false},
		"repeated key": {`{"sessions":{"retention_days":-1,"retention_days":2}}`, 0, true},
	} {
		t.Run(name, func(t *testing.T) {
			for _, file := range []string{rootDir + "/settings.json", workDir + "/.magi-code/settings.json"} {
				w := newWorld(t)
				w.write(file, c.text)
				if c.ok {
					w.load()
				} else if e := w.refuse(); e.File != file || e.Line != c.line {
					t.Errorf("%s: %+v", file, e)
				}
			}
		})
	}
}

func TestFilesThatAreNoFiles(t *testing.T) {
	for _, file := range []string{rootDir + "/settings.json", workDir + "/.magi-code/settings.json", rootDir + "/.mcp.json", workDir + "/.mcp.json"} {
		for name, make := range map[string]func(*world) error{
			"link":      func(w *world) error { w.write("/other", "{}"); return w.fs.Symlink("/other", file) },
			"dangling":  func(w *world) error { return w.fs.Symlink("/nowhere", file) },
			"directory": func(w *world) error { return w.fs.Mkdir(file, 0o755) },
			"FIFO":      func(w *world) error { return w.fs.Mkfifo(file, 0o600) },
		} {
			t.Run(file+" "+name, func(t *testing.T) {
				w := newWorld(t)
				w.mkdir(rootDir)
				w.mkdir(workDir + "/.magi-code")
				if err := make(w); err != nil {
					t.Fatal(err)
				}
				if e := w.refuse(); e.File != file {
					t.Errorf("%+v", e)
				}
			})
		}
	}
}

func TestProjectFolder(t *testing.T) {
	const dir, file = workDir + "/.magi-code", workDir + "/.magi-code/settings.json"
	for name, c := range map[string]struct {
		make    func(*world)
		refused bool
		found   bool
	}{
		"none":             {func(*world) {}, false, false},
		"a file":           {func(w *world) { w.write(dir, "x") }, false, false},
		"dangling link":    {func(w *world) { _ = w.fs.Symlink("/nowhere", dir) }, false, false},
		"link to inside":   {func(w *world) { w.write(workDir+"/o/settings.json", "{}"); _ = w.fs.Symlink(workDir+"/o", dir) }, false, true},
		"link to outside":  {func(w *world) { w.write("/o/settings.json", "{}"); _ = w.fs.Symlink("/o", dir) }, true, false},
		"empty outside":    {func(w *world) { w.mkdir("/o"); _ = w.fs.Symlink("/o", dir) }, false, false},
		"parent's is none": {func(w *world) { w.write("/srv/.magi-code/settings.json", "{broken") }, false, false},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			c.make(w)
			if c.refused {
				if e := w.refuse(); e.File != file {
					t.Errorf("%+v", e)
				}
			} else if l := w.load(); l.Project != c.found {
				t.Errorf("project file found: %v", l.Project)
			}
		})
	}
}

func TestGlobalMustBeValidAlone(t *testing.T) {
	w := newWorld(t)
	w.global(at("sessions/retention_days", "-1"))
	w.project(at("sessions/retention_days", "1"))
	if e := w.refuse(); e.File != rootDir+"/settings.json" || e.Key != "sessions.retention_days" {
		t.Errorf("%+v", e)
	}
}

func TestErrorsNameFileKeyAndLine(t *testing.T) {
	w := newWorld(t)
	w.global("{\n  \"agent\": {\n    \"compaction\": {\"auto\": {\"threshold_percent\": null}}\n  }\n}")
	if e := w.refuse(); e.Key != "agent.compaction.auto" || e.Line != 3 {
		t.Errorf("%+v", e)
	}
	w.global("{\n\"providers\": {\"custom\": {\n    \"o\": {\"label\": \"SECRET=x\", \"base_url\": \"http://x\"}}}\n}")
	e := w.refuse()
	if e.Key != "providers.custom.o.label" || e.Line != 3 || strings.Contains(e.Error(), "SECRET") {
		t.Errorf("%+v", e)
	}
	w.global("{\n\"providers\": {\"custom\": {\n    \"o\": {\"label\": \"x\"}}}\n}")
	if e := w.refuse(); e.Key != "providers.custom.o.base_url" || e.Line != 3 {
		t.Errorf("a missing key: %+v", e)
	}
	w.global(`{"sessions":{"retention_days":1}}`)
	w.project("{\n\n\"sessions\":\n{\"retention_days\":-1}}")
	if e := w.refuse(); e.File != workDir+"/.magi-code/settings.json" || e.Line != 4 {
		t.Errorf("a project's key: %+v", e)
	}
	w.project("{\n\"agent\":{\"compaction\":{\"auto\":{\"threshold_percent\":null}}}}")
	if e := w.refuse(); e.File != workDir+"/.magi-code/settings.json" || e.Line != 2 {
		t.Errorf("a project that breaks a rule of two keys: %+v", e)
	}
}

func TestTelemetryIsThereWhateverElseIsWrong(t *testing.T) {
	for name, c := range map[string]struct{ global, want string }{
		"valid":       {`{"telemetry":{"enabled":true}}`, `{"enabled":true}`},
		"wrong type":  {`{"telemetry":[1, 2]}`, `[1, 2]`},
		"other wrong": {`{"agent":[],"telemetry":{"a":1}}`, `{"a":1}`},
		"absent":      {`{"agent":[]}`, ""},
		"no JSON":     {`{"telemetry":{"a":1}`, ""},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			w.global(c.global)
			l, _ := Load(t.Context(), w.env)
			if string(l.Telemetry) != c.want {
				t.Errorf("%q", l.Telemetry)
			}
		})
	}
	w := newWorld(t)
	w.project(`{"telemetry":{"enabled":true}}`)
	if l := w.load(); l.Telemetry != nil || !l.ProjectTelemetry {
		t.Errorf("a project's telemetry: %q %v", l.Telemetry, l.ProjectTelemetry)
	}
}

func TestLockTrouble(t *testing.T) {
	w := newWorld(t)
	w.env.Lock = func(context.Context, string, time.Duration) (func() error, error) { return nil, errors.New("held") }
	if e := w.refuse(); e.File != rootDir+"/settings.json" {
		t.Errorf("%+v", e)
	}
	ctx, cancel := context.WithCancelCause(t.Context())
	why := errors.New("stop")
	cancel(why)
	if _, err := Load(ctx, w.env); !errors.Is(err, why) || errors.Is(err, ErrInvalid) {
		t.Errorf("a cancelled wait gives %v", err)
	}
}

func TestReadOnlyHome(t *testing.T) {
	w := newWorld(t)
	w.mkdir(rootDir)
	if err := w.fs.Chmod(rootDir, 0o500); err != nil {
		t.Fatal(err)
	}
	e := w.refuse()
	if !errors.Is(e, vfs.ErrNotRegular) && e.Err == nil {
		t.Errorf("%+v", e)
	}
}
