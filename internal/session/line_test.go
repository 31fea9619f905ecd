package session

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
)

// TestLineAcceptance: the rows of storage.md 5.6.
func TestLineAcceptance(t *testing.T) {
	const head = `{"event_type":"x","timestamp":"2026-01-02T03:04:05Z","session_id":"s-1"`
	stamp := func(s string) string {
		return `{"event_type":"x","timestamp":` + s + `,"session_id":"s-1","payload":{}}`
	}
	nested := func(n int) string {
		return head + `,"payload":` + strings.Repeat("[", n) + strings.Repeat("]", n) + `}`
	}
	for _, c := range []struct {
		name, line string
		ok         bool
	}{
		{"plain", head + `,"payload":{}}`, true},
		{"blank", "", false},
		{"spaces", "  ", false},
		{"BOM", "\ufeff" + head + `,"payload":{}}`, false},
		{"cut", head + `,"payload":{}`, false},
		{"trailing data", head + `,"payload":{}} x`, false},
		{"two objects", head + `,"payload":{}}` + head + `,"payload":{}}`, false},
		{"invalid UTF-8", head + `,"payload":{"a":"` + "\xff" + `"}}`, false},
		{"raw control", head + `,"payload":{"a":"` + "\x01" + `"}}`, false},
		{"NUL behind", head + `,"payload":{}}` + "\x00", false},
		{"lone surrogate", head + `,"payload":{"a":"\ud800"}}`, false},
		{"surrogate pair", head + `,"payload":{"a":"\ud83d\ude00"}}`, true},
		{"number overflow", head + `,"payload":{"a":1e999}}`, false},
		{"large integer", head + `,"payload":{"a":123456789012345678901234567890}}`, true},
		{"126 arrays", nested(126), true},
		{"127 arrays", nested(127), false},
		{"unknown field", head + `,"more":1,"payload":{}}`, true},
		{"event id", head + `,"payload":{},"event_id":"ff"}`, true},
		{"null path", head + `,"session_path":null,"payload":{}}`, true},
		{"number path", head + `,"session_path":1,"payload":{}}`, false},
		{"empty cwd", head + `,"cwd":"","payload":{}}`, true},
		{"null cwd", head + `,"cwd":null,"payload":{}}`, false},
		{"no payload", head + `}`, false},
		{"no type", `{"timestamp":"2026-01-02T03:04:05Z","session_id":"s-1","payload":{}}`, false},
		{"no timestamp", `{"event_type":"x","session_id":"s-1","payload":{}}`, false},
		{"no session", `{"event_type":"x","timestamp":"2026-01-02T03:04:05Z","payload":{}}`, false},
		{"number type", `{"event_type":1,"timestamp":"2026-01-02T03:04:05Z","session_id":"s-1","payload":{}}`, false},
		{"other case", `{"Event_type":"x","timestamp":"2026-01-02T03:04:05Z","session_id":"s-1","payload":{}}`, false},
		{"escaped key", `{"event\u005ftype":"x","timestamp":"2026-01-02T03:04:05Z","session_id":"s-1","payload":{}}`, true},
		{"field twice", head + `,"payload":{},"payload":{}}`, false},
		{"field twice, escaped", head + `,"payload":{},"pay\u006coad":{}}`, false},
		{"payload key twice", head + `,"payload":{"a":1,"a":2}}`, true},
		{"payload null", head + `,"payload":null}`, true},
		{"payload string", head + `,"payload":"x"}`, true},
		{"payload number", head + `,"payload":1}`, true},
		{"carriage return", head + `,"payload":{}}` + "\r", true},
		{"array form", `["x","2026-01-02T03:04:05Z","s-1","","",{}]`, false},
		{"offset", stamp(`"2026-01-02T03:04:05+23:59"`), true},
		{"lower case", stamp(`"2026-01-02t03:04:05z"`), true},
		{"space", stamp(`"2026-01-02 03:04:05Z"`), true},
		{"12 digits", stamp(`"2026-01-02T03:04:05.123456789012Z"`), true},
		{"second 60", stamp(`"2026-12-31T23:59:60Z"`), true},
		{"second 61", stamp(`"2026-12-31T23:59:61Z"`), false},
		{"no offset", stamp(`"2026-01-02T03:04:05"`), false},
		{"month 13", stamp(`"2026-13-02T03:04:05Z"`), false},
		{"30 February", stamp(`"2026-02-30T03:04:05Z"`), false},
		{"leap day", stamp(`"2024-02-29T03:04:05Z"`), true},
		{"no leap day", stamp(`"2100-02-29T03:04:05Z"`), false},
		{"hour 24", stamp(`"2026-01-02T24:04:05Z"`), false},
		{"empty fraction", stamp(`"2026-01-02T03:04:05.Z"`), false},
		{"number", stamp(`1767323045`), false},
		{"empty", stamp(`""`), false},
	} {
		p := pass{id: sid, stop: 1}
		if got := p.line([]byte(c.line), 0) == nil; got != c.ok {
			t.Errorf("%s: accepted %v", c.name, got)
		}
	}
}

