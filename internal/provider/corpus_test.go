package provider_test

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"magicode/internal/provider"
	"magicode/internal/provider/anthropic"
	"magicode/internal/provider/chat"
	"magicode/internal/provider/exchange"
	"magicode/internal/provider/responses"

	"github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update", false, "rewrite the expected events of the corpus")

// The corpus: one small stream a file, written by hand after something that
// servers do, with the neutral events that it must give. A file is a header of
// comment lines that names its source, the stream, and the events.
//
// The name of the stream's section may add how its text becomes bytes: "crlf"
// (lines end in CR LF), "cut" (without its last line end), "quoted" (each line
// is a Go string literal; nothing stands between them), "inline" (the parser
// for models that never open their reasoning).

type wireParser = func(*exchange.Sink) exchange.Parser

func TestCorpusResponses(t *testing.T) { runCorpus(t, "responses", responses.NewParser) }

func TestCorpusChat(t *testing.T) { runCorpus(t, "chat", chat.NewParser) }

func TestCorpusMessages(t *testing.T) { runCorpus(t, "messages", anthropic.NewParser) }

type example struct {
	path   string
	header string
	mode   string // behind "stream" in the section's name
	text   string // of the stream, as written
	stream []byte
	want   string
}

func runCorpus(t *testing.T, wire string, parser wireParser) {
	examples := corpus(t, wire)
	seen := make(map[string]string)
	for _, ex := range examples {
		t.Run(strings.TrimSuffix(filepath.Base(ex.path), ".txt"), func(t *testing.T) {
			if !strings.Contains(ex.header, "# Source: ") {
				t.Error("the header names no source")
			}
			form := ex.mode + formOf(ex.text)
			if other, ok := seen[form]; ok {
				t.Errorf("but for its texts the same stream as %s", other)
			}
			seen[form] = ex.path
			got := ex.play(parser, bytes.NewReader(ex.stream))
			if *update {
				ex.write(t, got)
				return
			}
			if diff := cmp.Diff(ex.want, got); diff != "" {
				t.Errorf("events (-want +got):\n%s", diff)
			}
		})
	}
}

var (
	saidText = regexp.MustCompile(`"(?:content|text|delta|reasoning_content|thinking|refusal)"\s*:\s*"(?:[^"\\]|\\.)*"`)
	saidWord = regexp.MustCompile(`(^|[ "])[A-Za-z][A-Za-z0-9]*( [A-Za-z][A-Za-z0-9]*)*([ ".,;:!?]|$)`)
)

// formOf is a stream without the words that the model says in it. Marks inside
// them count: tags, punctuation, escapes.
func formOf(stream string) string {
	return saidText.ReplaceAllStringFunc(stream, func(member string) string {
		name, text, _ := strings.Cut(member, ":")
		return name + ":" + saidWord.ReplaceAllString(text, "${1}w$3")
	})
}

// TestFormsOfStreams: what counts as another stream.
func TestFormsOfStreams(t *testing.T) {
	const stream = `data: {"delta":{"content":"one word, <think>two</think>"},"index":0}`
	for other, same := range map[string]bool{
		`data: {"delta":{"content":"a few more, <think>two</think>"},"index":0}`: true,
		`data: {"delta":{"content":"one word, <think>two"},"index":0}`:           false,
		`data: {"delta":{"content":"one word, <think>two</think>"},"index":1}`:   false,
		`data: {"delta":{"text":"one word, <think>two</think>"},"index":0}`:      false,
		`data: {"delta":{"content":"one\nword, <think>two</think>"},"index":0}`:  false,
	} {
		if got := formOf(other) == formOf(stream); got != same {
			t.Errorf("%s: the same %v, want %v", other, got, same)
		}
	}
}

func corpus(tb testing.TB, wire string) []*example {
	tb.Helper()
	paths, err := filepath.Glob(filepath.Join("testdata", wire, "*.txt"))
	if err != nil || len(paths) == 0 {
		tb.Fatalf("no corpus of %s: %v", wire, err)
	}
	out := make([]*example, 0, len(paths))
	for _, path := range paths {
		data, err := os.ReadFile(path)
		if err != nil {
			tb.Fatal(err)
		}
		ex, err := parseExample(path, string(data))
		if err != nil {
			tb.Fatalf("%s: %v", path, err)
		}
		out = append(out, ex)
	}
	return out
}

