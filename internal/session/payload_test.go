package session

import (
	"bytes"
	"encoding/json"
	"errors"
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"magicode/internal/jsonscan"
)

func TestPayload(t *testing.T) {
	type shape struct {
		Zeta  int             `json:"zeta"`
		Alpha string          `json:"alpha"`
		Raw   json.RawMessage `json:"raw"`
		Gone  string          `json:"gone,omitempty"`
	}
	raw := func(s string) json.RawMessage { return json.RawMessage(s) }
	const secret = "ghp_abcdefghijklmnopqrstuvwxyz0123456789"
	for _, c := range []struct {
		name string
		kind Kind
		in   any
		want string
	}{
		{"map", "x", map[string]any{"b": 1, "a": "x\n", "é": nil, "Z": true}, `{"Z":true,"a":"x\n","b":1,"é":null}`},
		{"nested map", "x", map[string]any{"o": map[string]any{"b": []any{1.5, "s"}, "a": []string{"q"}}}, `{"o":{"a":["q"],"b":[1.5,"s"]}}`},
		{"struct", "x", shape{1, "<a>", raw(`{"y":1, "x":2}`), ""}, `{"alpha":"<a>","raw":{"x":2,"y":1},"zeta":1}`},
		{"raw", "x", raw(` { "b" : [ 1 , 2 ] , "a" : { "d" : 1 , "c" : "\u00e9" } } `), `{"a":{"c":"\u00e9","d":1},"b":[1,2]}`},
		{"last one wins", "x", raw(`{"a":1,"b":2,"a":3}`), `{"a":3,"b":2}`},
		{"escaped key", "x", raw(`{"b":1,"\u0061":2}`), `{"a":2,"b":1}`},
		{"nil raw", "x", map[string]any{"a": raw("")[:0:0], "b": json.RawMessage(nil)}, ``},
		{"secret value", "x", map[string]any{"text": "key " + secret + " end"}, `{"text":"key <redacted> end"}`},
		{"secret in raw", "x", raw(`{"text":"key ` + secret + ` end"}`), `{"text":"key <redacted> end"}`},
		{"secret spelled with escapes", "x", raw(`{"text":"\u0067hp_abcdefghijklmnopqrstuvwxyz0123456789"}`), `{"text":"<redacted>"}`},
		{"credential key", "x", map[string]any{"password": "p", "api_key": 5, "token": []any{"t"}}, `{"api_key":5,"password":"<redacted>","token":["t"]}`},
		{"credential key in raw", "x", raw(`{"MY_API_KEY":"x","tokens":"y"}`), `{"MY_API_KEY":"<redacted>","tokens":"y"}`},
		{"response item", KindProviderResponseItem, raw(`{"item":{"a":[{"encrypted_content":"x","b":1}],"encrypted_content":null}}`), `{"item":{"a":[{"b":1}]}}`},
		{"response item, map", KindProviderResponseItem, map[string]any{"item": map[string]any{"encrypted_content": "x", "r": raw(`{"encrypted_content":1}`)}}, `{"item":{"r":{}}}`},
		{"other kinds keep it", "x", raw(`{"encrypted_content":"x"}`), `{"encrypted_content":"x"}`},
		{"checkpoint is not redacted", KindCompaction, map[string]any{"summary": "password: hunter2", "password": "x"}, `{"password":"x","summary":"password: hunter2"}`},
		{"lone surrogate", "x", raw(`{"a":"x\ud800y"}`), `{"a":"x` + "\ufffd" + `y"}`},
		{"invalid UTF-8", "x", map[string]any{"a": "x\xff"}, `{"a":"x` + "\ufffd" + `"}`},
		{"invalid UTF-8 in raw", "x", raw("{\"a\":\"x\xff\"}"), `{"a":"x` + "\ufffd" + `"}`},
		{"number beyond float64", "x", raw(`{"a":1e999,"b":1e300,"c":12345678901234567890123}`), `{"a":"1e999","b":1e300,"c":12345678901234567890123}`},
	} {
		got, err := payloadOf(Event{Kind: c.kind}).value(nil, c.in, 0, false)
		if c.want == "" {
			if !errors.Is(err, ErrPayload) {
				t.Errorf("%s: %s %v", c.name, got, err)
			}
			continue
		}
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
		}
		if diff := cmp.Diff(c.want, string(got)); diff != "" {
			t.Errorf("%s: %s", c.name, diff)
		}
	}
}

func TestPayloadErrors(t *testing.T) {
	for name, in := range map[string]any{"broken raw": json.RawMessage(`{"a":`), "not a number": math.NaN(), "a channel": make(chan int), "in a map": map[string]any{"a": json.RawMessage("x")}} {
		if _, err := payloadOf(Event{}).value(nil, in, 0, false); !errors.Is(err, ErrPayload) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestDeepPayloads: whatever is handed over, the line is one that is read.
func TestDeepPayloads(t *testing.T) {
	for _, n := range []int{1, 125, 126, 127, 128, 129, 1000} {
		raw := json.RawMessage(strings.Repeat(`{"a":[`, (n+1)/2) + strings.Repeat(`]}`, (n+1)/2))
		var v any = "end"
		for range n {
			v = []any{v}
		}
		for _, in := range []any{raw, v} {
			got, err := payloadOf(Event{}).value(nil, in, 0, false)
			must(t, err)
			if _, err := new(liner).parse([]byte(`{"event_type":"x","timestamp":"2026-01-02T03:04:05Z","session_id":"s","payload":` + string(got) + `}`)); err != nil {
				t.Errorf("%d: %v", n, err)
			}
		}
	}
}

// TestPayloadKeepsMeaning: any JSON is stored as an equal value, in one form.
func TestPayloadKeepsMeaning(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		v := anyValue(t, 3)
		raw, err := json.Marshal(v)
		if err != nil {
			t.Fatal(err)
		}
		w := writer{plain: true}
		a, err := w.value(nil, v, 0, false)
		if err != nil {
			t.Fatal(err)
		}
		b, err := w.value(nil, json.RawMessage(raw), 0, false)
		if err != nil {
			t.Fatal(err)
		}
		again, err := w.value(nil, json.RawMessage(b), 0, false)
		if err != nil || !bytes.Equal(b, again) {
			t.Fatalf("not stable: %s %s %v", b, again, err)
		}
		for _, got := range [][]byte{a, b} {
			var want, back any
			if err := errors.Join(json.Unmarshal(raw, &want), json.Unmarshal(got, &back)); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(want, back); diff != "" {
				t.Fatal(diff)
			}
			if _, err := jsonscan.Parse(got, jsonscan.Options{}); err != nil {
				t.Fatalf("%s: %v", got, err)
			}
		}
	})
}

func anyValue(t *rapid.T, depth int) any {
	switch n := rapid.IntRange(0, 6).Draw(t, "kind"); {
	case n == 0:
		return nil
	case n == 1:
		return rapid.Bool().Draw(t, "bool")
	case n == 2:
		return rapid.Int().Draw(t, "int")
	case n == 3:
		return rapid.Float64Range(-1e300, 1e300).Draw(t, "float")
	case n == 4 || depth == 0:
		return rapid.String().Draw(t, "text")
	case n == 5:
		list := make([]any, rapid.IntRange(0, 4).Draw(t, "len"))
		for i := range list {
			list[i] = anyValue(t, depth-1)
		}
		return list
	}
	m := map[string]any{}
	for range rapid.IntRange(0, 20).Draw(t, "len") {
		m[rapid.String().Draw(t, "key")] = anyValue(t, depth-1)
	}
	return m
}
