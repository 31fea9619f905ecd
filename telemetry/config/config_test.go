package config

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestLoad(t *testing.T) {
	const fileOn = `{"enabled":true,"file":{"enabled":true}}`
	for name, c := range map[string]struct {
		global  string
		environ []string
		project bool
		on      string // sinks that are on
		asked   bool
		problem string // code:key, sorted as found
	}{
		"nothing":                    {},
		"otel alone":                 {environ: []string{"OTEL_EXPORTER_OTLP_ENDPOINT=http://x", "OTEL_TRACES_EXPORTER=console"}},
		"settings":                   {global: fileOn, on: "file", asked: true},
		"settings off":               {global: `{"enabled":false,"file":{"enabled":true}}`},
		"environment":                {environ: []string{"MC_TELEMETRY=file"}, on: "file", asked: true},
		"exactly these":              {global: fileOn, environ: []string{"MC_TELEMETRY=prom", "MC_TELEMETRY_PROM=/a/b.prom"}, on: "prom", asked: true},
		"two":                        {environ: []string{"MC_TELEMETRY=file, otlp", "MC_TELEMETRY_OTLP_ENDPOINT=https://x"}, on: "file otlp", asked: true},
		"no endpoint":                {environ: []string{"MC_TELEMETRY=otlp"}, asked: true, problem: "otlp_endpoint_missing:telemetry.otlp.endpoint"},
		"killed":                     {global: fileOn, environ: []string{"MC_TELEMETRY=off"}},
		"killed by zero":             {global: fileOn, environ: []string{"MC_TELEMETRY=0"}},
		"killed by the standard":     {global: fileOn, environ: []string{"MC_TELEMETRY=file", "OTEL_SDK_DISABLED=TRUE"}},
		"empty is unset":             {global: fileOn, environ: []string{"MC_TELEMETRY="}, on: "file", asked: true},
		"unknown sink":               {global: fileOn, environ: []string{"MC_TELEMETRY=file,stdout"}, asked: true, problem: "env_invalid:telemetry.enabled"},
		"unknown variable":           {environ: []string{"MC_TELEMETRY=file", "MC_TELEMETRY_X=1"}, on: "file", asked: true, problem: "env_unknown:"},
		"no sink":                    {global: `{"enabled":true}`, asked: true, problem: "no_sink:telemetry"},
		"project":                    {project: true, problem: "project_ignored:telemetry"},
		"no object":                  {global: `5`, problem: "config_type:telemetry"},
		"no object beats the wish":   {global: `[]`, environ: []string{"MC_TELEMETRY=file"}, asked: true, problem: "config_type:telemetry"},
		"enabled is no bool":         {global: `{"enabled":"true","file":{"enabled":true}}`, problem: "config_type:telemetry.enabled"},
		"unknown key":                {global: `{"enabled":true,"x":1,"file":{"enabled":true}}`, on: "file", asked: true, problem: "config_unknown_key:telemetry"},
		"a key with our delimiter":   {global: `{"enabled":true,"file\u001fenabled":true}`, asked: true, problem: "config_unknown_key:telemetry"},
		"sink is no object":          {global: `{"enabled":true,"file":true,"prometheus":{"enabled":true,"path":"/x.prom"}}`, on: "prom", asked: true, problem: "config_type:telemetry.file"},
		"number as text":             {global: `{"enabled":true,"file":{"enabled":true,"max_mb":"64"}}`, asked: true, problem: "config_type:telemetry.file.max_mb"},
		"number as text, environ":    {environ: []string{"MC_TELEMETRY=file", "MC_TELEMETRY_MAX_MB=32"}, on: "file", asked: true},
		"no number, environ":         {environ: []string{"MC_TELEMETRY=file", "MC_TELEMETRY_MAX_MB=3e1"}, asked: true, problem: "config_type:telemetry.file.max_mb"},
		"out of range":               {global: `{"enabled":true,"file":{"enabled":true,"keep":0}}`, asked: true, problem: "config_range:telemetry.file.keep"},
		"fraction":                   {global: `{"enabled":true,"file":{"enabled":true,"keep":1.5}}`, asked: true, problem: "config_type:telemetry.file.keep"},
		"total below one capture":    {global: `{"enabled":true,"file":{"enabled":true,"max_mb":512}}`, asked: true, problem: "config_range:telemetry.file.total_mb"},
		"relative folder":            {global: `{"enabled":true,"file":{"enabled":true,"dir":"x"}}`, asked: true, problem: "config_range:telemetry.file.dir"},
		"control character":          {environ: []string{"MC_TELEMETRY=file", "MC_TELEMETRY_DIR=/a\x01"}, asked: true, problem: "env_invalid:telemetry.file.dir config_range:telemetry.file.dir"},
		"prom path":                  {environ: []string{"MC_TELEMETRY=prom", "MC_TELEMETRY_PROM=/a/b.txt"}, asked: true, problem: "prom_path:telemetry.prometheus.path"},
		"other sinks are unaffected": {global: `{"enabled":true,"file":{"enabled":true},"otlp":{"enabled":true,"protocol":"x"}}`, on: "file", asked: true, problem: "config_range:telemetry.otlp.protocol"},
		"bad interval":               {global: `{"enabled":true,"metrics_interval_s":1,"file":{"enabled":true}}`, on: "file", asked: true, problem: "config_range:telemetry.metrics_interval_s"},
		"broken JSON":                {global: `{"enabled":`, problem: "config_type:telemetry"},
	} {
		t.Run(name, func(t *testing.T) {
			got := Load(c.environ, []byte(c.global), c.project)
			var on, problems []string
			for sink, is := range map[string]bool{"file": got.File.On} {
				if is {
					on = append(on, sink)
				}
			}
			if got.OTLP.On {
				on = append(on, "otlp")
			}
			if got.Prometheus.On {
				on = append(on, "prom")
			}
			for _, p := range got.Problems {
				problems = append(problems, p.Code+":"+p.Key)
			}
			if s := strings.Join(on, " "); s != c.on || got.On() != (c.on != "") {
				t.Errorf("on: %q, want %q", s, c.on)
			}
			if s := strings.Join(problems, " "); s != c.problem {
				t.Errorf("problems: %q, want %q", s, c.problem)
			}
			if got.Asked != c.asked {
				t.Errorf("asked: %v", got.Asked)
			}
		})
	}
}