func parseExample(path, data string) (*example, error) {
	header, rest, ok := strings.Cut(data, "-- stream")
	if !ok {
		return nil, errors.New("no stream")
	}
	mode, rest, ok := strings.Cut(rest, " --\n")
	if !ok {
		return nil, errors.New("no end of the section's name")
	}
	text, want, _ := strings.Cut(rest, "-- events --\n")
	ex := &example{path: path, header: header, mode: mode, text: text, want: want, stream: []byte(text)}
	for word := range strings.FieldsSeq(mode) {
		switch word {
		case "crlf":
			ex.stream = bytes.ReplaceAll(ex.stream, []byte("\n"), []byte("\r\n"))
		case "cut":
			ex.stream = bytes.TrimRight(ex.stream, "\n")
		case "inline":
		case "quoted":
			ex.stream = nil
			for line := range strings.Lines(text) {
				s, err := strconv.Unquote(strings.TrimSpace(line))
				if err != nil {
					return nil, fmt.Errorf("line %q: %w", line, err)
				}
				ex.stream = append(ex.stream, s...)
			}
		default:
			return nil, fmt.Errorf("unknown mode %q", word)
		}
	}
	return ex, nil
}

func (ex *example) write(t *testing.T, events string) {
	t.Helper()
	text := ex.header + "-- stream" + ex.mode + " --\n" + ex.text + "-- events --\n" + events
	if err := os.WriteFile(ex.path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

// play parses a stream and renders what came of it. Deltas of one kind are
// joined, and usage stands at the end: how often they come depends on the reads.
func (ex *example) play(parser wireParser, r io.Reader) string {
	if strings.Contains(ex.mode, "inline") {
		parser = chat.NewInlineParser
	}
	return play(parser, r)
}

func play(parser wireParser, r io.Reader) string {
	var rec recorder
	var p exchange.Parser
	err := exchange.Read(context.Background(), r, func(s *exchange.Sink) exchange.Parser {
		p = parser(s)
		return p
	}, rec.take)
	return rec.render(p, err)
}

type recorder struct {
	lines []string
	open  provider.Event // deltas not yet rendered
	has   bool
	usage *provider.Usage
}

func (r *recorder) take(ev provider.Event) error {
	switch ev.Kind {
	case provider.EventText, provider.EventSummaryDelta, provider.EventRawReasoning, provider.EventToolProgress:
		if r.has && r.open.Kind == ev.Kind && r.open.ItemID == ev.ItemID {
			r.open.Text += ev.Text
			return nil
		}
		r.flush()
		r.open, r.has = ev, true
		return nil
	case provider.EventUsage:
		r.usage = ev.Usage
		return nil
	}
	r.flush()
	switch ev.Kind {
	case provider.EventReasoningDone:
		kind := "private"
		if ev.ProviderSummary {
			kind = "summary"
		}
		r.line("done %s %q %q", kind, ev.ItemID, ev.Text)
	case provider.EventCall:
		r.line("call id=%q name=%q %s", ev.Call.ID, ev.Call.Name, ev.Call.Arguments)
	case provider.EventItem:
		r.line("item %s", ev.Raw)
	case provider.EventCut:
		r.line("cut %s", ev.Text)
	case provider.EventTrace:
		r.line("trace %s", ev.Raw)
	default:
		r.line("unexpected kind %d", ev.Kind)
	}
	return nil
}

func (r *recorder) line(format string, args ...any) {
	r.lines = append(r.lines, fmt.Sprintf(format, args...))
}

func (r *recorder) flush() {
	if !r.has {
		return
	}
	r.has = false
	switch r.open.Kind {
	case provider.EventText:
		r.line("text %q", r.open.Text)
	case provider.EventSummaryDelta:
		r.line("summary %q %q", r.open.ItemID, r.open.Text)
	case provider.EventRawReasoning:
		r.line("reasoning %q", r.open.Text)
	case provider.EventToolProgress:
		r.line("progress")
	}
}

func (r *recorder) render(p exchange.Parser, err error) string {
	r.flush()
	if r.usage != nil {
		u := r.usage
		line := "usage"
		for _, c := range []struct {
			name string
			n    *int64
		}{{"input", u.Input}, {"output", u.Output}, {"cache_read", u.CacheRead}, {"cache_write", u.CacheWrite}, {"total", u.Total}, {"reasoning", u.Reasoning}} {
			if c.n != nil {
				line += fmt.Sprintf(" %s=%d", c.name, *c.n)
			}
		}
		r.line("%s", line)
	}
	if p.Model() != "" {
		r.line("model %s", p.Model())
	}
	if p.Tier() != "" {
		r.line("tier %s", p.Tier())
	}
	r.line("%s", outcome(err))
	return strings.Join(r.lines, "\n") + "\n"
}

func outcome(err error) string {
	var perr *provider.Error
	if err == nil {
		return "complete"
	}
	if !errors.As(err, &perr) {
		return "unclassified: " + err.Error()
	}
	kinds := map[provider.ErrorKind]string{
		provider.ErrPlain: "plain", provider.ErrHTTPStatus: "status", provider.ErrTransport: "transport",
		provider.ErrStreamTerminal: "terminal", provider.ErrStreamFailed: "failed", provider.ErrPromptTooLong: "too long",
	}
	again := ""
	if perr.Retryable {
		again = ", retryable"
	}
	return fmt.Sprintf("error %s%s: %v", kinds[perr.Kind], again, err)
}
