package reader

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
)

const sampleLog = `{"resourceLogs":[{"resource":{"attributes":[{"key":"service.name","value":{"stringValue":"magi-code"}}]},"scopeLogs":[{"logRecords":[{"timeUnixNano":"1000000000","eventName":"magi.span.start","traceId":"aa","spanId":"bb","attributes":[{"key":"magi.span.name","value":{"stringValue":"magi.cleanup\u001b[31m"}},{"key":"n","value":{"intValue":7}}]}]}]}]}`

func TestHostileText(t *testing.T) {
	c := new(Capture)
	if err := c.Read(strings.NewReader("nonsense\n"+sampleLog+"\n{\"x\":1}\n"+strings.Repeat("x", 3<<20)+"\n"+sampleLog[:100]), "logs"); err != nil {
		t.Fatal(err)
	}
	if c.Torn != 4 || len(c.Records) != 1 || c.Records[0].Attributes["n"] != int64(7) {
		t.Errorf("torn %d, records %+v", c.Torn, c.Records)
	}
	var out bytes.Buffer
	Print(&out, Analyse("x\x1b]0;title\a", c), Look{})
	if strings.ContainsAny(out.String(), "\x1b\a") {
		t.Errorf("a control character is printed: %q", out.String())
	}
}

// FuzzRead: no capture makes the reader fail or print control characters.
func FuzzRead(f *testing.F) {
	f.Add([]byte(sampleLog))
	f.Add([]byte(`{"resourceSpans":[{"scopeSpans":[{"spans":[{"name":"magi.cleanup","spanId":"a","parentSpanId":"a","startTimeUnixNano":"5","endTimeUnixNano":"1","attributes":[{"key":"magi.span.cut","value":{"boolValue":true}}]}]}]}]}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		c := new(Capture)
		if err := c.Read(bytes.NewReader(data), "traces"); err != nil {
			t.Skip()
		}
		a := Analyse("x", c)
		if len(a.Verdicts) == 0 && len(c.Spans)+len(c.Records) > 0 {
			t.Error("no verdict")
		}
		var out, page bytes.Buffer
		HTML(&page, a)
		if what := malformed(page.String()); what != "" {
			t.Errorf("the page has %s", what)
		}
		if _, err := json.Marshal(a); err != nil {
			t.Error(err)
		}
		Print(&out, a, Look{All: true})
		for _, r := range out.String() {
			if r < ' ' && r != '\n' {
				t.Fatalf("%q", out.String())
			}
		}
	})
}
