package textbuf_test

import (
	"strings"
	"testing"

	"magicode/internal/textbuf"

	"pgregory.net/rapid"
)

// TestBuilder holds a Builder against a plain string, whatever the order of calls,
// and every string it ever gave out against what it was then.
func TestBuilder(t *testing.T) {
	type given struct{ got, want string }
	rapid.Check(t, func(t *rapid.T) {
		var b textbuf.Builder
		var want string
		var out []given
		sizes := rapid.SampledFrom([]int{0, 1, 40, 255, 256, 700, 2047, 2048, 5000, 40_000})
		for i := range rapid.IntRange(1, 40).Draw(t, "steps") {
			text := strings.Repeat(string(rune('a'+i%26)), sizes.Draw(t, "size"))
			switch rapid.IntRange(0, 9).Draw(t, "step") {
			case 0:
				out = append(out, given{b.String(), want})
			case 1:
				b.Reset()
				want = ""
			case 2, 3, 4:
				out = append(out, given{b.Append([]byte(text)), text})
				want += text
			default:
				b.WriteString(text)
				want += text
			}
			if b.Len() != len(want) {
				t.Fatalf("length %d, want %d", b.Len(), len(want))
			}
		}
		if got := b.With("more"); got != want+"more" {
			t.Fatalf("with something behind it: %d bytes, want %d", len(got), len(want)+4)
		}
		if rest, ok := b.CutPrefixOf(want + "more"); !ok || rest != "more" {
			t.Fatalf("it is not found at the beginning of a longer text: %q, %v", rest, ok)
		}
		if want != "" {
			wrong := want[:len(want)-1] + "?"
			if rest, ok := b.CutPrefixOf(wrong); ok || rest != wrong {
				t.Fatal("found at the beginning of another text")
			}
		}
		for _, g := range append(out, given{b.String(), want}, given{b.String(), want}) {
			if g.got != g.want {
				t.Fatalf("a string of %d bytes is not what was written (%d bytes)", len(g.got), len(g.want))
			}
		}
	})
}

// TestBuilderDoesNotMove: a long text in small pieces takes about its own length.
func TestBuilderDoesNotMove(t *testing.T) {
	piece := strings.Repeat("x", 40)
	const pieces = 20_000
	got := testing.AllocsPerRun(5, func() {
		var b textbuf.Builder
		for range pieces {
			b.WriteString(piece)
		}
	})
	// Blocks of 256 bytes to 32 KiB, and the list of them.
	if most := float64(len(piece)*pieces/(32<<10) + 20); got > most {
		t.Errorf("%v allocations, want at most %v", got, most)
	}
}
