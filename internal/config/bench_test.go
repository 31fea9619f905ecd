package config

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"context"

	"magicode/internal/vfs"
)

const benchSettings = `{
  "$schema": "./state/settings.schema.json",
  "schema_version": 2,
  "agent": {"model": {"provider": "fixture", "model": "m", "thinking_level": "high"}, "compaction": {"auto": {"threshold_percent": 85}}},
  "providers": {"custom": {"fixture": {"label": "Fixture", "base_url": "http://127.0.0.1:9/v1", "api_key_env_var": "FIXTURE_KEY"},
    "other": {"label": "Other", "base_url": "https://other.example/v1", "extra_models": ["a", "b", "c"]}}},
  "capabilities": {"tools": {"disabled": ["web"], "code_mode": {"limits": {"max_inner_calls": 100}}}, "lsp": {"enabled": false}},
  "automation": {"hooks": {"enabled": true, "before_tool": [{"command": "true", "label": "look", "include_tools": ["bash"]}]}},
  "sessions": {"titles": {"enabled": true, "provider": "fixture", "model": "m"}}
}`

func benchEnv(b *testing.B, project bool) Env {
	b.Helper()
	dir := b.TempDir()
	root, cwd := filepath.Join(dir, "home"), filepath.Join(dir, "work")
	for _, d := range []string{root, filepath.Join(cwd, ".magi-code")} {
		if err := os.MkdirAll(d, 0o755); err != nil {
			b.Fatal(err)
		}
	}
	put := func(name, text string) {
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			b.Fatal(err)
		}
	}
	put(filepath.Join(root, "settings.json"), benchSettings)
	if project {
		put(filepath.Join(cwd, ".magi-code", "settings.json"), `{"agent": {"model": {"model": "p"}}}`)
	}
	vars := map[string]string{"HOME": dir, "MC_HOME": root}
	return Env{
		FS: vfs.OS(), CWD: cwd, PID: os.Getpid(), UID: os.Geteuid(),
		Lookup: func(name string) (string, bool) { v, ok := vars[name]; return v, ok },
		Lock: func(context.Context, string, time.Duration) (func() error, error) {
			return func() error { return nil }, nil
		},
	}
}

func benchLoad(b *testing.B, project bool) {
	env := benchEnv(b, project)
	if _, err := Load(b.Context(), env); err != nil {
		b.Fatal(err)
	}
	b.SetBytes(int64(len(benchSettings)))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := Load(b.Context(), env); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkLoadGlobal(b *testing.B)  { benchLoad(b, false) }
func BenchmarkLoadProject(b *testing.B) { benchLoad(b, true) }

func BenchmarkDecode(b *testing.B) {
	doc, err := parseDocument("x", []byte(benchSettings))
	if err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for b.Loop() {
		if _, p := decodeSettings(doc.tree); p != nil {
			b.Fatal(p)
		}
	}
}

func BenchmarkMerge(b *testing.B) {
	doc, err := parseDocument("x", []byte(benchSettings))
	if err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for b.Loop() {
		if _, err := layered(doc.tree, map[string]any{"agent": map[string]any{"model": map[string]any{"model": "p"}}}); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkTable(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		newShape(append(agentKeys(), providerKeys()...), nil, nil)
	}
}

func BenchmarkSchema(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		Schema()
	}
}
