package redact_test

import (
	"testing"

	"magicode/internal/redact"
)

// TestStored: what is kept keeps its control characters, unless they divide a secret.
func TestStored(t *testing.T) {
	for _, c := range []struct{ name, in, want string }{
		{"plain", "password: hunter2hunter2 x", "password: <redacted> x"},
		{"colours stay", "\x1b[31mred\x1b[0m words", "\x1b[31mred\x1b[0m words"},
		{"colours around a secret stay", "\x1b[31mthe password: hunter2hunter2 \x1b[0m", "\x1b[31mthe password: <redacted> \x1b[0m"},
		{"a colour that hides where the key begins", "\x1b[31mpassword: hunter2hunter2 x", "password: <redacted> x"},
		{"divided value", "sk-ab\x1b[31mcdefghijkl\x1b[0m \x1b[1mend", "<redacted> end"},
		{"divided key", "pass\x1b[31mword: hunter2hunter2 end", "password: <redacted> end"},
		{"arguments", `{"command":"echo sk-ab\u001b[31mcdefghijkl end"}`, `{"command":"echo <redacted> end"}`},
		{"arguments with colours", `{"command":"echo \u001b[31mred end"}`, `{"command":"echo \u001b[31mred end"}`},
	} {
		got := redact.Stored(c.in)
		if got != c.want {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
		if again := redact.Stored(got); again != got {
			t.Errorf("%s: twice gives %q", c.name, again)
		}
	}
}
