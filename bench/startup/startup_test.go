package startup

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"magicode/bench/host"
	"magicode/bench/model"
	"magicode/internal/app"
	"magicode/internal/mcp/mcptest"
	"magicode/pkg/localagent"
)

// asProgram makes the test binary the program itself.
const asProgram = "serve"

func TestMain(m *testing.M) {
	mcptest.Main(nil)
	if len(os.Args) > 1 && os.Args[1] == asProgram {
		os.Exit(app.Main(os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
	}
	os.Exit(m.Run())
}

// skills is how many the home of a start has.
const skills = 50

// BenchmarkStartup goes from the spawn to the initialize response, with 50 skills
// and with MCP servers of this binary. The test binary holds more than the program
// does: compare with itself only.
func BenchmarkStartup(b *testing.B) {
	for _, servers := range []int{0, 2} {
		for _, tel := range []struct {
			name string
			env  []string
		}{{"off", nil}, {"file", []string{"MC_TELEMETRY=file"}}} {
			b.Run(fmt.Sprintf("mcp=%d/telemetry=%s", servers, tel.name), func(b *testing.B) { benchStartup(b, servers, tel.env) })
		}
	}
}

func benchStartup(b *testing.B, servers int, env []string) {
	home := newHome(b, "http://127.0.0.1:1/v1", slices.Repeat([]string{mcptest.Ready}, servers)...)
	end(b, begin(b, home, env...)) // the files of a first start
	var peak int64
	b.ReportAllocs()
	ready := perOperation(b, func() (took time.Duration) {
		from := time.Now()
		c := begin(b, home, env...)
		took = time.Since(from)
		peak = max(peak, c.Peak())
		end(b, c)
		return took
	})
	b.ReportMetric(ready, "ready-ms")
	b.ReportMetric(float64(peak), "rss-bytes")
}

// perOperation is the mean of what an operation says that it took, in milliseconds.
func perOperation(b *testing.B, operation func() time.Duration) float64 {
	var sum time.Duration
	n := 0
	for b.Loop() {
		sum += operation()
		n++
	}
	return float64(sum) / float64(time.Millisecond) / float64(n)
}

// lastWait is the longest that an end may take, with what nothing answers
// (telemetry.md 12, "exit at detach").
const lastWait = localagent.CleanupWait + 10*time.Millisecond

// BenchmarkCleanup goes from the shutdown request to the exit: of a child that
// does nothing, of one in the middle of a turn, of one with two MCP servers, and
// of one whose MCP server ignores the end of its input and every request to end.
func BenchmarkCleanup(b *testing.B) {
	for _, c := range []struct {
		name    string
		midturn bool
		servers []string
	}{
		{name: "idle"},
		{name: "midturn", midturn: true},
		{name: "mcp2", servers: []string{mcptest.Ready, mcptest.Ready}},
		{name: "stuck", servers: []string{mcptest.Stubborn}},
	} {
		b.Run("case="+c.name, func(b *testing.B) { benchCleanup(b, c.midturn, c.servers) })
	}
}

func benchCleanup(b *testing.B, midturn bool, servers []string) {
	m, err := model.Start()
	if err != nil {
		b.Fatal(err)
	}
	defer m.Close()
	m.Load([]model.Step{{Text: "It begins "}, {Hang: true}})
	home := newHome(b, m.BaseURL(), servers...)
	b.ReportAllocs()
	exit := perOperation(b, func() time.Duration {
		c := begin(b, home)
		if midturn {
			beginTurn(b, c)
		}
		from := time.Now()
		if _, err := c.Ask("shutdown", `{}`); err != nil {
			b.Fatal(err)
		}
		end(b, c)
		took := time.Since(from)
		if took > lastWait {
			b.Errorf("the end took %v", took)
		}
		return took
	})
	b.ReportMetric(exit, "exit-ms")
}

// newHome has skills, and MCP servers of the given kinds.
func newHome(b *testing.B, url string, servers ...string) host.Home {
	b.Helper()
	home, err := host.NewHome(b.TempDir(), url)
	if err != nil {
		b.Fatal(err)
	}
	for i := range skills {
		dir := filepath.Join(home.MC, "skills", fmt.Sprintf("skill-%02d", i))
		if err := os.MkdirAll(dir, 0o755); err != nil {
			b.Fatal(err)
		}
		text := fmt.Sprintf("---\nname: skill-%02d\ndescription: What the skill of number %d is good for.\n---\nWhat to do, in a line.\n", i, i)
		if err := os.WriteFile(filepath.Join(dir, "SKILL.md"), []byte(text), 0o644); err != nil {
			b.Fatal(err)
		}
	}
	defined := map[string]any{}
	for i, kind := range servers {
		defined[fmt.Sprint("s", i)] = map[string]any{"command": os.Args[0], "env": map[string]string{mcptest.Mode: kind}}
	}
	if err := home.AddServers(defined); err != nil {
		b.Fatal(err)
	}
	return home
}

func begin(b *testing.B, home host.Home, env ...string) *host.Child {
	b.Helper()
	exe, err := os.Executable()
	if err != nil {
		b.Fatal(err)
	}
	c, err := host.Start(b.Context(), exe, home, env...)
	if err != nil {
		b.Fatal(err)
	}
	if err := c.Initialize(); err != nil {
		b.Fatal(err)
	}
	return c
}

// beginTurn waits for the first text of a turn that does not end by itself.
func beginTurn(b *testing.B, c *host.Child) {
	b.Helper()
	at, err := c.Create()
	if err != nil {
		b.Fatal(err)
	}
	if _, err := c.Send("turn.start", `{"session_id":"`+at.ID+`","prompt":"go on"}`); err != nil {
		b.Fatal(err)
	}
	if _, err := c.Await(`"message.delta"`); err != nil {
		b.Fatal(err)
	}
}

func end(b *testing.B, c *host.Child) {
	b.Helper()
	if err := c.Close(); err != nil {
		b.Fatal(err)
	}
}
