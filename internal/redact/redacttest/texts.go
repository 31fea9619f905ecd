package redacttest

import (
	"math/rand/v2"
	"strings"
)

// prose, source and diff are ordinary lines without a secret.
var (
	prose = []string{
		"The server reads one line at a time and answers in the order in which requests came in.",
		"If the disk is full, the append fails and the run ends as degraded; nothing that was synced before is lost.",
		"You can pass `--limit 20` to see fewer entries: the default is 50, the most is 500.",
		"- First the input is stored, then the provider is called.\n- A tool call is recorded before the tool starts.",
		"Ein Satz mit Umlauten: Größe, Länge und Übergänge ändern sich nicht. 日本語の文も同じです。",
		"## What changed\n\nThe parser no longer copies its input. On a file of 10 MB it takes 9 ms instead of 41 ms.",
		"See https://example.org/docs/guide.html#limits, section 4.2, or run `make help` in the root of the tree.",
	}
	source = []string{
		"func (r *reader) next() (line []byte, err error) {\n\tfor i := r.start; i < r.end; i++ {\n\t\tif r.buf[i] == '\\n' {\n\t\t\treturn r.buf[r.start:i], nil\n\t\t}\n\t}\n\treturn nil, io.EOF\n}",
		"const limit = 64 << 10 // bytes in one frame\n\nvar table = map[string]int{\"alpha\": 1, \"beta\": 2, \"gamma\": 3}",
		"def walk(root, *, depth=0):\n    for entry in sorted(os.scandir(root), key=lambda e: e.name):\n        yield entry.path, depth",
		"    const rows = await db.query('select id, name from users where active = $1 order by name', [true]);",
		"impl<T: Clone> Stack<T> {\n    pub fn push(&mut self, item: T) -> usize {\n        self.items.push(item);\n        self.items.len()\n    }\n}",
		"{\"name\": \"viewer\", \"version\": \"1.4.2\", \"private\": true, \"scripts\": {\"build\": \"tsc -p .\", \"test\": \"node --test\"}}",
	}
	diff = []string{
		"diff --git a/walk.go b/walk.go\nindex 3f1c2ab..9e07d44 100644\n--- a/walk.go\n+++ b/walk.go\n@@ -10,7 +10,8 @@ func walk(root string) error {\n-\treturn nil\n+\tdefer f.Close()\n+\treturn visit(f)",
		"commit 5d41402abc4b2a76b9719d911017c592aa00bb11\nAuthor: Ada <ada@example.org>\nDate:   Mon Mar 3 10:12:44 2025 +0100\n\n    walk: close what was opened",
	}
)

// Clean returns an ordinary text of at least n bytes: prose, source code and
// diffs. It is the same for the same seed.
func Clean(seed uint64, n int) string {
	r := rand.New(rand.NewPCG(seed, 7))
	var b strings.Builder
	for b.Len() < n {
		kind := [][]string{prose, prose, source, source, diff}[r.IntN(5)]
		b.WriteString(kind[r.IntN(len(kind))])
		b.WriteString([]string{"\n", "\n\n"}[r.IntN(2)])
	}
	return b.String()
}

// Dense returns a text of at least n bytes that is full of secrets: one of the
// kinds of storage.md 11.1 in nearly each line.
func Dense(seed uint64, n int) string {
	r := rand.New(rand.NewPCG(seed, 8))
	var b strings.Builder
	for b.Len() < n {
		v := Random(r, Alnum, 20+r.IntN(30))
		switch r.IntN(8) {
		case 0:
			b.WriteString("-----BEGIN " + "PRIVATE KEY-----\n" + v + "\n" + v + "\n-----END " + "PRIVATE KEY-----\n")
		case 1:
			b.WriteString("![x](data:image/png;base64," + v + ")\n")
		case 2:
			b.WriteString("export GITHUB=" + "gh" + "p_" + v + "\n")
		case 3:
			b.WriteString("id " + "AK" + "IA" + Random(r, Capital, 16) + " in eu-west-1\n")
		case 4:
			b.WriteString("use " + "s" + "k-" + v + " here, or " + "ey" + "J" + v + "\n")
		case 5:
			b.WriteString("curl -H 'Authorization: Bearer " + v + "' https://example.org/\n")
		case 6:
			b.WriteString(`{"user": "ada", "password": "` + v + `", "token": "` + v + `"}` + "\n")
		case 7:
			b.WriteString("api_key = " + v + "\n")
		}
	}
	return b.String()
}

// Alphabets of made-up values.
const (
	Digits  = "0123456789"
	Hex     = Digits + "abcdef"
	Lower   = "abcdefghijklmnopqrstuvwxyz"
	Upper   = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
	Alnum   = Digits + Lower + Upper
	Capital = Digits + Upper
	Small   = Digits + Lower
	URL64   = Alnum + "_-"
	Std64   = Alnum + "+/"
	Letters = Lower + Upper
)

// Random returns n characters of an alphabet.
func Random(r *rand.Rand, alphabet string, n int) string {
	b := make([]byte, n)
	for i := range b {
		b[i] = alphabet[r.IntN(len(alphabet))]
	}
	return string(b)
}
