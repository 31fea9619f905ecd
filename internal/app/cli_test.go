package app

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"magicode/internal/agent"
)

// mainWith runs Main in this process, with files in the place of terminals.
func mainWith(t *testing.T, args ...string) (status int, stdout, stderr string) {
	t.Helper()
	home := filepath.Join(t.TempDir(), "home")
	t.Setenv("MC_HOME", home)
	open := func(name string) *os.File {
		f, err := os.Create(filepath.Join(t.TempDir(), name))
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { f.Close() })
		return f
	}
	in, out, errs := open("in"), open("out"), open("err")
	status = Main(args, in, out, errs)
	read := func(f *os.File) string {
		b, err := os.ReadFile(f.Name())
		if err != nil {
			t.Fatal(err)
		}
		return string(b)
	}
	if _, err := os.Lstat(home); err == nil {
		t.Error("the home was touched")
	}
	return status, read(out), read(errs)
}

// TestRefusedCommandLines: status 2, why on stderr, nothing on stdout, no storage touched (runner.md 2).
func TestRefusedCommandLines(t *testing.T) {
	lines := map[string]string{
		"no arguments":       "",
		"serve alone":        "serve",
		"twice":              "serve --stdio --stdio",
		"with a value":       "serve --stdio=true",
		"with false":         "serve --stdio=false",
		"abbreviated":        "serve --stdi",
		"shorter":            "serve --std",
		"one dash":           "serve -stdio",
		"an argument":        "serve --stdio now",
		"an argument before": "serve now --stdio",
		"negated":            "serve --no-stdio",
		"flag first":         "--stdio serve",
		"stdio alone":        "--stdio",
		"app":                "--app",
		"app beside serve":   "serve --stdio --app",
		"daemon":             "daemon",
		"daemon with more":   "daemon --stdio",
		"unknown command":    "sing",
		"unknown flag":       "--sing",
		"abbreviated flag":   "--vers",
		"abbreviated word":   "dem",
		"demo with more":     "demo now",
		"ask without text":   "ask",
		"version of what":    "version now",
		"help for nothing":   "help sing",
		"serve in capitals":  "SERVE --stdio",
	}
	for _, flag := range []string{"--model m", "--model=m", "--provider p", "--api-key k", "--theme t", "--no-session", "--continue", "--resume id", "--prompt hi", "--prompt=hi", "--update", "--update-restart"} {
		lines["before: "+flag] = flag + " serve --stdio"
		lines["between: "+flag] = "serve " + flag + " --stdio"
		lines["after: "+flag] = "serve --stdio " + flag
		lines["alone: "+flag] = flag
	}
	for name, line := range lines {
		t.Run(name, func(t *testing.T) {
			status, out, errs := mainWith(t, strings.Fields(line)...)
			if status != exitUsage || out != "" || strings.TrimSpace(errs) == "" {
				t.Errorf("%q: status %d, stdout %q, stderr %q", line, status, out, errs)
			}
		})
	}
	for _, args := range [][]string{{"--prompt", ""}, {"--prompt", " \t\n"}, {"--prompt="}, {"ask", ""}, {"ask", " \n"}, {""}} {
		if status, out, errs := mainWith(t, args...); status != exitUsage || out != "" || errs == "" {
			t.Errorf("%q: status %d, stdout %q, stderr %q", args, status, out, errs)
		}
	}
}

// TestHelp: on every level, on stdout, with status 0.
func TestHelp(t *testing.T) {
	for line, want := range map[string]string{
		"--help":              "Usage: magi-code <command>",
		"-h":                  "Usage: magi-code <command>",
		"serve --help":        "Usage: magi-code serve",
		"serve --stdio -h":    "Usage: magi-code serve",
		"demo --help":         "Usage: magi-code demo",
		"ask --help":          "Usage: magi-code ask",
		"doctor --help":       "Usage: magi-code doctor",
		"settings --help":     "Usage: magi-code settings",
		"settings get --help": "Usage: magi-code settings get",
		"help":                "Usage: magi-code <command>",
		"help serve":          "Usage: magi-code serve",
		"help settings get":   "Usage: magi-code settings get",
		"help --help":         "Usage: magi-code <command>",
	} {
		status, out, errs := mainWith(t, strings.Fields(line)...)
		if status != exitOK || strings.Count(out, "Usage:") != 1 || !strings.HasPrefix(out, want) || errs != "" {
			t.Errorf("%s: status %d, stdout %.80q, stderr %q", line, status, out, errs)
		}
	}
	for _, line := range []string{"--version", "version"} {
		status, out, errs := mainWith(t, line)
		if status != exitOK || out != "magi-code "+agent.Version+"\n" || errs != "" {
			t.Errorf("%s: status %d, stdout %q, stderr %q", line, status, out, errs)
		}
	}
}

