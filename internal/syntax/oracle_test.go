package syntax

import (
	"context"
	"go/ast"
	"go/build"
	"go/parser"
	gotoken "go/token"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// span is a declaration or a statement: what it is and where.
type span struct {
	Kind       string
	Start, End int
}

// TestGoAgainstParser holds the Go grammar against go/parser over packages of
// the standard library: the same functions, calls and literals at the same places.
func TestGoAgainstParser(t *testing.T) {
	var files []string
	for _, dir := range []string{"go/types", "net/http", "encoding/json", "slices", "internal/abi"} {
		found, _ := filepath.Glob(filepath.Join(build.Default.GOROOT, "src", filepath.FromSlash(dir), "*.go"))
		files = append(files, found...)
	}
	if len(files) < 50 {
		t.Skip("the standard library's sources are not there")
	}
	var p Parser
	for _, file := range files {
		src, err := os.ReadFile(file)
		if err != nil || len(src) > MaxBytes {
			continue
		}
		got, err := p.Parse(context.Background(), goLanguage, src)
		if err != nil || got.Broken {
			t.Errorf("%s: %v, broken %v", file, err, got != nil && got.Broken)
			continue
		}
		if d := cmp.Diff(theirs(t, src), ours(got)); d != "" {
			t.Errorf("%s (-theirs +ours):\n%s", file, d)
		}
	}
}

func theirs(t *testing.T, src []byte) map[span]bool {
	set := gotoken.NewFileSet()
	f, err := parser.ParseFile(set, "", src, parser.SkipObjectResolution)
	if err != nil {
		t.Fatal(err)
	}
	out := map[span]bool{}
	ast.Inspect(f, func(n ast.Node) bool {
		kind := ""
		switch x := n.(type) {
		case *ast.FuncDecl:
			kind = "function"
		case *ast.CallExpr:
			kind = "call"
		case *ast.BinaryExpr:
			kind = "binary"
		case *ast.CompositeLit:
			if x.Type != nil {
				kind = "composite"
			}
		case *ast.IfStmt:
			kind = "if"
		case *ast.AssignStmt:
			kind = "assign"
		case *ast.FuncLit:
			kind = "literal"
		case *ast.CaseClause:
			if x.List != nil && len(x.Body) > 0 {
				kind = "case"
			}
		}
		if kind != "" {
			end := set.Position(n.End()).Offset
			if c, ok := n.(*ast.CaseClause); ok { // it ends with its last statement there, with a semicolon here
				end = set.Position(c.Colon).Offset
			}
			out[span{kind, set.Position(n.Pos()).Offset, end}] = true
		}
		return true
	})
	return out
}

func ours(t *Tree) map[span]bool {
	kinds := map[string]string{
		"function_declaration": "function", "method_declaration": "function", "call_expression": "call", "binary_expression": "binary",
		"composite_literal": "composite", "if_statement": "if", "assignment_statement": "assign", "short_var_declaration": "assign",
		"func_literal": "literal", "case_clause": "case", "type_union": "binary",
	}
	out := map[span]bool{}
	for i := range t.Nodes() {
		n := t.Node(i)
		kind := kinds[n.Kind()]
		if kind == "" {
			continue
		}
		end := n.End()
		if kind == "case" {
			colon := -1
			for i := range n.Len() {
				if c := n.Child(i); colon < 0 && c.Kind() == ":" {
					colon = i
				}
			}
			if colon == n.Len()-1 {
				continue // without a body
			}
			end = n.Child(colon).Start()
		}
		out[span{kind, n.Start(), end}] = true
	}
	return out
}
