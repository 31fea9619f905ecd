package runner

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"magicode/internal/provider"
)

func call(id, args string) provider.Item {
	return provider.Item{Kind: provider.ItemCall, CallID: id, Name: "bash", Arguments: args, Cache: new(provider.Cache)}
}

func result(id, text string) provider.Item {
	return provider.Item{Kind: provider.ItemResult, CallID: id, Name: "bash", Success: true, Text: text, Cache: new(provider.Cache)}
}

// TestCompactionThatFits: a conversation larger than the model that summarises
// it is shortened, and the session goes on.
func TestCompactionThatFits(t *testing.T) {
	b, log, compacter := room()
	b.cfg.Compaction.Hard = 1500
	log.before = []provider.Item{message("user", "OLD"), call("a", "{}"), result("a", xs(9000)), message("assistant", "did it")}
	b.bigResult(600)
	b.prov.replies = []reply{aCall, says(text("done"))}
	if res := b.run(t, background(t)); res.Err != nil {
		t.Fatal(res.Err)
	}
	req := compacter.requests[0]
	if n := size(req.Items); n > 1500 || n < 500 {
		t.Errorf("%d tokens", n)
	}
	if got := asks(req); got != "system:COMPACT | user:OLD | call | result | assistant:did it | user:Write the summary of the conversation above now." {
		t.Error(got)
	}
	if it := req.Items[3]; !strings.Contains(it.Text, "[8500 bytes left out]") || it.Cache != nil {
		t.Errorf("%q", it.Text)
	}
	if len(log.before[2].Text) != 9000 {
		t.Error("the conversation itself was changed")
	}
}

// TestCompactionThatTheModelRefuses: once more with half, not again.
func TestCompactionThatTheModelRefuses(t *testing.T) {
	tooLong := breaks(&provider.Error{Kind: provider.ErrPromptTooLong, Err: errors.New("too long")})
	for name, c := range map[string]struct {
		replies []reply
		ok      bool
	}{
		"once":  {[]reply{tooLong, says(text("short"))}, true},
		"twice": {[]reply{tooLong, tooLong, says(text("never"))}, false},
	} {
		t.Run(name, func(t *testing.T) {
			b, log, compacter := room(c.replies...)
			log.before = []provider.Item{message("user", "OLD"), call("a", "{}"), result("a", xs(9000))}
			b.bigResult(600)
			b.prov.replies = []reply{aCall, says(text("done"))}
			res := b.run(t, background(t))
			if (res.Err == nil) != c.ok || len(compacter.requests) != 2 {
				t.Fatalf("%v after %d requests", res.Err, len(compacter.requests))
			}
			if first, second := size(compacter.requests[0].Items), size(compacter.requests[1].Items); second > first/2 {
				t.Errorf("%d tokens, then %d", first, second)
			}
		})
	}
}

func TestFit(t *testing.T) {
	head, tail := []provider.Item{message("system", "S")}, []provider.Item{message("user", "now")}
	var talk []provider.Item
	for i := range 100 {
		id := fmt.Sprint(i % 3) // ids come again
		talk = append(talk, message("user", fmt.Sprint("question ", i)), call(id, xs(50)), call(id+"b", "{}"),
			result(id, xs(700)), result(id+"b", "ok"), message("assistant", "answer"))
	}
	talk = append(talk, provider.Item{Kind: provider.ItemResponse, Raw: []byte(`{}`)}, message("user", strings.Repeat("ä", 5000)))
	for _, limit := range []int{1 << 20, 70_000, 40_000, 5_000, 800, 650} {
		got, ok := fit(head, talk, tail, limit, size)
		if !ok || size(got) > limit {
			t.Fatalf("%d: %v, %d tokens", limit, ok, size(got))
		}
		if got[0].Text != "S" || got[len(got)-1].Text != "now" || !strings.HasPrefix(got[len(got)-2].Text, "ää") {
			t.Errorf("%d: the ends are lost", limit)
		}
		open := map[string]bool{}
		for _, it := range got {
			switch it.Kind {
			case provider.ItemCall:
				open[it.CallID] = true
			case provider.ItemResult:
				if !open[it.CallID] {
					t.Fatalf("%d: a result without its call", limit)
				}
				delete(open, it.CallID)
			}
			if !utf8.ValidString(it.Text) {
				t.Errorf("%d: cut inside a character", limit)
			}
		}
		if len(open) != 0 {
			t.Errorf("%d: calls without results: %v", limit, open)
		}
	}
	if _, ok := fit(head, talk, tail, 100, size); ok {
		t.Error("nothing fits in 100")
	}
	all, _ := fit(head, talk, tail, 1<<20, size)
	if len(all) != len(talk)+2 {
		t.Error("what fits was changed")
	}
}

func TestCutPoints(t *testing.T) {
	items := []provider.Item{message("user", "q"), call("a", ""), call("b", ""), result("b", ""), result("a", ""),
		message("assistant", "x"), call("a", ""), result("a", ""), call("lost", ""), message("user", "q")}
	if diff := cmp.Diff([]int{0, 1, 5, 6, 8, 9}, cutPoints(items)); diff != "" {
		t.Error(diff)
	}
}
