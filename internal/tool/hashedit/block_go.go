package hashedit

import (
	"go/ast"
	"go/parser"
	"go/token"
)

// goBlock returns the last line of the smallest node that starts on line n and
// ends on a later one.
func goBlock(text string, n int) (last int, err error) {
	set := token.NewFileSet()
	file, err := parser.ParseFile(set, "", text, parser.SkipObjectResolution|parser.ParseComments)
	if err != nil {
		return 0, errSyntax
	}
	lines := set.File(file.FileStart)
	ast.Inspect(file, func(x ast.Node) bool {
		if x == nil || x == ast.Node(file) {
			return x != nil
		}
		if _, ok := x.(*ast.CommentGroup); ok {
			return false
		}
		first, end := lines.Line(x.Pos()), lines.Line(x.End()-1)
		if first == n && end > n && (last == 0 || end < last) {
			last = end
		}
		return first <= n && end >= n
	})
	if last == 0 {
		return 0, errNoBlock
	}
	return last, nil
}
