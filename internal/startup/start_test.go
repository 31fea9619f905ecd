package startup

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"magicode/internal/config"
	"magicode/internal/lease"
	"magicode/internal/profile"
	"magicode/internal/provider"
	"magicode/internal/vfs"
	"magicode/internal/vfs/memfs"
)

const (
	root = "/u/mc"
	cwd  = "/srv/work"
)

var now = time.Unix(1_800_000_000, 0)

// world is a home with one custom provider named fixture, as a host's tests use it.
type world struct {
	fs   *memfs.FS
	vars map[string]string
	env  Env
	t    testing.TB
}

func newWorld(t testing.TB) *world {
	t.Helper()
	w := &world{fs: memfs.New(), vars: map[string]string{"HOME": "/u", "MC_HOME": root}, t: t}
	for _, dir := range []string{root, cwd} {
		if err := w.fs.MkdirAll(dir, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	locks := lease.New(lease.Options{FS: w.fs})
	t.Cleanup(func() { _ = locks.Close() })
	w.env = Env{
		FS: w.fs, Locks: locks, CWD: cwd, PID: os.Getpid(), UID: os.Geteuid(), Now: func() time.Time { return now },
		Lookup: func(name string) (string, bool) { v, ok := w.vars[name]; return v, ok },
	}
	w.settings(`{}`)
	return w
}

// settings writes the global file: fixture, and what is given on top.
func (w *world) settings(extra string) {
	w.t.Helper()
	base := map[string]any{}
	must(w.t, json.Unmarshal([]byte(`{"schema_version":2,"agent":{"model":{"provider":"fixture","model":"fixture-model"}},
	"providers":{"custom":{"fixture":{"label":"Fixture","base_url":"http://127.0.0.1:9/v1","use_responses_endpoint":false}}}}`), &base))
	var over map[string]any
	must(w.t, json.Unmarshal([]byte(extra), &over))
	data, err := json.MarshalIndent(merge(base, over), "", "  ")
	must(w.t, err)
	w.write(root+"/settings.json", string(data))
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func merge(a, b map[string]any) map[string]any {
	for k, v := range b {
		x, okX := a[k].(map[string]any)
		y, okY := v.(map[string]any)
		if okX && okY {
			a[k] = merge(x, y)
		} else {
			a[k] = v
		}
	}
	return a
}

func at(path, value string) string {
	parts := strings.Split(path, "/")
	for _, part := range slices.Backward(parts) {
		value = fmt.Sprintf("{%q:%s}", part, value)
	}
	return value
}

func (w *world) write(name, text string) {
	w.t.Helper()
	must(w.t, w.fs.MkdirAll(filepath.Dir(name), 0o755))
	must(w.t, vfs.Replace(w.fs, name, []byte(text), 0o600))
}

// start checks what holds of every start.
func (w *world) start(ctx context.Context) (*Snapshot, Info, error) {
	w.t.Helper()
	snap, info, err := Start(ctx, w.env)
	if (snap == nil) != (err != nil) {
		w.t.Errorf("a snapshot beside an error, or neither: %v", err)
	}
	if info.ContextID == "" && info.Provider+info.Model != "" {
		w.t.Errorf("a selection without a context: %+v", info)
	}
	for _, name := range []string{root + "/.settings.json.lock", root + "/.auth.json.lock"} {
		if _, err := w.fs.Lstat(name); err == nil {
			w.t.Errorf("%s is left", name)
		}
	}
	return snap, info, err
}

func (w *world) ready() (*Snapshot, Info) {
	w.t.Helper()
	snap, info, err := w.start(w.t.Context())
	if err != nil {
		w.t.Fatal(err)
	}
	return snap, info
}

// fails wants one sentinel, and the note that goes with it.
func (w *world) fails(sentinel error) (Info, Note) {
	w.t.Helper()
	_, info, err := w.start(w.t.Context())
	for _, s := range []error{ErrConfiguration, ErrProvider, ErrProfile, ErrMCP} {
		if errors.Is(err, s) != (s == sentinel) {
			w.t.Fatalf("got %v, wanted %v", err, sentinel)
		}
	}
	return info, w.note()
}

func (w *world) note() Note {
	w.t.Helper()
	data, err := vfs.ReadFile(w.fs, root+"/state/last-startup.json", 1<<16, vfs.Private)
	if errors.Is(err, fs.ErrNotExist) {
		return Note{}
	}
	must(w.t, err)
	var n Note
	must(w.t, json.Unmarshal(data, &n))
	return n
}

func TestReady(t *testing.T) {
	w := newWorld(t)
	w.write(root+"/AGENTS.md", "GLOBAL-RULE-1")
	w.write(cwd+"/AGENTS.md", "PROJECT-RULE-2")
	w.write(cwd+"/sub/AGENTS.md", "SUBDIR-RULE-3")
	w.write(root+"/skills/greeting/SKILL.md", "---\nname: other\ndescription: How to greet.\n---\nBODY\n")
	w.write(root+"/prompts/system.md", "S")
	w.write(root+"/agents/calm.md", "---\nname: Calm\ndescription: d\n---\nBe calm.\n")
	w.write(root+"/subagents/scout.md", "---\nname: Scout\ndescription: d\n---\nLook.\n")
	w.settings(at("agent/primary_agent", `"calm"`))
	snap, info := w.ready()
	id := config.ContextID(cwd, root)
	if diff := cmp.Diff(Info{ContextID: id, Provider: "fixture", Model: "fixture-model"}, info); diff != "" {
		t.Errorf("info (-want +got):\n%s", diff)
	}
	if snap.ContextID != id || snap.Selection != (provider.Selection{Provider: "fixture", Model: "fixture-model", Level: provider.LevelDefault}) || snap.Servers != nil {
		t.Errorf("%+v", snap)
	}
	if diff := cmp.Diff([]profile.Instruction{{Path: root + "/AGENTS.md", Text: "GLOBAL-RULE-1"}, {Path: cwd + "/AGENTS.md", Text: "PROJECT-RULE-2"}}, snap.Instructions); diff != "" {
		t.Error(diff)
	}
	if len(snap.Skills) != 1 || snap.Fragments["system"] != "S" || snap.Agent.Text != "Be calm.\n" || len(snap.Subagents.Profiles) != 1 || snap.Custom["fixture"].BaseURL != "http://127.0.0.1:9/v1" {
		t.Errorf("%+v", snap)
	}
	if w.note() != (Note{}) {
		t.Error("a note after a good start")
	}
}

func TestContextFollowsLinks(t *testing.T) {
	w := newWorld(t)
	must(t, w.fs.Symlink(root, "/link"))
	w.vars["MC_HOME"] = "/link"
	if _, info := w.ready(); info.ContextID != config.ContextID(cwd, root) {
		t.Error("the home's link is part of the identity")
	}
	must(t, w.fs.Symlink(cwd, "/cwd-link"))
	if dir, err := Canonical(w.fs, "/cwd-link"); dir != cwd || err != nil {
		t.Errorf("%s %v", dir, err)
	}
	for _, dir := range []string{"relative", "/nowhere"} {
		if _, err := Canonical(w.fs, dir); err == nil {
			t.Errorf("%s is canonical", dir)
		}
	}
}

// TestSettingsThatAreRefused: one value each (conformance: settings_that_are_refused).
func TestSettingsThatAreRefused(t *testing.T) {
	const c = `{"label":"Other","base_url":"http://127.0.0.1:9/v1"`
	for _, s := range []string{
		at("agent", "[]"), at("providers", "null"), at("schema_version", "2.5"), at("schema_version", "99"), at("agent/model/thinking_level", `"xhigh"`), at("agent/model/provider", `"claude-code"`),
		at("agent/compaction/auto/threshold_percent", "0"), at("capabilities/tools/code_mode/limits/max_inner_calls", "0"), at("capabilities/tools/code_mode/nope", "1"),
		at("capabilities/tools/code_mode/disabled", `["magi_control"]`), at("capabilities/tools/disabled", `["code_mode"]`), at("capabilities/lsp/diagnostics_wait_ms", "0"),
		at("automation/hooks/timeout_seconds", "0"), at("automation/hooks/after_tool", `[{"command":"true","failure_policy":"block"}]`), at("automation/hooks/before_tool", `[{"command":" "}]`),
		at("sessions/retention_days", "-1"), at("interface/tui/subagent_card_rows", "0"), at("providers/streaming/semantic_progress_timeout_seconds", "601"),
		at("knowledge/instructions/additional_markdown_paths", `["relative.md"]`), at("providers/custom", `{"Bad":`+c+`}}`), at("providers/custom/other", c+`,"base_url":"http://127.0.0.1:9/v1/responses"}`),
		at("providers/custom/other", c+`,"base_url":"http://u:p@127.0.0.1:9/v1"}`), at("providers/custom/other", c+`,"request_headers":{"Authorization":{"source":"conversation_id"}}}`),
	} {
		w := newWorld(t)
		w.settings(s)
		info, note := w.fails(ErrConfiguration)
		if info.ContextID != "" || info.Provider != "" || info.Model != "" {
			t.Errorf("%s: %+v is known", s, info)
		}
		want := Note{Time: "2027-01-15T08:00:00Z", Code: "configuration_invalid", Stage: StageSettings, File: root + "/settings.json", Key: note.Key, Line: note.Line, Reason: note.Reason}
		if note != want || note.Key == "" || note.Line == 0 || note.Reason == "" {
			t.Errorf("%s: %+v", s, note)
		}
	}
}

// TestSettingsThatAreTolerated: conformance, settings_that_are_tolerated.
func TestSettingsThatAreTolerated(t *testing.T) {
	for _, s := range []string{
		at("nobody/knows/this", "[1]"), at("capabilities/tools/disabled", `["not_a_tool"]`), at("agent/subagents/execution/max_depth", "99"), at("sessions/retention_days", "0"),
		at("sessions/titles/enabled", "true"), at("agent/context", "null"), at("capabilities/tools/view_image/max_image_bytes", "0"), at("internal_tooling/jev/enabled", "true"),
	} {
		w := newWorld(t)
		w.settings(s)
		w.ready()
	}
	w := newWorld(t)
	w.write(root+"/settings.json", `{"agent":{"model":{"provider":"o"}},"providers":{"custom":{"o":{"label":"O","base_url":"http://127.0.0.1:9"}}}}`) // no schema version
	if _, info := w.ready(); info.Model != "gpt-5.5" {
		t.Errorf("%+v", info)
	}
}

func TestStorageRoot(t *testing.T) {
	for _, value := range []string{"", "relative/path", "~/x"} {
		w := newWorld(t)
		w.vars["MC_HOME"] = value
		if info, note := w.fails(ErrConfiguration); note != (Note{}) || info.ContextID != "" {
			t.Errorf("%q: %+v %+v", value, info, note)
		}
	}
	w := newWorld(t)
	must(t, w.fs.Mkdir(root+"/sessions", 0o755))
	if _, note := w.fails(ErrConfiguration); note.File != root+"/sessions" {
		t.Errorf("%+v", note)
	}
	w = newWorld(t)
	w.write("/f", "x")
	w.vars["MC_HOME"] = "/f"
	w.fails(ErrConfiguration)
}

func TestOldFolders(t *testing.T) {
	w := newWorld(t)
	w.write(root+"/primary-agents/calm.md", "---\nname: calm\ndescription: d\n---\nBe calm.\n")
	w.settings(at("agent/primary_agent", `"calm"`))
	w.ready()
	w = newWorld(t)
	delete(w.vars, "MC_HOME")
	must(t, w.fs.Rename(root, "/u/.mc"))
	if _, info := w.ready(); info.Provider != "fixture" || info.ContextID != config.ContextID(cwd, "/u/.magi-code") {
		t.Errorf("%+v", info)
	}
}

func TestOnlyTheExactDirectoryIsAProject(t *testing.T) {
	w := newWorld(t)
	for _, name := range []string{"/srv/.magi-code/settings.json", "/srv/.mcp.json"} {
		w.write(name, "{broken")
	}
	w.write("/srv/AGENTS.md", "\xff")
	w.ready()
	w.write(cwd+"/.magi-code/settings.json", at("agent/model/model", `"project-model"`))
	if _, info := w.ready(); info.Model != "project-model" {
		t.Errorf("%+v", info)
	}
	w.write(cwd+"/.magi-code/settings.json", "[")
	w.fails(ErrConfiguration)
}

func TestProfiles(t *testing.T) {
	w := newWorld(t)
	w.settings(at("agent/primary_agent", `"missing"`))
	info, note := w.fails(ErrProfile)
	if info.ContextID == "" || info.Provider != "fixture" || note.Stage != StageProfiles || note.Code != "profile_invalid" || note.Key != "agent.primary_agent" {
		t.Errorf("%+v %+v", info, note)
	}
	w = newWorld(t)
	w.write(root+"/subagents/broken.md", "no front matter\n")
	if _, note := w.fails(ErrProfile); note.File != root+"/subagents/broken.md" || note.Line != 1 {
		t.Errorf("%+v", note)
	}
	w.settings(at("agent/subagents/disabled", `["broken"]`))
	w.ready()
}

func TestInstructionsAndFragments(t *testing.T) {
	w := newWorld(t)
	w.write(cwd+"/AGENTS.md", "\xff")
	if info, note := w.fails(ErrConfiguration); info.ContextID != "" || note.Stage != StageInstructions || note.File != cwd+"/AGENTS.md" {
		t.Errorf("%+v %+v", info, note)
	}
	w = newWorld(t)
	w.write(root+"/prompts/tools.md", "a\n{{nope}}")
	if _, note := w.fails(ErrConfiguration); note.File != root+"/prompts/tools.md" || note.Line != 2 {
		t.Errorf("%+v", note)
	}
}

func codexFile(record string) string {
	return `{"api_key":null,"revision":1,"provider_generations":{},"openai-codex":` + record + `}`
}

// TestCredentials: conformance, credentials_are_judged_locally and missing_api_key.
func TestCredentials(t *testing.T) {
	const model = `{"provider":"%s","model":"m"}`
	far, past := "4102444800", "1000000000"
	for name, c := range map[string]struct {
		provider string
		auth     string
		mode     fs.FileMode
		vars     map[string]string
		want     error
	}{
		"lasts":             {"openai-codex", codexFile(`{"type":"oauth","access":"a","refresh":null,"expires":` + far + `,"accountId":"x"}`), 0o600, nil, nil},
		"refreshable":       {"openai-codex", codexFile(`{"type":"oauth","access":"a","refresh":"r","expires":` + past + `,"accountId":"x"}`), 0o600, nil, nil},
		"over":              {"openai-codex", codexFile(`{"type":"oauth","access":"a","refresh":null,"expires":` + past + `,"accountId":"x"}`), 0o600, nil, ErrProvider},
		"no account":        {"openai-codex", codexFile(`{"type":"oauth","access":"a","refresh":null,"expires":` + far + `,"accountId":null}`), 0o600, nil, ErrProvider},
		"an API key":        {"openai-codex", codexFile(`{"type":"api_key","key":"k"}`), 0o600, nil, ErrProvider},
		"nonsense":          {"openai-codex", codexFile(`{"type":"nonsense"}`), 0o600, nil, ErrConfiguration},
		"open":              {"openai-codex", codexFile(`{"type":"oauth","access":"a","refresh":null,"expires":` + far + `,"accountId":"x"}`), 0o644, nil, ErrConfiguration},
		"open, unused":      {"fixture", "{}", 0o644, nil, ErrConfiguration},
		"none":              {"openai-codex", "", 0, nil, ErrProvider},
		"others' variables": {"openai-codex", "", 0, map[string]string{"MC_API_KEY": "k", "OPENAI_API_KEY": "k"}, ErrProvider},
		"anthropic":         {"anthropic", "", 0, map[string]string{"ANTHROPIC_API_KEY": "k"}, nil},
		"anthropic, empty":  {"anthropic", "", 0, map[string]string{"ANTHROPIC_API_KEY": ""}, ErrProvider},
		"anthropic, stored": {"anthropic", `{"anthropic":{"type":"api_key","key":"k"}}`, 0o600, nil, nil},
		"unknown":           {"nobody", "", 0, nil, ErrProvider},
		"blank":             {"", "", 0, nil, ErrProvider},
		"custom":            {"fixture", "", 0, nil, nil},
		"keyed":             {"keyed", "", 0, map[string]string{"FIXTURE_KEY": "k"}, nil},
		"keyed, unset":      {"keyed", `{"keyed":{"type":"api_key","key":"k"}}`, 0o600, nil, ErrProvider},
		"keyed, empty":      {"keyed", "", 0, map[string]string{"FIXTURE_KEY": ""}, ErrProvider},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			w.settings(`{"agent":{"model":` + fmt.Sprintf(model, c.provider) + `},"providers":{"custom":{"keyed":{"label":"K","base_url":"http://127.0.0.1:9","api_key_env_var":"FIXTURE_KEY"}}}}`)
			if c.auth != "" {
				w.write(root+"/auth.json", c.auth)
				must(t, w.fs.Chmod(root+"/auth.json", c.mode))
			}
			for k, v := range c.vars {
				w.vars[k] = v
			}
			if c.want == nil {
				snap, _ := w.ready()
				if c.provider == "keyed" && string(snap.Custom["keyed"].Key) != "k" {
					t.Error("the key is not captured")
				}
				return
			}
			info, note := w.fails(c.want)
			if known := c.want != ErrConfiguration; known != (len(info.ContextID) == 64) || known && (info.Provider != c.provider || info.Model != "m") {
				t.Errorf("%+v", info)
			}
			if c.want == ErrConfiguration && (note.Stage != StageAuth || note.File != root+"/auth.json" || note.Reason == "") {
				t.Errorf("%+v", note)
			}
			if c.want == ErrProvider && (note.Stage != StageReadiness || note.Key == "" || note.Reason == "") {
				t.Errorf("%+v", note)
			}
		})
	}
}

func TestKeysDoNotPrint(t *testing.T) {
	w := newWorld(t)
	w.settings(at("providers/custom/fixture/api_key_env_var", `"FIXTURE_KEY"`))
	w.vars["FIXTURE_KEY"] = "fixture-key-value-123"
	snap, _ := w.ready()
	if text := fmt.Sprintf("%v %+v %#v", snap.Custom, snap.Custom, snap.Custom); strings.Contains(text, "fixture-key") {
		t.Error("a key prints")
	}
	if data, _ := json.Marshal(snap.Custom); strings.Contains(string(data), "fixture-key") {
		t.Error("a key marshals")
	}
}

func TestClaudeSubscription(t *testing.T) {
	for name, c := range map[string]struct {
		vars  map[string]string
		probe func(context.Context) bool
		want  error
		asked bool
	}{
		"logged in":  {nil, func(context.Context) bool { return true }, nil, true},
		"logged out": {nil, func(context.Context) bool { return false }, ErrProvider, true},
		"conflict":   {map[string]string{"ANTHROPIC_AUTH_TOKEN": "x"}, func(context.Context) bool { return true }, ErrProvider, false},
		"no probe":   {nil, nil, ErrProvider, false},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			w.settings(at("agent/model", `{"provider":"claude-subscription","model":null}`))
			for k, v := range c.vars {
				w.vars[k] = v
			}
			asked := false
			if c.probe != nil {
				w.env.ClaudeReady = func(ctx context.Context) bool { asked = true; return c.probe(ctx) }
			}
			if c.want == nil {
				if _, info := w.ready(); info.Model != "claude-opus-5-5" {
					t.Errorf("%+v", info)
				}
			} else {
				w.fails(c.want)
			}
			if asked != c.asked {
				t.Errorf("asked %v", asked)
			}
		})
	}
}

