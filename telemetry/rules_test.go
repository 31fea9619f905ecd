package telemetry

import (
	"flag"
	"io/fs"
	"maps"
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

// TestEveryWordIsKnown: a word or a code that is written out somewhere and is in
// no list would be reported as "_OTHER".
func TestEveryWordIsKnown(t *testing.T) {
	literal := regexp.MustCompile(`telemetry\.(Word|Code)Of\("([^"]*)"\)`)
	seen := 0
	eachSource(t, func(path, text string) {
		for _, m := range literal.FindAllStringSubmatch(text, -1) {
			seen++
			if m[1] == "Word" && WordOf(m[2]) == 0 || m[1] == "Code" && CodeOf(m[2]) == 0 {
				t.Errorf("%s: %s is unknown", path, m[0])
			}
		}
	})
	if seen < 20 {
		t.Errorf("only %d are found", seen)
	}
}

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
		if !used[name] {
			t.Errorf("nobody uses %s", name)
		}
	}
}

var update = flag.Bool("update", false, "write the tables of docs/telemetry.md anew")

// tables are the lists of docs/telemetry.md, by their first lines.
func tables() map[string][]string {
	var spans, attributes, metrics []string
	for _, k := range kinds {
		name, when := k.name, "after 250 ms"
		switch {
		case k.tail == KeyMethod:
			name = "*method*"
		case k.tail == KeyMCPMethod:
			name = "initialize`, `tools/list`, `tools/call"
		case k.tail == KeyTool:
			name += " *tool*"
		case name == "chat":
			name += " *model*"
		}
		if k.now {
			when = "at once"
		}
		spans = append(spans, "| `"+name+"` | "+when+" |")
	}
	forms := map[string]string{}
	for what, list := range map[string][]string{"number": intKeys[:], "yes or no": boolKeys[:], "word": enumKeys[1:], "name": nameKeys[:]} {
		for _, name := range list {
			if forms[name] != "" {
				forms[name] = "word or name" // a plain one
				continue
			}
			forms[name] = what
		}
	}
	for what, list := range map[string][]string{"number": ownInts[:], "yes or no": ownBools[:], "text, of the resource": resourceTexts[:], "word": slices.Collect(maps.Keys(ownTexts()))} {
		for _, name := range list {
			forms[name] = what
		}
	}
	forms[keySpanParent], forms[keySpanName] = "id of a span", "name of a span"
	forms[keyOpenNames], forms[keyOpenAges] = "names of spans", "numbers"
	for name, what := range forms {
		attributes = append(attributes, "| `"+name+"` | "+what+" |")
	}
	slices.Sort(attributes)
	for _, m := range Catalogue() {
		metrics = append(metrics, "| `"+m.Name+"` | "+m.Unit+" |")
	}
	return map[string][]string{"| Span | Start record |": spans, "| Attribute | Value |": attributes, "| Metric | Unit |": metrics}
}

// TestDocumentation: docs/telemetry.md lists every name that can leave.
// go test ./telemetry -run TestDocumentation -update writes the lists.
func TestDocumentation(t *testing.T) {
	const path = "../docs/telemetry.md"
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	doc := string(b)
	for head, rows := range tables() {
		before, rest, ok := strings.Cut(doc, head+"\n|---|---|\n")
		if !ok {
			t.Fatalf("docs/telemetry.md has no table %s", head)
		}
		old, after, _ := strings.Cut(rest, "\n\n")
		want := strings.Join(rows, "\n")
		if old != want && !*update {
			t.Errorf("docs/telemetry.md: the table %s is out of date: run go test ./telemetry -run TestDocumentation -update", head)
		}
		doc = before + head + "\n|---|---|\n" + want + "\n\n" + after
	}
	if *update {
		if err := os.WriteFile(path, []byte(doc), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// TestEveryKindIsTimed: for each kind of span some test delays its subject and
// sees it there (package spantest). A snapshot is written already ended.
func TestEveryKindIsTimed(t *testing.T) {
	constant := regexp.MustCompile(`(?m)^\t(Span[A-Z]\w*)(?: Kind = iota)?$`)
	timed := regexp.MustCompile(`(?:\.Sees\(|\.check\(|^\t\t\{)telemetry\.(Span[A-Z]\w*)`)
	seen := map[string]bool{"SpanCleanupSnapshot": true}
	err := filepath.WalkDir("../internal", func(path string, d fs.DirEntry, err error) error {
		if err != nil || !strings.HasSuffix(path, "_test.go") {
			return err
		}
		b, err := os.ReadFile(path)
		if err != nil || !strings.Contains(string(b), "reader/spantest") {
			return err
		}
		for line := range strings.Lines(string(b)) {
			for _, m := range timed.FindAllStringSubmatch(line, -1) {
				seen[m[1]] = true
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	b, err := os.ReadFile("names.go")
	if err != nil {
		t.Fatal(err)
	}
	names := constant.FindAllStringSubmatch(string(b), -1)
	if len(names) != int(kindCount) {
		t.Fatalf("%d of %d kinds", len(names), kindCount)
	}
	for _, m := range names {
		if !seen[m[1]] {
			t.Errorf("no test delays what %s times", m[1])
		}
	}
}
