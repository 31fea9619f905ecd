package agent

import (
	"context"
	"time"

	"magicode/internal/frame"
	"magicode/internal/server"
	"magicode/internal/vfs"
	"magicode/telemetry"
)

// ServeOn serves one connection of a transport in this process, as a child in
// dir, which is canonical, with these variables would, and returns how it ended.
// Standard input, standard output and signals are left alone. For benchmarks.
func ServeOn(ctx context.Context, t frame.Transport, fsys vfs.FS, dir string, environ []string) server.Exit {
	tel := telemetry.New(environ, time.Now())
	a := New(fsys, dir, environ, tel)
	a.instance = NewID()
	exit := server.Serve(ctx, server.Config{Transport: t, Startup: a, NewID: NewID, InstanceID: a.instance, Tel: tel, Panicked: a.panicked})
	tel.Exit(exit.Code, telemetry.WordOf(string(exit.Reason)), exit.Detached)
	return exit
}
