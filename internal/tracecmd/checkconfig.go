package tracecmd

import (
	"fmt"
	"io"
	"strings"

	"magicode/internal/redact"
	"magicode/telemetry/config"
)

// CheckConfig tells which sinks a child of this home would have on, and what is
// wrong; it opens none. settings is what is wrong with the rest of the
// settings, for which telemetry does not stop.
func CheckConfig(c config.Config, settings error, stdout, stderr io.Writer) int {
	if settings != nil {
		fmt.Fprintf(stderr, "magi-code trace: the settings: %s\n", redact.Display(settings.Error()))
	}
	for _, sink := range []struct {
		name string
		on   bool
	}{{"file", c.File.On}, {"otlp", c.OTLP.On}, {"prometheus", c.Prometheus.On}} {
		state := "off"
		if sink.on {
			state = "on"
		}
		fmt.Fprintf(stdout, "%-12s %s\n", sink.name, state)
	}
	for _, p := range c.Problems {
		if p.Code == config.CodeEnvUnknown {
			unknown(c.Unknown, stdout)
			continue
		}
		text := p.Code + " " + p.Key
		if hint := c.Hints[p]; hint != "" {
			text += ": " + hint
		}
		fmt.Fprintf(stdout, "problem      %s\n", redact.Display(text))
	}
	if len(c.Problems) > 0 || settings != nil {
		return exitError
	}
	return exitOK
}

// unknown names the variables that are none of ours, which nothing but this terminal
// does, and what they may have been meant to be.
func unknown(names []string, stdout io.Writer) {
	meant := 0
	for _, name := range names {
		fmt.Fprintf(stdout, "problem      %s %s", config.CodeEnvUnknown, redact.Display(redact.Cut(name, maxName)))
		if known := config.Meant(name); known != "" {
			fmt.Fprintf(stdout, ": is %s meant?", known)
			meant++
		}
		fmt.Fprintln(stdout)
	}
	if meant < len(names) {
		fmt.Fprintf(stdout, "variables    %s\n", strings.Join(config.Variables(), " "))
	}
}

// maxName bounds a name that is shown, in bytes.
const maxName = 128
