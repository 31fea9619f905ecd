package sse_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"magicode/internal/provider/sse"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// parse feeds a stream in reads of these sizes; 0 means all at once.
func parse(stream string, sizes ...int) ([]string, error) {
	var d sse.Decoder
	var got []string
	event := func(data []byte) error {
		got = append(got, string(data))
		return nil
	}
	rest := []byte(stream)
	for i := 0; len(rest) > 0; i++ {
		n := len(rest)
		if len(sizes) > 0 {
			n = min(n, sizes[i%len(sizes)])
		}
		chunk := bytes.Clone(rest[:n])
		rest = rest[n:]
		if err := d.Feed(chunk, event); err != nil {
			return got, err
		}
		for i := range chunk {
			chunk[i] = 'X' // the chunk is its owner's again
		}
	}
	return got, d.End(json.Valid, event)
}

func TestDecoder(t *testing.T) {
	for _, c := range []struct {
		name   string
		stream string
		want   []string
		err    error
	}{
		{"one", "data: a\n\n", []string{"a"}, nil},
		{"two", "data: a\n\ndata: b\n\n", []string{"a", "b"}, nil},
		{"no space", "data:a\n\n", []string{"a"}, nil},
		{"one space of two", "data:  a\n\n", []string{" a"}, nil},
		{"crlf", "data: a\r\n\r\n", []string{"a"}, nil},
		{"lf crlf", "data: a\n\r\n", []string{"a"}, nil},
		{"crlf lf", "data: a\r\n\n", []string{"a"}, nil},
		{"a lone CR is text", "data: a\rb\n\n", []string{"a\rb"}, nil},
		{"lines", "data: a\ndata: b\ndata:\n\n", []string{"a\nb\n"}, nil},
		{"lines apart", "data: a\n: c\nevent: x\ndata: b\n\n", []string{"a\nb"}, nil},
		{"empty data", "data:\n\n", []string{""}, nil},
		{"other fields", "event: e\nid: 1\nretry: 5\ndatum: x\ndata\n\n", nil, nil},
		{"comments", ": a\n:\n\n", nil, nil},
		{"blank lines", "\n\n\r\n", nil, nil},
		{"byte order mark", "\ufeffdata: a\n\n", []string{"a"}, nil},
		{"a later one is text", "\n\ufeffdata: a\n\n", nil, nil},
		{"no blank line, whole", "data: {}\n", []string{"{}"}, nil},
		{"no line end, whole", "data: {}", []string{"{}"}, nil},
		{"no blank line, several", "data: {\ndata: }", []string{"{\n}"}, nil},
		{"no blank line, torn", "data: {", nil, sse.ErrLeftover},
		{"torn field", "data: {}\n\ndat", []string{"{}"}, nil},
		{"torn comment", ": x", nil, nil},
		{"blank rest", "data:  \n", nil, nil},
		{"nothing", "", nil, nil},
	} {
		for name, sizes := range map[string][]int{"whole": nil, "bytes": {1}, "threes": {3}, "mixed": {2, 5, 1}} {
			got, err := parse(c.stream, sizes...)
			if diff := cmp.Diff(c.want, got); diff != "" || !errors.Is(err, c.err) {
				t.Errorf("%s, %s: error %v, events (-want +got):\n%s", c.name, name, err, diff)
			}
		}
	}
}

func TestBounds(t *testing.T) {
	x := strings.Repeat("x", sse.MaxEventBytes-len("data: "))
	half := strings.Repeat("x", sse.MaxEventBytes/2)
	for _, c := range []struct {
		name   string
		stream string
		events int
		err    error
	}{
		{"the longest line", "data: " + x + "\n\n", 1, nil},
		{"one more", "data: " + x + "x\n\n", 0, sse.ErrTooLarge},
		{"one more without an end", "data: " + x + "x", 0, sse.ErrTooLarge},
		{"a comment", ": " + x + "xxxxx\n\n", 0, sse.ErrTooLarge},
		{"many comments", strings.Repeat(": "+half+"\n", 5) + "data: a\n\n", 1, nil},
		{"two lines", "data: " + half + "\ndata: " + half + "\n\n", 0, sse.ErrTooLarge},
		{"many events", strings.Repeat("data: "+half+"\n\n", 5), 5, nil},
	} {
		for name, sizes := range map[string][]int{"whole": nil, "pieces": {70001}} {
			got, err := parse(c.stream, sizes...)
			if len(got) != c.events || !errors.Is(err, c.err) {
				t.Errorf("%s, %s: %d events, error %v", c.name, name, len(got), err)
			}
		}
	}
}

func TestEventErrorEndsFeed(t *testing.T) {
	stop := errors.New("stop")
	var d sse.Decoder
	n := 0
	err := d.Feed([]byte("data: a\n\ndata: b\n\n"), func([]byte) error {
		n++
		return stop
	})
	if !errors.Is(err, stop) || n != 1 {
		t.Errorf("error %v after %d events", err, n)
	}
}

// TestSplits: lines of every kind, cut anywhere, give the same events.
func TestSplits(t *testing.T) {
	piece := rapid.SampledFrom([]string{"data: a", "data:", "data: {\"k\":1}", ": c", "event: x", "", "\r", "dat", "\ufeff", "é文😀"})
	end := rapid.SampledFrom([]string{"\n", "\r\n", "\n\n", ""})
	rapid.Check(t, func(t *rapid.T) {
		var b strings.Builder
		for range rapid.IntRange(0, 12).Draw(t, "lines") {
			b.WriteString(piece.Draw(t, "line") + end.Draw(t, "end"))
		}
		sizes := rapid.SliceOfN(rapid.IntRange(1, 9), 1, 5).Draw(t, "sizes")
		want, werr := parse(b.String())
		got, gerr := parse(b.String(), sizes...)
		if diff := cmp.Diff(want, got); diff != "" || !errors.Is(gerr, werr) {
			t.Fatalf("stream %q: errors %v and %v, events (-whole +split):\n%s", b.String(), werr, gerr, diff)
		}
	})
}

func TestFeedDoesNotAllocate(t *testing.T) {
	var d sse.Decoder
	chunk := []byte(strings.Repeat("event: x\ndata: {\"delta\":\"token\"}\n\n", 50))
	event := func([]byte) error { return nil }
	if n := testing.AllocsPerRun(20, func() { _ = d.Feed(chunk, event) }); n != 0 {
		t.Errorf("%v allocations for 50 events", n)
	}
}
