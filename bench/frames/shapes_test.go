package frames

import (
	"fmt"
	"strings"
	"testing"

	"magicode/pkg/localagent"
)

// envelope returns a frame with these params, which are JSON already.
func envelope(method, params string) string {
	return fmt.Sprintf(`{"protocol":%q,"version":%d,"id":"bench.1","method":%q,"params":%s}`,
		localagent.Name, localagent.Version, method, params)
}

// fill returns a status frame of exactly size bytes, whose params are head,
// then unit as often as it fits, then tail, then spaces.
func fill(size int, head, unit, sep, tail string) string {
	room := size - len(envelope("status", head+unit+tail))
	var b strings.Builder
	b.WriteString(head + unit)
	for ; unit != "" && room >= len(sep)+len(unit); room -= len(sep) + len(unit) {
		b.WriteString(sep + unit)
	}
	b.WriteString(tail + strings.Repeat(" ", room))
	return envelope("status", b.String())
}

// members returns a frame of size bytes with one object of many members.
func members(size int) string {
	var b strings.Builder
	for i := 0; b.Len() < size-200; i++ {
		fmt.Fprintf(&b, `"key%d":"v",`, i)
	}
	return fill(size, "{"+b.String()+`"last":0`, "", "", "}")
}

// conformance is the frame of the conformance kit's parse figure, spaces included.
func conformance() string {
	element := `{"k": ["` + strings.Repeat("x", 50) + `", 1, {"a": null}]}`
	params := `{"blob": [` + element + strings.Repeat(", "+element, 699) + `]}`
	return `{"protocol": "magi-code.local-agent", "version": 1, "id": "b100", "method": "status", "params": ` + params + `}`
}

// shape is a valid frame under a name.
type shape struct {
	name  string
	frame string
}

// shapes returns frames of 65,536 bytes, each of one kind of JSON, and the
// conformance kit's of 55 KB in front; a few of them with -short.
func shapes() []shape {
	const size = localagent.MaxFrameBytes
	all := []shape{
		{"conformance", conformance()},
		{"string", fill(size, `{"s":"`, "x", "", `"}`)},
		{"objects", fill(size, "[", `{"name":"value","n":1,"ok":true,"o":{"x":null}}`, ",", "]")},
		{"members", members(size)},
		{"escapes", fill(size, `{"s":"`, `\n\"\\\t`, "", `"}`)},
		{"unicodeescapes", fill(size, `{"s":"`, `\u00e9\ud83d\ude00`, "", `"}`)},
		{"mixedescapes", fill(size, `{"s":"`, `line of text\n\tand \"another\" one, `, "", `"}`)},
		{"nonascii", fill(size, `{"s":"`, "日本語のテキスト、", "", `"}`)},
		{"mixedutf8", fill(size, `{"s":"`, "naïve café, 12 € 😀 ", "", `"}`)},
		{"numbers", fill(size, "[", "12345,-0.5,1e10,7,3.14159", ",", "]")},
		{"integers", fill(size, "[", "1,22,333,4444,55555", ",", "]")},
		{"digits", fill(size, "[", "1", ",", "]")},
		{"emptyarrays", fill(size, "[", "[]", ",", "]")},
		{"nestedarrays", fill(size, "[", "[[],[]]", ",", "]")},
		{"depth32", fill(size, "[", strings.Repeat("[", 30)+strings.Repeat("]", 30), ",", "]")},
		{"depth32objects", fill(size, "[", strings.Repeat(`{"a":`, 30)+"0"+strings.Repeat("}", 30), ",", "]")},
		{"literals", fill(size, "[", "true,false,null", ",", "]")},
		{"shortstrings", fill(size, "[", `"a","bc","","defg"`, ",", "]")},
		{"spaces", fill(size, "[", "1", ",          ", "]")},
		{"blank", fill(size, "{", " ", "", "}")},
	}
	if testing.Short() {
		return all[:4]
	}
	return all
}

// perSecond reports so many things for the time measured.
func perSecond(b *testing.B, unit string, n int) {
	b.ReportMetric(float64(n)/b.Elapsed().Seconds(), unit)
}
