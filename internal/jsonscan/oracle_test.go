package jsonscan

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/google/go-cmp/cmp"
)

// seeds are inputs near the borders of what is accepted.
func seeds() []string {
	return []string{
		"", " ", "{}", "[]", "0", `""`, "null", "true", "false", "nul", "-", "-0", "1.5e-7", "1e999", "01",
		`{"a":[1,{"b":null}],"a":"\u0061\ud83d\ude00\"\\"}`, `{"a" : 1 , "b" : [ ] }`, `["\ud800"]`, `["\udc00\ud800"]`,
		"[\"\xff\"]", "[\"\xed\xa0\x80\"]", "\ufeff{}", "[1,]", "[}", "{]", "[[[[[[[[", "]]]]]]]]", "\"\\", "[\"\x1f\"]", "{\"\x7f\u2028\":1}",
		nest("[", "]", 31), nest("[", "]", 32), nest("[", "]", 33), nest("[", "]", 62), nest("[", "]", 63), nest("[", "]", 128), nest("[", "]", 129),
		strings.Repeat(`{"a":[`, 64) + strings.Repeat("]}", 64), strings.Repeat(`{"a":[`, 31) + "0" + strings.Repeat("]}", 31) + "}",
		`{"k": ["` + strings.Repeat("x", 50) + `", 1, {"a": null}]}`, `["` + strings.Repeat("日本é😀", 20) + `\n"]`,
		"[" + strings.Repeat(" ", 40) + "]" + strings.Repeat("\r\n\t ", 9), `{"Yy_":"{[Y]}_\u007f"}`, "[\"" + strings.Repeat(`\"`, 33) + "\"]",
		`{"0000000}`, `["00000000]`, nest("[", "]", 62) + ",1]", nest("[", "]", 63) + ",1]",
		"0000][0000", "[0]][[0]0000000", "[0000000][0000]]000[000",
		"[[[[[[[[[0]]]]]]]],1]", "[" + nest("[", "]", 8) + ",1]", "[" + nest("[", "]", 9) + ",1]", "[" + nest("[", "]", 16) + ",1]", "[[[[[[[[[[1,\"abc\"]]]]]]]],1]]",
		"[1" + strings.Repeat("0", 309) + "]", "[0." + strings.Repeat("0", 310) + "1e300]",
	}
}

// naiveBalance is runner.md 5, row 1, byte by byte.
func naiveBalance(data []byte, limit int) bool {
	depth, inString := 0, false
	for i := 0; i < len(data); i++ {
		c := data[i]
		switch {
		case inString && c == '\\':
			i++
		case c == '"':
			inString = !inString
		case inString:
		case c == '{' || c == '[':
			depth++
		case c == '}' || c == ']':
			depth--
		}
		if depth > limit || depth < 0 {
			return false
		}
	}
	return depth == 0 && !inString
}

// depthOf returns the deepest nesting of valid JSON.
func depthOf(data []byte) int {
	depth, deepest, inString := 0, 0, false
	for i := 0; i < len(data); i++ {
		switch c := data[i]; {
		case inString && c == '\\':
			i++
		case c == '"':
			inString = !inString
		case inString:
		case c == '{' || c == '[':
			depth++
			deepest = max(deepest, depth)
		case c == '}' || c == ']':
			depth--
		}
	}
	return deepest
}

// accepts is the oracle: two other parsers, and what Options add.
func accepts(data []byte, o Options) bool {
	if !utf8.Valid(data) || !json.Valid(data) || depthOf(data) > o.depth() {
		return false
	}
	strict := jsontext.Value(data).IsValid(jsontext.AllowDuplicateNames(true))
	if !strict && !o.LoneSurrogates {
		return false
	}
	return o.AnyNumber || !overflowing(data)
}

// overflowing reports whether some number of valid JSON is beyond float64.
func overflowing(data []byte) bool {
	d := json.NewDecoder(bytes.NewReader(data))
	for {
		_, err := d.Token() // decodes numbers into float64
		if err != nil {
			var bad *json.UnmarshalTypeError
			return errors.As(err, &bad)
		}
	}
}

func optionSets() []Options {
	var sets []Options
	for _, depth := range []int{1, 2, 31, 32, 62, 63, 64, 127, 0} {
		sets = append(sets, Options{MaxDepth: depth, LoneSurrogates: depth%2 == 0, AnyNumber: depth%3 == 0})
		sets = append(sets, Options{MaxDepth: depth, LoneSurrogates: depth%3 == 0, AnyNumber: depth%2 == 0})
	}
	return sets
}

func checkParse(t *testing.T, data []byte, sets ...Options) {
	for _, o := range sets {
		v, err := Parse(data, o)
		want := accepts(data, o)
		if (err == nil) != want {
			t.Fatalf("%q with %+v: %v, wanted accepted = %v", data, o, err, want)
		}
		if (err != nil) && errors.Is(err, ErrUTF8) == utf8.Valid(data) {
			t.Fatalf("%q with %+v: %v", data, o, err)
		}
		if err == nil && !bytes.Equal(v, bytes.Trim(data, " \r\n\t")) {
			t.Fatalf("%q gave the value %q", data, v)
		}
		checkObject(t, data, o, v, err)
	}
}

type member struct{ Key, Value string }

