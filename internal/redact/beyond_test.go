package redact

import "testing"

// TestBeyondTheSevenRules: decision 46, what is hidden on top of the rules of
// the reference, and what is left alone.
func TestBeyondTheSevenRules(t *testing.T) {
	for _, tt := range []struct{ name, in, want string }{
		{"longer names", "export DB_PASSWORD=hunter2", "export DB_PASSWORD=<redacted>"},
		{"with dashes", "signing-secret: hunter2", "signing-secret: <redacted>"},
		{"in camel case", `{"webhookSecret":"hunter2"}`, `{"webhookSecret":<redacted>}`},
		{"a name in capitals", "APIToken: hunter2", "APIToken: <redacted>"},
		{"no joint", "mytoken=abc tokens=abc 1token=abc", "mytoken=abc tokens=abc 1token=abc"},
		{"nothing before the joint", "_token=abc", "_token=abc"},
		{"a key that is no secret", "primary_key: id, sortKey: name", "primary_key: id, sortKey: name"},
		{"a key that looks like one", "some_key: a1b2c3d4e5", "some_key: <redacted>"},
		{"an index", `process.env["API_KEY"] = "abcdef"`, `process.env["API_KEY"] = <redacted>`},
		{"an assignment in Go", `token := "abc"`, `token := <redacted>`},
		{"a comparison", `if password == "hunter2" {`, `if password == <redacted> {`},
		{"an arrow", `'password' => 'hunter2',`, `'password' => <redacted>,`},
		{"a package registry", "//registry.npmjs.org/:_authToken=abcdef", "//registry.npmjs.org/:_authToken=<redacted>"},
		{"a connection string", "AccountKey=abcd1234+/ef==;EndpointSuffix=x", "AccountKey=<redacted>;EndpointSuffix=x"},
		{"basic", "Authorization: Basic dXNlcjpwYXNzd29yZA==", "Authorization: <redacted> <redacted>"},
		{"a header in a command", `curl -H "Authorization: token abcd1234efgh" x`, `curl -H "Authorization: <redacted> <redacted>" x`},
		{"a password in a URL", "postgres://root:s3cr3t@db:5432/app", "postgres://root:<redacted>@db:5432/app"},
		{"with a slash", "mysql://root:s3cr3t/x@db/app", "mysql://root:<redacted>@db/app"},
		{"with an at sign", "amqp://u:p@ss@h/v", "amqp://u:<redacted>@h/v"},
		{"without a user", "redis://:pw123@h:1", "redis://:<redacted>@h:1"},
		{"a key as the user", "https://0123456789abcdef0123@sentry.example.org/1", "https://<redacted>@sentry.example.org/1"},
		{"a key as the user, with a password", "https://gh" + "p_abcdefghijklmnopqrst:pw123@github.com/x", "https://<redacted>:<redacted>@github.com/x"},
		{"a port", "http://localhost:8080/@scope/x http://h:80", "http://localhost:8080/@scope/x http://h:80"},
		{"behind an escaped line end", `"body\nsk-abcdef\ttoken=x y"`, `"body\n<redacted>\ttoken=<redacted> y"`},
		{"types", "password: string, token: Option<String>; secret: &str", "password: string, token: Option<String>; secret: &str"},
		{"constants", "token = nil; password = None, secret: true", "token = nil; password = None, secret: true"},
		{"calls", `token = getToken(); password = os.environ["PW"]`, `token = getToken(); password = os.environ["PW"]`},
		{"variables", "password: ${DB_PASSWORD} token=$TOKEN secret={{ .Secret }} api_key=<your-key>", "password: ${DB_PASSWORD} token=$TOKEN secret={{ .Secret }} api_key=<your-key>"},
		{"fields", "token: self.token, apiKey: process.env.API_KEY", "token: self.token, apiKey: process.env.API_KEY"},
		{"paths", "Token::new(x), syn::token::Paren", "Token::new(x), syn::token::Paren"},
		{"structure", "\"credentials\": {\n  \"user\": 1\n}, secret: [\n1]", "\"credentials\": {\n  \"user\": 1\n}, secret: [\n1]"},
		{"sums", "sha512-QWxhZGRpbjpvcGVuc2VzYW1lMTIzNDU2Nzg5MGFiY2RlZkFCQ0RFRg==", "sha512-QWxhZGRpbjpvcGVuc2VzYW1lMTIzNDU2Nzg5MGFiY2RlZkFCQ0RFRg=="},
		{"commits", "commit 5d41402abc4b2a76b9719d911017c592aa00bb11", "commit 5d41402abc4b2a76b9719d911017c592aa00bb11"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if got := Text(tt.in); got != tt.want {
				t.Errorf("%q\n got %q\nwant %q", tt.in, got, tt.want)
			}
		})
	}
}
