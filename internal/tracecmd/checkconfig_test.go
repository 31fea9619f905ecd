package tracecmd

import (
	"bytes"
	"errors"
	"strings"
	"testing"

	"magicode/telemetry/config"
)

// TestCheckConfig: the sinks, every problem, and of variables that are none of ours
// their names, which stand nowhere else; never a value.
func TestCheckConfig(t *testing.T) {
	for name, row := range map[string]struct {
		environ  []string
		settings error
		code     int
		want     string
	}{
		"nothing": {nil, nil, exitOK, "file         off\notlp         off\nprometheus   off\n"},
		"file":    {[]string{"MC_TELEMETRY=file"}, nil, exitOK, "file         on\notlp         off\nprometheus   off\n"},
		"a value": {[]string{"MC_TELEMETRY=file", "MC_TELEMETRY_MAX_MB=CANARY"}, nil, exitError,
			"file         off\notlp         off\nprometheus   off\nproblem      config_type telemetry.file.max_mb: MC_TELEMETRY_MAX_MB takes a whole number from 4 to 1024\n"},
		"meant": {[]string{"MC_TELEMETRY=file", "MC_TELEMETRY_FILE_DIR=CANARY"}, nil, exitError,
			"file         on\notlp         off\nprometheus   off\nproblem      env_unknown MC_TELEMETRY_FILE_DIR: is MC_TELEMETRY_DIR meant?\n"},
		"unknown": {[]string{"MC_TELEMETRY=file", "MC_TELEMETRY_\x1b[31mX=CANARY"}, nil, exitError,
			"file         on\notlp         off\nprometheus   off\nproblem      env_unknown MC_TELEMETRY_X\nvariables    " + strings.Join(config.Variables(), " ") + "\n"},
		"settings": {nil, errors.New("settings.json: bad"), exitError, "file         off\notlp         off\nprometheus   off\n"},
	} {
		var out, errs bytes.Buffer
		code := CheckConfig(config.Load(row.environ, nil, false), row.settings, &out, &errs)
		if code != row.code || out.String() != row.want || (errs.Len() > 0) != (row.settings != nil) {
			t.Errorf("%s: status %d\n%s%s", name, code, out.String(), errs.String())
		}
		if strings.Contains(out.String()+errs.String(), "CANARY") {
			t.Errorf("%s: a value is shown", name)
		}
	}
}
