// Command grafana decodes a dashboard strictly into the types of Grafana's own
// schema and validates it: a key that Grafana does not know is an error.
package main

import (
	"fmt"
	"os"

	"github.com/grafana/grafana-foundation-sdk/go/cog/plugins"
	"github.com/grafana/grafana-foundation-sdk/go/dashboard"
)

func main() {
	plugins.RegisterDefaultPlugins() // the options of each kind of panel are a schema of their own
	for _, file := range os.Args[1:] {
		raw, err := os.ReadFile(file)
		if err == nil {
			board := dashboard.NewDashboard()
			if err = told(board.UnmarshalJSONStrict(raw)); err == nil {
				err = told(board.Validate())
			}
		}
		if err != nil {
			fmt.Fprintf(os.Stderr, "%s: %v\n", file, err)
			os.Exit(1)
		}
	}
}

// told is nil for an error that says nothing: the types return an empty list of
// errors where there are none.
func told(err error) error {
	if err != nil && err.Error() == "" {
		return nil
	}
	return err
}
