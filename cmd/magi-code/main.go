// Command magi-code is a coding agent that a host application owns as one child
// process over two pipes. See the README for how to start it.
package main

import (
	"os"

	"magicode/internal/app"
)

func main() {
	os.Exit(app.Main(os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
}
