package body_test

import (
	"bytes"
	"encoding/json"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"magicode/internal/provider/body"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

func TestBuilder(t *testing.T) {
	var b body.Builder
	long := []byte(`"` + strings.Repeat("x", 4000) + `"`)
	b.Open("{")
	b.Key("a")
	b.Open("[")
	b.Elem()
	b.Raw([]byte("1"))
	b.Elem()
	b.Raw(long)
	b.Elem()
	b.Open("{")
	b.Close("}")
	b.Close("]")
	b.Str("b", "q\"")
	b.Member("c", "null")
	b.Close("}")
	got := b.Done()
	want := `{"a":[1,` + string(long) + `,{}],"b":"q\"","c":null}`
	if diff := cmp.Diff(want, string(got.Bytes())); diff != "" {
		t.Error(diff)
	}
	for range 2 {
		if err := iotest.TestReader(got.Reader(), []byte(want)); err != nil {
			t.Error(err)
		}
	}
	if got.Len() != int64(len(want)) {
		t.Errorf("length %d, want %d", got.Len(), len(want))
	}
}

func TestPieces(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var b body.Builder
		var want []byte
		for range rapid.IntRange(0, 20).Draw(t, "pieces") {
			p := bytes.Repeat([]byte{'a' + byte(rapid.IntRange(0, 25).Draw(t, "byte"))}, rapid.SampledFrom([]int{0, 1, 40, 511, 512, 3000}).Draw(t, "size"))
			want = append(want, p...)
			if rapid.Bool().Draw(t, "shared") {
				b.Raw(p)
			} else {
				b.Lit(string(p))
			}
		}
		done := b.Done()
		got, err := io.ReadAll(iotest.HalfReader(done.Reader()))
		if err != nil || !bytes.Equal(got, want) || done.Len() != int64(len(want)) {
			t.Fatalf("%d bytes of %d, length %d, error %v", len(got), len(want), done.Len(), err)
		}
	})
}

func TestSorted(t *testing.T) {
	for in, want := range map[string]string{
		`{ "b" : 1 , "a" : [ { "d":2, "c":3 } ] }`: `{"a":[{"c":3,"d":2}],"b":1}`,
		`{"a":1,"a":2}`:             `{"a":2}`,
		`{"a":"\u00e9\/"}`:          `{"a":"é/"}`,
		`{"a":"\ud800"}`:            `{"a":"` + "\ufffd" + `"}`,
		`{"\u0062":1,"a":1e999}`:    `{"a":1e999,"b":1}`,
		`[true,false,null,-1.5e+3]`: `[true,false,null,-1.5e+3]`,
		`"x"`:                       `"x"`,
		`{}`:                        `{}`,
	} {
		v, err := body.Parse([]byte(in))
		if err != nil {
			t.Fatalf("%s: %v", in, err)
		}
		if got := string(body.AppendSorted(nil, v, nil)); got != want {
			t.Errorf("%s: %s, want %s", in, got, want)
		}
	}
	v, err := body.Parse([]byte(`{"id":1,"b":{"id":2}}`))
	if err != nil {
		t.Fatal(err)
	}
	if got := string(body.AppendSorted(nil, v, func(k string) bool { return k == "id" })); got != `{"b":{"id":2}}` {
		t.Errorf("skipped: %s", got)
	}
}

// TestSortedKeepsMeaning: the same value for encoding/json.
func TestSortedKeepsMeaning(t *testing.T) {
	value := rapid.Deferred(func() *rapid.Generator[any] {
		leaf := rapid.OneOf(rapid.Just[any](nil), rapid.Map(rapid.String(), func(s string) any { return s }), rapid.Map(rapid.IntRange(-9, 9), func(n int) any { return float64(n) }))
		return rapid.OneOf(leaf, rapid.Map(rapid.SliceOfN(leaf, 0, 4), func(s []any) any { return s }),
			rapid.Map(rapid.MapOfN(rapid.String(), leaf, 0, 20), func(m map[string]any) any { return m }))
	})
	rapid.Check(t, func(t *rapid.T) {
		in, err := json.Marshal(value.Draw(t, "value"))
		if err != nil {
			t.Fatal(err)
		}
		v, err := body.Parse(in)
		if err != nil {
			t.Fatal(err)
		}
		var want, got any
		if err := json.Unmarshal(in, &want); err != nil {
			t.Fatal(err)
		}
		out := body.AppendSorted(nil, v, nil)
		if err := json.Unmarshal(out, &got); err != nil {
			t.Fatalf("%s: %v", out, err)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Fatal(diff)
		}
	})
}

func TestSchema(t *testing.T) {
	for in, want := range map[string]string{`{"b":1,"a":2}`: `{"a":2,"b":1}`, ``: `{"type":"object"}`, `[1]`: `{"type":"object"}`, `{`: `{"type":"object"}`} {
		if got := string(body.AppendSchema(nil, []byte(in))); got != want {
			t.Errorf("%q: %s, want %s", in, got, want)
		}
	}
}
