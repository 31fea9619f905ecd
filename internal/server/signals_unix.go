//go:build unix

package server

import (
	"os"
	"os/signal"
	"syscall"
	"time"
)

// ending are the signals that end the child in order (decision 13).
var ending = [...]os.Signal{syscall.SIGTERM, syscall.SIGINT, syscall.SIGHUP}

// Notify returns where Serve gets its signals from. Those that the parent had
// ignored (nohup, a background job of a shell) stay ignored.
//
// SIGPIPE and SIGXFSZ are taken and forgotten: a broken output is seen by the
// writer, a full file is a failed append. They are not ignored, because child
// processes would inherit that.
func Notify() Signals {
	forgotten := make(chan os.Signal, 1) // never read; a full channel drops
	signal.Notify(forgotten, syscall.SIGPIPE, syscall.SIGXFSZ)
	ch := make(chan os.Signal, 1)
	for _, sig := range ending {
		if !signal.Ignored(sig) {
			signal.Notify(ch, sig)
		}
	}
	return Signals{C: ch, Default: restoreDefaults}
}

func restoreDefaults() {
	for _, sig := range ending {
		if !signal.Ignored(sig) {
			signal.Reset(sig)
		}
	}
}

// Raise ends the process by a signal, so that its wait status tells which. It
// returns only if that did not work.
func Raise(sig os.Signal) {
	s, ok := sig.(syscall.Signal)
	if !ok {
		return
	}
	signal.Reset(s)
	if err := syscall.Kill(syscall.Getpid(), s); err != nil {
		return
	}
	// The signal may be delivered to another thread, a moment later.
	<-time.After(time.Second)
}
