package syntax

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"
)

// tree parses a text that must fit.
func tree(t *testing.T, l *Language, src string) *Tree {
	t.Helper()
	var p Parser
	got, err := p.Parse(context.Background(), l, []byte(src))
	if err != nil {
		t.Fatalf("%s: %v", l.Name, err)
	}
	return got
}

// shape writes the named nodes as nested kinds.
func shape(n Node) string {
	var parts []string
	for i := range n.Len() {
		if c := n.Child(i); c.Named() {
			parts = append(parts, shape(c))
		}
	}
	short := strings.NewReplacer("identifier", "id", "_expression", "_x", "_declaration", "_d", "_statement", "_s").Replace(n.Kind())
	if len(parts) == 0 {
		return short
	}
	return short + "(" + strings.Join(parts, " ") + ")"
}

func TestShapes(t *testing.T) {
	for _, tc := range []struct{ name, language, src, want string }{
		{"go precedence", "go", "package a; var x = a + b*c == d", "source_file(package_clause(id) var_d(var_spec(id binary_x(binary_x(id binary_x(id id)) id))))"},
		{"go struct literal in a header", "go", "package a; func f() { if x == (T{}) { y() } }", "source_file(package_clause(id) function_d(id parameter_list block(if_s(binary_x(id parenthesized_x(composite_literal(id literal_value))) block(call_x(id argument_list))))))"},
		{"go brace after a header", "go", "package a; func f() { for x := range T { } }", "source_file(package_clause(id) function_d(id parameter_list block(for_s(range_clause(id id) block))))"},
		{"go type switch", "go", "package a\nfunc f() { switch x := y.(type) { case []int: z() } }", "source_file(package_clause(id) function_d(id parameter_list block(switch_s(short_var_d(id type_assertion_x(id)) case_clause(slice_type(id) call_x(id argument_list))))))"},
		{"go generics", "go", "package a\nfunc F[T any](x T) { G[int](x) }", "source_file(package_clause(id) function_d(id type_parameter_list(type_parameter(id id)) parameter_list(parameter_d(id id)) block(call_x(index_x(id id) argument_list(id)))))"},

		{"python chain", "python", "a.b(c)[d]\n", "module(subscript(call(attribute(id id) argument_list(id)) id))"},
		{"python blocks", "python", "if a:\n  b\n  if c:\n    d\ne\n", "module(if_s(id block(id if_s(id block(id)))) id)"},
		{"python lines in brackets", "python", "x = [\n1,\n  2]\ny\n", "module(assignment(id list(number number)) id)"},
		{"python operators of two words", "python", "a not in b and c is not d\n", "module(boolean_operator(comparison_operator(id id) comparison_operator(id id)))"},
		{"python comprehension", "python", "[a for b in c if d]\n", "module(list_comprehension(id for_in_clause(id id) if_clause(id)))"},
		{"python tuple or brackets", "python", "(a)\n(a,)\n()\n", "module(parenthesized_x(id) tuple(id) tuple)"},
		{"python expressions in strings", "python", "f'a{b(c)!r:>{d}}{{e}}' rf\"{x:=5}\\{y=}\"\n", "module(concatenated_string(interpolated_string(template_text call(id argument_list(id)) template_text id template_text) interpolated_string(template_text id template_text id template_text)))"},
		{"python strings in strings", "python", "f\"{a['b']:{'c'}}\" f'\\N{DASH}' f'{x!=y}' f\"\"\"{\nz\n}\"\"\"\n", "module(concatenated_string(interpolated_string(template_text subscript(id string) template_text string template_text) string interpolated_string(template_text comparison_operator(id id) template_text) interpolated_string(template_text id template_text)))"},
		{"python soft keyword", "python", "match = 1\nmatch x:\n  case A(b=1) if c: pass\n", "module(assignment(id number) match_s(id case_clause(call(id argument_list(keyword_argument(id number))) id block(pass_s))))"},

		{"script regular expression", "javascript", "a = b / c; x = /[/]+/g.test(y)", "program(assignment_x(id binary_x(id id)) assignment_x(id call_x(member_x(regex id) arguments(id))))"},
		{"script division after brackets", "javascript", "x = (a) / b / c; if (d) /e/.f()", "program(assignment_x(id binary_x(binary_x(parenthesized_x(id) id) id)) if_s(parenthesized_x(id) call_x(member_x(regex id) arguments)))"},
		{"script template", "javascript", "`a${b + `c${d}`}e`", "program(template_string(template_text binary_x(id template_string(template_text id template_text)) template_text))"},
		{"script arrows", "javascript", "(a, {b}) => ({c: a})", "program(arrow_function(formal_parameters(required_parameter(id) required_parameter(object_pattern(id))) parenthesized_x(object(pair(id id)))))"},
		{"script line ends", "javascript", "a\n++b\nreturn\nc", "program(id update_x(id) return_s id)"},
		{"script power", "javascript", "a ** b ** c", "program(binary_x(id binary_x(id id)))"},
		{"typescript types", "typescript", "let x: Map<string, A[]> | null = f<T>(y)!", "program(lexical_d(variable_declarator(id type_annotation(union_type(generic_type(id type_arguments(id array_type(id))) id)) non_null_x(call_x(id type_arguments(id) arguments(id))))))"},
		{"typescript comparison", "typescript", "a < b, c > d", "program(sequence_x(binary_x(id id) binary_x(id id)))"},
		{"typescript conditional type", "typescript", "type A<T> = T extends (infer U)[] ? U : never", "program(type_alias_d(id type_parameters(type_parameter(id)) conditional_type(id array_type(parenthesized_type(infer_type(id))) id id)))"},
		{"typescript assertion", "typescript", "<T>x", "program(type_assertion(id id))"},
		{"tsx element", "tsx", "x = <A b={c}>it's {d}<E/></A>", "program(assignment_x(id jsx_element(id jsx_attribute(id jsx_x(id)) jsx_text jsx_x(id) jsx_element(id) id)))"},
		{"tsx type parameters", "tsx", "x = <T,>(y: T) => y", "program(assignment_x(id arrow_function(type_parameters(type_parameter(id)) formal_parameters(required_parameter(id type_annotation(id))) id)))"},

		{"rust shifts and types", "rust", "fn f() -> Vec<Vec<u8>> { a >> b }", "source_file(function_item(id parameters generic_type(id type_arguments(generic_type(id type_arguments(id)))) block(binary_x(id id))))"},
		{"rust struct or block", "rust", "fn f() { if a { b } else { C { d: e } } }", "source_file(function_item(id parameters block(if_x(id block(id) else_clause(block(struct_x(id field_initializer_list(field_initializer(id id)))))))))"},
		{"rust closure and or", "rust", "fn f() { a || b; || c; |x| y }", "source_file(function_item(id parameters block(binary_x(id id) closure_x(id) closure_x(id id))))"},
		{"rust and after a comparison", "rust", "fn f() { a == 0 && b || c == d || |e| g }", "source_file(function_item(id parameters block(binary_x(binary_x(binary_x(binary_x(id number) id) binary_x(id id)) closure_x(id id)))))"},
		{"rust lifetimes and chars", "rust", "fn f<'a>(x: &'a str) -> char { 'a' }", "source_file(function_item(id type_parameters(lifetime_parameter(lifetime)) parameters(parameter(id reference_type(lifetime id))) id block(char)))"},
		{"rust macro", "rust", "fn f() { vec![1; n]; p!(a b) }", "source_file(function_item(id parameters block(macro_invocation(id token_tree(number id)) macro_invocation(id token_tree(id id)))))"},
		{"rust block then method", "rust", "fn f() { match a { _ => b }.c() }", "source_file(function_item(id parameters block(call_x(field_x(match_x(id match_block(match_arm(id id))) id) arguments))))"},
		{"rust raw string", "rust", "const A: &str = r#\"a\"b\"#;", "source_file(const_item(id reference_type(id) string))"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			got := tree(t, ByName(tc.language), tc.src)
			if s := shape(got.Root()); s != tc.want || got.Broken {
				t.Errorf("%s\n got %s (broken: %v)\nwant %s", tc.src, s, got.Broken, tc.want)
			}
		})
	}
}

