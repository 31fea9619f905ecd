package syntax

import (
	_ "embed"
	"path/filepath"
	"strings"
	"sync"
)

// Language is one language. Languages are shared and safe for concurrent use.
type Language struct {
	Name string // as the model writes it

	grammar   func() *grammar
	lex       func(*lexer)
	top       string   // the rule of a file
	fragments []string // rules that a fragment is tried as, in this order
	jsx       bool
}

var (
	//go:embed grammars/go.txt
	goText string
	//go:embed grammars/python.txt
	pythonText string
	//go:embed grammars/script.txt
	scriptText string
	//go:embed grammars/rust.txt
	rustText string
)

// Grammars are compiled on first use.
var (
	goGrammar = sync.OnceValue(func() *grammar {
		return compile(goText, "", strings.Fields("break case chan const continue default defer else fallthrough for func go goto if import interface map package range return select struct switch type var")...)
	})
	pythonGrammar = sync.OnceValue(func() *grammar {
		return compile(pythonText, "", strings.Fields("and as assert async await break class continue def del elif else except finally for from global if import in is lambda nonlocal not or pass raise return try while with yield")...)
	})
	scriptGrammar = sync.OnceValue(func() *grammar {
		return compile(scriptText, ">", strings.Fields("break case catch class const continue debugger default delete do else enum export extends finally for function if import in instanceof new return switch throw try typeof var void while with")...)
	})
	rustGrammar = sync.OnceValue(func() *grammar {
		return compile(rustText, "<>&|", strings.Fields("as async await break const continue dyn else enum extern fn for if impl in let loop match mod move mut pub ref return static struct trait type unsafe use where while")...)
	})
)

var (
	goLanguage     = &Language{Name: "go", grammar: goGrammar, lex: lexGo, top: "source_file", fragments: []string{"_fragment_top", "_fragment_statement", "_fragment_type", "_fragment_part"}}
	pythonLanguage = &Language{Name: "python", grammar: pythonGrammar, lex: lexPython, top: "module", fragments: []string{"_fragment_statement", "_fragment_part"}}
	javaScript     = &Language{Name: "javascript", grammar: scriptGrammar, lex: lexScript, top: "program", fragments: scriptFragments, jsx: true}
	typeScript     = &Language{Name: "typescript", grammar: scriptGrammar, lex: lexScript, top: "program", fragments: scriptFragments}
	tsx            = &Language{Name: "tsx", grammar: scriptGrammar, lex: lexScript, top: "program", fragments: scriptFragments, jsx: true}
	rustLanguage   = &Language{Name: "rust", grammar: rustGrammar, lex: lexRust, top: "source_file", fragments: []string{"_fragment_expression", "_fragment_statement", "_fragment_type", "_fragment_part"}}

	scriptFragments = []string{"_fragment_expression", "_fragment_statement", "_fragment_member", "_fragment_type", "_fragment_part"}
)

// Languages lists all, in the order of their names' use in texts.
func Languages() []*Language {
	return []*Language{goLanguage, pythonLanguage, javaScript, typeScript, tsx, rustLanguage}
}

// ByName finds a language by its name or a usual short form, in any letter case.
func ByName(name string) *Language {
	switch strings.ToLower(name) {
	case "go", "golang":
		return goLanguage
	case "python", "py":
		return pythonLanguage
	case "javascript", "js", "jsx":
		return javaScript
	case "typescript", "ts":
		return typeScript
	case "tsx":
		return tsx
	case "rust", "rs":
		return rustLanguage
	}
	return nil
}

// ByPath finds the language of a file by the end of its name; nil if it has none.
func ByPath(path string) *Language {
	switch strings.ToLower(filepath.Ext(path)) {
	case ".go":
		return goLanguage
	case ".py", ".pyi":
		return pythonLanguage
	case ".js", ".jsx", ".mjs", ".cjs":
		return javaScript
	case ".ts", ".mts", ".cts":
		return typeScript
	case ".tsx":
		return tsx
	case ".rs":
		return rustLanguage
	}
	return nil
}

// Related reports whether patterns of one language are also searched in files of
// the other: a TypeScript pattern in TSX files.
func (l *Language) Related(o *Language) bool {
	return l == o || l == typeScript && o == tsx
}
