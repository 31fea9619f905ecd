package app

import (
	"context"
	"fmt"
	"io"
	"runtime"
	"time"

	"magicode/internal/proc"
)

// openers start a browser with an address.
var openers = map[string]string{"darwin": "open", "linux": "xdg-open"}

// visit prints the address, and tries to open it.
func visit(ctx context.Context, w io.Writer, url string, open bool) error {
	fmt.Fprintf(w, "Open this address to log in:\n\n%s\n\n", url)
	if !open {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	if program := openers[runtime.GOOS]; program != "" {
		_, _ = proc.Run(ctx, proc.Spec{Path: program, Args: []string{url}}) // the address is printed anyway
	}
	return nil
}
