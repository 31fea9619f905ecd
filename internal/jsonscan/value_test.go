package jsonscan

import (
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// parsed returns the value of accepted JSON.
func parsed(t testing.TB, in string) Value {
	t.Helper()
	v, err := Parse([]byte(in), Options{LoneSurrogates: true, AnyNumber: true})
	if err != nil {
		t.Fatalf("%q: %v", in, err)
	}
	return v
}

func TestKind(t *testing.T) {
	want := map[string]Kind{"{}": Object, "[]": Array, `""`: String, "-1": Number, "0": Number, "true": True, "false": False, "null": Null}
	for in, kind := range want {
		if got := parsed(t, in).Kind(); got != kind {
			t.Errorf("%s: kind %d, wanted %d", in, got, kind)
		}
	}
	if got := Value(nil).Kind(); got != Invalid {
		t.Errorf("nil: kind %d", got)
	}
}

func TestTexts(t *testing.T) {
	long := strings.Repeat("x", 200)
	tests := []struct {
		in, text, lenient string
		ok                bool
	}{
		{`""`, "", "", true},
		{`"abc"`, "abc", "abc", true},
		{`"` + long + `\n` + long + `"`, long + "\n" + long, long + "\n" + long, true},
		{`"\"\\\/\b\f\n\r\t"`, "\"\\/\b\f\n\r\t", "\"\\/\b\f\n\r\t", true},
		{`"\u0041\u00e9\u20ac\u0000"`, "Aé€\x00", "Aé€\x00", true},
		{`"é\ud83d\ude00\n"`, "é😀\n", "é😀\n", true},
		{`"\uDBFF\uDFFF"`, "\U0010ffff", "\U0010ffff", true},
		{`"\ufffd"`, "\ufffd", "\ufffd", true},
		{`"a\ud800"`, "", "a\ufffd", false},
		{`"\udc00b"`, "", "\ufffdb", false},
		{`"\ud800\ud83d\ude00"`, "", "\ufffd😀", false},
		{`"\ud800\u0041"`, "", "\ufffdA", false},
		{`"\ud800\n"`, "", "\ufffd\n", false},
		{"1", "", "", false},
		{"null", "", "", false},
		{`["a"]`, "", "", false},
	}
	for _, tt := range tests {
		v := parsed(t, tt.in)
		text, ok := v.Text()
		if text != tt.text || ok != tt.ok {
			t.Errorf("%s: Text %q %v, wanted %q %v", tt.in, text, ok, tt.text, tt.ok)
		}
		if got := v.LenientText(); got != tt.lenient {
			t.Errorf("%s: LenientText %q, wanted %q", tt.in, got, tt.lenient)
		}
		out, ok := v.AppendText([]byte("pre"))
		if string(out) != "pre"+tt.text || ok != tt.ok {
			t.Errorf("%s: AppendText %q %v, wanted %q %v", tt.in, out, ok, "pre"+tt.text, tt.ok)
		}
		if v.IsText() != tt.ok {
			t.Errorf("%s: IsText %v", tt.in, !tt.ok)
		}
		if v.Is(tt.text) != tt.ok || v.Is(tt.text+"x") || v.Is(tt.lenient+"\\") {
			t.Errorf("%s: Is does not agree with Text", tt.in)
		}
	}
}

func TestIs(t *testing.T) {
	tests := []struct {
		in, s string
		want  bool
	}{
		{`"a\nb"`, `a\nb`, false}, // equal bytes, different texts
		{`"a\nb"`, "a\nb", true},
		{`"\u0069d"`, "id", true},
		{`"\u0069d"`, "i", false},
		{`"\u0069d"`, "idx", false},
		{`"ab"`, "abc", false},
		{`"abc"`, "ab", false},
		{`"\ud83d\ude00"`, "😀", true},
		{`"\ud83d"`, "\ufffd", false},
		{`"\ufffd"`, "\ufffd", true},
		{"true", "true", false},
	}
	for _, tt := range tests {
		if got := parsed(t, tt.in).Is(tt.s); got != tt.want {
			t.Errorf("%s is %q: %v", tt.in, tt.s, got)
		}
	}
	if Value(nil).Is("") {
		t.Error("an absent value is the empty string")
	}
}

func TestGet(t *testing.T) {
	v := parsed(t, ` { "a" : 1 , "b":{"a":2,"c":"}{]["}, "\u0061":[3, {"a":"]"}], "z\"":4, "":5 } `)
	want := map[string]string{"a": `[3, {"a":"]"}]`, "b": `{"a":2,"c":"}{]["}`, `z"`: "4", "": "5"}
	for key, m := range want {
		if got := v.Get(key); string(got) != m {
			t.Errorf("Get(%q) = %s, wanted %s", key, got, m)
		}
	}
	if v.Get("c") != nil || v.Get("A") != nil || parsed(t, "[1]").Get("a") != nil || Value(nil).Get("a") != nil {
		t.Error("a member that is not there")
	}
	if got, _ := v.Get("b").Get("a").Int64(); got != 2 {
		t.Errorf("b.a = %d", got)
	}
}

func TestMembersStopEarly(t *testing.T) {
	var keys []string
	for k := range parsed(t, `{"a":1,"b":2,"c":3}`).Members() {
		keys = append(keys, string(k))
		if len(keys) == 2 {
			break
		}
	}
	for e := range parsed(t, `[1,2]`).Elements() {
		keys = append(keys, string(e))
		break
	}
	if diff := cmp.Diff([]string{`"a"`, `"b"`, "1"}, keys); diff != "" {
		t.Error(diff)
	}
}

func TestIntegers(t *testing.T) {
	type result struct {
		I   int64
		IOK bool
		U   uint64
		UOK bool
	}
	tests := map[string]result{
		"0":                     {0, true, 0, true},
		"-0":                    {0, true, 0, false},
		"17":                    {17, true, 17, true},
		"-17":                   {-17, true, 0, false},
		"9223372036854775807":   {math.MaxInt64, true, math.MaxInt64, true},
		"9223372036854775808":   {0, false, 1 << 63, true},
		"-9223372036854775808":  {math.MinInt64, true, 0, false},
		"-9223372036854775809":  {0, false, 0, false},
		"18446744073709551615":  {0, false, math.MaxUint64, true},
		"18446744073709551616":  {0, false, 0, false},
		"99999999999999999999":  {0, false, 0, false},
		"100000000000000000000": {0, false, 0, false},
		"1.0":                   {0, false, 0, false},
		"1e0":                   {0, false, 0, false},
		`"1"`:                   {0, false, 0, false},
		"null":                  {0, false, 0, false},
		"[1]":                   {0, false, 0, false},
	}
	for in, want := range tests {
		var got result
		v := parsed(t, in)
		got.I, got.IOK = v.Int64()
		got.U, got.UOK = v.Uint64()
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", in, diff)
		}
	}
	if _, ok := Value(nil).Uint64(); ok {
		t.Error("an absent value is a number")
	}
}

