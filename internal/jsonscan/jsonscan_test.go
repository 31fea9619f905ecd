package jsonscan

import (
	"errors"
	"strings"
	"testing"
)

func nest(open, shut string, n int) string {
	return strings.Repeat(open, n) + strings.Repeat(shut, n)
}

func TestParse(t *testing.T) {
	lone := Options{LoneSurrogates: true}
	anyNumber := Options{AnyNumber: true}
	long := strings.Repeat("x", 100)
	tests := []struct {
		name string
		in   string
		o    Options
		want error
	}{
		{"empty", "", Options{}, ErrSyntax},
		{"white space only", " \r\n\t", Options{}, ErrSyntax},
		{"object", `{"a":1,"b":[true,false,null]}`, Options{}, nil},
		{"white space everywhere", " { \"a\" : [ 1 , 2 ] , \"b\" : { } , \"c\" : [ ] } \r\n", Options{}, nil},
		{"form feed is no white space", "\f{}", Options{}, ErrSyntax},
		{"byte order mark", "\ufeff{}", Options{}, ErrSyntax},
		{"two values", "{}{}", Options{}, ErrSyntax},
		{"trailing comma in an array", "[1,]", Options{}, ErrSyntax},
		{"trailing comma in an object", `{"a":1,}`, Options{}, ErrSyntax},
		{"leading comma", "[,1]", Options{}, ErrSyntax},
		{"no comma", "[1 2]", Options{}, ErrSyntax},
		{"no colon", `{"a" 1}`, Options{}, ErrSyntax},
		{"no value", `{"a":}`, Options{}, ErrSyntax},
		{"key without quotes", `{a:1}`, Options{}, ErrSyntax},
		{"number as key", `{1:1}`, Options{}, ErrSyntax},
		{"wrong closer of an array", `[1}`, Options{}, ErrSyntax},
		{"wrong closer of an object", `{"a":1]`, Options{}, ErrSyntax},
		{"wrong closer of an empty array", `[}`, Options{}, ErrSyntax},
		{"unclosed", `[[]`, Options{}, ErrSyntax},
		{"closer only", `]`, Options{}, ErrSyntax},
		{"comment", `[1/**/]`, Options{}, ErrSyntax},
		{"cut literal", "tru", Options{}, ErrSyntax},
		{"long literal", "nulll", Options{}, ErrSyntax},
		{"other case", "Null", Options{}, ErrSyntax},
		{"NaN", "NaN", Options{}, ErrSyntax},
		{"zero", "0", Options{}, nil},
		{"minus zero", "-0", Options{}, nil},
		{"leading zero", "01", Options{}, ErrSyntax},
		{"plus", "+1", Options{}, ErrSyntax},
		{"minus only", "-", Options{}, ErrSyntax},
		{"no digit before the point", ".5", Options{}, ErrSyntax},
		{"no digit behind the point", "1.", Options{}, ErrSyntax},
		{"no exponent", "1e", Options{}, ErrSyntax},
		{"sign without exponent", "1e+", Options{}, ErrSyntax},
		{"all parts", "-12.50E-07", Options{}, nil},
		{"beyond 64 bits", "123456789012345678901234567890", Options{}, nil},
		{"largest double", "1.7976931348623157e308", Options{}, nil},
		{"above the largest double", "1.7976931348623159e308", Options{}, ErrNumber},
		{"overflow", "[-1e999]", Options{}, ErrNumber},
		{"overflow taken", "[-1e999]", anyNumber, nil},
		{"huge exponent", "1e99999999999999999999", Options{}, ErrNumber},
		{"zero with a huge exponent", "0e99999999999999999999", Options{}, nil},
		{"underflow", "1e-99999999999999999999", Options{}, nil},
		{"many digits small", "0." + strings.Repeat("0", 400) + "1e400", Options{}, nil},
		{"309 digits", "1" + strings.Repeat("0", 308), Options{}, nil},
		{"310 digits", "1" + strings.Repeat("0", 309), Options{}, ErrNumber},
		{"310 digits, smaller again", "1" + strings.Repeat("0", 309) + "e-5", Options{}, nil},
		{"310 digits and a fraction", "1" + strings.Repeat("0", 309) + ".5", Options{}, ErrNumber},
		{"escapes", `"\"\\\/\b\f\n\r\t\u00e9\uD83D\uDE00"`, Options{}, nil},
		{"unknown escape", `"\x"`, Options{}, ErrSyntax},
		{"upper-case escape", `"\N"`, Options{}, ErrSyntax},
		{"short escape", `"\u12"`, Options{}, ErrSyntax},
		{"escape at the end", `"\`, Options{}, ErrSyntax},
		{"no hexadecimal digit", `"\u12g4"`, Options{}, ErrSyntax},
		{"open string", `"` + long, Options{}, ErrSyntax},
		{"control character", "\"" + long + "\x1f\"", Options{}, ErrSyntax},
		{"NUL", "\"\x00\"", Options{}, ErrSyntax},
		{"line feed in a string", "\"a\nb\"", Options{}, ErrSyntax},
		{"DEL", "\"\x7f\"", Options{}, nil},
		{"high half alone", `"\ud800"`, Options{}, ErrSurrogate},
		{"low half alone", `"` + long + `\udc00"`, Options{}, ErrSurrogate},
		{"high half twice", `"\ud800\ud800\udc00"`, Options{}, ErrSurrogate},
		{"halves in the wrong order", `"\udc00\ud800"`, Options{}, ErrSurrogate},
		{"half before an ordinary escape", `"\ud800\u0041"`, Options{}, ErrSurrogate},
		{"half alone in a key", `{"\ud800":1}`, Options{}, ErrSurrogate},
		{"half alone taken", `{"\ud800":"\udc00\ud800"}`, lone, nil},
		{"bad escape behind a half", `"\ud800\u12"`, lone, ErrSyntax},
		{"raw surrogate", "\"\xed\xa0\x80\"", lone, ErrUTF8},
		{"overlong", "\"\xc0\xaf\"", Options{}, ErrUTF8},
		{"cut character", "\"\xe2\x82\"", Options{}, ErrUTF8},
		{"bad UTF-8 behind bad syntax", "]\xff", Options{}, ErrUTF8},
		{"non-ASCII", "\"é€😀" + strings.Repeat("日本", 40) + "\"", Options{}, nil},
		{"non-ASCII outside strings", "[é]", Options{}, ErrSyntax},
		{"depth 128", nest("[", "]", 128), Options{}, nil},
		{"depth 129", nest("[", "]", 129), Options{}, ErrDepth},
		{"depth 128 mixed", nest(`[{"a":`, "}]", 63) + "", Options{}, ErrSyntax},
		{"depth 126 mixed", strings.Repeat(`[{"a":`, 63) + "0" + strings.Repeat("}]", 63), Options{}, nil},
		{"depth 126 wrong closer far out", strings.Repeat(`[{"a":`, 63) + "0" + strings.Repeat("}]", 62) + "}}", Options{}, ErrSyntax},
		{"depth 32", nest("[", "]", 32), Options{MaxDepth: 32}, nil},
		{"depth 33", nest("[", "]", 33), Options{MaxDepth: 32}, ErrDepth},
		{"depth 33, empty object", strings.Repeat("[", 32) + "{}", Options{MaxDepth: 32}, ErrDepth},
		{"deep but not closed", strings.Repeat("[", 1<<16), Options{MaxDepth: 1 << 20}, ErrSyntax},
		{"deep, closed once", strings.Repeat("[", 1<<16) + "]", Options{MaxDepth: 1 << 20}, ErrDepth},
		{"siblings are no depth", "[" + strings.Repeat("[],{},", 100) + "0]", Options{MaxDepth: 2}, nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			v, err := Parse([]byte(tt.in), tt.o)
			if !errors.Is(err, tt.want) || (err == nil) != (tt.want == nil) {
				t.Fatalf("got %v, wanted %v", err, tt.want)
			}
			if want := strings.Trim(tt.in, " \r\n\t"); err == nil && string(v) != want {
				t.Errorf("value %q, wanted %q", v, want)
			}
			if err != nil && v != nil {
				t.Errorf("a refused value was returned")
			}
		})
	}
}
