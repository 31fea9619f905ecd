package app

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

const noLogins = `{"schema_version":2,"agent":{"model":{"provider":"fixture","model":"m"}},
"providers":{"custom":{"fixture":{"label":"F","base_url":"http://127.0.0.1:1/v1"}}}}`

const judged = `{"internal_tooling":{"jev":{"enabled":true,"bash_protection":{"enabled":true},"prompt_injection_protection":{"enabled":true,"tools":["read"]}}},`

// TestDoctor: what it finds in a home, and that it leaves it as it was.
func TestDoctor(t *testing.T) {
	const failed = `{"time":"2020-01-02T03:04:05Z","code":"mcp_unavailable","stage":"mcp","key":"mcpServers.web","reason":"the server failed in the phase initialize; see magi-code mcp test web"}`
	for name, c := range map[string]struct {
		files  map[string]string
		env    []string
		args   string
		status int
		want   []string
		lacks  string
	}{
		"nothing yet": {nil, nil, "doctor", exitError,
			[]string{"there is no settings file: the defaults are used", "BAD   provider     openai-codex has no usable credential", "settings.json:\n", `"custom": { "local": {`}, "README"},
		"fine": {map[string]string{"settings.json": noLogins}, nil, "doctor", exitOK, []string{"ok    provider     fixture at http://127.0.0.1:1/v1, model m\n"}, "exec"},
		"settings that nobody knows": {map[string]string{"settings.json": strings.Replace(noLogins, `"model":"m"`, `"model":"m","modle":"n"`, 1)}, nil, "doctor", exitOK,
			[]string{"this version knows no setting agent.model.modle: without effect"}, "BAD"},
		"telemetry settings": {map[string]string{"settings.json": strings.Replace(noLogins, "{", `{"telemetry":{"enabled":"maybe"},`, 1)}, nil, "doctor", exitOK,
			[]string{"note  telemetry    of the next child: config_type telemetry.enabled: it takes true or false; see 'magi-code trace check-config'\n"}, "BAD"},
		"telemetry folder": {map[string]string{"settings.json": noLogins}, []string{"MC_TELEMETRY=file", "MC_TELEMETRY_DIR=/nowhere"}, "doctor", exitOK,
			[]string{"note  telemetry    of the next child: dir_missing telemetry.file: /nowhere is not there; see"}, "BAD"},
		"hosts": {map[string]string{"settings.json": noLogins}, nil, "doctor --hosts", exitOK, []string{NodeLaunch}, "BAD"},
		"no such provider": {map[string]string{"settings.json": strings.Replace(noLogins, `"provider":"fixture"`, `"provider":"fixtrue"`, 1)}, nil, "doctor", exitError,
			[]string{`there is no provider "fixtrue"; there are: openai-codex, anthropic, claude-subscription, fixture` + "\n"}, "selection"},
		"chosen by the environment": {map[string]string{"settings.json": noLogins}, []string{"MC_PROVIDER=other", "MC_MODEL=x"}, "doctor", exitError,
			[]string{"MC_PROVIDER=other MC_MODEL=x counts here", `there is no provider "other"`}, ""},
		"chosen in a new home": {nil, []string{"MC_PROVIDER=anthropic"}, "doctor", exitError,
			[]string{"MC_PROVIDER=anthropic counts here", "anthropic has no usable credential", "ANTHROPIC_API_KEY", `"custom"`}, ""},
		"failed before": {map[string]string{"settings.json": noLogins, "state/last-startup.json": failed}, nil, "doctor", exitOK,
			[]string{"from an earlier start, 2020-01-02T03:04:05Z: mcp_unavailable in the stage mcp: mcpServers.web: the server failed in the phase initialize; see magi-code mcp test web\n"}, "went well"},
		"and went well later": {map[string]string{"settings.json": noLogins, "state/last-startup.json": failed, "sessions/s.jsonl": "{}\n"}, nil, "doctor", exitOK,
			[]string{"a session was written after it, 2", "a later start went well"}, ""},
		"judged by a service": {map[string]string{"settings.json": strings.Replace(noLogins, "{", judged, 1)}, []string{"TYPESAFE_API_KEY=k"}, "doctor", exitOK,
			[]string{"ok    judgement    commands are sent to https://api.typesafe.ai/v1/systemone to be judged; when it fails: auto_approve\n"}, ""},
		"judged here": {map[string]string{"settings.json": strings.Replace(noLogins, "{", judged, 1)}, nil, "doctor", exitOK, []string{"note  judgement    internal_tooling.jev is enabled, but TYPESAFE_API_KEY is not set", "ok    judgement    results of read are judged on this machine, by known wordings; suspicious ones are shown as they are"}, ""},
		"language servers": {map[string]string{"settings.json": strings.Replace(noLogins, "{", `{"capabilities":{"lsp":{"enabled":true,"servers":{"go":{"command":"/bin/sh"},"python":{"command":"no-such-server"}}}},`, 1)}, nil, "doctor", exitOK,
			[]string{"ok    diagnostics  an edit of files ending in go starts /bin/sh\n", "note  diagnostics  no-such-server is not installed: there are no diagnostics of files ending in py\n"}, ""},
		"telemetry": {map[string]string{"settings.json": noLogins, "state/telemetry-status.json": `{"started":"2020-01-02T03:04:05Z","problems":[{"code":"config_range","key":"file.max_mb"}]}`}, nil, "doctor", exitOK,
			[]string{"note  telemetry    of the child started 2020-01-02T03:04:05Z: config_range: file.max_mb\n"}, "the sink"},
		"telemetry that loses": {map[string]string{"settings.json": noLogins, "state/telemetry-status.json": `{"started":"2020-01-02T03:04:05Z","sinks":{"file":{"state":"on","dropped":0},` +
			`"otlp":{"state":"suspended","dropped":41}},"problems":[{"code":"otlp_unreachable","key":"telemetry.otlp"}]}`}, nil, "doctor", exitOK,
			[]string{"note  telemetry    of the child started 2020-01-02T03:04:05Z: otlp_unreachable: telemetry.otlp\n",
				"note  telemetry    of the child started 2020-01-02T03:04:05Z: the sink otlp is suspended and has dropped 41 records\n"}, "the sink file"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			home := filepath.Join(t.TempDir(), "home")
			for file, text := range c.files {
				path := filepath.Join(home, file)
				if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
					t.Fatal(err)
				}
				if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			before := namesBelow(t, home)
			out, status := command(t, home, c.env, strings.Fields(c.args)...)
			if status != c.status || c.lacks != "" && strings.Contains(out, c.lacks) {
				t.Errorf("status %d\n%s", status, out)
			}
			rest, ok := out, true
			for _, w := range c.want {
				if _, rest, ok = strings.Cut(rest, w); !ok {
					t.Fatalf("no %q in\n%s", w, out)
				}
			}
			if diff := cmp.Diff(before, namesBelow(t, home)); diff != "" {
				t.Errorf("the home was changed:\n%s", diff)
			}
		})
	}
}

