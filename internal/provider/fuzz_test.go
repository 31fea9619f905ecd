package provider_test

import (
	"bytes"
	"io"
	"math/rand/v2"
	"testing"
	"testing/iotest"

	"magicode/internal/provider/anthropic"
	"magicode/internal/provider/chat"
	"magicode/internal/provider/responses"

	"github.com/google/go-cmp/cmp"
)

// Any split of a stream into reads gives the same events as the whole.

func FuzzResponses(f *testing.F) { fuzzSplits(f, "responses", responses.NewParser) }

func FuzzChat(f *testing.F) { fuzzSplits(f, "chat", chat.NewParser) }

func FuzzChatInline(f *testing.F) { fuzzSplits(f, "chat", chat.NewInlineParser) }

func FuzzMessages(f *testing.F) { fuzzSplits(f, "messages", anthropic.NewParser) }

func fuzzSplits(f *testing.F, wire string, parser wireParser) {
	for _, ex := range corpus(f, wire) {
		f.Add(ex.stream, uint64(len(ex.stream)))
	}
	f.Fuzz(func(t *testing.T, stream []byte, seed uint64) {
		whole := play(parser, bytes.NewReader(stream))
		for name, r := range map[string]io.Reader{
			"single bytes": iotest.OneByteReader(bytes.NewReader(stream)),
			"random":       &splitter{data: stream, rand: rand.New(rand.NewPCG(seed, 1))},
			"data and EOF": iotest.DataErrReader(bytes.NewReader(stream)),
		} {
			if diff := cmp.Diff(whole, play(parser, r)); diff != "" {
				t.Errorf("%s (-whole +split):\n%s", name, diff)
			}
		}
	})
}

// splitter gives the data in reads of random sizes, also empty ones.
type splitter struct {
	data []byte
	rand *rand.Rand
}

func (s *splitter) Read(p []byte) (int, error) {
	if len(s.data) == 0 {
		return 0, io.EOF
	}
	n := copy(p, s.data[:s.rand.IntN(min(len(s.data), 40)+1)])
	s.data = s.data[n:]
	return n, nil
}