func TestSelection(t *testing.T) {
	for name, c := range map[string]struct {
		settings string
		vars     map[string]string
		want     provider.Selection
	}{
		"defaults":      {`{"agent":{"model":null}}`, nil, provider.Selection{Provider: "openai-codex", Model: "gpt-5.5", Level: provider.LevelDefault}},
		"anthropic":     {at("agent/model", `{"provider":"anthropic","model":null,"thinking_level":"x_high"}`), nil, provider.Selection{Provider: "anthropic", Model: "claude-sonnet-4-5-20250929", Level: provider.LevelXHigh}},
		"environment":   {"{}", map[string]string{"MC_PROVIDER": "anthropic", "MC_MODEL": "x"}, provider.Selection{Provider: "anthropic", Model: "x", Level: provider.LevelDefault}},
		"provider only": {"{}", map[string]string{"MC_PROVIDER": "anthropic"}, provider.Selection{Provider: "anthropic", Model: "fixture-model", Level: provider.LevelDefault}},
		"empty model":   {"{}", map[string]string{"MC_MODEL": ""}, provider.Selection{Provider: "fixture", Level: provider.LevelDefault}},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			w.settings(strings.Replace(c.settings, `"model":null}}`, `"model":{"provider":null,"model":null}}}`, 1))
			if name != "defaults" {
				w.settings(c.settings)
			}
			w.vars["ANTHROPIC_API_KEY"] = "k"
			w.write(root+"/auth.json", codexFile(`{"type":"oauth","access":"a","refresh":"r"}`))
			for k, v := range c.vars {
				w.vars[k] = v
			}
			if snap, _ := w.ready(); snap.Selection != c.want {
				t.Errorf("%+v", snap.Selection)
			}
		})
	}
	w := newWorld(t)
	w.vars["MC_PROVIDER"] = ""
	if info, _ := w.fails(ErrProvider); info.Provider != "" || info.Model != "fixture-model" || info.ContextID == "" {
		t.Errorf("an empty provider: %+v", info)
	}
	w.vars["MC_PROVIDER"] = "claude-code"
	if info, note := w.fails(ErrConfiguration); info.ContextID != "" || note.Key != "MC_PROVIDER" {
		t.Errorf("a retired provider: %+v %+v", info, note)
	}
}

