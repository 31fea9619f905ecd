package astgrep

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"magicode/internal/syntax"
)

// Bounds of an outline in one file: tools.md 1.14.
const (
	maxOutlineNodes = 16_384
	maxOutlineDepth = 64
)

// outlineRequest is a checked outline. It is its own job.
type outlineRequest struct {
	items, view string
	name        *regexp.Regexp // nil: any
	symbolType  string         // "": any
	pubMembers  bool
}

func (a *arguments) outline() (*outlineRequest, error) {
	if err := foreign("outline", map[string]bool{"pattern": a.Pattern != nil, "rewrite": a.Rewrite != nil}); err != nil {
		return nil, err
	}
	q := &outlineRequest{items: or(a.Items, "structure"), view: or(a.View, "signatures"), symbolType: strings.ToLower(or(a.SymbolType, "")), pubMembers: a.PubMembers != nil && *a.PubMembers}
	if !slices.Contains([]string{"structure", "exports", "imports", "all"}, q.items) {
		return nil, errors.New(`invalid arguments: field "items" must be structure, exports, imports or all`)
	}
	if !slices.Contains([]string{"names", "signatures", "digest", "expanded"}, q.view) {
		return nil, errors.New(`invalid arguments: field "view" must be names, signatures, digest or expanded`)
	}
	if len(or(a.Name, "")) > maxFilter || len(q.symbolType) > maxFilter {
		return nil, fmt.Errorf("invalid arguments: name and symbol_type are bounded by %d bytes each", maxFilter)
	}
	if a.Name != nil {
		var err error
		if q.name, err = regexp.Compile(*a.Name); err != nil {
			return nil, errors.New(`invalid arguments: field "name" is not a regular expression`)
		}
	}
	return q, nil
}

// entry is one line of an outline.
type entry struct {
	Path     string `json:"path"`
	Language string `json:"language"`
	Item     *item  `json:"item"`
}

// item is one symbol.
type item struct {
	Name       string  `json:"name"`
	SymbolType string  `json:"symbolType"`
	Signature  string  `json:"signature,omitempty"`
	ASTKind    string  `json:"astKind"`
	Range      extent  `json:"range"`
	IsImport   bool    `json:"isImport"`
	IsExported bool    `json:"isExported"`
	Members    []*item `json:"members"`
}

// extent is from the first character up to the one after the last, from 1.
type extent struct {
	Start position `json:"start"`
	End   position `json:"end"`
}

type position struct {
	Line   int `json:"line"`
	Column int `json:"column"`
}

func (q *outlineRequest) wants(context.Context, *syntax.Language, []byte) bool { return true }

func (q *outlineRequest) verdict() error { return nil }

func (q *outlineRequest) look(ctx context.Context, t *syntax.Tree, path string, limit int) fileResult {
	o := &outliner{tree: t, rules: symbolRules[family(t.Language)]}
	o.collect(t.Root(), 0, false)
	r := fileResult{partial: o.limited}
	for _, it := range o.items {
		if ctx.Err() != nil || len(r.groups) > limit {
			break
		}
		if !q.keeps(it) {
			continue
		}
		line, err := json.Marshal(entry{path, t.Language.Name, q.viewed(it)})
		if err == nil {
			r.groups = append(r.groups, group{string(line)})
		}
	}
	return r
}

// keeps decides about a symbol of the file.
func (q *outlineRequest) keeps(it *item) bool {
	switch {
	case q.items == "structure" && it.IsImport, q.items == "imports" && !it.IsImport, q.items == "exports" && !it.IsExported:
		return false
	case q.symbolType != "" && it.SymbolType != q.symbolType:
		return false
	}
	return q.name == nil || q.name.MatchString(it.Name)
}

// viewed leaves out what the view does not show.
func (q *outlineRequest) viewed(it *item) *item {
	out := *it
	out.Members = []*item{}
	if q.view == "names" || q.view == "digest" {
		out.Signature = ""
	}
	if q.view == "digest" || q.view == "expanded" {
		for _, m := range it.Members {
			if !q.pubMembers || m.IsExported {
				out.Members = append(out.Members, q.viewed(m))
			}
		}
	}
	return &out
}