func TestRecordFields(t *testing.T) {
	var l liner
	rec, err := l.parse([]byte(`{"payload": {"a" : 1} ,"cwd":"/a\u002fb","session_id":"s","timestamp":"2026-01-02T03:04:05+01:00","event_type":"user_input","session_path":"/p"}`))
	must(t, err)
	want := Record{Kind: KindUserInput, Timestamp: "2026-01-02T03:04:05+01:00", SessionID: "s", Cwd: "/a/b", SessionPath: "/p", Payload: []byte(`{"a" : 1}`)}
	if diff := cmp.Diff(want, rec); diff != "" {
		t.Error(diff)
	}
	next, err := l.parse([]byte(`{"event_type":"user_input","timestamp":"2026-01-02T03:04:05Z","session_id":"s","payload":1}`))
	if err != nil || next.Cwd != "" || next.SessionPath != "" {
		t.Errorf("the last line shines through: %+v %v", next, err)
	}
}

func TestTimestamps(t *testing.T) {
	for _, at := range []time.Time{
		time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC), time.Date(2024, 2, 29, 23, 59, 59, 123_000_000, time.UTC),
		time.Date(1999, 12, 31, 0, 0, 0, 1000, time.UTC), time.Date(2400, 3, 1, 0, 0, 0, 1, time.FixedZone("x", 3600)), time.Date(1, 1, 1, 0, 0, 0, 0, time.UTC),
	} {
		text := appendTimestamp(nil, at)
		got, ok := parseTimestamp(text)
		if want := (instant{at.Unix(), int32(at.Nanosecond())}); !ok || got != want {
			t.Errorf("%s: %+v, want %+v", text, got, want)
		}
		if back, err := time.Parse(time.RFC3339Nano, string(text)); err != nil || !back.Equal(at) {
			t.Errorf("%s: %v %v", text, back, err)
		}
	}
	a, _ := parseTimestamp([]byte("2026-01-02T03:04:05.5+02:00"))
	b, _ := parseTimestamp([]byte("2026-01-02T01:04:05.499999999Z"))
	if !a.after(b) || b.after(a) {
		t.Errorf("%v %v", a, b)
	}
	for n, want := range map[int]string{0: "05Z", 5_000_000: "05.005Z", 5_000: "05.000005Z", 5: "05.000000005Z"} {
		if got := string(appendTimestamp(nil, time.Date(2026, 1, 2, 3, 4, 5, n, time.UTC))); !strings.HasSuffix(got, want) {
			t.Errorf("%s, want …%s", got, want)
		}
	}
}

