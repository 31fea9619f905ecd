package redact

import (
	"strings"
	"testing"
)

func TestCredentialKey(t *testing.T) {
	for _, k := range []string{
		"authorization", "Authorization", "bearer", "credential", "credentials", "aws_secret_access_key", "AWS-Session-Token", "session_token", "secret_key", "api_key", "api-key", "apikey", "apiKey",
		"password", "passwd", "secret", "token", "access_token", "accessToken", "refresh-token", "refreshtoken", "auth_token", "authtoken", "id_token", "idtoken", "client_secret", "clientsecret",
		"account_id", "accountId", "chatgpt-account-id", "MY_API_KEY", "x-api-key", "db_secret", "x_secret_access_key", "my-session-token", "a_secret_key", "_token", "gh_credential", "GH_CREDENTIALS",
	} {
		if !CredentialKey(k) {
			t.Errorf("%q is credential-like", k)
		}
	}
	for _, k := range []string{"", "tokens", "secrets", "key", "public_key", "mytoken", "password_hint", "max_tokens", "api", "access_key", "userPassword", "secret "} {
		if CredentialKey(k) {
			t.Errorf("%q is not credential-like", k)
		}
	}
}

func TestSecretLike(t *testing.T) {
	long := strings.Repeat("a1B2", 10)
	for _, tt := range []struct {
		s           string
		like, label bool
	}{
		{"gpt-5", false, false}, {"", false, false}, {" gpt-5 ", false, false}, {"my model", true, false}, {"my\u00a0model", true, false},
		{"sk-x", true, true}, {"  sk-x", true, true}, {"Bearer x", true, true}, {"bearer", false, false}, {"a=b", true, true},
		{long + "--------", true, true}, {long + "-------", false, false}, {long[1:] + "---------", false, false}, {"ask-me", false, false},
	} {
		if got := SecretLike(tt.s); got != tt.like {
			t.Errorf("SecretLike(%q) = %v", tt.s, got)
		}
		if got := SecretLikeLabel(tt.s); got != tt.label {
			t.Errorf("SecretLikeLabel(%q) = %v", tt.s, got)
		}
	}
}

func TestSafeName(t *testing.T) {
	for _, s := range []string{"gpt-5.2-codex", "anthropic/claude-opus-4", "llama3:70b", "模型", strings.Repeat("-", 256)} {
		if got, ok := SafeName(s); !ok || got != s {
			t.Errorf("SafeName(%q) = %q, %v", s, got, ok)
		}
	}
	for _, s := range []string{"two words", "a\x00b", "a\u0085b", "sk-abc", "x=y", "token:abc", "gh" + "p_abcdefghijklmnopqrst", strings.Repeat("-", 257)} {
		if got, ok := SafeName(s); ok || got != "" {
			t.Errorf("SafeName(%q) = %q, %v", s, got, ok)
		}
	}
}
