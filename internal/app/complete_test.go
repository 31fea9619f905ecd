package app

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// completionOf returns a shell's script, in a file.
func completionOf(t *testing.T, shell string) (script, file string) {
	t.Helper()
	status, out, errs := mainWith(t, "completion", shell)
	if status != exitOK || errs != "" {
		t.Fatal(status, errs)
	}
	file = filepath.Join(t.TempDir(), "script")
	if err := os.WriteFile(file, []byte(out), 0o600); err != nil {
		t.Fatal(err)
	}
	return out, file
}

// TestCompletionParses: each shell that is here reads its script without a word.
func TestCompletionParses(t *testing.T) {
	for _, shell := range shellName("").choices() {
		t.Run(shell, func(t *testing.T) {
			script, file := completionOf(t, shell)
			for _, word := range []string{"sessions", "repair-permissions", "approve", "x_high", "no-browser"} {
				if !strings.Contains(script, word) {
					t.Errorf("%s is missing", word)
				}
			}
			path, err := exec.LookPath(shell)
			if err != nil {
				t.Skip(shell + " is not installed")
			}
			if out, err := exec.Command(path, "-n", file).CombinedOutput(); err != nil || len(out) > 0 {
				t.Errorf("%v %s", err, out)
			}
		})
	}
}

// TestBashCompletes asks the script as bash does.
func TestBashCompletes(t *testing.T) {
	bash, err := exec.LookPath("bash")
	if err != nil {
		t.Skip("bash is not installed")
	}
	_, file := completionOf(t, "bash")
	for line, want := range map[string]string{
		"se":                       "serve sessions settings",
		"sessions re":              "repair-permissions",
		"sessions list --js":       "--json",
		"ask --approve ":           "ask deny allow",
		"ask --approve d":          "deny",
		"models use p m --level x": "x_high",
		"completion ":              "bash zsh fish --help",
		"ask serve --j":            "--json",
		"mcp login --no":           "--no-browser",
	} {
		words := append([]string{"magi-code"}, strings.Split(line, " ")...)
		cmd := exec.Command(bash, append([]string{"-c", `source "$1"; shift; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _magi_code; echo "${COMPREPLY[@]}"`, "bash", file}, words...)...)
		out, err := cmd.CombinedOutput()
		got := strings.TrimSpace(string(out))
		if err != nil || got != want {
			t.Errorf("%q: %v %q, wanted %q", line, err, got, want)
		}
	}
}