// oracle accepts lines with the standard library, slowly.
func oracle(line []byte) bool {
	line = bytes.TrimSuffix(line, []byte("\r"))
	if !utf8.Valid(line) || !json.Valid(line) || bytes.TrimLeft(line, " \t\r\n")[0] != '{' {
		return false
	}
	depth, most, lone := 0, 0, false
	dec := json.NewDecoder(bytes.NewReader(line))
	dec.UseNumber()
	seen := map[string]int{}
	for {
		tok, err := dec.Token()
		if err != nil {
			break
		}
		switch v := tok.(type) {
		case json.Delim:
			if v == '{' || v == '[' {
				depth++
				most = max(most, depth)
			} else {
				depth--
			}
		case json.Number:
			if _, err := v.Float64(); err != nil {
				return false
			}
		}
	}
	lone = loneSurrogate(line)
	dec = json.NewDecoder(bytes.NewReader(line))
	_, _ = dec.Token()
	fields := map[string]json.RawMessage{}
	for dec.More() {
		k, err := dec.Token()
		var raw json.RawMessage
		if err != nil || dec.Decode(&raw) != nil {
			return false
		}
		seen[k.(string)]++
		fields[k.(string)] = raw
	}
	for _, k := range []string{"event_type", "timestamp", "session_id", "cwd", "session_path", "payload"} {
		if seen[k] > 1 {
			return false
		}
	}
	return most <= maxContainers && !lone && fieldsOK(fields)
}

func fieldsOK(fields map[string]json.RawMessage) bool {
	for _, k := range []string{"event_type", "timestamp", "session_id", "cwd", "session_path"} {
		raw, ok := fields[k]
		switch {
		case !ok && (k == "cwd" || k == "session_path"), k == "session_path" && string(raw) == "null":
			continue
		case !ok || raw[0] != '"':
			return false
		}
	}
	var stamp string
	_ = json.Unmarshal(fields["timestamp"], &stamp)
	_, ok := parseTimestamp([]byte(stamp))
	_, payload := fields["payload"]
	return ok && payload
}

// loneSurrogate looks at the escapes of valid JSON.
func loneSurrogate(line []byte) bool {
	for i := 0; i+1 < len(line); i++ {
		if line[i] != '\\' {
			continue
		}
		if i++; line[i] != 'u' {
			continue
		}
		var a, b uint32
		_, _ = fmt.Sscanf(string(line[i+1:i+5]), "%04x", &a)
		i += 4
		if a < 0xd800 || a > 0xdfff {
			continue
		}
		if a > 0xdbff || i+6 >= len(line) || line[i+1] != '\\' || line[i+2] != 'u' {
			return true
		}
		_, _ = fmt.Sscanf(string(line[i+3:i+7]), "%04x", &b)
		if b < 0xdc00 || b > 0xdfff {
			return true
		}
		i += 6
	}
	return false
}

func FuzzLine(f *testing.F) {
	f.Add([]byte(strings.TrimSpace(textLine("hello"))))
	f.Add([]byte(`{"event_type":"x","timestamp":"2026-01-02T03:04:05.1+01:00","session_id":"s-1","cwd":"","session_path":null,"payload":{"a":[1e5,"\ud83d\ude00"]}}`))
	f.Add([]byte(`{"event_type":"x","event\u005ftype":"y","timestamp":"2026-01-02 03:04:60z","session_id":"\ud800","payload":1e999}`))
	f.Fuzz(func(t *testing.T, line []byte) {
		if bytes.IndexByte(line, '\n') >= 0 {
			t.Skip()
		}
		p := pass{id: sid, stop: 1}
		err := p.line(line, 0)
		if want := oracle(line); (err == nil) != want {
			t.Errorf("%q: %v, oracle %v", line, err, want)
		}
		if errors.Is(err, errCut) && json.Valid(line) && utf8.Valid(line) {
			if len(line) < 256 {
				t.Errorf("%q is whole JSON and was taken for torn", line)
			}
		}
	})
}
