//go:build unix

package turn

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"syscall"
	"testing"
	"time"

	"magicode/bench/host"
	"magicode/bench/model"
	"magicode/internal/agent"
	"magicode/internal/frame"
	"magicode/internal/server"
	"magicode/internal/vfs"
	"magicode/telemetry/otlp/otlptest"
)

// telemetries are what a child's environment says of telemetry. The endpoints
// are of this process: what they cost is in its figures.
func telemetries(b *testing.B) []sinks {
	answering, _ := otlptest.Answering(b, http.StatusOK)
	hanging, _ := otlptest.Hanging(b)
	export := func(what, url string) []string {
		return []string{"MC_TELEMETRY=" + what, "MC_TELEMETRY_OTLP_ENDPOINT=" + url, "MC_TELEMETRY_PROM=" + filepath.Join(b.TempDir(), "m.prom")}
	}
	return []sinks{
		{"off", nil},
		{"file", []string{"MC_TELEMETRY=file"}},
		{"otlp", export("otlp", answering)},
		{"otlp_hang", export("otlp", hanging)},
		{"full", export("file,otlp,prom", answering)},
	}
}

type sinks struct {
	name string
	env  []string
}

// BenchmarkTurn runs turns of a burst of deltas and of tool calls that list a
// folder. cpu-ms/turn is of the whole process, the model included.
func BenchmarkTurn(b *testing.B) {
	for _, tel := range telemetries(b) {
		for _, deltas := range []int{200, 2000} {
			for _, calls := range []int{0, 20} {
				b.Run(fmt.Sprintf("deltas=%d/tools=%d/telemetry=%s", deltas, calls, tel.name), func(b *testing.B) {
					benchTurn(b, deltas, calls, tel.env)
				})
			}
		}
	}
}

func benchTurn(b *testing.B, deltas, calls int, env []string) {
	m, err := model.Start()
	if err != nil {
		b.Fatal(err)
	}
	defer m.Close()
	script := turnScript(deltas, calls)
	c, _ := serve(b, newHome(b, m.BaseURL()), env)
	at, err := c.Create()
	if err != nil {
		b.Fatal(err)
	}
	m.Load(script...)
	if _, err := c.Turn(at.ID); err != nil {
		b.Fatal(err)
	}
	var first []time.Duration
	var all seen
	used := host.OwnCPU()
	b.ReportAllocs()
	for b.Loop() {
		m.Load(script...)
		got, err := oneTurn(c, at.ID)
		if err != nil {
			b.Fatal(err)
		}
		all.lines += got.lines
		all.text += got.text
		first = append(first, got.first.Sub(m.FirstText()))
	}
	turns := float64(len(first))
	b.ReportMetric(float64(all.lines)/b.Elapsed().Seconds(), "events/s")
	b.ReportMetric(float64(host.OwnCPU()-used)/float64(time.Millisecond)/turns, "cpu-ms/turn")
	b.ReportMetric(float64(deltas)-float64(all.text)/model.PieceSize/turns, "dropped/turn")
	slices.Sort(first)
	b.ReportMetric(float64(first[len(first)/2]), "first-delta-ns")
	b.ReportMetric(float64(first[len(first)*99/100]), "p99-ns")
}

// turnScript is the calls, one a request, and then the text.
func turnScript(deltas, calls int) [][]model.Step {
	var script [][]model.Step
	for i := range calls {
		script = append(script, []model.Step{{Tool: "list_files", Args: map[string]any{"path": []string{".", "./."}[i%2]}}})
	}
	return append(script, []model.Step{{Raw: model.Burst(deltas)}})
}

// seen is what a host sees of a turn.
type seen struct {
	lines int
	text  int       // bytes in deltas; those that were not sent are in a reconciliation
	first time.Time // of the deltas
}

func oneTurn(c *host.Conn, session string) (s seen, err error) {
	if _, err := c.Send("turn.start", `{"session_id":"`+session+`","prompt":"go on"}`); err != nil {
		return s, err
	}
	for {
		line, err := c.Line()
		if err != nil {
			return s, err
		}
		s.lines++
		switch host.Field(line, "event") {
		case "message.delta":
			if s.first.IsZero() {
				s.first = time.Now()
			}
			s.text += len(host.Field(line, "text"))
		case "run.finished":
			if host.Field(line, "outcome") != "completed" {
				return s, errors.New("the turn ended otherwise: " + string(line))
			}
			return s, nil
		}
	}
}

func newHome(b testing.TB, url string) host.Home {
	b.Helper()
	home, err := host.NewHome(b.TempDir(), url)
	if err != nil {
		b.Fatal(err)
	}
	return home
}

// serve starts a server over two pipes and returns the host's side of them, and
// what ends both, which is called at the end in any case.
func serve(b testing.TB, home host.Home, env []string) (c *host.Conn, end func()) {
	b.Helper()
	childIn, in := pipe(b)
	out, childOut := pipe(b)
	pipes, err := frame.OpenPipes(dup(b, childIn), dup(b, childOut))
	if err != nil {
		b.Fatal(err)
	}
	ended := make(chan server.Exit, 1)
	go func() {
		ended <- agent.ServeOn(context.Background(), pipes, vfs.OS(), home.Work, home.Env(env...))
	}()
	end = sync.OnceFunc(func() {
		_ = in.Close()
		if exit := <-ended; exit.Code != 0 {
			b.Errorf("the server ended with %+v", exit)
		}
		_ = out.Close()
	})
	b.Cleanup(end)
	c = host.NewConn(in, out)
	if err := c.Initialize(); err != nil {
		b.Fatal(err)
	}
	return c, end
}

func pipe(b testing.TB) (r, w *os.File) {
	b.Helper()
	r, w, err := os.Pipe()
	if err != nil {
		b.Fatal(err)
	}
	return r, w
}

// dup takes a descriptor out of a file, which is closed: the server's poller
// must be the only one that knows it.
func dup(b testing.TB, f *os.File) int {
	b.Helper()
	fd, err := syscall.Dup(int(f.Fd()))
	if err = errors.Join(err, f.Close()); err != nil {
		b.Fatal(err)
	}
	return fd
}
