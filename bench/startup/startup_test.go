package startup

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"magicode/bench/host"
	"magicode/bench/model"
	"magicode/internal/app"
)

// asProgram makes the test binary the program itself.
const asProgram = "serve"

func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == asProgram {
		os.Exit(app.Main(os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
	}
	os.Exit(m.Run())
}

// skills is how many the home of a start has.
const skills = 50

// BenchmarkStartup goes from the spawn to the initialize response. The test
// binary holds more than the program does: compare with itself only.
func BenchmarkStartup(b *testing.B) {
	for state, env := range map[string][]string{"off": nil, "file": {"MC_TELEMETRY=file"}} {
		b.Run("mcp=0/telemetry="+state, func(b *testing.B) { benchStartup(b, env) })
	}
}

func benchStartup(b *testing.B, env []string) {
	home := newHome(b, "http://127.0.0.1:1/v1")
	end(b, begin(b, home, env...)) // the files of a first start
	var ready time.Duration
	var peak int64
	n := 0
	for b.Loop() {
		from := time.Now()
		c := begin(b, home, env...)
		ready += time.Since(from)
		peak = max(peak, c.Peak())
		n++
		end(b, c)
	}
	b.ReportMetric(float64(ready)/float64(time.Millisecond)/float64(n), "ready-ms")
	b.ReportMetric(float64(peak), "rss-bytes")
}

// BenchmarkCleanup goes from the shutdown request to the exit: of a child that
// does nothing, and of one in the middle of a turn.
func BenchmarkCleanup(b *testing.B) {
	for _, midturn := range []bool{false, true} {
		name := map[bool]string{false: "idle", true: "midturn"}[midturn]
		b.Run("case="+name, func(b *testing.B) {
			m, err := model.Start()
			if err != nil {
				b.Fatal(err)
			}
			defer m.Close()
			m.Load([]model.Step{{Text: "It begins "}, {Hang: true}})
			home := newHome(b, m.BaseURL())
			var took time.Duration
			n := 0
			for b.Loop() {
				c := begin(b, home)
				if midturn {
					beginTurn(b, c)
				}
				from := time.Now()
				if _, err := c.Ask("shutdown", `{}`); err != nil {
					b.Fatal(err)
				}
				end(b, c)
				took += time.Since(from)
				n++
			}
			b.ReportMetric(float64(took)/float64(time.Millisecond)/float64(n), "exit-ms")
		})
	}
}

func newHome(b *testing.B, url string) host.Home {
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
	return home
}

func begin(b *testing.B, home host.Home, env ...string) *host.Child {
	b.Helper()
	exe, err := os.Executable()
	if err != nil {
		b.Fatal(err)
	}
	c, err := host.Start(exe, home, env...)
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
