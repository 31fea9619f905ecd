package tracecmd

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"

	"magicode/telemetry/reader"
)

// List prints one line for each capture of a folder, the newest last: how large
// it is, how long the child lived, how it ended, the first verdict, and the
// runtime trace, if there is one.
func List(dir string, stdout, stderr io.Writer) int {
	c := newCommand(stdout, stderr)
	stems, err := stemsOf(dir)
	if errors.Is(err, fs.ErrNotExist) || err == nil && len(stems) == 0 {
		return c.fail(noneYet(dir))
	}
	if err != nil {
		return c.fail(err)
	}
	code := exitOK
	for _, stem := range stems {
		a, err := analyse(filepath.Join(dir, stem), "")
		if err != nil {
			code = c.fail(err)
			continue
		}
		size := int64(0)
		for _, n := range a.Capture.Bytes {
			size += n
		}
		fmt.Fprintf(stdout, "%s  %8.1f KB  %9.2f s  %-28s  %s", reader.Escape(stem), float64(size)/1024, a.Duration/1000, reader.Escape(a.Ending()), a.Verdicts[0].Code)
		if n := a.Capture.Trace; n > 0 {
			fmt.Fprintf(stdout, "  runtime trace %.1f KB", float64(n)/1024)
		}
		fmt.Fprintln(stdout)
	}
	return code
}
