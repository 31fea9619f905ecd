package tracecmd

import (
	"fmt"
	"io"

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
		fmt.Fprintf(stdout, "problem      %s %s\n", p.Code, redact.Display(p.Key))
	}
	if len(c.Problems) > 0 || settings != nil {
		return exitError
	}
	return exitOK
}