// TestAFailedStartStillNamesWhatItKnows: conformance, a_failed_startup_still_names_what_it_knows.
func TestAFailedStartStillNamesWhatItKnows(t *testing.T) {
	w := newWorld(t)
	w.settings(at("providers/custom/fixture/api_key_env_var", `"FIXTURE_KEY_THAT_IS_NOT_SET"`))
	info, note := w.fails(ErrProvider)
	if info.Provider != "fixture" || info.Model != "fixture-model" || len(info.ContextID) != 64 {
		t.Errorf("%+v", info)
	}
	if note.Key != "providers.custom.fixture.api_key_env_var" || note.Code != "provider_unavailable" {
		t.Errorf("%+v", note)
	}
	w = newWorld(t)
	w.write(root+"/settings.json", "{nope")
	if info, _ := w.fails(ErrConfiguration); info.Provider != "" || info.Model != "" || info.ContextID != "" {
		t.Errorf("%+v", info)
	}
	w.write(root+"/settings.json", `{"agent":[],"telemetry":{"enabled":true}}`)
	if info, _ := w.fails(ErrConfiguration); string(info.Telemetry) != `{"enabled":true}` {
		t.Errorf("%+v", info)
	}
}

func TestTheNoteHoldsNoValue(t *testing.T) {
	for _, s := range []string{
		at("agent/model/thinking_level", `"HIDDEN"`), at("providers/custom/o", `{"label":"sk-HIDDEN","base_url":"http://127.0.0.1"}`), at("providers/custom/o", `{"label":"x","base_url":"http://HIDDEN:HIDDEN@x"}`),
		at("schema_version", `"HIDDEN"`), at("capabilities/tools/code_mode/disabled", `["HIDDEN",1]`), at("agent/model/provider", `"HIDDEN"`), at("knowledge/instructions/additional_markdown_paths", `["HIDDEN"]`),
	} {
		w := newWorld(t)
		w.settings(s)
		if _, _, err := w.start(t.Context()); err == nil {
			t.Fatal("ready")
		}
		data, err := vfs.ReadFile(w.fs, root+"/state/last-startup.json", 1<<16, vfs.Private)
		if err != nil || strings.Contains(string(data), "HIDDEN") {
			t.Errorf("%s: %s %v", s, data, err)
		}
	}
}

