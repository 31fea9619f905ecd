package redact

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"magicode/internal/jsonscan"
)

func TestAppendJSON(t *testing.T) {
	deep := func(n int, inner string) string { return strings.Repeat("[", n) + inner + strings.Repeat("]", n) }
	for _, tt := range []struct{ name, in, want string }{
		{"nothing to hide", ` { "a" : [ 1 , true , null , "x\u0041\/" ] } `, ` { "a" : [ 1 , true , null , "x\u0041\/" ] } `},
		{"a string alone", `"password=hunter2"`, `"password=<redacted>"`},
		{"a string under a credential-like key", `{"token":"abc","n":"abc"}`, `{"token":"<redacted>","n":"abc"}`},
		{"the key is escaped", `{"to\u006ben":"abc"}`, `{"to\u006ben":"<redacted>"}`},
		{"other types are descended into", `{"token":{"a":"b","c":"sk-abc"},"secret":[1,"x",{"password":"y"}],"api_key":5}`, `{"token":{"a":"b","c":"<redacted>"},"secret":[1,"x",{"password":"<redacted>"}],"api_key":5}`},
		{"the value after one", `{"token":null,"b":"c"}`, `{"token":null,"b":"c"}`},
		{"an empty one", `{"token":""}`, `{"token":"<redacted>"}`},
		{"keys stay", `{"sk-abcdefgh":"sk-abcdefgh"}`, `{"sk-abcdefgh":"<redacted>"}`},
		{"escapes come back", `["a\"b\n\u00e9\\ token=x y"]`, "[\"a\\\"b\\né\\\\ token=<redacted> y\"]"},
		{"a quote that is escaped", `["token=\"a b\" c"]`, `["token=<redacted> c"]`},
		{"brackets in strings", `{"a":"}]{[","token":"x"}`, `{"a":"}]{[","token":"<redacted>"}`},
		{"no control stripping", `["\u001b[31m token=x"]`, `["\u001b[31m token=<redacted>"]`},
		{"127 containers inside another", deep(128, `"token=x"`), deep(128, `"token=<redacted>"`)},
		{"one more", deep(129, `"token=x"`), deep(128, `"<redacted: max depth>"`)},
		{"an object there", deep(128, `{"a":["]"]},1`), deep(128, `"<redacted: max depth>",1`)},
		{"a surrogate alone", `["\ud800 token=x"]`, "[\"\ufffd token=<redacted>\"]"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			in := []byte(tt.in)
			got := AppendJSON([]byte("kept "), in)
			if string(got) != "kept "+tt.want {
				t.Errorf("got  %s\nwant kept %s", got, tt.want)
			}
			if string(in) != tt.in {
				t.Error("the input was changed")
			}
			if again := AppendJSON(nil, got[len("kept "):]); !bytes.Equal(again, got[len("kept "):]) {
				t.Errorf("again %s", again)
			}
		})
	}
}

// member is an object's member in a tree that keeps order and repetitions.
type member struct {
	Key   string
	Value any
}

// decodeTree is the slow reading: numbers stay text, objects become lists.
func decodeTree(dec *json.Decoder) (any, error) {
	tok, err := dec.Token()
	if err != nil {
		return nil, err
	}
	open, ok := tok.(json.Delim)
	if !ok {
		return tok, nil
	}
	list, object := []any{}, []member{}
	for dec.More() {
		if open == '[' {
			v, err := decodeTree(dec)
			if err != nil {
				return nil, err
			}
			list = append(list, v)
			continue
		}
		k, err := dec.Token()
		if err != nil {
			return nil, err
		}
		v, err := decodeTree(dec)
		if err != nil {
			return nil, err
		}
		object = append(object, member{k.(string), v})
	}
	if _, err := dec.Token(); err != nil {
		return nil, err
	}
	if open == '[' {
		return list, nil
	}
	return object, nil
}

// redactTree is storage.md 11.3, word for word.
func redactTree(v any, depth int, credential bool) any {
	switch v := v.(type) {
	case string:
		if credential {
			return mark
		}
		return Text(v)
	case []any:
		if depth == 128 {
			return "<redacted: max depth>"
		}
		for i := range v {
			v[i] = redactTree(v[i], depth+1, false)
		}
	case []member:
		if depth == 128 {
			return "<redacted: max depth>"
		}
		for i, m := range v {
			v[i].Value = redactTree(m.Value, depth+1, CredentialKey(m.Key))
		}
	}
	return v
}

func readTree(value []byte) (any, error) {
	dec := json.NewDecoder(bytes.NewReader(value))
	dec.UseNumber()
	v, err := decodeTree(dec)
	if err != nil {
		return nil, err
	}
	if _, err := dec.Token(); !errors.Is(err, io.EOF) {
		return nil, fmt.Errorf("more than a value: %v", err)
	}
	return v, nil
}

// checkJSON holds AppendJSON against the slow reading.
func checkJSON(t interface{ Fatalf(string, ...any) }, value []byte) {
	want, err := readTree(value)
	if err != nil {
		t.Fatalf("%s: %v", value, err)
	}
	plain, _ := readTree(value)
	want = redactTree(want, 0, false)
	out := AppendJSON(nil, value)
	got, err := readTree(out)
	if err != nil {
		t.Fatalf("%s\nbecame %s: %v", value, out, err)
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Fatalf("%s\nbecame %s\n%s", value, out, d)
	}
	if cmp.Equal(plain, want) && !bytes.Equal(value, out) && !bytes.Contains(value, []byte(mark)) {
		t.Fatalf("nothing to hide in %s\nbut it became %s", value, out)
	}
}

func randomJSON(t *rapid.T, depth int) string {
	kind := rapid.IntRange(0, 7).Draw(t, "kind")
	if depth > 4 && kind > 4 {
		kind -= 3
	}
	switch kind {
	case 0:
		return rapid.SampledFrom([]string{"1", "-2.5e3", "true", "false", "null", `"\u00e9\ud83d\ude00"`, `"\/"`}).Draw(t, "atom")
	case 1, 2, 3, 4:
		return string(jsonscan.AppendString(nil, strings.ToValidUTF8(randomText(t), "?")))
	}
	gap := rapid.SampledFrom([]string{"", " ", "\n"}).Draw(t, "gap")
	var parts []string
	for range rapid.IntRange(0, 4).Draw(t, "members") {
		v := randomJSON(t, depth+1)
		if kind == 7 {
			parts = append(parts, v)
			continue
		}
		key := rapid.SampledFrom([]string{"a", "token", "MY_API_KEY", "secrets", "password", "pass\\u0077ord", "sk-abcdefgh", "content"}).Draw(t, "key")
		parts = append(parts, `"`+key+`"`+gap+":"+v)
	}
	body := gap + strings.Join(parts, gap+","+gap) + gap
	if kind == 7 {
		return "[" + body + "]"
	}
	return "{" + body + "}"
}

func TestAppendJSONIsTheSlowReading(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) { checkJSON(t, []byte(randomJSON(t, 0))) })
}
