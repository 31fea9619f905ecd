package astgrep

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"magicode/internal/syntax"
)

// symbolRule says what a kind of node is in an outline.
type symbolRule struct {
	symbol  string // its type; "" decides by what it holds
	holds   bool   // has members
	through bool   // holds symbols, and is one itself only if it has a type and holds none
	exports bool   // what is inside is exported
}

// family is the language whose rules apply.
func family(l *syntax.Language) string {
	switch l.Name {
	case "javascript", "typescript", "tsx":
		return "script"
	}
	return l.Name
}

var (
	function = symbolRule{symbol: "function"}
	method   = symbolRule{symbol: "method"}
	constant = symbolRule{symbol: "constant"}
	variable = symbolRule{symbol: "variable"}
	field    = symbolRule{symbol: "field"}
	imports  = symbolRule{symbol: "import"}
	through  = symbolRule{through: true}
)

// symbolRules are the symbols of a file, by language and kind of node.
var symbolRules = map[string]map[string]symbolRule{
	"go": {
		"function_declaration": function, "method_declaration": method,
		"const_declaration": through, "const_spec": constant, "var_declaration": through, "var_spec": variable,
		"type_declaration": through, "type_spec": {holds: true}, "type_alias": {symbol: "type"},
		"import_declaration": through, "import_spec_list": through, "import_spec": imports,
	},
	"python": {
		"function_definition": function, "class_definition": {symbol: "class", holds: true}, "decorated_definition": through,
		"assignment": variable, "type_alias_statement": {symbol: "type"}, "import_statement": imports, "import_from_statement": imports,
	},
	"script": {
		"function_declaration": function, "class_declaration": {symbol: "class", holds: true},
		"interface_declaration": {symbol: "interface", holds: true}, "enum_declaration": {symbol: "enum", holds: true},
		"type_alias_declaration": {symbol: "type", holds: true}, "module_declaration": {symbol: "module", holds: true},
		"lexical_declaration": through, "variable_declarator": variable, "ambient_declaration": through,
		"import_statement": imports, "export_statement": {symbol: "export", through: true, exports: true},
	},
	"rust": {
		"function_item": function, "struct_item": {symbol: "struct", holds: true}, "union_item": {symbol: "struct", holds: true},
		"enum_item": {symbol: "enum", holds: true}, "trait_item": {symbol: "trait", holds: true}, "impl_item": {symbol: "impl", holds: true},
		"mod_item": {symbol: "module", holds: true}, "type_item": {symbol: "type"}, "const_item": constant, "static_item": variable,
		"macro_definition": {symbol: "macro"}, "use_declaration": imports, "extern_crate_declaration": imports,
	},
}

// modules hold what a file can hold.
var modules = map[string]bool{"mod_item": true, "module_declaration": true}

// memberRules are the symbols inside symbols that are no modules.
var memberRules = map[string]map[string]symbolRule{
	"go": {"field_declaration": field, "method_element": method},
	"python": {
		"function_definition": method, "class_definition": {symbol: "class", holds: true}, "decorated_definition": through, "assignment": field,
	},
	"script": {
		"method_definition": method, "method_signature": method, "field_definition": field, "property_signature": field,
		"enum_assignment": constant, "identifier": constant, "string": constant,
	},
	"rust": {
		"function_item": method, "const_item": constant, "type_item": {symbol: "type"}, "field_declaration": field, "enum_variant": constant,
	},
}

// memberLists are the nodes right above members, memberHolders those on the way.
var (
	memberLists = map[string]bool{
		"field_declaration_list": true, "interface_type": true, "block": true, "class_body": true, "object_type": true,
		"enum_body": true, "statement_block": true, "declaration_list": true, "enum_variant_list": true,
	}
	memberHolders = map[string]bool{"struct_type": true, "arrow_function": true, "function_expression": true, "class_expression": true}
)

// nameOf finds a symbol's name.
func (r symbolRule) nameOf(n syntax.Node) string {
	switch n.Kind() {
	case "identifier", "string":
		return string(n.Text())
	case "impl_item":
		return implName(n)
	case "import_statement", "import_from_statement", "use_declaration", "export_statement":
		return importName(n)
	}
	for _, f := range []string{"path", "name"} {
		if c := n.ByField(f); c.Is() && string(c.Text()) != "." && string(c.Text()) != "_" {
			return strings.Trim(string(c.Text()), "\"`")
		}
	}
	switch n.Kind() {
	case "assignment", "enum_assignment", "field_declaration":
		if c := firstNamed(n); c.Is() && plainName(c) {
			return string(c.Text())
		}
	}
	return ""
}

func plainName(n syntax.Node) bool {
	switch n.Kind() {
	case "identifier", "string", "qualified_type", "generic_type":
		return true
	}
	return false
}

func firstNamed(n syntax.Node) syntax.Node {
	for i := range n.Len() {
		if c := n.Child(i); c.Named() {
			return c
		}
	}
	return syntax.Node{}
}

func implName(n syntax.Node) string {
	name := string(n.ByField("type").Text())
	if t := n.ByField("trait"); t.Is() {
		name = string(t.Text()) + " for " + name
	}
	return strings.Join(strings.Fields(name), " ")
}

// importName is what is imported from, or the words behind the first.
func importName(n syntax.Node) string {
	for _, f := range []string{"source", "module", "argument"} {
		if c := n.ByField(f); c.Is() {
			return strings.Join(strings.Fields(strings.Trim(string(c.Text()), "\"'")), " ")
		}
	}
	words := strings.Fields(signature(n))
	return strings.Join(words[min(1, len(words)):], " ")
}

// typeOf is the symbol's type; for Go's types and functions in variables it
// depends on what they hold.
func (r symbolRule) typeOf(n syntax.Node) string {
	switch n.Kind() {
	case "type_spec":
		switch n.ByField("type").Kind() {
		case "struct_type":
			return "struct"
		case "interface_type":
			return "interface"
		}
		return "type"
	case "variable_declarator":
		if v := n.ByField("value"); v.Is() {
			switch v.Kind() {
			case "arrow_function", "function_expression":
				return "function"
			case "class_expression":
				return "class"
			}
		}
	case "assignment":
		if name := r.nameOf(n); r.symbol == "variable" && name == strings.ToUpper(name) {
			return "constant"
		}
	}
	return r.symbol
}

// visible reports whether a symbol can be used outside of its file or type.
func visible(n syntax.Node, it *item) bool {
	switch n.Kind() {
	case "enum_variant", "enum_assignment", "property_signature", "method_signature", "method_element":
		return n.Kind() != "method_element" || capital(it.Name)
	case "method_definition", "field_definition":
		return !strings.HasPrefix(it.Name, "#") && !has(n, "private") && !has(n, "protected")
	case "identifier", "string": // of an enumeration
		return true
	case "export_statement":
		return true
	case "import_spec", "import_statement", "import_from_statement":
		return false
	}
	switch family(n.Language()) {
	case "go":
		return capital(it.Name)
	case "python":
		return !strings.HasPrefix(it.Name, "_")
	case "rust":
		return has(n, "visibility_modifier")
	}
	return false
}

func capital(name string) bool {
	r, _ := utf8.DecodeRuneInString(name[strings.LastIndexByte(name, '.')+1:])
	return unicode.IsUpper(r)
}

// has reports whether a node has a child of that kind.
func has(n syntax.Node, kind string) bool {
	for i := range n.Len() {
		if n.Child(i).Kind() == kind {
			return true
		}
	}
	return false
}
