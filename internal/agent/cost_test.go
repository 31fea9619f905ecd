package agent

import (
	"bufio"
	"context"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"magicode/internal/agenttest"
	"magicode/internal/racetest"
	"magicode/internal/server"
	"magicode/internal/vfs"
	"magicode/internal/vfs/faultfs"
	"magicode/internal/vfs/memfs"
	"magicode/telemetry"
)

// serveOn serves one connection on a file system, into which the settings are
// written; dir is the workspace, more are further members of the settings.
func serveOn(t *testing.T, fsys vfs.FS, dir string, m *agenttest.Model, more ...string) *inProcess {
	t.Helper()
	seed := filepath.Join(t.TempDir(), "seed")
	if err := m.Settings(seed, strings.Join(more, "")); err != nil {
		t.Fatal(err)
	}
	settings, err := os.ReadFile(filepath.Join(seed, "settings.json"))
	if err != nil {
		t.Fatal(err)
	}
	home := filepath.Join(dir, "home")
	if err := fsys.MkdirAll(home, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := vfs.Replace(fsys, filepath.Join(home, "settings.json"), settings, 0o600); err != nil {
		t.Fatal(err)
	}
	a := New(fsys, dir, []string{"MC_HOME=" + home, "HOME=" + dir, "NO_PROXY=127.0.0.1"}, telemetry.Tel{})
	host, peer := net.Pipe()
	c := &inProcess{t: t, agent: a, home: home, conn: host, in: bufio.NewScanner(host), exit: make(chan server.Exit, 1)}
	c.in.Buffer(nil, 1<<17)
	if err := host.SetDeadline(time.Now().Add(3 * agenttest.Patience)); err != nil {
		t.Fatal(err)
	}
	go func() {
		c.exit <- server.Serve(context.Background(), server.Config{Transport: peer, Startup: a, NewID: NewID, Panicked: a.panicked})
	}()
	t.Cleanup(func() {
		_ = host.Close()
		<-c.exit
	})
	c.start()
	return c
}

// callScript is n calls that look at the workspace, and an answer.
func callScript(n int) []string {
	var lines []string
	for i := range n {
		path := "."
		if i%2 == 1 {
			path = "./."
		}
		lines = append(lines, `tool:list_files {"path":"`+path+`"}`)
	}
	return append(lines, "text:An answer.")
}

// TestSyncsOfATurn counts what a whole turn waits for (decision 17): two for a
// text turn, one more for the name of a new session's file, one for each call.
func TestSyncsOfATurn(t *testing.T) {
	fsys := faultfs.New(vfs.OS())
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	m := agenttest.Start(t, "")
	c := serveOn(t, fsys, dir, m)
	for _, turn := range []struct {
		name  string
		calls int
		want  int
	}{
		{"the first one", 0, 3}, {"text", 0, 2}, {"text again", 0, 2}, {"one call", 1, 3}, {"five calls", 5, 7},
	} {
		m.Load(callScript(turn.calls)...)
		before := fsys.Count(faultfs.Sync) + fsys.Count(faultfs.SyncDir)
		if got := c.turn(); got != "completed durable <nil>" {
			t.Fatalf("%s: %s", turn.name, got)
		}
		if got := fsys.Count(faultfs.Sync) + fsys.Count(faultfs.SyncDir) - before; got != turn.want {
			t.Errorf("%s: %d syncs, wanted %d", turn.name, got, turn.want)
		}
	}
}

// What a turn may take beyond what the model takes, on a file system in memory.
const (
	maxOwnTurn = 2 * time.Millisecond * racetest.Slowdown
	maxOwnCall = 500 * time.Microsecond * racetest.Slowdown
)

// TestOwnTimeOfATurn takes the best of many turns: on a machine that does
// something else as well, any single one says little.
func TestOwnTimeOfATurn(t *testing.T) {
	if testing.Short() {
		t.Skip("measures time")
	}
	fsys := memfs.New()
	if err := fsys.MkdirAll("/work", 0o755); err != nil {
		t.Fatal(err)
	}
	m := agenttest.Start(t, "")
	c := serveOn(t, fsys, "/work", m)
	const calls = 20
	text, call := time.Hour, time.Hour
	for round := 0; round < 200 && (text > maxOwnTurn || call > maxOwnCall); round++ {
		if round%20 == 19 { // before it is so long that it has to be compacted
			c.session = c.ask("session.create", `{}`).Res["session_id"].(string)
		}
		short := c.ownTime(m, 0)
		text = min(text, short)
		call = min(call, max(0, c.ownTime(m, calls)-text)/calls)
	}
	t.Logf("a text turn %v, a call %v", text, call)
	if text > maxOwnTurn || call > maxOwnCall {
		t.Errorf("a text turn takes %v of its own and a call %v; wanted %v and %v", text, call, maxOwnTurn, maxOwnCall)
	}
}

// ownTime runs a turn and returns its time without the model's.
func (c *inProcess) ownTime(m *agenttest.Model, calls int) time.Duration {
	m.Load(callScript(calls)...)
	from := time.Now()
	if got := c.turn(); got != "completed durable <nil>" {
		c.t.Fatal(got)
	}
	return time.Since(from) - time.Duration(m.Spent.Load())
}
