package startup

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"magicode/internal/lease"
	"magicode/internal/vfs"
)

// benchHome is a home on disk as a user has it: a custom provider, ten skills,
// three subagents, instructions.
func benchHome(b *testing.B) Env {
	b.Helper()
	dir, err := filepath.EvalSymlinks(b.TempDir())
	if err != nil {
		b.Fatal(err)
	}
	home, work := filepath.Join(dir, "mc"), filepath.Join(dir, "work")
	files := map[string]string{
		home + "/settings.json": `{"schema_version":2,"agent":{"model":{"provider":"fixture","model":"m"}},
		"providers":{"custom":{"fixture":{"label":"Fixture","base_url":"http://127.0.0.1:9/v1"}}}}`,
		home + "/auth.json": `{"api_key":null,"revision":1,"provider_generations":{},"anthropic":{"type":"api_key","key":"k"}}`,
		home + "/AGENTS.md": "Be brief.\n", work + "/AGENTS.md": "Run the tests.\n",
	}
	for i := range 10 {
		files[fmt.Sprintf("%s/skills/s%d/SKILL.md", home, i)] = "---\ndescription: d\n---\n" + fmt.Sprintf("%04000d", i)
	}
	for i := range 3 {
		files[fmt.Sprintf("%s/subagents/p%d.md", home, i)] = "---\nname: a\ndescription: d\n---\nB\n"
	}
	for name, text := range files {
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			b.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			b.Fatal(err)
		}
	}
	vars := map[string]string{"HOME": dir, "MC_HOME": home}
	locks := lease.New(lease.Options{})
	b.Cleanup(func() { _ = locks.Close() })
	return Env{
		FS: vfs.OS(), Locks: locks, CWD: work, PID: os.Getpid(), UID: os.Geteuid(), Now: time.Now,
		Lookup: func(name string) (string, bool) { v, ok := vars[name]; return v, ok },
	}
}

func BenchmarkStartupSnapshot(b *testing.B) {
	env := benchHome(b)
	if _, _, err := Start(b.Context(), env); err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for b.Loop() {
		if _, _, err := Start(b.Context(), env); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkStartupProject is the same with a project's settings: the layers are merged.
func BenchmarkStartupProject(b *testing.B) {
	env := benchHome(b)
	name := filepath.Join(env.CWD, ".magi-code", "settings.json")
	if err := os.Mkdir(filepath.Dir(name), 0o755); err != nil {
		b.Fatal(err)
	}
	if err := os.WriteFile(name, []byte(`{"agent":{"model":{"model":"p"}}}`), 0o600); err != nil {
		b.Fatal(err)
	}
	if _, _, err := Start(b.Context(), env); err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for b.Loop() {
		if _, _, err := Start(b.Context(), env); err != nil {
			b.Fatal(err)
		}
	}
}
