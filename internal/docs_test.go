package internal

import (
	"go/parser"
	"go/token"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// walkFiles calls do for every file of the repository with this suffix, test
// data and what is built apart.
func walkFiles(t *testing.T, suffix string, do func(path, rel string)) {
	t.Helper()
	err := filepath.WalkDir("..", func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, err := filepath.Rel("..", path)
		if err != nil {
			return err
		}
		rel = filepath.ToSlash(rel)
		if d.IsDir() && (strings.HasPrefix(d.Name(), ".") && rel != "." || d.Name() == "testdata" || rel == "bin" || rel == "bench/out") {
			return filepath.SkipDir
		}
		if !d.IsDir() && strings.HasSuffix(rel, suffix) {
			do(path, rel)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// packageComment returns the comment of a file's package clause, and the
// package's name.
func packageComment(file string, src any) (comment, name string, err error) {
	f, err := parser.ParseFile(token.NewFileSet(), file, src, parser.ParseComments|parser.PackageClauseOnly)
	if err != nil {
		return "", "", err
	}
	return f.Doc.Text(), f.Name.Name, nil
}

// isPackageComment: godoc's first sentence, and for a program its command's name.
func isPackageComment(comment, name, dir string) bool {
	if name == "main" {
		return strings.HasPrefix(comment, "Command "+filepath.Base(dir)+" ")
	}
	return strings.HasPrefix(comment, "Package "+name+" ")
}

// TestPackagesHaveComments: docs/architecture.md sends readers to them.
func TestPackagesHaveComments(t *testing.T) {
	found := map[string]bool{}
	walkFiles(t, ".go", func(path, rel string) {
		dir := filepath.Dir(rel)
		if strings.HasSuffix(rel, "_test.go") && dir != "internal" {
			return
		}
		comment, name, err := packageComment(path, nil)
		if err != nil {
			t.Fatal(err)
		}
		found[dir] = found[dir] || isPackageComment(comment, name, dir)
	})
	for dir, has := range found {
		if !has {
			t.Errorf("%s has no package comment", dir)
		}
	}
	if len(found) < 50 {
		t.Errorf("only %d packages were looked at", len(found))
	}
}

func TestPackageCommentFinds(t *testing.T) {
	for src, want := range map[string]bool{
		"// Package x does something.\npackage x\n":    true,
		"// Command y does something.\npackage main\n": true,
		"package x\n":                                   false,
		"// Package x does.\n\npackage x\n":             false, // not joined to the clause
		"// Package z does something.\npackage x\n":     false,
		"// Command z does something.\npackage main\n":  false,
		"//go:build linux\n\npackage x\n\n// Package x": false,
	} {
		comment, name, err := packageComment("y/x.go", src)
		if got := isPackageComment(comment, name, "bench/y"); err != nil || got != want {
			t.Errorf("%q: %v %v", src, got, err)
		}
	}
}

var (
	fenced  = regexp.MustCompile("(?ms)^```.*?^```|`[^`\n]*`")
	mdLinks = regexp.MustCompile(`\]\(([^()\s]+)\)|(?m)^\[[^\]]+\]:\s+(\S+)`)
)

// brokenLinks returns the relative links of a Markdown text in dir for which
// there is no file or folder.
func brokenLinks(dir, text string) (broken []string, links int) {
	for _, m := range mdLinks.FindAllStringSubmatch(fenced.ReplaceAllString(text, ""), -1) {
		u, err := url.Parse(m[1] + m[2])
		if err == nil && (u.Scheme != "" || u.Path == "") {
			continue // elsewhere, or a heading of the page itself
		}
		links++
		if err == nil {
			_, err = os.Stat(filepath.Join(dir, filepath.FromSlash(u.Path)))
		}
		if err != nil {
			broken = append(broken, m[1]+m[2])
		}
	}
	return broken, links
}

// TestLinksOfDocuments: every relative link of every page leads somewhere.
func TestLinksOfDocuments(t *testing.T) {
	all := 0
	walkFiles(t, ".md", func(path, rel string) {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		broken, links := brokenLinks(filepath.Dir(path), string(text))
		all += links
		for _, b := range broken {
			t.Errorf("%s: there is no %s", rel, b)
		}
	})
	if all == 0 {
		t.Error("no link was looked at")
	}
}

func TestLinksFinds(t *testing.T) {
	text := "[a](docs_test.go) [b](none.md) [`c`](none.md#x) [d](#top) [e](https://example.org/x) `[f](none)`\n```\n[g](none)\n```\n[h]: none.txt\n"
	broken, links := brokenLinks(".", text)
	if links != 4 || strings.Join(broken, " ") != "none.md none.md#x none.txt" {
		t.Errorf("%d links, broken: %q", links, broken)
	}
}
