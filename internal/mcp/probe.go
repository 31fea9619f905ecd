package mcp

import (
	"context"
	"errors"
	"time"

	"magicode/internal/config"
)

// Step is a phase of a connection and when it began.
type Step struct {
	Phase Phase
	At    time.Time
}

// Report is what a trial connection showed.
type Report struct {
	Steps    []Step // in their order; the last one is where it ended
	Protocol string // negotiated; "" if it did not come to that
	Tools    []string
	Took     time.Duration // of the connection
	Stopped  time.Duration // what ending it took
	Err      error         // an *Error, or the context's cause; nil: it works
}

// Probe connects one server as a start would, and ends it again.
func Probe(ctx context.Context, o Options, server config.MCPServer) Report {
	began := time.Now()
	m := &Manager{tel: o.Tel, links: []*link{{server: server, label: "mcp-1", version: o.Version, peer: newPeer()}}}
	err := m.connect(ctx, o)
	l := m.links[0]
	r := Report{Steps: l.steps, Protocol: l.protocol, Took: time.Since(began), Err: err}
	for _, t := range l.tools {
		r.Tools = append(r.Tools, t.definition.Name)
	}
	began = time.Now()
	if err := m.Close(); err != nil && r.Err == nil {
		r.Err = errors.New("the server could not be ended: " + err.Error())
	}
	r.Stopped = time.Since(began)
	return r
}
