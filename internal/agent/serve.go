package agent

import (
	"context"
	"errors"
	"os"
	"time"

	"github.com/google/uuid"

	"magicode/internal/frame"
	"magicode/internal/lease"
	"magicode/internal/server"
	"magicode/internal/startup"
	"magicode/internal/vfs"
	"magicode/telemetry"
)

// Version is this program's. Release builds set it.
var Version = "0.1.0-dev"

// Serve runs the child, which was launched then: it takes the endpoints, serves
// the one connection, puts the descriptors back as they were, and dies of the
// signal that ended it. It returns the exit status, or why it could not begin. It
// writes nothing to stderr.
func Serve(launched time.Time) (status int, err error) {
	server.Silence()
	pipes, err := frame.OpenStdio()
	if err != nil {
		return 0, err
	}
	dir, err := WorkingDir(vfs.OS())
	if err != nil {
		return 0, errors.Join(err, pipes.Close())
	}
	tel := telemetry.New(os.Environ(), launched)
	a := New(vfs.OS(), dir, os.Environ(), tel)
	a.instance = NewID()
	exit := server.Serve(context.Background(), server.Config{
		Transport: pipes, Startup: a, NewID: NewID, InstanceID: a.instance, Tel: tel, Signals: server.Notify(), Panicked: a.panicked,
	})
	tel.Exit(exit.Code, telemetry.WordOf(string(exit.Reason)), exit.Detached)
	if exit.Signal != nil {
		server.Raise(exit.Signal)
	}
	return exit.Code, nil
}

// WorkingDir is the canonical name of this process's folder.
func WorkingDir(fsys vfs.FS) (string, error) {
	dir, err := os.Getwd()
	if err != nil {
		return "", err
	}
	return startup.Canonical(fsys, dir)
}

// NewID returns a UUID of version 4.
func NewID() string { return uuid.NewString() }

// New returns what a child is made of before its start.
func New(fsys vfs.FS, dir string, environ []string, tel telemetry.Tel) *Agent {
	return &Agent{fs: fsys, leases: lease.New(lease.Options{FS: fsys}), cwd: dir, environ: environ, lookup: LookupIn(environ), tel: tel}
}

// LookupIn reads variables from one copy of the environment, so that the child
// has one for its whole life. The last one of a name counts.
func LookupIn(environ []string) func(string) (string, bool) {
	values := make(map[string]string, len(environ))
	for _, kv := range environ {
		for i := 1; i < len(kv); i++ {
			if kv[i] == '=' {
				values[kv[:i]] = kv[i+1:]
				break
			}
		}
	}
	return func(name string) (string, bool) {
		v, ok := values[name]
		return v, ok
	}
}

// PasswordHome is the home directory in the password database, which is asked
// when HOME is empty.
func PasswordHome() (string, error) {
	if home := userHome(); home != "" {
		return home, nil
	}
	return "", errors.New("the user has no home directory")
}