// outliner collects the symbols of one file.
type outliner struct {
	tree    *syntax.Tree
	rules   map[string]symbolRule
	items   []*item
	visited int
	limited bool
}

// collect looks for symbols below n and adds them to o.items.
func (o *outliner) collect(n syntax.Node, depth int, exported bool) {
	for i := range n.Len() {
		c := n.Child(i)
		if !c.Named() {
			continue
		}
		if o.visited++; o.visited > maxOutlineNodes || depth > maxOutlineDepth {
			o.limited = true
			return
		}
		rule, ok := o.rules[c.Kind()]
		switch {
		case !ok:
		case rule.through: // a declaration around symbols
			before := len(o.items)
			o.collect(c, depth+1, exported || rule.exports)
			if rule.symbol != "" && len(o.items) == before {
				o.add(c, rule, depth, exported)
			}
		default:
			o.add(c, rule, depth, exported)
		}
	}
}

func (o *outliner) add(n syntax.Node, rule symbolRule, depth int, exported bool) {
	if it := o.symbol(n, rule, exported); it != nil {
		it.Members = o.members(n, rule, depth+1)
		o.items = append(o.items, it)
	}
}

// members are the symbols inside a symbol. Those of a trait are as visible as
// the trait.
func (o *outliner) members(n syntax.Node, rule symbolRule, depth int) []*item {
	if !rule.holds {
		return nil
	}
	inner := &outliner{tree: o.tree, rules: memberRules[family(o.tree.Language)], visited: o.visited}
	if modules[n.Kind()] {
		inner.rules = o.rules
	}
	inner.body(n, depth, n.Kind() == "trait_item" || n.ByField("trait").Is())
	o.visited, o.limited = inner.visited, o.limited || inner.limited
	return inner.items
}

// body finds the node that lists the members: they are at most three levels
// below, as in type_spec > struct_type > field_declaration_list.
func (o *outliner) body(n syntax.Node, depth int, exported bool) {
	for i := range n.Len() {
		c := n.Child(i)
		if memberLists[c.Kind()] {
			o.collect(c, depth, exported)
		} else if memberHolders[c.Kind()] {
			o.body(c, depth+1, exported)
		}
	}
}

// symbol describes a node.
func (o *outliner) symbol(n syntax.Node, rule symbolRule, exported bool) *item {
	it := &item{Name: rule.nameOf(n), SymbolType: rule.typeOf(n), ASTKind: n.Kind(), Signature: signature(n), IsImport: rule.symbol == "import", Members: []*item{}}
	if it.Name == "" {
		return nil
	}
	it.IsExported = exported || visible(n, it)
	it.Range.Start.Line, it.Range.Start.Column = o.tree.Position(n.Start())
	it.Range.End.Line, it.Range.End.Column = o.tree.Position(n.End())
	return it
}

// maxSignature bounds a signature in bytes.
const maxSignature = 240

// signature is the text up to the body, in one line.
func signature(n syntax.Node) string {
	text := n.Text()
	if body := bodyOf(n); body.Is() {
		text = text[:body.Start()-n.Start()]
	}
	s := strings.Join(strings.Fields(string(text[:min(len(text), 4*maxSignature)])), " ")
	s = strings.TrimSuffix(strings.TrimRight(s, " ;"), " =")
	if len(s) > maxSignature {
		s = strings.ToValidUTF8(s[:maxSignature-len("…")], "") + "…"
	}
	return s
}

// bodyOf finds what a signature leaves out.
func bodyOf(n syntax.Node) syntax.Node {
	if b := n.ByField("body"); b.Is() {
		return b
	}
	for i := range n.Len() {
		c := n.Child(i)
		if memberLists[c.Kind()] && !strings.HasPrefix(c.Kind(), "ordered") {
			return c
		}
		if memberHolders[c.Kind()] {
			if b := bodyOf(c); b.Is() {
				return b
			}
		}
	}
	return syntax.Node{}
}
