package servertest

import (
	"context"
	"net"
	"testing"
	"time"

	"magicode/internal/server"
	"magicode/pkg/client"
	"magicode/telemetry"
)

// Teardown is a startup that succeeds, and a runtime that closes when the test
// lets it, whatever its context says. It is seen as an MCP server whose output
// does not end.
type Teardown struct {
	server.Runtime
	Tel   telemetry.Tel
	Start func() // called once the startup begins
	Wait  func() // called by the teardown, which ends when it returns
}

// startup gives a Teardown its other method of that name.
type startup struct{ *Teardown }

func (s startup) Start(context.Context) (server.Runtime, server.Info, error) {
	s.Teardown.Start()
	return s.Teardown, server.Info{}, nil
}

// Close calls Wait.
func (d *Teardown) Close(ctx context.Context) error {
	_, span := d.Tel.Begin(ctx, telemetry.SpanCleanupMCPClose)
	defer span.End()
	span.Str(telemetry.KeyMCPServer, telemetry.WordOf("mcp-1"))
	span.Str(telemetry.KeyTransport, telemetry.WordOf("pipe"))
	span.Str(telemetry.KeyMCPStep, telemetry.WordOf("stdout_join"))
	d.Wait()
	return nil
}

// Play starts a child, shuts it down and ends its telemetry as a process does.
// It returns how it ended and how long that took from the request on.
func (d *Teardown) Play(t *testing.T) (exit server.Exit, took time.Duration) {
	t.Helper()
	here, there := net.Pipe()
	defer here.Close()
	c := client.New(here, here, nil)
	ended := make(chan server.Exit, 1)
	go func() {
		ended <- server.Serve(context.Background(), server.Config{Transport: there, Startup: startup{d}, NewID: func() string { return "00000000-0000-4000-8000-000000000000" }, Tel: d.Tel})
	}()
	if _, err := c.Initialize(t.Context()); err != nil {
		t.Fatal(err)
	}
	began := time.Now()
	if err := c.Shutdown(t.Context()); err != nil {
		t.Fatal(err)
	}
	exit = <-ended
	d.Tel.Exit(exit.Code, telemetry.WordOf(string(exit.Reason)), exit.Detached)
	return exit, time.Since(began)
}
