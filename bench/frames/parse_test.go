package frames

import (
	"bytes"
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"

	"magicode/internal/admission"
	"magicode/internal/frame"
	"magicode/pkg/localagent"
)

// turnStart returns a turn.start frame whose prompt is unit, n times.
func turnStart(unit string, n int) string {
	return envelope("turn.start", `{"session_id":"s1","prompt":"`+strings.Repeat(unit, n)+`"}`)
}

// parse calls what the server calls, and fails on another verdict than code.
func parse(b *testing.B, data []byte, code localagent.Code) {
	req, rej := admission.Parse(data)
	switch {
	case rej == nil && (code != "" || req.ID == ""):
		b.Fatalf("admitted %q, wanted %q", req.ID, code)
	case rej != nil && rej.Code != code:
		b.Fatalf("refused with %q, wanted %q", rej.Code, code)
	}
}

func BenchmarkFrameParse(b *testing.B) {
	const size = localagent.MaxFrameBytes
	names := make([]string, localagent.MaxCapabilities)
	for i := range names {
		names[i] = `"capability.` + string(rune('a'+i)) + `"`
	}
	deep := func(n int) string { return strings.Repeat("[", n-1) + strings.Repeat("]", n-1) }
	status := envelope("status", "{}")
	tests := []struct {
		name, frame string
		code        localagent.Code
	}{
		{"status", status, ""},
		{"initialize16", envelope("initialize", `{"required_capabilities":[`+strings.Join(names, ",")+`]}`), ""},
		{"turnstart16KiB_ascii", turnStart("x", 16384), ""},
		{"turnstart16KiB_escaped", turnStart(`\n`, 16384), ""},
		{"turnstart16KiB_utf8", turnStart("é日😀 ", 16384/10), ""},
		{"max65536", fill(size, `{"s":"`, "x", "", `"}`), ""},
		{"depth32", envelope("status", deep(32)), ""},
		{"crlf", status + "\r", ""},
		{"notjson", "hello", localagent.CodeInvalidRequest},
		{"depth33", envelope("status", deep(33)), localagent.CodeInvalidFrame},
		{"unbalanced", status + "}", localagent.CodeInvalidFrame},
		{"badutf8", strings.Replace(status, "bench", "ben\xff", 1), localagent.CodeInvalidRequest},
		{"dupfield", strings.Replace(status, `"version"`, `"id":"x","version"`, 1), localagent.CodeInvalidRequest},
		{"unknownfield", strings.Replace(status, `"version"`, `"extra":"x","version"`, 1), localagent.CodeInvalidRequest},
		{"badid", strings.Replace(status, "bench.1", "bench 1", 1), localagent.CodeInvalidRequest},
		{"emptyline", "", localagent.CodeInvalidRequest},
	}
	for _, tt := range tests {
		b.Run("case="+tt.name, func(b *testing.B) {
			data := []byte(tt.frame)
			b.SetBytes(int64(len(data)))
			b.ReportAllocs()
			for b.Loop() {
				parse(b, data, tt.code)
			}
			perSecond(b, "frames/s", b.N)
		})
	}
	b.Run("case=oversize65537", benchOversize)
}

// benchOversize is judged by the reader: such a frame never reaches Parse.
func benchOversize(b *testing.B) {
	data := []byte(strings.Repeat("x", localagent.MaxFrameBytes+1))
	b.SetBytes(int64(len(data)))
	b.ReportAllocs()
	src := bytes.NewReader(data)
	for b.Loop() {
		src.Reset(data)
		if _, err := frame.NewReader(src).Next(); err != frame.ErrTooLarge {
			b.Fatal(err)
		}
	}
	perSecond(b, "frames/s", b.N)
}

// BenchmarkFrameParseVsJsontext compares on frames of many shapes, in one run:
// ours, a general validator that checks less, and the floor of any reader.
func BenchmarkFrameParseVsJsontext(b *testing.B) {
	for _, s := range shapes() {
		data := []byte(s.frame)
		sides := []struct {
			name string
			run  func(b *testing.B)
		}{
			{"ours", func(b *testing.B) { parse(b, data, "") }},
			{"jsontext", func(b *testing.B) {
				if !jsontext.Value(data).IsValid() {
					b.Fatal("not valid")
				}
			}},
			{"newline", func(b *testing.B) {
				if bytes.IndexByte(data, '\n') >= 0 {
					b.Fatal("a line feed in a frame")
				}
			}},
		}
		for _, side := range sides {
			b.Run("shape="+s.name+"/side="+side.name, func(b *testing.B) {
				b.SetBytes(int64(len(data)))
				b.ReportAllocs()
				for b.Loop() {
					side.run(b)
				}
			})
		}
	}
}

// BenchmarkFrameParseMalformed damages the frames of every shape, early, late
// and in their UTF-8: none may cost more than fault=none.
func BenchmarkFrameParseMalformed(b *testing.B) {
	for _, s := range shapes() {
		faults := []struct {
			name, frame string
			code        localagent.Code
		}{
			{"none", s.frame, ""},
			{"first", "x" + s.frame[1:], localagent.CodeInvalidFrame},
			{"field", strings.Replace(s.frame, "version", "versiom", 1), localagent.CodeInvalidRequest},
			{"late", s.frame[:len(s.frame)-1] + "]", localagent.CodeInvalidRequest},
			{"unclosed", s.frame[:len(s.frame)-1] + " ", localagent.CodeInvalidFrame},
			{"utf8", s.frame[:len(s.frame)-1] + "\xff", localagent.CodeInvalidFrame},
			{"utf8balanced", "\xff" + s.frame[:len(s.frame)-1] + "}", localagent.CodeInvalidRequest},
		}
		for _, f := range faults {
			b.Run("shape="+s.name+"/fault="+f.name, func(b *testing.B) {
				data := []byte(f.frame)
				b.SetBytes(int64(len(data)))
				b.ReportAllocs()
				for b.Loop() {
					parse(b, data, f.code)
				}
			})
		}
	}
}
