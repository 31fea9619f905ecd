// Package internal holds the rules of the repository as tests: which package may
// import which, through which doors files and processes go, and what is documented.
package internal

import (
	"encoding/json"
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io"
	"io/fs"
	"os/exec"
	"path/filepath"
	"slices"
	"sort"
	"strconv"
	"strings"
	"testing"
)

// rows is the package map: a package imports only packages of rows below its
// own (docs/architecture.md). A fraction orders packages inside one row. A
// package below internal/ that is not named here takes the row of its nearest
// parent that is.
var rows = map[string]float64{
	"cmd": 0, "deploy": 0, "internal/app": 1, "internal/agent": 1.5,
	"internal/server": 2, "internal/demo": 2, "internal/tracecmd": 2, "internal/models": 2.5,
	"internal/frame": 3, "internal/admission": 3, "internal/worker": 3, "internal/startup": 3, "internal/attach": 3, "internal/turn": 3,
	"internal/event": 4, "internal/approval": 4,
	"internal/subagent":  5,
	"internal/agenttest": 12, "internal/racetest": 12,
	"internal/runner":           6,
	"internal/provider/factory": 7,
	"internal/provider/claude":  7.05,
	"internal/provider/openai":  7.1, "internal/provider/codex": 7.1, "internal/provider/anthropic": 7.1,
	"internal/provider/chat": 7.2, "internal/provider/responses": 7.3,
	"internal/provider/exchange": 7.4, "internal/provider/transcript": 7.4,
	"internal/tool/read": 7, "internal/tool/write": 7, "internal/tool/bash": 7, "internal/tool/grep": 7, "internal/tool/find": 7,
	"internal/tool/listfiles": 7, "internal/tool/hashedit": 7, "internal/tool/control": 7, "internal/tool/astgrep": 7, "internal/tool/viewimage": 7, "internal/tool/web": 7,
	"internal/mcp": 7, "internal/replay": 7, "internal/prompt": 7, "internal/prompttag": 7, "internal/protect": 7, "internal/history": 7,
	"internal/lsp": 7, "internal/protect/injection": 7.4, "internal/protect/judge": 7.5, "internal/ledger": 7,
	"internal/hook": 7, "internal/script": 7, "internal/catalog": 7, "internal/tokens": 7, "internal/checkpoint": 7,
	"internal/provider": 8, "internal/tool": 8, "internal/tool/linediff": 8.5,
	"internal/session": 9, "internal/config": 9, "internal/auth": 9, "internal/profile": 9,
	"internal/provider/body": 9, "internal/provider/sse": 9,
	"internal/lease": 10, "internal/proc": 10, "internal/httpx": 10, "internal/loopback": 10, "internal/redact": 10, "internal/ignore": 10, "internal/worktree": 10, "internal/syntax": 10,
	"internal/vfs": 11, "internal/jsonscan": 11, "internal/fdio": 11, "internal/textbuf": 11,
	"pkg/client": 4, "pkg/localagent": 12, "telemetry": 12, "telemetry/otlp": 12.1, "telemetry/config": 12.2, "telemetry/otlpjson": 12.2, "telemetry/point": 13, "telemetry/rawfile": 13,
}

// wireKnowers are the packages inside internal/ that may know pkg/localagent:
// the others also serve front ends without a wire.
var wireKnowers = []string{"internal/server", "internal/frame", "internal/admission", "internal/turn", "internal/event", "internal/approval", "internal/demo", "internal/app", "internal/agent"}

type pkg struct {
	ImportPath string
	Imports    []string
}

const module = "magicode/"

func listPackages(t *testing.T) []pkg {
	t.Helper()
	cmd := exec.Command("go", "list", "-json=ImportPath,Imports", "./...")
	cmd.Dir = ".."
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("go list: %v", err)
	}
	var pkgs []pkg
	dec := json.NewDecoder(strings.NewReader(string(out)))
	for {
		var p pkg
		if err := dec.Decode(&p); errors.Is(err, io.EOF) {
			return pkgs
		} else if err != nil {
			t.Fatal(err)
		}
		pkgs = append(pkgs, p)
	}
}

// rowOf returns the row of a package of this module, and whether it has one.
func rowOf(path string) (float64, bool) {
	for rel := strings.TrimPrefix(path, module); rel != "." && rel != ""; rel = filepath.ToSlash(filepath.Dir(rel)) {
		if row, ok := rows[rel]; ok {
			return row, true
		}
	}
	return 0, false
}

// sameFamily reports whether one lies below the other: a package and its own
// parts may share a row in one direction.
func sameFamily(a, b string) bool {
	return strings.HasPrefix(a, b+"/") || strings.HasPrefix(b, a+"/")
}

// violations lists the imports that break the map.
func violations(pkgs []pkg) []string {
	var bad []string
	for _, p := range pkgs {
		if strings.HasPrefix(p.ImportPath, module+"bench") {
			continue // benchmarks drive real entry points of any row
		}
		if p.ImportPath == module+"internal" {
			continue // these rules
		}
		from, known := rowOf(p.ImportPath)
		if !known {
			bad = append(bad, p.ImportPath+" has no row in the package map")
			continue
		}
		for _, imp := range p.Imports {
			if !strings.HasPrefix(imp, module) {
				continue
			}
			to, ok := rowOf(imp)
			if !ok || to < from || to == from && !sameFamily(p.ImportPath, imp) {
				bad = append(bad, fmt.Sprintf("%s (row %v) imports %s (row %v)", p.ImportPath, from, imp, to))
			}
			if imp == module+"pkg/localagent" && strings.HasPrefix(p.ImportPath, module+"internal/") && !knowsWire(p.ImportPath) {
				bad = append(bad, p.ImportPath+" knows the wire types")
			}
		}
	}
	sort.Strings(bad)
	return bad
}

