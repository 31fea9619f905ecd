package history

import (
	"encoding/json"
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"

	"magicode/internal/jsonscan"
)

// maxPartRaw is the bound of a part's UTF-8 bytes (protocol, "Bounds").
const maxPartRaw = 16_384

func TestCut(t *testing.T) {
	for _, c := range []struct {
		what string
		char string
		max  int // characters that fit a part
	}{
		{"ASCII", "x", 12_000},
		{"line feeds", "\n", 6_000},
		{"quotes", `"`, 6_000},
		{"control characters", "\x01", 2_000},
		{"DEL", "\x7f", 12_000},
		{"two bytes", "é", 6_000},
		{"euro", "€", 4_000},
		{"line separator", "\u2028", 2_000},
		{"paragraph separator", "\u2029", 2_000},
		{"four bytes", "😀", 3_000},
	} {
		if got := cut(strings.Repeat(c.char, c.max)); got != c.max*len(c.char) {
			t.Errorf("%s: %d characters give a part of %d bytes", c.what, c.max, got)
		}
		if got := cut(strings.Repeat(c.char, c.max+1)); got != c.max*len(c.char) {
			t.Errorf("%s: one more than %d gives a part of %d bytes", c.what, c.max, got)
		}
	}
}

// escapedLen is the length of a text as it is written, without its quotes.
func escapedLen(s string) int { return len(jsonscan.AppendString(nil, s)) - 2 }

// TestCutCosts: what a character is reckoned at is what the writer makes of it.
func TestCutCosts(t *testing.T) {
	for r := rune(0); r <= utf8.MaxRune; r++ {
		if !utf8.ValidRune(r) || r > 0x3000 && r < 0xfff0 || r > 0x10100 && r < 0x10ff00 {
			continue
		}
		s := string(r)
		n, cost := 1, 0
		if r < utf8.RuneSelf {
			cost = int(escapedByte[r])
		} else {
			n, cost = wideCost(s)
		}
		if want := escapedLen(s); cost != want || n != len(s) || cost < n {
			t.Fatalf("%U: %d bytes cost %d, written as %d", r, n, cost, want)
		}
	}
	if _, cost := wideCost("\xff"); cost != escapedLen("\xff") {
		t.Errorf("an invalid byte costs %d", cost)
	}
}

// text draws texts in which cheap and dear characters stand in runs, long
// enough for several parts.
func text() *rapid.Generator[string] {
	return rapid.Custom(func(t *rapid.T) string {
		var b strings.Builder
		for range rapid.IntRange(0, 6).Draw(t, "runs") {
			c := rapid.SampledFrom([]string{"x", "\n", `"`, "\\", "\x02", "é", "€", "\u2028", "😀", "ab\t"}).Draw(t, "char")
			b.WriteString(strings.Repeat(c, rapid.IntRange(0, 13_000).Draw(t, "count")))
		}
		return b.String()
	})
}

// TestPartsJoinBack: parts fit both bounds, are cut between characters, no
// sooner than needed, and join to the text.
func TestPartsJoinBack(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := text().Draw(t, "text")
		w := newWriter()
		if err := w.message(user, "id", s, false); err != nil {
			t.Fatal(err)
		}
		var got strings.Builder
		for i, e := range decode(t, w.finish()) {
			if len(e.Text) > maxPartRaw || escapedLen(e.Text) > maxPartEscaped || !utf8.ValidString(e.Text) {
				t.Fatalf("part %d: %d bytes, %d escaped", i, len(e.Text), escapedLen(e.Text))
			}
			got.WriteString(e.Text)
			rest := s[got.Len():]
			_, size := utf8.DecodeRuneInString(rest)
			if rest != "" && escapedLen(e.Text+rest[:size]) <= maxPartEscaped {
				t.Fatalf("part %d was cut too soon", i)
			}
			if e.LastPart != (rest == "") || e.Part != i {
				t.Fatalf("part %d: %d, last %v, %d bytes left", i, e.Part, e.LastPart, len(rest))
			}
		}
		if got.String() != s {
			t.Fatal("parts do not join back to the text")
		}
	})
}

// TestPagesAreFull: the count of every page is the specification's, and no page
// ends while the next entry would have fitted.
func TestPagesAreFull(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := newWriter()
		for range rapid.IntRange(0, 250).Draw(t, "messages") {
			n := rapid.SampledFrom([]int{0, 1, 80, 300, 11_900, 12_001}).Draw(t, "bytes")
			if err := w.message(assistant, "id", strings.Repeat("x", n), true); err != nil {
				t.Fatal(err)
			}
		}
		pages := w.finish()
		total := projectionOverhead
		for i, p := range pages {
			used := pageOverhead
			var raw []json.RawMessage
			if err := json.Unmarshal([]byte("["+string(p.raw)+"]"), &raw); err != nil {
				t.Fatal(err)
			}
			for _, e := range raw {
				used += len(e) + 1
			}
			total += used - pageOverhead
			if used > maxPageBytes || len(raw) > maxPageEntries || len(raw) != p.entries || (len(raw) == 0) != (i == 0 && len(pages) == 1 && w.parts == 0) {
				t.Fatalf("page %d: %d bytes, %d entries", i, used, len(raw))
			}
			if i+1 < len(pages) && len(raw) < maxPageEntries {
				var next []json.RawMessage
				if err := json.Unmarshal([]byte("["+string(pages[i+1].raw)+"]"), &next); err != nil {
					t.Fatal(err)
				}
				if used+len(next[0])+1 <= maxPageBytes {
					t.Fatalf("page %d ended too soon", i)
				}
			}
		}
		if total != w.total {
			t.Fatalf("total %d, counted %d", w.total, total)
		}
	})
}

func TestEntryOverThePage(t *testing.T) {
	w := newWriter()
	e := entry{id: "i", text: strings.Repeat("x", maxPageBytes)}
	if err := w.add(&e); err != ErrContent {
		t.Errorf("%v", err)
	}
	e.text = ""
	overhead := len(e.append(nil)) + 1
	e.text = strings.Repeat("x", maxPageBytes-pageOverhead-overhead)
	if err := w.add(&e); err != nil {
		t.Errorf("the largest entry that fits: %v", err)
	}
	e.text += "x"
	if err := w.add(&e); err != ErrContent {
		t.Errorf("one byte more: %v", err)
	}
}

type decoded struct {
	LastPart bool   `json:"last_part"`
	Part     int    `json:"part"`
	Text     string `json:"text"`
}

func decode(t *rapid.T, pages []page) (all []decoded) {
	for _, p := range pages {
		var got []decoded
		if err := json.Unmarshal([]byte("["+string(p.raw)+"]"), &got); err != nil {
			t.Fatal(err)
		}
		all = append(all, got...)
	}
	return all
}
