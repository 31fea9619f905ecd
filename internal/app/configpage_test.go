package app

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestConfigurationPage: the examples of docs/configuration.md are valid, and
// have no key that this version does not know.
func TestConfigurationPage(t *testing.T) {
	page, err := os.ReadFile(filepath.Join("..", "..", "docs", "configuration.md"))
	if err != nil {
		t.Fatal(err)
	}
	examples := regexp.MustCompile("(?ms)^```json\n(.*?)^```").FindAllStringSubmatch(string(page), -1)
	if len(examples) != 2 {
		t.Fatalf("%d examples", len(examples))
	}
	home := writeHome(t, map[string]string{"settings.json": examples[0][1], ".mcp.json": examples[1][1]})
	out, status := command(t, home, nil, "doctor")
	for _, want := range []string{"approvals ask at level balanced", "server account is not started: unapproved", "server files is not started", "server tracker is not started"} {
		if !strings.Contains(out, want) {
			t.Errorf("no %q", want)
		}
	}
	if status != exitOK || strings.Contains(out, "knows no setting") {
		t.Errorf("status %d\n%s", status, out)
	}
}