type closer struct{ closed int }

func (c *closer) Close() error { c.closed++; return nil }

func (w *world) mcp(def string, approved bool) {
	w.write(root+"/.mcp.json", `{"mcpServers":{"fx":`+def+`}}`)
	if approved {
		w.settings(at("capabilities/mcp_approvals", fmt.Sprintf(`{%q:{"fx":true}}`, root+"/.mcp.json")))
	}
}

func TestMCP(t *testing.T) {
	w := newWorld(t)
	w.mcp(`{"command":"${SURELY_NOT_SET_ANYWHERE}"}`, false)
	w.env.Connect = func(context.Context, []config.MCPServer) (io.Closer, error) { t.Error("connects"); return nil, nil }
	w.ready()
	w.write(cwd+"/.mcp.json", `{"mcpServers":{"fx":{"command":"evil","enabled":true}}}`)
	w.write(cwd+"/.magi-code/settings.json", at("capabilities/mcp_approvals", fmt.Sprintf(`{%q:{"fx":true}}`, cwd+"/.mcp.json")))
	w.ready() // a project cannot approve itself

	w = newWorld(t)
	w.mcp(`{"command":"${SURELY_NOT_SET_ANYWHERE}"}`, true)
	if _, note := w.fails(ErrConfiguration); note.File != root+"/.mcp.json" || note.Key != "mcpServers.fx.command" {
		t.Errorf("%+v", note)
	}

	w = newWorld(t)
	w.mcp(`{"command":"${NOT_SET:-python3}"}`, true)
	c := new(closer)
	var got []config.MCPServer
	w.env.Connect = func(_ context.Context, s []config.MCPServer) (io.Closer, error) { got = s; return c, nil }
	snap, _ := w.ready()
	if len(got) != 1 || got[0].Stdio.Command != "python3" || snap.Servers != c || c.closed != 0 {
		t.Errorf("%+v", got)
	}

	w.vars["MC_PROVIDER"] = "nobody"
	if w.fails(ErrProvider); c.closed != 1 {
		t.Errorf("closed %d times", c.closed)
	}

	w.env.Connect = func(context.Context, []config.MCPServer) (io.Closer, error) { return nil, errors.New("no such file") }
	info, note := w.fails(ErrMCP) // before the provider is judged
	if info.ContextID == "" || note != (Note{Time: note.Time, Code: "mcp_unavailable", Stage: StageMCP}) {
		t.Errorf("%+v %+v", info, note)
	}
	w.env.Connect = func(context.Context, []config.MCPServer) (io.Closer, error) {
		return nil, fmt.Errorf("connect: %w", placedError{})
	}
	if _, note := w.fails(ErrMCP); note.Key != "mcpServers.fx" || note.Reason != "a phrase" || note.Stage != StageMCP {
		t.Errorf("%+v", note)
	}
}

