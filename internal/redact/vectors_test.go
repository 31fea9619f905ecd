package redact

import (
	"encoding/json"
	"os"
	"testing"
)

// differ are the recorded vectors that ours hides more or less of (decisions 33 and 46).
var differ = map[string]string{
	"MY_API_KEY=abc":   "MY_API_KEY=" + mark,
	"my_token=abc":     "my_token=" + mark,
	"token = \n value": "token = \n value",
	"-----BEGIN PRIVATE KEY-----\nMIIB no end": mark,
}

func TestRecordedVectors(t *testing.T) {
	raw, err := os.ReadFile("testdata/vectors.json")
	if err != nil {
		t.Fatal(err)
	}
	var vectors []struct{ Input, Output string }
	if err := json.Unmarshal(raw, &vectors); err != nil {
		t.Fatal(err)
	}
	if len(vectors) != 92 {
		t.Fatalf("%d vectors", len(vectors))
	}
	seen := 0
	for _, v := range vectors {
		want := v.Output
		if other, ok := differ[v.Input]; ok {
			want = other
			seen++
		}
		if got := Display(v.Input); got != want {
			t.Errorf("Display(%q)\n got %q\nwant %q", v.Input, got, want)
		}
		if got := Display(want); got != want {
			t.Errorf("Display(%q), which is redacted already, gives %q", want, got)
		}
	}
	if seen != len(differ) {
		t.Errorf("%d of %d exceptions were met", seen, len(differ))
	}
}