// namesBelow are the files of a home with their times; none where there is no home.
func namesBelow(t *testing.T, home string) map[string]time.Time {
	t.Helper()
	out := map[string]time.Time{}
	err := filepath.Walk(home, func(path string, info os.FileInfo, err error) error {
		if os.IsNotExist(err) {
			return nil
		}
		if err == nil {
			out[path] = info.ModTime()
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// TestDoctorServers: what every start runs is named.
func TestDoctorServers(t *testing.T) {
	p := newMCPPlace(t, map[string]any{"one": map[string]any{"command": "false"}, "two": map[string]any{"command": "false"}, "held": map[string]any{"command": "false"}})
	p.runs(0, "approve one")
	p.runs(0, "approve two")
	cmd := p.command()
	cmd.Args = []string{cmd.Args[0], "doctor"}
	out, _ := cmd.CombinedOutput()
	for _, want := range []string{"every start runs one, two, and fails while one does not come up: 'magi-code mcp test' tries them\n", "server held is not started: unapproved"} {
		if !strings.Contains(string(out), want) {
			t.Errorf("no %q in\n%s", want, out)
		}
	}
}

// TestOwnServer: what doctor tells users to write is valid.
func TestOwnServer(t *testing.T) {
	home := writeHome(t, map[string]string{"settings.json": ownServer})
	out, status := command(t, home, []string{"MY_SERVER_KEY=k"}, "doctor")
	if status != exitOK || !strings.Contains(out, "ok    provider     local at http://127.0.0.1:8080/v1") {
		t.Errorf("status %d\n%s", status, out)
	}
}