func TestLoadValues(t *testing.T) {
	got := Load([]string{"MC_TELEMETRY=file,prom", "MC_TELEMETRY_DIR=/e", "MC_TELEMETRY_PROM=/p.prom", "MC_TELEMETRY_GOROUTINES=0", "MC_TELEMETRY_KEEP=7"},
		[]byte(`{"names":"plain","shutdown_ms":0,"file":{"dir":"/g","keep":3,"max_mb":8},"prometheus":{"mode":"0644","interval_s":30}}`), false)
	want := Config{Asked: true, Plain: true, MetricsInterval: 10 * time.Second,
		File:       File{On: true, Dir: "/e", MaxMB: 8, Keep: 7, TotalMB: 256, RuntimeTrace: "off"},
		OTLP:       OTLP{Timeout: 2 * time.Second, Gzip: true},
		Prometheus: Prometheus{On: true, Path: "/p.prom", Interval: 30 * time.Second, Mode: 0o644}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

// TestWrongNeighbour: a value that cannot be used takes no other one with it.
func TestWrongNeighbour(t *testing.T) {
	got := Load([]string{"MC_TELEMETRY=file"}, []byte(`{"names":"loud","shutdown_ms":0,"metrics_interval_s":4}`), false)
	if !got.File.On || got.Shutdown != 0 || got.MetricsInterval != 10*time.Second || len(got.Problems) != 2 {
		t.Errorf("%+v", got)
	}
}

func TestProblemsAreBounded(t *testing.T) {
	var b strings.Builder
	b.WriteString(`{"enabled":true`)
	for i := range 1000 {
		fmt.Fprintf(&b, `,"k%d":1`, i)
	}
	b.WriteString(`}`)
	if got := Load(nil, []byte(b.String()), false); len(got.Problems) > maxProblems {
		t.Errorf("%d problems", len(got.Problems))
	}
}

// TestUnknownVariables: their names are told to whoever asks, and stand in no problem:
// a name can be any text.
func TestUnknownVariables(t *testing.T) {
	environ := []string{"MC_TELEMETRY=file", "MC_TELEMETRY_FILE_DIR=/x", "MC_TELEMETRYX=1", "MC_TELEMETRY_secret words=1", "OTHER=1"}
	c := Load(environ, nil, false)
	if want := []string{"MC_TELEMETRY_FILE_DIR", "MC_TELEMETRY_secret words"}; !slices.Equal(c.Unknown, want) {
		t.Errorf("%q, want %q", c.Unknown, want)
	}
	if len(c.Problems) != 1 || c.Problems[0] != (Problem{Code: CodeEnvUnknown}) {
		t.Errorf("%+v", c.Problems)
	}
	for i := range 100 {
		environ = append(environ, fmt.Sprint("MC_TELEMETRY_", i, "=1"))
	}
	if n := len(Load(environ, nil, false).Unknown); n != maxProblems {
		t.Errorf("%d names", n)
	}
}

// TestMeant: what a wrong name was meant to be.
func TestMeant(t *testing.T) {
	for name, want := range map[string]string{
		"MC_TELEMETRY_FILE_DIR": "MC_TELEMETRY_DIR", "MC_TELEMETRY_FILE_MAX_MB": "MC_TELEMETRY_MAX_MB", "MC_TELEMETRY_MAXMB": "MC_TELEMETRY_MAX_MB",
		"MC_TELEMETRY_OTLP_ENPOINT": "MC_TELEMETRY_OTLP_ENDPOINT", "MC_TELEMETRY_PROMX": "MC_TELEMETRY_PROM", "MC_TELEMETRY_SOMETHING": "", "MC_TELEMETRY_": "MC_TELEMETRY",
	} {
		if got := Meant(name); got != want {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
	}
	for _, pair := range []struct {
		a, b string
		n    int
	}{{"", "", 0}, {"ab", "ab", 0}, {"ab", "b", 1}, {"a", "ba", 1}, {"abc", "axc", 1}, {"abcd", "badc", 3}, {"a", "abcd", 3}} {
		if got := typos(pair.a, pair.b); got != pair.n {
			t.Errorf("%s, %s: %d", pair.a, pair.b, got)
		}
	}
}

// TestHints: whoever wrote it is told which variable it is, what is allowed and which key
// there is not; a problem behind another is told too.
func TestHints(t *testing.T) {
	for name, row := range map[string]struct {
		environ string // separated by |
		global  string
		want    string
	}{
		"a variable":      {"MC_TELEMETRY=file|MC_TELEMETRY_MAX_MB=1", "", "config_range telemetry.file.max_mb: MC_TELEMETRY_MAX_MB takes a whole number from 4 to 1024"},
		"sinks":           {"MC_TELEMETRY=file,foo", "", "env_invalid telemetry.enabled: MC_TELEMETRY takes off, 0, or which of file, otlp and prom are on, with commas between them"},
		"words":           {"", `{"enabled":true,"names":"x","file":{"enabled":true}}`, "config_range telemetry.names: it takes hashed or plain"},
		"a number as one": {"", `{"enabled":true,"names":1,"file":{"enabled":true}}`, "config_type telemetry.names: it takes hashed or plain"},
		"endpoint":        {"MC_TELEMETRY=otlp|MC_TELEMETRY_OTLP_ENDPOINT=x", "", "otlp_endpoint_invalid telemetry.otlp.endpoint: it comes from MC_TELEMETRY_OTLP_ENDPOINT"},
		"standard":        {"MC_TELEMETRY=otlp|OTEL_EXPORTER_OTLP_ENDPOINT=http://localhost|OTEL_EXPORTER_OTLP_COMPRESSION=x", "", "env_invalid telemetry.otlp.compression: OTEL_EXPORTER_OTLP_COMPRESSION takes gzip or none"},
		"unknown keys":    {"", `{"enabled":true,"file":{"enabled":true,"foo":1,"bar":2}}`, "config_unknown_key telemetry.file: there is no bar, foo"},
		"two, off":        {"", `{"enabled":"yes","file":{"max_mb":1}}`, "config_type telemetry.enabled: it takes true or false\nconfig_range telemetry.file.max_mb: it takes a whole number from 4 to 1024"},
		"two, no sinks":   {"MC_TELEMETRY=foo|MC_TELEMETRY_KEEP=0", `{"file":{"enabled":true},"otlp":{"enabled":true,"endpoint":"https://x"},"prometheus":{"enabled":true,"path":"/x.prom"}}`, "env_invalid telemetry.enabled: MC_TELEMETRY takes off, 0, or which of file, otlp and prom are on, with commas between them\nconfig_range telemetry.file.keep: MC_TELEMETRY_KEEP takes a whole number from 1 to 100"},
	} {
		c := Load(strings.Split(row.environ, "|"), []byte(row.global), false)
		var got []string
		for _, p := range c.Problems {
			got = append(got, p.Code+" "+p.Key+": "+c.Hints[p])
		}
		if text := strings.Join(got, "\n"); text != row.want {
			t.Errorf("%s:\n%s\nwant\n%s", name, text, row.want)
		}
		if strings.HasPrefix(name, "two") && c.On() {
			t.Errorf("%s: a sink is on: %+v", name, c)
		}
	}
}
