package session

import (
	"bytes"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// learned is a liner that knows the form of the tests' lines.
func learned(t testing.TB) *liner {
	t.Helper()
	l := new(liner)
	if _, err := l.parse([]byte(strings.TrimSpace(line("user_input", `{}`)))); err != nil {
		t.Fatal(err)
	}
	if len(l.form.middle) == 0 {
		t.Fatal("a line as we write it has no form")
	}
	return l
}

func formed(l *liner, kind, stamp, rest string) []byte {
	return []byte(formKind + kind + formTime + stamp + string(l.form.middle) + rest)
}

const goodStamp = "2026-01-02T03:04:05Z"

func TestForm(t *testing.T) {
	for _, c := range []struct {
		name, kind, stamp, rest string
		quick                   bool
	}{
		{"plain", "user_input", goodStamp, `{"text":"b"}}`, true},
		{"an offset", "user_input", "2026-01-02 03:04:60.123456789012+01:30", `{}}`, true},
		{"event id", "user_input", goodStamp, `{"text":"b"},"event_id":"1fa0"}`, true},
		{"a string payload", "user_input", goodStamp, `"b"}`, true},
		{"a string payload and an id", "user_input", goodStamp, `"b","event_id":"00ff"}`, true},
		{"a number payload", "user_input", goodStamp, `1}`, true},
		{"the id in the payload", "user_input", goodStamp, `{"a":1,"event_id":"5"}}`, true},
		{"the id in a string", "user_input", goodStamp, `"b,\"event_id\":\"5"}`, true},
		{"white space", "user_input", goodStamp, ` {"a" : 1} }`, true},
		{"another kind", "other", goodStamp, `{}}`, false},
		{"an escaped kind", `user\u005finput`, goodStamp, `{}}`, false},
		{"a bad timestamp", "user_input", "2026-13-02T03:04:05Z", `{}}`, false},
		{"an escaped timestamp", "user_input", `2026-01-02T03:04:0\u0035Z`, `{}}`, false},
		{"another member", "user_input", goodStamp, `{},"more":1}`, false},
		{"another id", "user_input", goodStamp, `{},"event_id":"not hex"}`, false},
		{"an escape in the id", "user_input", goodStamp, `{},"event_id":"\u0031"}`, false},
		{"the id twice", "user_input", goodStamp, `{},"event_id":"1","event_id":"2"}`, false},
		{"the payload twice", "user_input", goodStamp, `{},"payload":{}}`, false},
		{"no payload", "user_input", goodStamp, `}`, false},
		{"cut", "user_input", goodStamp, `{"a":1`, false},
		{"cut before the last bracket", "user_input", goodStamp, `{"a":1}`, false},
		{"more behind it", "user_input", goodStamp, `{}}}`, false},
		{"white space behind it", "user_input", goodStamp, `{}} `, false},
		{"lone surrogate", "user_input", goodStamp, `{"a":"\ud800"}}`, false},
		{"bad UTF-8", "user_input", goodStamp, "{\"a\":\"\xff\"}}", false},
		{"as deep as it may be", "user_input", goodStamp, strings.Repeat("[", 126) + strings.Repeat("]", 126) + `}`, true},
		{"too deep", "user_input", goodStamp, strings.Repeat("[", 127) + strings.Repeat("]", 127) + `}`, false},
	} {
		l := learned(t)
		line := formed(l, c.kind, c.stamp, c.rest)
		if _, ok := l.quick(line); ok != c.quick {
			t.Errorf("%s: quick %v", c.name, ok)
		}
		sameRecord(t, l, line)
	}
}

// sameRecord holds the quick way against the other one.
func sameRecord(t *testing.T, l *liner, line []byte) {
	t.Helper()
	got, ok := l.quick(line)
	if !ok {
		return
	}
	at := l.at
	want, err := new(liner).members(line)
	if err != nil {
		t.Fatalf("%q was accepted: %v", line, err)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Fatalf("%q: %s", line, diff)
	}
	if want, _ := parseTimestamp([]byte(got.Timestamp)); at != want {
		t.Fatalf("%q: %v", line, at)
	}
}

// TestFormChanges: the form is that of the line before, and a line without one
// leaves it.
func TestFormChanges(t *testing.T) {
	l := learned(t)
	other := `{"event_type":"user_input","timestamp":"` + goodStamp + `","session_id":"s-2","cwd":"/é\"\\","session_path":null,"payload":{}}`
	for _, step := range []struct {
		line  string
		quick bool
	}{
		{other, false}, {other, true},
		{`{"event_type":"user_input","timestamp":"` + goodStamp + `","session_id":"s-2","payload":{}}`, false},
		{other, true},
		{strings.Replace(other, "s-2", "s-3", 1), false},
		{other, false}, {other, true},
		{strings.Replace(other, "user_input", `user\ninput`, 1), false},
		{strings.Replace(other, "user_input", "user\ninput", 1), false},
	} {
		line := []byte(step.line)
		if _, ok := l.quick(line); ok != step.quick {
			t.Errorf("%s: quick %v", line, ok)
		}
		sameRecord(t, l, line)
		_, _ = l.parse(line)
	}
}

func FuzzForm(f *testing.F) {
	f.Add([]byte("user_input"), []byte(goodStamp), []byte(`{"text":"b"},"event_id":"1f"}`))
	f.Add([]byte("user_input"), []byte(goodStamp), []byte(`"a,\"event_id\":\"","event_id":""}`))
	f.Add([]byte("user_input"), []byte("2026-01-02 03:04:60.1+01:00"), []byte(` [1e5,"\ud83d\ude00"] }`))
	f.Fuzz(func(t *testing.T, kind, stamp, rest []byte) {
		l := learned(t)
		line := formed(l, string(kind), string(stamp), string(rest))
		if bytes.IndexByte(line, '\n') < 0 {
			sameRecord(t, l, line)
		}
	})
}
