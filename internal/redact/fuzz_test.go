package redact

import (
	"encoding/json"
	"strings"
	"testing"

	"magicode/internal/jsonscan"
)

func addSeeds(f *testing.F) {
	for v := range differ {
		f.Add(v, uint16(3))
	}
	for i, p := range pieces {
		f.Add("token="+p+pieces[(i*7)%len(pieces)]+" "+p, uint16(i))
		f.Add(p+pieces[(i*5+1)%len(pieces)]+p, uint16(i*i))
	}
}

// FuzzText: redacting twice is redacting once, and no input breaks it.
func FuzzText(f *testing.F) {
	addSeeds(f)
	f.Fuzz(func(t *testing.T, s string, _ uint16) {
		once := Text(s)
		if twice := Text(once); twice != once {
			t.Fatalf("%q\nonce  %q\ntwice %q", s, once, twice)
		}
		Display(s)
	})
}

// FuzzStream: at any split, what is released is a beginning of Text of all that
// can follow.
func FuzzStream(f *testing.F) {
	addSeeds(f)
	f.Fuzz(func(t *testing.T, s string, step uint16) {
		if len(s) > 2_000 {
			s = s[:2_000]
		}
		var cuts []int
		n := int(step%31) + 1
		for at := n; at < len(s); at += n {
			cuts = append(cuts, at)
		}
		checkStream(t, s, cuts)
	})
}

// FuzzAppendJSON holds AppendJSON against the slow reading.
func FuzzAppendJSON(f *testing.F) {
	for _, p := range pieces {
		f.Add(`{"a":[` + string(jsonscan.AppendString(nil, p)) + `,1],"token":"` + "x" + `"}`)
	}
	f.Fuzz(func(t *testing.T, s string) {
		if !json.Valid([]byte(s)) || strings.Contains(s, `\u`) || strings.ToValidUTF8(s, "") != s || strings.Count(s, "[")+strings.Count(s, "{") > 200 {
			AppendJSON(nil, []byte(s)) // anything: no panic
			return
		}
		checkJSON(t, []byte(s))
	})
}
