package syntax

// class is what a token is by its form.
type class uint8

const (
	classNone class = iota
	classIdent
	classKeyword // a reserved word
	classNumber
	classString
	classChar
	classRegex
	classTemplate // a whole template string
	classTemplateHead
	classTemplateMiddle
	classTemplateTail
	classLifetime
	classPrivate // #name
	classJSXText
	classJSXOpen // the < of an element
	classPunct
	classNewline
	classIndent
	classDedent
	classEOF
	classUnknown // a byte that no token starts with, or a literal without its end
	classMeta    // a metavariable of a pattern; such a token is an identifier too

	// Pseudo classes of the notation.
	classWord // identifier or reserved word
	classAny  // every token but brackets and the end
)

var classNames = map[string]class{
	"IDENT": classIdent, "NUMBER": classNumber, "STRING": classString, "CHAR": classChar, "REGEX": classRegex,
	"TEMPLATE": classTemplate, "THEAD": classTemplateHead, "TMIDDLE": classTemplateMiddle, "TTAIL": classTemplateTail,
	"LIFETIME": classLifetime, "PRIVATE": classPrivate, "JSXTEXT": classJSXText, "JSXOPEN": classJSXOpen,
	"NEWLINE": classNewline, "INDENT": classIndent, "DEDENT": classDedent, "EOF": classEOF, "META": classMeta,
	"WORD": classWord, "ANY": classAny,
}

// leafKinds are the kinds of leaves that are not literals of the grammar.
var leafKinds = [...]string{
	classIdent: "identifier", classKeyword: "keyword", classNumber: "number", classString: "string", classChar: "char",
	classRegex: "regex", classTemplate: "template_text", classTemplateHead: "template_text",
	classTemplateMiddle: "template_text", classTemplateTail: "template_text", classLifetime: "lifetime",
	classPrivate: "private_identifier", classJSXText: "jsx_text", classJSXOpen: "<", classPunct: "punctuation",
	classUnknown: "unknown", classMeta: "identifier",
}

type op uint8

const (
	opLiteral op = iota
	opClass
	opRule
	opSequence
	opChoice
	opOptional
	opStar
	opPlus
	opRecover // a star that may leave out what does not fit
	opList    // items with separators between them
	opListEnd // the same, with a separator allowed at the end
	opAnd
	opNot
	opNewline // the next token stands on a new line
	opField
	opNode
	opSet   // a flag within
	opClear // all flags within
	opUnset // succeeds where the flag is not set
	opFold
	opBinary
)

// expr is one expression of a grammar.
type expr struct {
	op     op
	sub    []*expr // of opFold: the base, then opNode suffixes
	lit    *literal
	class  class
	rule   *rule
	kind   uint16
	field  uint8
	flag   uint8
	mode   byte      // of opFold: '*' any number of times, '?' at most once, '!' once
	levels []*binary // of opBinary, the longest operator first

	first    firstSet
	nullable bool
}

// binary is one operator.
type binary struct {
	lit   *literal
	level int
	right bool // of a chain, the last binds first
}

// literal is a fixed text: one token, several adjacent ones, or several words.
type literal struct {
	text  string
	kind  uint16
	ids   []uint16 // of the tokens
	glued bool     // adjacent tokens: the text decides
}

// rule is one named rule.
type rule struct {
	name   string
	body   *expr
	kind   uint16
	hidden bool // makes no node
	memo   int  // index among the rules whose failures are kept, or -1
}

// grammar is a compiled grammar. It does not change.
type grammar struct {
	kinds    []string
	named    []bool
	kindOf   map[string]uint16
	fields   []string
	fieldOf  map[string]uint8
	literals map[string]*literal
	ids      map[string]uint16 // token text to id
	idNames  []string
	rules    map[string]*rule
	memos    int

	puncts   [256][]string // by their first byte, the longest first
	split    string        // bytes that are tokens of their own
	reserved map[string]bool
	leaf     [len(leafKinds)]uint16
}

func (g *grammar) kind(name string, named bool) uint16 {
	if k, ok := g.kindOf[name]; ok {
		return k
	}
	k := uint16(len(g.kinds))
	g.kinds, g.named = append(g.kinds, name), append(g.named, named)
	g.kindOf[name] = k
	return k
}

func (g *grammar) field(name string) uint8 {
	if f, ok := g.fieldOf[name]; ok {
		return f
	}
	f := uint8(len(g.fields))
	g.fields = append(g.fields, name)
	g.fieldOf[name] = f
	return f
}