func knowsWire(path string) bool {
	return slices.ContainsFunc(wireKnowers, func(k string) bool { return path == module+k || strings.HasPrefix(path, module+k+"/") })
}

func TestImportDirections(t *testing.T) {
	for _, v := range violations(listPackages(t)) {
		t.Error(v)
	}
}

// TestRowsAreUsed: a row whose package is gone would let its next namesake in unseen.
func TestRowsAreUsed(t *testing.T) {
	var have []string
	for _, p := range listPackages(t) {
		have = append(have, strings.TrimPrefix(p.ImportPath, module))
	}
	for name := range rows {
		if !slices.ContainsFunc(have, func(h string) bool { return h == name || strings.HasPrefix(h, name+"/") }) {
			t.Errorf("%s has a row and no code", name)
		}
	}
}

// TestImportDirectionsFinds holds the check itself against rows that break it.
func TestImportDirectionsFinds(t *testing.T) {
	for name, p := range map[string]pkg{
		"upwards":     {ImportPath: module + "internal/session", Imports: []string{module + "internal/runner"}},
		"sideways":    {ImportPath: module + "internal/tool/read", Imports: []string{module + "internal/tool/bash"}},
		"in one row":  {ImportPath: module + "internal/provider/responses", Imports: []string{module + "internal/provider/chat"}},
		"no row":      {ImportPath: module + "internal/stray"},
		"wire":        {ImportPath: module + "internal/runner", Imports: []string{module + "pkg/localagent"}},
		"from a leaf": {ImportPath: module + "telemetry", Imports: []string{module + "internal/vfs"}},
	} {
		if len(violations([]pkg{p})) == 0 {
			t.Errorf("%s: not found", name)
		}
	}
	fine := []pkg{
		{ImportPath: module + "internal/runner", Imports: []string{module + "internal/session", "fmt", module + "telemetry"}},
		{ImportPath: module + "internal/vfs/memfs", Imports: []string{module + "internal/vfs"}},
	}
	if v := violations(fine); len(v) != 0 {
		t.Errorf("allowed imports were refused: %v", v)
	}
}

// TestTelemetryIsTheOnlyDoor keeps OpenTelemetry and Prometheus below telemetry/.
func TestTelemetryIsTheOnlyDoor(t *testing.T) {
	for _, p := range listPackages(t) {
		if strings.HasPrefix(p.ImportPath, module+"telemetry") {
			continue
		}
		for _, imp := range p.Imports {
			if strings.HasPrefix(imp, "go.opentelemetry.io/") || strings.HasPrefix(imp, "github.com/prometheus/") {
				t.Errorf("%s imports %s", p.ImportPath, imp)
			}
		}
	}
}

// forbidden are calls that have one door: state files go through vfs, child
// processes through proc. pkg/client starts the child of a foreign host and the
// demo owns a temporary folder; both are on the host's side.
var forbidden = map[string]bool{"os.OpenFile": true, "os.Rename": true, "os.Remove": true, "exec.Command": true, "exec.CommandContext": true, "os.StartProcess": true}

var doors = []string{"internal/vfs", "internal/proc", "pkg/client", "bench"}

// sourceFindings lists blank imports and forbidden calls of one file.
func sourceFindings(file string, src any) ([]string, error) {
	fset := token.NewFileSet()
	f, err := parser.ParseFile(fset, file, src, parser.SkipObjectResolution)
	if err != nil {
		return nil, err
	}
	var bad []string
	for _, imp := range f.Imports {
		if imp.Name != nil && imp.Name.Name == "_" {
			path, _ := strconv.Unquote(imp.Path.Value)
			if path != "embed" {
				bad = append(bad, fmt.Sprintf("%s: blank import of %s", file, path))
			}
		}
	}
	door := slices.ContainsFunc(doors, func(d string) bool { return strings.HasPrefix(filepath.ToSlash(file), d+"/") })
	ast.Inspect(f, func(n ast.Node) bool {
		sel, ok := n.(*ast.SelectorExpr)
		if !ok || door {
			return true
		}
		if x, ok := sel.X.(*ast.Ident); ok && forbidden[x.Name+"."+sel.Sel.Name] {
			bad = append(bad, fmt.Sprintf("%s: %s.%s", fset.Position(n.Pos()), x.Name, sel.Sel.Name))
		}
		return true
	})
	return bad, nil
}

func TestOneDoorForFilesAndProcesses(t *testing.T) {
	err := filepath.WalkDir("..", func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, _ := filepath.Rel("..", path)
		if d.IsDir() && (strings.HasPrefix(d.Name(), ".") && rel != "." || d.Name() == "testdata" || rel == "tools" || rel == "bin") {
			return filepath.SkipDir
		}
		if d.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return nil
		}
		src, err := parserSource(path)
		if err != nil {
			return err
		}
		bad, err := sourceFindings(filepath.ToSlash(rel), src)
		for _, b := range bad {
			t.Error(b)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

func TestOneDoorFinds(t *testing.T) {
	src := "package x\nimport (\n\t\"os\"\n\t\"os/exec\"\n\t_ \"net/http/pprof\"\n)\nfunc f() { os.Remove(\"a\"); exec.Command(\"b\") }\n"
	bad, err := sourceFindings("internal/x/x.go", src)
	if err != nil || len(bad) != 3 {
		t.Errorf("found %d of 3: %v %v", len(bad), bad, err)
	}
	if bad, _ := sourceFindings("internal/vfs/os.go", "package vfs\nimport \"os\"\nvar _ = os.Remove\n"); len(bad) != 0 {
		t.Errorf("the door itself was refused: %v", bad)
	}
}
