package transcript_test

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"magicode/internal/provider/transcript"
)

func TestArguments(t *testing.T) {
	for _, c := range []struct {
		in, want string
		ok       bool
	}{
		{"", "{}", true},
		{" \n\t", "{}", true},
		{"{}", "{}", true},
		{"{}{}{}", "{}", true},
		{` {"a":1} `, `{"a":1}`, true},
		{`{"a":1}{}`, `{"a":1}`, true},
		{"{\"a\":{}}\n{} {}", `{"a":{}}`, true},
		{`{"a":"{}"}`, `{"a":"{}"}`, true},
		{`"text {}"`, `"text {}"`, true},
		{"[]", "[]", true},
		{"5", "5", true},
		{`{"a":1}{"b":2}`, `{"a":1}{"b":2}`, false},
		{`{"a":1} x`, `{"a":1} x`, false},
		{`{"a":`, `{"a":`, false},
		{"{{}", "{{}", false},
		{"{ }", "{ }", true},
		{`{"a":"\ud800"}`, `{"a":"\ufffd"}`, true},
		{`{"a":"\ud83d\ude00\uD83D"}`, `{"a":"\ud83d\ude00\ufffd"}`, true},
		{`{"a":"\\ud800"}`, `{"a":"\\ud800"}`, true},
		{`{"a":"\udc00\ud800x"}`, `{"a":"\ufffd\ufffdx"}`, true},
		{"{\"a\":\"\xff\"}", "{\"a\":\"\xff\"}", false},
	} {
		got, ok := transcript.Arguments(c.in)
		if got != c.want || ok != c.ok {
			t.Errorf("%q: %q, %v; want %q, %v", c.in, got, ok, c.want, c.ok)
		}
		if ok && !json.Valid([]byte(got)) {
			t.Errorf("%q: %q is no JSON", c.in, got)
		}
	}
}

// TestArgumentsAreLinear: a megabyte of empty objects takes no time worth naming.
func TestArgumentsAreLinear(t *testing.T) {
	start := time.Now()
	if _, ok := transcript.Arguments("x" + strings.Repeat("{}", 1<<19)); ok {
		t.Error("taken for JSON")
	}
	if took := time.Since(start); took > 2*time.Second {
		t.Errorf("took %v", took)
	}
}