// TestNumbers: no number is negative, and none is taken for a flag.
func TestNumbers(t *testing.T) {
	for line, want := range map[string]string{
		"sessions list --limit -1":   `--limit: must be a whole number of 0 or more, not "-1"`,
		"sessions list -n -1":        `--limit: must be a whole number of 0 or more, not "-1"`,
		"sessions list --limit=-1":   `--limit: must be a whole number of 0 or more, not "-1"`,
		"sessions list -n 1.5":       `--limit: must be a whole number of 0 or more, not "1.5"`,
		"sessions list -n --json":    `--limit: must be a whole number of 0 or more, not "--json"`,
		"sessions list -n":           "--limit: a number is missing",
		"sessions prune --days -3":   `--days: must be a whole number of 0 or more, not "-3"`,
		"trace --run -1":             `--run: must be a whole number of 0 or more, not "-1"`,
		"trace --run 1e3":            `--run: must be a whole number of 0 or more, not "1e3"`,
		"trace diff a b --over -5":   `--over: must be a number of 0 or more, not "-5"`,
		"trace diff a b --over NaN":  `--over: must be a number of 0 or more, not "NaN"`,
		"trace diff a b --over +Inf": `--over: must be a number of 0 or more, not "+Inf"`,
	} {
		if status, out, errs := mainWith(t, strings.Fields(line)...); status != exitUsage || out != "" || !strings.HasPrefix(errs, "magi-code: "+want+"\nTry ") {
			t.Errorf("%s: status %d, %s%s", line, status, out, errs)
		}
	}
	var c cli
	p, err := grammar(&c)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := p.Parse(strings.Fields("trace diff a b --over 2.5 --width 70")); err != nil || *c.Trace.Diff.Over != 2.5 || c.Trace.Diff.Width != 70 {
		t.Errorf("%+v, %v", c.Trace.Diff, err)
	}
	if _, err := p.Parse(strings.Fields("trace --run 9000000000")); err != nil || *c.Trace.Explain.Run != 9_000_000_000 {
		t.Errorf("%+v, %v", c.Trace.Explain, err)
	}
}

// TestTryInstead: a line that cannot be parsed is answered with the help of the
// command that it names.
func TestTryInstead(t *testing.T) {
	for line, want := range map[string]string{
		"settings set":       "Try 'magi-code settings set --help'.",
		"sessions sing":      "Try 'magi-code sessions --help'.",
		"sing settings":      "Try 'magi-code --help'.",
		"mcp login":          "Try 'magi-code mcp login --help'.",
		"ask":                "Try 'magi-code ask --help'.\n",
		"ask -x":             "Try 'magi-code ask --help'. A prompt that begins with a dash",
		"ask --approve no x": "Try 'magi-code ask --help'.\n",
		"sing":               "magi-code: unknown command sing\nTry 'magi-code --help'.",
		"demos":              "unknown command demos, did you mean \"demo\"?\n",
		"demo now":           "unexpected argument now\n",
		"trace list now":     "unexpected argument now\n",
		"completion csh":     "Try 'magi-code completion --help'.",
		"auth login a b c d": "Try 'magi-code auth login --help'.",
	} {
		if status, _, errs := mainWith(t, strings.Fields(line)...); status != exitUsage || !strings.Contains(errs, want) {
			t.Errorf("%s: status %d, %s", line, status, errs)
		}
	}
}

// TestWordsOfAPrompt: what belongs to a command is not read as another one.
func TestWordsOfAPrompt(t *testing.T) {
	for _, args := range [][]string{{"ask", "serve"}, {"ask", "daemon"}, {"ask", "--", "--stdio"}} {
		if _, done := refuse(args, os.Stderr); done {
			t.Errorf("%q was refused", args)
		}
	}
}

// TestServeArguments: exactly these start a child.
func TestServeArguments(t *testing.T) {
	for line, want := range map[string]bool{"serve --stdio": true, "serve --stdio --": true, "serve": false, "serve --stdio x": false, "--stdio serve": false, "": false} {
		if got := isServe(strings.Fields(line)); got != want {
			t.Errorf("%q: %v", line, got)
		}
	}
}
