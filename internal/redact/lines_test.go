package redact

import (
	"regexp"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

var fenceLine = regexp.MustCompile("(?m)^[ \t>]*(?:```|~~~)")

// TestLinesAndFences: decision 46. No construct swallows a code fence, and none
// but private key blocks and quoted values goes on in the next line.
func TestLinesAndFences(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		lines := rapid.SliceOfN(rapid.SampledFrom(append([]string{"\n```sh\n", "\n  ~~~\n", "\n> ```\n", "password: \"", "secret='"}, pieces...)), 0, 24)
		s := strings.Join(lines.Draw(t, "pieces"), "")
		got := Text(s)
		if a, b := len(fenceLine.FindAllString(s, -1)), len(fenceLine.FindAllString(got, -1)); a > b {
			t.Fatalf("%d code fences became %d\n%q\n%q", a, b, s, got)
		}
		if strings.ContainsAny(s, "\"'`") || strings.Contains(s, pemDashes) {
			return
		}
		if a, b := strings.Count(s, "\n"), strings.Count(got, "\n"); a != b {
			t.Fatalf("%d line ends became %d\n%q\n%q", a, b, s, got)
		}
	})
}

func TestQuotesOverLines(t *testing.T) {
	for _, tt := range []struct{ name, in, want string }{
		{"over a line end", "password: \"one\ntwo\" x", "password: <redacted> x"},
		{"not over a blank line", "password: \"one\n\ntwo\" x", "password: <redacted>\n\ntwo\" x"},
		{"not over a line of blanks", "password: \"one\n \t\ntwo\" x", "password: <redacted>\n \t\ntwo\" x"},
		{"not over a code fence", "```\npassword: \"one\n```\ntwo\" x", "```\npassword: <redacted>\n```\ntwo\" x"},
		{"not without an end", "password: 'one\ntwo", "password: <redacted>\ntwo"},
		{"an escaped quote", `{"password": "one\"two three", "n": 1}`, `{"password": <redacted>, "n": 1}`},
		{"JSON in JSON", `{"a": "{\"password\": \"one two\", \"n\": 1}"}`, `{"a": "{\"password\": <redacted>, \"n\": 1}"}`},
		{"a backquote", "secret = `one two` x", "secret = <redacted> x"},
		{"code in prose", "use `token=` and `x`", "use `token=` and `x`"},
		{"a word behind the quote", `token="one"two three`, "token=<redacted> three"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if got := Text(tt.in); got != tt.want {
				t.Errorf("%q\n got %q\nwant %q", tt.in, got, tt.want)
			}
		})
	}
}

func TestPrivateKeys(t *testing.T) {
	begin, end := "-----BEGIN "+"RSA PRIVATE KEY-----", "-----END "+"RSA PRIVATE KEY-----"
	body := "MIIEowIBAAKCAQEA7bq1\nx0Zk+/abcdefgh==\n"
	for _, tt := range []struct{ name, in, want string }{
		{"a block", "a\n" + begin + "\n" + body + end + "\nb", "a\n<redacted>\nb"},
		{"no END: to the end of the text", "a " + begin + "\n" + body + "\nmore", "a <redacted>"},
		{"a code fence shows", "```\n" + begin + "\n" + body + "```\nand so on\n" + body, "```\n<redacted>\n```\nand so on\n<redacted>\n<redacted>\n"},
		{"a key behind the fence", begin + ":\n```\n" + body + end + "\n```\nfine", "<redacted>\n```\n<redacted>\n<redacted>\n" + end + "\n```\nfine"},
		{"in JSON", `{"k": "` + begin + `\nMIIE\n` + end + `\n", "n": 1}`, `{"k": "<redacted>\n", "n": 1}`},
		{"as a value", `{"private_key": "` + begin + `\nMIIE\n` + end + `\n", "n": 1}`, `{"private_key": <redacted>, "n": 1}`},
		{"as a value over lines", "key_secret: " + begin + "\n" + body + end + "abc, n", "key_secret: <redacted>, n"},
		{"OpenPGP", "-----BEGIN PGP " + "PRIVATE KEY BLOCK-----\nabc\n-----END PGP " + "PRIVATE KEY BLOCK-----", "<redacted>"},
		{"a certificate", "-----BEGIN CERTIFICATE-----\nMIIE\n-----END CERTIFICATE-----", "-----BEGIN CERTIFICATE-----\nMIIE\n-----END CERTIFICATE-----"},
		{"a rule of dashes", "----------BEGIN\n-----\n", "----------BEGIN\n-----\n"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if got := Text(tt.in); got != tt.want {
				t.Errorf("%q\n got %q\nwant %q", tt.in, got, tt.want)
			}
			cuts := make([]int, len(tt.in))
			for i := range cuts {
				cuts[i] = i
			}
			checkStream(t, tt.in, cuts)
		})
	}
}
