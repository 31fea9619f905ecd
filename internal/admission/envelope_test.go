package admission

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"magicode/pkg/localagent"
)

const valid = `{"protocol":"magi-code.local-agent","version":1,"id":"r1","method":"status","params":{}}`

// with returns the valid frame with one part replaced.
func with(old, new string) string {
	if !strings.Contains(valid, old) {
		panic("no such part: " + old)
	}
	return strings.Replace(valid, old, new, 1)
}

func inParams(s string) string { return with("{}", s) }

// verdict is what a test compares: the outcome without the params.
type verdict struct {
	Code   localagent.Code
	ID     string
	HasID  bool
	Closes bool
	Method string
}

func verdictOf(frame []byte) verdict {
	req, rej := Parse(frame)
	if rej != nil {
		return verdict{Code: rej.Code, ID: rej.ID, HasID: rej.HasID, Closes: rej.Closes}
	}
	return verdict{ID: req.ID, HasID: true, Method: req.Method}
}

type parseTest struct {
	name string
	in   string
	want verdict
}

func parseTests() []parseTest {
	var (
		frame    = verdict{Code: localagent.CodeInvalidFrame}
		request  = verdict{Code: localagent.CodeInvalidRequest}
		mismatch = verdict{Code: localagent.CodeProtocolMismatch, ID: "r1", HasID: true, Closes: true}
		ok       = verdict{ID: "r1", HasID: true, Method: "status"}
		method   = func(m string) verdict { return verdict{ID: "r1", HasID: true, Method: m} }
	)
	return []parseTest{
		{"valid", valid, ok},
		{"CR before LF", valid + "\r", ok},
		{"white space", " \t\r{ \"protocol\" : \"magi-code.local-agent\" , \"version\" : 1 , \"id\" : \"r1\" , \"method\" : \"status\" , \"params\" : { } } ", ok},
		{"other order", `{"params":{},"method":"status","id":"r1","version":1,"protocol":"magi-code.local-agent"}`, ok},
		{"params of any type", inParams("null"), ok},
		{"unknown method", with("status", "session.destroy"), method("session.destroy")},

		// Row 1.
		{"depth 32", inParams(strings.Repeat("[", 31) + strings.Repeat("]", 31)), ok},
		{"depth 33", inParams(strings.Repeat("[", 32) + strings.Repeat("]", 32)), frame},
		{"depth 33, no JSON before it", "hello " + strings.Repeat("[", 33) + strings.Repeat("]", 33), frame},
		{"depth 32, no JSON before it", "hello " + strings.Repeat("[", 32) + strings.Repeat("]", 32), request},
		{"depth 33 behind a repeated field", strings.Replace(with(`"id":"r1"`, `"id":"r1","id":"r2"`), "{}", strings.Repeat("[", 32)+strings.Repeat("]", 32), 1), frame},
		{"brackets in a string", inParams(`{"` + strings.Repeat("[{", 100) + `":1}`), ok},
		{"brackets behind an escaped quote", inParams(`"\"[[[{"`), ok},
		{"unclosed", `{"a":[}`, frame},
		{"closed twice", `{"a":1}}`, frame},
		{"below zero at once", `]`, frame},
		{"below zero, then even", `][`, frame},
		{"even in the end, below zero in between", `{}]["`, frame},
		{"only an opening bracket", `{`, frame},
		{"open string", `{"a":"b}`, frame},
		{"open string outside an object", `hello "`, frame},
		{"backslash before the last quote", `{"a":"b\"}`, frame},
		{"backslash outside a string", `{\"a":1}`, request},
		{"backslash at the very end", `{"a":"\`, frame},
		{"invalid UTF-8 and unclosed", "{\xff", frame},
		{"invalid UTF-8 in front of an open string", "\xff\"", frame},
		{"invalid UTF-8 behind a backslash", "{\"\\\xff\":1}", request},
		{"repeated field and unclosed", `{"id":1,"id":2,"x":[}`, frame},
		{"unknown field and closed twice", `{"x":1}}`, frame},
		{"trailing data and unclosed", valid + "{", frame},
		{"lone surrogate and open string", `{"\ud800`, frame},
		{"control character and open string", "{\"\x01", frame},

		// Row 2.
		{"empty", "", request},
		{"spaces", "   ", request},
		{"CR", "\r", request},
		{"form feed", "\f" + valid, request},
		{"byte order mark", "\ufeff" + valid, request},
		{"array", "[1,2]", request},
		{"string", `"x"`, request},
		{"no JSON", "hello", request},

		// Row 3: JSON.
		{"wrong kind of bracket", `{"a":[}]`, request},
		{"{]", `{]`, request},
		{"trailing data", valid + " x", request},
		{"two objects", valid + valid, request},
		{"invalid UTF-8", with("status", "sta\xfftus"), request},
		{"invalid UTF-8 in params", inParams("\"\xff\""), request},
		{"overlong UTF-8", inParams("\"\xc0\xaf\""), request},
		{"raw surrogate", inParams("\"\xed\xa0\x80\""), request},
		{"NUL in a string", inParams("\"\x00\""), request},
		{"NUL outside", valid + "\x00", request},
		{"line separator in a string", inParams("\"\u2028\""), ok},
		{"trailing comma", with("{}}", "{},}"), request},
		{"bad JSON in params", inParams(`{"a":tru}`), request},
		{"leading zeros in params", inParams("01"), request},
		{"number beyond float64 in params", inParams("1e999"), ok},
		{"lone surrogate in params", inParams(`"\ud800"`), ok},
		{"lone surrogate in a key of params", inParams(`{"\udfff":1}`), ok},
		{"bad escape in params", inParams(`"\x"`), request},
		{"repeated key in params", inParams(`{"a":1,"a":2}`), ok},

		// Row 3: fields.
		{"unknown field", with(`"params"`, `"extra":1,"params"`), request},
		{"repeated field", with(`"id":"r1"`, `"id":"r1","id":"r2"`), request},
		{"repeated field, same value", with(`"params":{}`, `"params":{},"params":{}`), request},
		{"repeated field, escaped", with(`"id":"r1"`, `"id":"r1","\u0069d":"r1"`), request},
		{"escaped field", with(`"id"`, `"\u0069\u0064"`), ok},
		{"escaped slash is another field", with(`"id"`, `"id\/"`), request},
		{"no protocol", with(`"protocol":"magi-code.local-agent",`, ""), request},
		{"no version", with(`"version":1,`, ""), request},
		{"no id", with(`"id":"r1",`, ""), request},
		{"no method", with(`"method":"status",`, ""), request},
		{"no params", with(`,"params":{}`, ""), request},
		{"empty object", "{}", request},
		{"empty key", with(`"params"`, `"":0,"params"`), request},
		{"other letter case", with(`"id"`, `"ID"`), request},
		{"other letter case too", with(`"params":{}`, `"params":{},"Params":{}`), request},
		{"folded s", with(`"version"`, "\"ver\u017fion\""), request},
		{"folded K", with(`"id"`, "\"\u212a\""), request},
		{"field with a lone surrogate", with(`"params"`, `"\ud800":1,"params"`), request},

		// Row 3: types.
		{"protocol null", with(`"magi-code.local-agent"`, "null"), request},
		{"protocol number", with(`"magi-code.local-agent"`, "1"), request},
		{"protocol with a lone surrogate", with("agent", `\udc00`), request},
		{"protocol with half a pair and a letter", with("agent", `\ud83dx`), request},
		{"version 1.0", with(":1,", ":1.0,"), request},
		{"version 1e0", with(":1,", ":1e0,"), request},
		{"version -1", with(":1,", ":-1,"), request},
		{"version -0", with(":1,", ":-0,"), request},
		{"version 01", with(":1,", ":01,"), request},
		{"version string", with(":1,", `:"1",`), request},
		{"version null", with(":1,", ":null,"), request},
		{"version true", with(":1,", ":true,"), request},
		{"version array", with(":1,", ":[1],"), request},
		{"version 2^32", with(":1,", ":4294967296,"), request},
		{"version 2^64+1", with(":1,", ":18446744073709551617,"), request},
		{"version of many digits", with(":1,", ":1"+strings.Repeat("0", 400)+","), request},
		{"id number", with(`"r1"`, "5"), request},
		{"id null", with(`"r1"`, "null"), request},
		{"id with a lone surrogate", with("r1", `x\ud800`), request},
		{"method null", with(`"status"`, "null"), request},
		{"method array", with(`"status"`, `["status"]`), request},

		// Row 4.
		{"id empty", with("r1", ""), request},
		{"id of 64", with("r1", strings.Repeat("a", 64)), verdict{ID: strings.Repeat("a", 64), HasID: true, Method: "status"}},
		{"id of 65", with("r1", strings.Repeat("a", 65)), request},
		{"id of 64 escaped", with("r1", strings.Repeat(`\u0061`, 64)), verdict{ID: strings.Repeat("a", 64), HasID: true, Method: "status"}},
		{"id of 65 escaped", with("r1", strings.Repeat(`\u0061`, 65)), request},
		{"id with all kinds", with("r1", "A-Z_0.9"), verdict{ID: "A-Z_0.9", HasID: true, Method: "status"}},
		{"id with a space", with("r1", "a b"), request},
		{"id with a slash", with("r1", "a/b"), request},
		{"id with an escaped slash", with("r1", `a\/b`), request},
		{"id with a letter beyond ASCII", with("r1", "é"), request},
		{"id with NUL", with("r1", `\u0000`), request},
		{"method escaped", with("status", `\u0073tatus`), ok},
		{"method empty", with("status", ""), request},
		{"method of 65", with("status", strings.Repeat("m", 65)), request},
		{"method folded", with("status", "\u017ftatus"), request},

		// Row 5.
		{"other protocol", with("magi-code.local-agent", "other"), mismatch},
		{"protocol in other case", with("magi-code", "Magi-Code"), mismatch},
		{"protocol escaped", with("magi-code.local-agent", `\u006dagi-code.local-agent`), ok},
		{"protocol empty", with("magi-code.local-agent", ""), mismatch},
		{"protocol with an escape at the end", with("local-agent", `local-agent\u0000`), mismatch},
		{"version 0", with(":1,", ":0,"), mismatch},
		{"version 2", with(":1,", ":2,"), mismatch},
		{"version 2^32-1", with(":1,", ":4294967295,"), mismatch},
		{"row 4 before row 5", strings.Replace(with(":1,", ":2,"), "r1", "a b", 1), request},
		{"mismatch with an unknown method", strings.Replace(with(":1,", ":2,"), "status", "nope", 1), mismatch},
	}
}

func TestParse(t *testing.T) {
	for _, tt := range parseTests() {
		t.Run(tt.name, func(t *testing.T) {
			if diff := cmp.Diff(tt.want, verdictOf([]byte(tt.in))); diff != "" {
				t.Errorf("frame %q (-want +got):\n%s", tt.in, diff)
			}
		})
	}
}
