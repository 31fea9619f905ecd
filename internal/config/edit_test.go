package config

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"magicode/internal/vfs"
)

func TestEdit(t *testing.T) {
	const doc = `{"$schema":"./s.json","x_unknown":{"b":[1,{}],"a":1.50},"agent":{"model":{"provider":"p"}},"é":[]}`
	const head = "{\n  \"$schema\": \"./s.json\",\n  \"schema_version\": 2,\n  \"x_unknown\": {\n    \"b\": [\n      1,\n      {}\n    ],\n    \"a\": 1.50\n  },\n"
	for name, c := range map[string]struct {
		doc, path, value, want string
	}{
		"replace":       {doc, "agent model provider", `"q"`, head + "  \"agent\": {\n    \"model\": {\n      \"provider\": \"q\"\n    }\n  },\n  \"é\": []\n}"},
		"add beside":    {doc, "agent model model", `"m"`, head + "  \"agent\": {\n    \"model\": {\n      \"provider\": \"p\",\n      \"model\": \"m\"\n    }\n  },\n  \"é\": []\n}"},
		"add deep":      {doc, "sessions titles enabled", "true", head + "  \"agent\": {\n    \"model\": {\n      \"provider\": \"p\"\n    }\n  },\n  \"é\": [],\n  \"sessions\": {\n    \"titles\": {\n      \"enabled\": true\n    }\n  }\n}"},
		"remove":        {doc, "agent", "", head + "  \"é\": []\n}"},
		"remove deep":   {doc, "agent model provider", "", head + "  \"agent\": {\n    \"model\": {}\n  },\n  \"é\": []\n}"},
		"remove none":   {`{"schema_version":2,"agent":5}`, "agent model provider", "", "{\n  \"schema_version\": 2,\n  \"agent\": 5\n}"},
		"empty":         {"{}", "a", "[1]", "{\n  \"schema_version\": 2,\n  \"a\": [\n    1\n  ]\n}"},
		"over a scalar": {`{"schema_version":2,"agent":5}`, "agent x", "1", "{\n  \"schema_version\": 2,\n  \"agent\": {\n    \"x\": 1\n  }\n}"},
		"the version":   {"{}", "schema_version", "2", "{\n  \"schema_version\": 2\n}"},
		"escaped key":   {`{"schema_version":2,"\u0061":1}`, "a", "2", "{\n  \"schema_version\": 2,\n  \"\\u0061\": 2\n}"},
		"all of twins":  {`{"schema_version":2,"a":1,"a":2}`, "a", "3", "{\n  \"schema_version\": 2,\n  \"a\": 3,\n  \"a\": 3\n}"},
	} {
		t.Run(name, func(t *testing.T) {
			var value []byte
			if c.value != "" {
				value = []byte(c.value)
			}
			got, err := Edit([]byte(c.doc), strings.Fields(c.path), value)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(c.want, string(got)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
	for _, c := range [][3]string{{"{", "a", "1"}, {"[]", "a", "1"}, {"{}", "a", "{"}, {"{}", "", "1"}, {"{}", "a\x1fb", "1"}} {
		if _, err := Edit([]byte(c[0]), strings.Fields(c[1]), []byte(c[2])); !errors.Is(err, ErrInvalid) {
			t.Errorf("%q: %v", c, err)
		}
	}
}

// TestEditIsSettingAKey: against a decoder that knows nothing of our printing.
func TestEditIsSettingAKey(t *testing.T) {
	key := rapid.SampledFrom([]string{"a", "b", "schema_version", "$schema", "é\n"})
	var value func(depth int) *rapid.Generator[any]
	value = func(depth int) *rapid.Generator[any] {
		leaf := rapid.OneOf(rapid.Just[any](nil), rapid.Just[any](true), rapid.Map(rapid.String(), func(s string) any { return s }), rapid.Map(rapid.IntRange(-9, 9), func(n int) any { return float64(n) }))
		if depth == 0 {
			return leaf
		}
		return rapid.OneOf(leaf,
			rapid.Map(rapid.SliceOfN(value(depth-1), 0, 3), func(s []any) any { return s }),
			rapid.Map(rapid.MapOfN(key, value(depth-1), 0, 3), func(m map[string]any) any { return m }))
	}
	rapid.Check(t, func(q *rapid.T) {
		doc := rapid.MapOfN(key, value(3), 0, 4).Draw(q, "doc")
		path := rapid.SliceOfN(key, 1, 3).Draw(q, "path")
		set := value(2).Draw(q, "value")
		before, _ := json.Marshal(doc)
		raw, _ := json.Marshal(set)
		got, err := Edit(before, path, raw)
		if err != nil {
			q.Fatal(err)
		}
		var after, want map[string]any
		if err := json.Unmarshal(got, &after); err != nil {
			q.Fatal(err)
		}
		_ = json.Unmarshal(before, &want)
		if _, ok := want["schema_version"]; !ok {
			want["schema_version"] = float64(2)
		}
		at := want
		for _, k := range path[:len(path)-1] {
			next, ok := at[k].(map[string]any)
			if !ok {
				next = map[string]any{}
				at[k] = next
			}
			at = next
		}
		_ = json.Unmarshal(raw, &set)
		at[path[len(path)-1]] = set
		if diff := cmp.Diff(want, after); diff != "" {
			q.Fatalf("(-want +got):\n%s", diff)
		}
		again, err := Edit(got, path, raw)
		if err != nil || string(again) != string(got) {
			q.Fatalf("editing twice differs: %v", err)
		}
	})
}

func TestSave(t *testing.T) {
	w := newWorld(t)
	p := w.load().Paths
	w.took = nil
	set := func(scope Scope, path, value string) error {
		var raw []byte
		if value != "" {
			raw = []byte(value)
		}
		err := Save(t.Context(), w.env, p, scope, strings.Split(path, "."), raw)
		if len(w.held) > 0 {
			t.Errorf("still holds %v", w.held)
		}
		return err
	}
	if err := set(ScopeGlobal, "agent.model.model", `"m"`); err != nil {
		t.Fatal(err)
	}
	if got := w.read(p.Settings()); got != strings.TrimSuffix(emptySettings, "\n}")+",\n  \"agent\": {\n    \"model\": {\n      \"model\": \"m\"\n    }\n  }\n}" {
		t.Errorf("%s", got)
	}
	before := w.read(p.Settings())
	if err := set(ScopeGlobal, "sessions.retention_days", "-1"); !errors.Is(err, ErrInvalid) || w.read(p.Settings()) != before {
		t.Errorf("an invalid value: %v", err)
	}
	if err := set(ScopeProject, "agent.model.model", `"p"`); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{p.Settings(), p.Settings(), p.Settings(), p.ProjectSettings()}, w.took); diff != "" {
		t.Errorf("locks (-want +got):\n%s", diff)
	}
	if l := w.load(); *l.Settings.Agent.Model.Model != "p" {
		t.Error("the project's value does not count")
	}
	for _, path := range []string{"agent.fast.enabled", "telemetry.enabled", "telemetry", "capabilities.mcp_approvals./s.a"} {
		if err := set(ScopeProject, path, "true"); !errors.Is(err, ErrInvalid) {
			t.Errorf("%s in a project: %v", path, err)
		}
	}
	w.project(`{"telemetry":{"enabled":true},"agent":{"fast":{"enabled":true}},"mine":1}`)
	if err := set(ScopeProject, "sessions.retention_days", "3"); err != nil {
		t.Fatal(err)
	}
	if got := w.read(p.ProjectSettings()); strings.Contains(got, "telemetry") || strings.Contains(got, "enabled") || !strings.Contains(got, `"mine": 1`) {
		t.Errorf("global-only keys stay, or others go:\n%s", got)
	}
	w.global(at("sessions/retention_days", "-1"))
	if err := set(ScopeGlobal, "sessions.retention_days", ""); err != nil {
		t.Errorf("a broken key cannot be removed: %v", err)
	}
	if info, _ := w.fs.Stat(p.Settings()); info.Mode.Perm() != 0o600 {
		t.Errorf("mode %v", info.Mode)
	}
	var _ vfs.FS = w.fs
}

// TestSaveErrorLines: an error names the line of the file that is there, not of
// the text that would have been written.
func TestSaveErrorLines(t *testing.T) {
	const text = "{\"schema_version\":2,\n\n\n\"agent\":{\"model\":{}},\n\"sessions\":{\n\"retention_days\":1}}"
	for _, c := range []struct {
		scope Scope
		path  string
		value string
		line  int
	}{
		{ScopeGlobal, "sessions.retention_days", "-1", 6},
		{ScopeGlobal, "agent.context.max_tokens", `"x"`, 4},
		{ScopeGlobal, "interface", "7", 0},
		{ScopeProject, "sessions.retention_days", "-1", 6},
		{ScopeProject, "interface", "7", 0},
	} {
		w := newWorld(t)
		p := w.load().Paths
		file := p.Settings()
		if c.scope == ScopeProject {
			file = p.ProjectSettings()
			w.project(text)
		} else {
			w.global(text)
		}
		err := Save(t.Context(), w.env, p, c.scope, strings.Split(c.path, "."), []byte(c.value))
		var e *Error
		if !errors.As(err, &e) || e.File != file || e.Line != c.line || w.read(file) != text {
			t.Errorf("%v %s: %v", c.scope, c.path, err)
		}
	}
}

// TestSaveKeepsTheEnd: a final line feed is there after an edit as before it.
func TestSaveKeepsTheEnd(t *testing.T) {
	for _, end := range []string{"", "\n"} {
		w := newWorld(t)
		p := w.load().Paths
		w.global(`{"schema_version":2}` + end)
		w.project(`{}` + end)
		for scope, file := range map[Scope]string{ScopeGlobal: p.Settings(), ScopeProject: p.ProjectSettings()} {
			if err := Save(t.Context(), w.env, p, scope, []string{"sessions", "retention_days"}, []byte("3")); err != nil {
				t.Fatal(err)
			}
			if got := w.read(file); !strings.HasSuffix(got, "}"+end) || strings.HasSuffix(got, "\n\n") {
				t.Errorf("%q after an end of %q", got, end)
			}
		}
	}
}

// TestLook sees what Load sees, and makes nothing.
func TestLook(t *testing.T) {
	w := newWorld(t)
	l, err := Look(w.env)
	if err != nil || l.Settings == nil || l.Paths.Root == "" || len(w.took) != 0 {
		t.Fatalf("%+v, %v", l, err)
	}
	if _, err := w.fs.Lstat(l.Paths.Root + "/state"); err == nil {
		t.Error("the home was made")
	}
	loaded := w.load()
	if diff := cmp.Diff(loaded.Settings, l.Settings, cmp.AllowUnexported(Settings{})); diff != "" {
		t.Errorf("(-load +look):\n%s", diff)
	}
	w.global(`{"schema_version":3}`)
	if _, err := Look(w.env); !errors.Is(err, ErrInvalid) {
		t.Error(err)
	}
}

func FuzzLoad(f *testing.F) {
	for _, c := range acceptedSettings()[:20] {
		f.Add(c.doc, c.doc)
	}
	f.Add("{}", `{"capabilities\u001fapprovals\u001flevel":"off"}`)
	f.Fuzz(func(t *testing.T, global, project string) {
		w := newWorld(t)
		w.global(global)
		alone, err := Load(t.Context(), w.env)
		if err != nil {
			return
		}
		w.project(project)
		l, err := Load(t.Context(), w.env)
		if err != nil {
			if !errors.Is(err, ErrInvalid) {
				t.Fatal(err)
			}
			return
		}
		a, b := alone.Settings, l.Settings
		if b.Capabilities.Approvals.Level.rank() < a.Capabilities.Approvals.Level.rank() || a.Agent.Fast != b.Agent.Fast || a.Interface.Theme != b.Interface.Theme ||
			a.Providers.AnthropicBaseURL != b.Providers.AnthropicBaseURL || a.Providers.CodexBaseURL != b.Providers.CodexBaseURL ||
			!cmp.Equal(a.Capabilities.MCPApprovals, b.Capabilities.MCPApprovals) || a.Capabilities.ProjectSettings != b.Capabilities.ProjectSettings {
			t.Fatalf("a project changed what is not its own")
		}
	})
}
