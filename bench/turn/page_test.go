//go:build unix

package turn

import (
	"testing"

	"magicode/bench/host"
)

const (
	pagedBytes = 4 << 20
	// pagesOfChild is below the 4,096 requests that a child admits.
	pagesOfChild = 4000
)

// BenchmarkPage asks for the pages of a stored session, one after the other and
// again from the first: request, page of about 32 KiB, next.
func BenchmarkPage(b *testing.B) {
	for _, tel := range telemetries(b) {
		b.Run("stored=4MiB/telemetry="+tel.name, func(b *testing.B) { benchPage(b, tel.env) })
	}
}

func benchPage(b *testing.B, env []string) {
	home := newHome(b, "http://127.0.0.1:1/v1")
	id, err := home.Store(pagedBytes)
	if err != nil {
		b.Fatal(err)
	}
	p := pager{b: b, home: home, env: env, session: id}
	p.open()
	used := host.OwnCPU()
	b.ReportAllocs()
	for b.Loop() {
		if p.asked == pagesOfChild {
			b.StopTimer()
			before := host.OwnCPU()
			p.end()
			p.open()
			used += host.OwnCPU() - before
			b.StartTimer()
		}
		p.page()
	}
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "pages/s")
	b.ReportMetric(float64((host.OwnCPU()-used).Nanoseconds())/float64(b.N), "cpu-ns/page")
}

// pager reads a session's pages round and round.
type pager struct {
	b        *testing.B
	home     host.Home
	env      []string
	session  string
	conn     *host.Conn
	end      func()
	revision string
	cursor   string // JSON
	asked    int
}

func (p *pager) open() {
	p.conn, p.end = serve(p.b, p.home, p.env)
	at, err := p.conn.Open(p.session)
	if err != nil {
		p.b.Fatal(err)
	}
	p.revision, p.cursor, p.asked = at.Revision, "null", 0
}

func (p *pager) page() {
	p.asked++
	line, err := p.conn.Ask("history.page", `{"session_id":"`+p.session+`","revision":"`+p.revision+`","cursor":`+p.cursor+`}`)
	if err != nil {
		p.b.Fatal(err)
	}
	if p.cursor = "null"; host.Field(line, "next_cursor") != "" {
		p.cursor = `"` + host.Field(line, "next_cursor") + `"`
	}
}
