package telemetry

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// eachSource calls check with every Go file of the module that is no test.
func eachSource(t *testing.T, check func(path, text string)) {
	t.Helper()
	err := filepath.WalkDir("..", func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, _ := filepath.Rel("..", path)
		if d.IsDir() && (d.Name() == "testdata" || d.Name() == "bin" || rel == "tools" || strings.HasPrefix(d.Name(), ".") && rel != ".") {
			return filepath.SkipDir
		}
		if d.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return nil
		}
		b, err := os.ReadFile(path)
		if os.IsNotExist(err) {
			return nil // somebody is at work
		}
		check(filepath.ToSlash(rel), string(b))
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

// TestNamesStandInOnePlace: the unstable conventions are spelled in one file.
func TestNamesStandInOnePlace(t *testing.T) {
	found := false
	eachSource(t, func(path, text string) {
		has := strings.Contains(text, "gen_"+"ai.")
		found = found || has
		if has && path != "telemetry/names.go" {
			t.Errorf("%s spells a name of the GenAI conventions", path)
		}
	})
	if !found {
		t.Error("names.go has none")
	}
}

var (
	freeText = regexp.MustCompile(`RecordError\(|SetStatus\([^)]*, (?:"[^"]|[a-z])`)
	adHoc    = regexp.MustCompile(`metric\.WithAttributes\(|trace\.WithAttributes\(`)
)

// TestNoFreeText: error texts have no way into a span, and attributes are set
// in one place only.
func TestNoFreeText(t *testing.T) {
	eachSource(t, func(path, text string) {
		if m := freeText.FindString(text); m != "" {
			t.Errorf("%s: %s", path, m)
		}
		if m := adHoc.FindString(text); m != "" && !strings.HasPrefix(path, "telemetry/") {
			t.Errorf("%s: %s", path, m)
		}
	})
	for _, bad := range []string{"span.RecordError(err)", `span.SetStatus(codes.Error, "text")`, "span.SetStatus(codes.Error, err.Error())"} {
		if !freeText.MatchString(bad) {
			t.Errorf("%s is not found", bad)
		}
	}
	if freeText.MatchString(`span.SetStatus(codes.Error, "")`) {
		t.Error("an empty description is refused")
	}
}

// TestEveryMethodIsCalled: a hook that nobody calls reports nothing.
func TestEveryMethodIsCalled(t *testing.T) {
	method := regexp.MustCompile(`(?m)^func \((?:t Tel|s Span)\) ([A-Z]\w*)\(`)
	var names []string
	var callers strings.Builder
	eachSource(t, func(path, text string) {
		if filepath.ToSlash(filepath.Dir(path)) == "telemetry" {
			for _, m := range method.FindAllStringSubmatch(text, -1) {
				names = append(names, m[1])
			}
			return
		}
		callers.WriteString(text)
	})
	if len(names) < 20 {
		t.Fatalf("methods: %v", names)
	}
	for _, name := range names {
		if !strings.Contains(callers.String(), "."+name+"(") && !strings.Contains(callers.String(), "."+name+")") {
			t.Errorf("nobody calls %s", name)
		}
	}
}

// waiting are names that only the MCP client can set: the catalogue has them,
// and captures that hold them can be read.
var waiting = []string{"KeyMCPServer", "KeyTransport"}

// TestEveryNameIsUsed: kinds, keys and events that nobody reports are no catalogue.
func TestEveryNameIsUsed(t *testing.T) {
	constant := regexp.MustCompile(`(?m)^\t((?:Span|Key|Event|Frame)[A-Z]\w*)(?: = iota| \w+ = iota)?$`)
	word := regexp.MustCompile(`\b(?:Span|Key|Event|Frame)[A-Z]\w*`)
	used := map[string]bool{}
	var names []string
	eachSource(t, func(path, text string) {
		if path == "telemetry/count.go" {
			used["KeyStartupPhase"], used["KeyCleanupPhase"], used["KeyCleanupOutcome"] = true, true, true // made there
			return                                                                                         // what is counted is no report yet
		}
		if path == "telemetry/names.go" {
			for _, m := range constant.FindAllStringSubmatch(text, -1) {
				names = append(names, m[1])
			}
			return
		}
		for _, w := range word.FindAllString(text, -1) {
			used[w] = true
		}
	})
	if len(names) < 80 {
		t.Fatalf("names: %v", names)
	}
	for _, name := range names {
		if !used[name] && !slices.Contains(waiting, name) {
			t.Errorf("nobody uses %s", name)
		}
	}
}

// TestDocumentation: docs/telemetry.md lists every name that can leave.
func TestDocumentation(t *testing.T) {
	b, err := os.ReadFile("../docs/telemetry.md")
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for i, k := range kinds {
		if Kind(i) != SpanRequest {
			names = append(names, k.name)
		}
	}
	names = append(append(append(append(names, intKeys[:]...), boolKeys[:]...), enumKeys[1:]...), nameKeys[:]...)
	for _, m := range newHotInstruments().metrics(&peaks{}) {
		names = append(names, m.Name)
	}
	for _, m := range slowInfos {
		names = append(names, m.name)
	}
	for _, n := range names {
		if !strings.Contains(string(b), "`"+n) {
			t.Errorf("docs/telemetry.md does not know %s", n)
		}
	}
}
