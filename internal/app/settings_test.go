package app

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestSettingsCommands: what is shown, what is refused, and what is noted.
func TestSettingsCommands(t *testing.T) {
	const compact = `{"schema_version":2,"agent":{"model":{"provider":"anthropic","model":"m"}},"mine":[1,{"a":2}]}`
	for name, c := range map[string]struct {
		file, args string
		status     int
		want       string // all of the output, or after … its end
		after      string // the file
	}{
		"show in a new home": {"", "show", exitOK, "there is no settings file yet: the defaults are used\n", ""},
		"get in a new home":  {"", "get capabilities.approvals.level", exitError, "…there is no settings file yet: capabilities.approvals.level (the default is \"relaxed\")\n", ""},
		"show ends a line":   {compact, "show", exitOK, compact + "\n", compact},
		"show as it is":      {compact + "\n", "show", exitOK, compact + "\n", compact + "\n"},
		"get indents":        {compact, "get agent.model", exitOK, "{\n  \"provider\": \"anthropic\",\n  \"model\": \"m\"\n}\n", compact},
		"get a list":         {compact, "get mine", exitOK, "[\n  1,\n  {\n    \"a\": 2\n  }\n]\n", compact},
		"get a text":         {compact, "get agent.model.model", exitOK, "m\n", compact},
		"get nothing":        {compact, "get agent.none", exitError, "…agent.none is not in the settings file, and this version knows no such setting\n", compact},
		"get a default":      {compact, "get capabilities.approvals.level", exitError, "…capabilities.approvals.level is not set in the settings file (the default is \"relaxed\")\n", compact},
		"empty part":         {compact, "set agent..x 1", exitUsage, "…empty part: \"agent..x\"\n", compact},
		"ends with a dot":    {compact, "set agent. 1", exitUsage, "…empty part: \"agent.\"\n", compact},
		"unknown":            {"{}", "set agnet.x 1", exitOK, "note: this version knows no setting agnet.x; it is stored, and has no effect\n", "{\n  \"schema_version\": 2,\n  \"agnet\": {\n    \"x\": 1\n  }\n}"},
		"no such provider":   {"{}\n", "set agent.model.provider nobody", exitOK, "note: there is no provider nobody; there are: openai-codex, anthropic, claude-subscription\n", "{\n  \"schema_version\": 2,\n  \"agent\": {\n    \"model\": {\n      \"provider\": \"nobody\"\n    }\n  }\n}\n"},
		"provider":           {"{}", "set agent.model.provider anthropic", exitOK, "", "{\n  \"schema_version\": 2,\n  \"agent\": {\n    \"model\": {\n      \"provider\": \"anthropic\"\n    }\n  }\n}"},
		"looser project":     {compact, "set --project capabilities.approvals.level off", exitOK, "note: a project can only make approvals stricter: the level here stays relaxed\n", compact},
		"stricter project":   {compact, "set --project capabilities.approvals.level strict", exitOK, "", compact},
		"no switch":          {compact, "set telemetry.enabled \"yes\"", exitError, "…telemetry.enabled takes true or false\n", compact},
		"out of range":       {compact, "set telemetry.file.max_mb 1", exitError, "…telemetry.file.max_mb takes a whole number from 4 to 1024\n", compact},
		"inside an object":   {compact, `set telemetry {"file":{"keep":0}}`, exitError, "…telemetry.file.keep takes a whole number from 1 to 100\n", compact},
		"in range":           {"{}", "set telemetry.file.max_mb 8", exitOK, "", "{\n  \"schema_version\": 2,\n  \"telemetry\": {\n    \"file\": {\n      \"max_mb\": 8\n    }\n  }\n}"},
		"unknown telemetry":  {"{}", "set telemetry.foo 1", exitOK, "note: this version knows no setting telemetry.foo; it is stored, and has no effect\n", "{\n  \"schema_version\": 2,\n  \"telemetry\": {\n    \"foo\": 1\n  }\n}"},
		"line of the file":   {compact, "set sessions.retention_days -- -1", exitError, "…must be an integer without a sign or fraction\n", compact},
	} {
		t.Run(name, func(t *testing.T) {
			home := filepath.Join(t.TempDir(), "home")
			if c.file != "" {
				home = writeHome(t, map[string]string{"settings.json": c.file})
			}
			out, status := command(t, home, nil, append([]string{"settings"}, strings.Fields(c.args)...)...)
			end, cut := strings.CutPrefix(c.want, "…")
			if status != c.status || !cut && out != c.want || !strings.HasSuffix(out, end) {
				t.Errorf("status %d, %q", status, out)
			}
			got, err := os.ReadFile(filepath.Join(home, "settings.json"))
			if string(got) != c.after || (err != nil) != (c.after == "") {
				t.Errorf("%v, %q", err, got)
			}
		})
	}
}

// TestListMakesNoHome: to look is not to begin.
func TestListMakesNoHome(t *testing.T) {
	for _, args := range [][]string{{"models", "list"}, {"settings", "show"}, {"auth", "status"}, {"mcp", "list"}, {"sessions", "list"}, {"sessions", "prune"}, {"sessions", "repair-permissions"}, {"help", "ask"}} {
		home := filepath.Join(t.TempDir(), "home")
		if out, status := command(t, home, nil, args...); status != exitOK {
			t.Errorf("%q: status %d, %s", args, status, out)
		}
		if _, err := os.Lstat(home); err == nil {
			t.Errorf("%q made the home", args)
		}
	}
}