// checkObject holds ReadObject against Parse, and Balanced against the naive
// count wherever reading may stop.
func checkObject(t *testing.T, data []byte, o Options, v Value, err error) {
	var want, got []member
	for k, m := range v.Members() {
		want = append(want, member{string(k), string(m)})
	}
	balance := naiveBalance(data, o.depth())
	r := ReadObject(data, o)
	for {
		if r.Balanced() != balance {
			t.Fatalf("%q with %+v: balanced = %v behind member %d, error %v", data, o, !balance, len(got), r.Err())
		}
		k, m, ok := r.Next()
		if !ok {
			break
		}
		got = append(got, member{string(k), string(m)})
	}
	if r.Balanced() != balance || balanced(data, 0, 0, o.depth(), false) != balance {
		t.Fatalf("%q with %+v: balanced = %v in the end, error %v", data, o, !balance, r.Err())
	}
	if (r.Err() == nil) != (err == nil && v.Kind() == Object) {
		t.Fatalf("%q with %+v: %v, and Parse gave %v", data, o, r.Err(), err)
	}
	if r.Err() == nil && !slices.Equal(want, got) {
		t.Fatalf("members of %q (-want +got):\n%s", data, cmp.Diff(want, got))
	}
	if k, m, ok := r.Next(); k != nil || m != nil || ok {
		t.Fatalf("%q: a member behind the end", data)
	}
}

// walk writes what the accessors say of a value, in the way wanted does.
func walk(b *strings.Builder, v Value) {
	switch v.Kind() {
	case Object:
		b.WriteString("{")
		for k, m := range v.Members() {
			walk(b, k)
			walk(b, m)
		}
		b.WriteString("}")
	case Array:
		b.WriteString("[")
		for e := range v.Elements() {
			walk(b, e)
		}
		b.WriteString("]")
	case String:
		fmt.Fprintf(b, "%q ", v.LenientText())
	case Invalid:
		b.WriteString("invalid ")
	default:
		b.WriteString(string(v) + " ")
	}
}

// wanted writes a value as encoding/json reads it.
func wanted(t *testing.T, data []byte) string {
	var b strings.Builder
	d := json.NewDecoder(bytes.NewReader(data))
	d.UseNumber()
	for {
		tok, err := d.Token()
		if err != nil {
			return b.String()
		}
		switch tok := tok.(type) {
		case json.Delim:
			b.WriteString(tok.String())
		case string:
			fmt.Fprintf(&b, "%q ", tok)
		case json.Number:
			b.WriteString(tok.String() + " ")
		case nil:
			b.WriteString("null ")
		default:
			fmt.Fprintf(&b, "%v ", tok)
		}
	}
}

func checkWalk(t *testing.T, data []byte) {
	v, err := Parse(data, Options{LoneSurrogates: true, AnyNumber: true})
	if err != nil {
		return
	}
	var b strings.Builder
	walk(&b, v)
	if diff := cmp.Diff(wanted(t, data), b.String()); diff != "" {
		t.Fatalf("walking %q (-want +got):\n%s", data, diff)
	}
}

func TestSeedsAgainstOracles(t *testing.T) {
	sets := optionSets()
	for _, in := range seeds() {
		for cut := range min(len(in), 80) + 1 { // every prefix is another border
			checkParse(t, []byte(in[:cut]), sets...)
		}
		for _, pad := range []string{"%s ", "[%s]", "{\"x\":%s}", "{\"id\":1,\"y\":%s}]", "x%s", "\xff%s", "\"%s\""} {
			checkParse(t, fmt.Appendf(nil, pad, in), sets...)
			checkWalk(t, fmt.Appendf(nil, pad, in))
		}
		checkWalk(t, []byte(in))
	}
}

// fuzzed picks what frames and session lines are read with, and one set more.
func fuzzed(data []byte) []Options {
	sets := optionSets()
	return []Options{{MaxDepth: 32, LoneSurrogates: true, AnyNumber: true}, {MaxDepth: 127}, sets[len(data)%len(sets)]}
}

func FuzzParse(f *testing.F) {
	for _, in := range seeds() {
		f.Add([]byte(in))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		checkParse(t, data, fuzzed(data)...)
		checkWalk(t, data)
	})
}

// FuzzStructure builds inputs of the bytes that decide structure, which a
// mutator of bytes seldom hits.
func FuzzStructure(f *testing.F) {
	parts := []string{"{", "}", "[", "]", `"`, `\`, ",", ":", "1", "null", " ", `"a"`, `"a":`, "[[[[[[[[", "]]]]]]]]", `{"a":`, "Y_y\x7f", "        ", `"abcdefghij\n"`, "\u00e9", `\ud800`, "[],", "{}", "-0.5e3", strings.Repeat("[", 60), strings.Repeat("]", 60)}
	f.Add([]byte{0, 11, 7, 2, 3, 1})
	f.Add([]byte{24, 13, 14, 25})
	f.Add([]byte{15, 15, 8, 1, 1})
	f.Fuzz(func(t *testing.T, picks []byte) {
		var b bytes.Buffer
		for _, p := range picks {
			b.WriteString(parts[int(p)%len(parts)])
		}
		checkParse(t, b.Bytes(), fuzzed(b.Bytes())...)
		checkWalk(t, b.Bytes())
	})
}