// TestMending: what does not fit is left out line by line; the rest is found.
func TestMending(t *testing.T) {
	for _, tc := range []struct{ name, language, src, want string }{
		{"go statement", "go", "package a\nfunc f() {\n\tx := := 1\n\ty()\n}\nfunc g() {}\n", "source_file(package_clause(id) function_d(id parameter_list block(ERROR call_x(id argument_list))) function_d(id parameter_list block))"},
		{"go missing brace", "go", "package a\nfunc f() {\n\ty()\n", "source_file(package_clause(id) ERROR)"},
		{"python line", "python", "def f():\n    print 'x'\n    return 1\n", "module(function_definition(id parameters block(ERROR return_s(number))))"},
		{"script statement", "javascript", "f();\nlet = = 2;\nfunction g() { return 1 }", "program(call_x(id arguments) ERROR function_d(id formal_parameters statement_block(return_s(number))))"},
		{"rust item", "rust", "fn f( { }\nfn g() {}\n", "source_file(ERROR function_item(id parameters block))"},
		{"only rubbish", "go", "}}} ((\n", "source_file(ERROR)"},
		{"an open expression in a string", "python", "x = f'{a'\ny = 1\n", "module(ERROR assignment(id number))"},
		{"an open string", "python", "x = 'abc\ny = 1\n", "module(ERROR assignment(id number))"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			got := tree(t, ByName(tc.language), tc.src)
			if s := shape(got.Root()); s != tc.want || !got.Broken {
				t.Errorf("%s\n got %s (broken: %v)\nwant %s", tc.src, s, got.Broken, tc.want)
			}
		})
	}
}

