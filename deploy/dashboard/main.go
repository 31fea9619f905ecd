// Command dashboard prints the Grafana dashboard of the metrics' catalogue:
//
//	go run ./deploy/dashboard >deploy/grafana/magi-code.json
//
// Every metric has a panel, made from its name, type and unit, so that a new one
// cannot be forgotten; the panels of the first row are put together by hand. A
// test holds the file against what this prints.
package main

import (
	"encoding/json"
	"fmt"
	"os"
)

func main() {
	b, err := json.MarshalIndent(dashboard(), "", " ")
	if err == nil {
		_, err = os.Stdout.Write(append(b, '\n'))
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "dashboard:", err)
		os.Exit(1)
	}
}
