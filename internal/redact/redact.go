package redact

// mark stands in place of what was hidden.
const mark = "<redacted>"

// Text returns s with every secret replaced by <redacted> (storage.md 11.1,
// decisions 33 and 46). It returns s itself when nothing changes; redacting
// twice gives the same as once.
func Text(s string) string {
	c := scan{s: s, final: true}
	c.run(0)
	if c.copied == 0 {
		return s
	}
	return string(append(c.out, s[c.copied:]...))
}

// Display is Strip, then Text.
func Display(s string) string { return Text(Strip(s)) }