func TestEmptyTexts(t *testing.T) {
	for _, l := range Languages() {
		for _, src := range []string{"", "\n\n", "\xef\xbb\xbf", "   "} {
			if got := tree(t, l, src); got.Broken || got.Root().Len() != 0 {
				t.Errorf("%s: %q: broken %v, %d children", l.Name, src, got.Broken, got.Root().Len())
			}
		}
	}
}

func TestBounds(t *testing.T) {
	deep := func(open, end string, n int) string { return strings.Repeat(open, n) + "1" + strings.Repeat(end, n) }
	for _, tc := range []struct {
		name, language, src string
		want                error // nil: any tree will do
	}{
		{"too large", "go", strings.Repeat("x", MaxBytes+1), ErrTooLarge},
		{"NUL", "python", "x = 1\x00", ErrBinary},
		{"one line of a megabyte", "javascript", "x = [" + strings.Repeat("1,", MaxBytes/2-4) + "]", nil},
		{"brackets", "javascript", "x = " + deep("(", ")", 100_000), ErrBounds},
		{"calls", "python", "x = " + deep("f(", ")", 100_000), ErrBounds},
		{"signs", "python", "x = " + strings.Repeat("-", 500_000) + "1", ErrBounds},
		{"blocks", "rust", "fn f() " + deep("{", "}", 100_000), ErrBounds},
		{"types", "typescript", "let x: " + deep("A<", ">", 50_000), ErrBounds},
		{"arrows that are none", "javascript", "x = " + deep("(a = ", ")", 5_000), ErrBounds},
		{"comparisons like type arguments", "typescript", "x = " + strings.Repeat("a<", 300_000) + "1", nil},
		{"open brackets", "go", "package a\nvar x = " + strings.Repeat("(", 100_000), ErrBounds},
		{"elements", "tsx", "x = " + strings.Repeat("<a>", 50_000), ErrBounds},
		{"an error on each line", "go", "package a\n" + strings.Repeat("func (\n", 50_000), nil},
		{"indentation", "python", indented(400), nil},
	} {
		t.Run(tc.name, func(t *testing.T) {
			var p Parser
			begin := time.Now()
			_, err := p.Parse(context.Background(), ByName(tc.language), []byte(tc.src))
			if spent := time.Since(begin); spent > 30*time.Second { // about one second; a busy machine is slower
				t.Errorf("took %v", spent)
			}
			if !errors.Is(err, tc.want) && tc.want != nil || err != nil && !errors.Is(err, ErrBounds) && tc.want == nil {
				t.Errorf("got %v, want %v", err, tc.want)
			}
			if p.steps > p.limit+checkEvery {
				t.Errorf("%d steps, limit %d", p.steps, p.limit)
			}
		})
	}
}

func indented(n int) string {
	var b strings.Builder
	for i := range n {
		b.WriteString(strings.Repeat(" ", i) + "if x:\n")
	}
	return b.String() + strings.Repeat(" ", n) + "y\n"
}

func TestCancellation(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	var p Parser
	if _, err := p.Parse(ctx, goLanguage, []byte("package a")); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
	// In the middle: the context ends while the rules are at work.
	looks := 0
	p.load(context.Background(), javaScript, []byte("x = ["+strings.Repeat("f(a),", 50_000)+"]"), false)
	p.ctxErr = func() error {
		if looks++; looks == 3 {
			return context.Canceled
		}
		return nil
	}
	if root := p.run(scriptGrammar().rules["program"], false); root >= 0 || !errors.Is(p.err, context.Canceled) {
		t.Errorf("root %d, error %v", root, p.err)
	}
	if p.steps > 4*checkEvery {
		t.Errorf("%d steps after the end of the context", p.steps)
	}
}

func TestByPath(t *testing.T) {
	for path, want := range map[string]string{"a.go": "go", "b/c.PY": "python", "d.jsx": "javascript", "e.mts": "typescript", "f.tsx": "tsx", "g.rs": "rust"} {
		if l := ByPath(path); l == nil || l.Name != want {
			t.Errorf("%s: %v", path, l)
		}
	}
	if ByPath("Makefile") != nil || ByName("cobol") != nil {
		t.Error("an unknown language was found")
	}
}

func TestMetaLen(t *testing.T) {
	for text, want := range map[string]int{"$A": 2, "$A.b": 2, "$_": 2, "$$$": 3, "$$$ARGS,": 7, "$A1_B": 5, "$a": 0, "$": 0, "$$A": 0, "$1": 0, "$Abc": 0, "$$$$": 0, "x": 0, "${A}": 0, "$$$)": 3} {
		if got := MetaLen([]byte(text)); got != want {
			t.Errorf("%s: %d, want %d", text, got, want)
		}
	}
}