func TestBool(t *testing.T) {
	for in, want := range map[string][2]bool{"true": {true, true}, "false": {false, true}, "null": {}, `"true"`: {}, "1": {}} {
		value, ok := parsed(t, in).Bool()
		if value != want[0] || ok != want[1] {
			t.Errorf("%s: %v %v", in, value, ok)
		}
	}
}

func TestNothingAllocates(t *testing.T) {
	in := []byte(`{"a":[1,2.5e3,"x\n",{"b":null}],"\u0062":"` + strings.Repeat("é", 300) + `\ud83d\ude00","c":-17,"d":true}`)
	n := testing.AllocsPerRun(100, func() {
		v, err := Parse(in, Options{})
		if err != nil {
			t.Fatal(err)
		}
		for e := range v.Get("a").Elements() {
			_ = e.Is("x\n")
		}
		i, _ := v.Get("c").Int64()
		d, _ := v.Get("d").Bool()
		if !v.Get("b").IsText() || i != -17 || !d {
			t.Fatal("wrong values")
		}
		r := ReadObject(in, Options{})
		for _, _, ok := r.Next(); ok; _, _, ok = r.Next() {
		}
		if r.Err() != nil || !r.Balanced() {
			t.Fatal(r.Err())
		}
	})
	if n != 0 {
		t.Errorf("%v allocations", n)
	}
}

// Broken bytes may be walked, if only by mistake: the methods stay in bounds.
func TestWalkOfBrokenBytes(t *testing.T) {
	whole := `{"a":[1,{"b":"\ud83d\ude00\u0041"},"c\\"],"d":tru`
	for i := range len(whole) {
		for j := i; j <= len(whole); j++ {
			var b strings.Builder
			walk(&b, Value(whole[i:j]))
			Value(whole[i:j]).Text()
			Value(whole[i:j]).Is("abcdefgh")
			Value(whole[i:j]).IsText()
			Value(whole[i:j]).Get("d").Int64()
		}
	}
}