type placedError struct{}

func (placedError) Error() string           { return "token=abc" }
func (placedError) Place() (string, string) { return "mcpServers.fx", "a phrase" }

// TestCancellation: a start that is cancelled before any of its steps ends with
// the cause, is none of the sentinels, and leaves no note.
func TestCancellation(t *testing.T) {
	why := errors.New("shutdown")
	cancelled := 0
	for opens := range 40 {
		w := newWorld(t)
		w.mcp(`{"command":"x"}`, true)
		c := new(closer)
		w.env.Connect = func(context.Context, []config.MCPServer) (io.Closer, error) { return c, nil }
		inner, cancel := context.WithCancelCause(t.Context())
		w.env.FS = countFS{FS: w.fs, after: opens, stop: func() { cancel(why) }, n: new(int)}
		_, _, err := w.start(inner)
		if err == nil {
			break // over before so many files were opened
		}
		cancelled++
		if !errors.Is(err, why) || codeOf(err) != "" {
			t.Errorf("at open %d: %v", opens, err)
		}
		if w.note() != (Note{}) {
			t.Errorf("at open %d: a note", opens)
		}
	}
	if cancelled < 5 {
		t.Errorf("only %d starts were cancelled", cancelled)
	}
}

// TestNothingIsReadTwice: opens of one file, locks aside.
func TestNothingIsReadTwice(t *testing.T) {
	w := newWorld(t)
	w.write(root+"/AGENTS.md", "A")
	w.write(root+"/auth.json", "{}")
	w.write(root+"/prompts/system.md", "S")
	w.write(root+"/skills/s/SKILL.md", "S")
	w.write(root+"/subagents/p.md", "---\nname: a\ndescription: d\n---\nB")
	w.write(cwd+"/.magi-code/settings.json", "{}")
	w.mcp(`{"command":"x"}`, true)
	opens := map[string]int{}
	w.env.FS = spyFS{FS: w.fs, opens: opens}
	w.ready()
	if len(opens) < 8 {
		t.Errorf("only %v", opens)
	}
	for name, n := range opens {
		if n > 1 {
			t.Errorf("%s is opened %d times", name, n)
		}
	}
}

type spyFS struct {
	vfs.FS
	opens map[string]int
}

func (s spyFS) Open(name string, flags vfs.Flag, perm fs.FileMode) (vfs.File, error) {
	f, err := s.FS.Open(name, flags, perm)
	if err == nil && flags&vfs.Read != 0 {
		s.opens[name]++
	}
	return f, err
}

// countFS calls stop at one of its opens.
type countFS struct {
	vfs.FS
	after int
	stop  func()
	n     *int
}

func (c countFS) Open(name string, flags vfs.Flag, perm fs.FileMode) (vfs.File, error) {
	if *c.n == c.after {
		c.stop()
	}
	*c.n++
	return c.FS.Open(name, flags, perm)
}

func TestCancelledWhileServersConnect(t *testing.T) {
	why := errors.New("shutdown")
	w := newWorld(t)
	w.mcp(`{"command":"x"}`, true)
	ctx, cancel := context.WithCancelCause(t.Context())
	w.env.Connect = func(ctx context.Context, _ []config.MCPServer) (io.Closer, error) {
		cancel(why)
		<-ctx.Done()
		return nil, errors.New("killed")
	}
	if _, _, err := w.start(ctx); !errors.Is(err, why) || errors.Is(err, ErrMCP) || w.note() != (Note{}) {
		t.Errorf("%v", err)
	}
	c := new(closer)
	ctx, cancel = context.WithCancelCause(t.Context())
	w.env.Connect = func(context.Context, []config.MCPServer) (io.Closer, error) { cancel(why); return c, nil }
	if _, _, err := w.start(ctx); !errors.Is(err, why) || c.closed != 1 {
		t.Errorf("%v, closed %d times", err, c.closed)
	}
}
