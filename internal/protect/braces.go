package protect

import (
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// Bounds of a brace expression that is followed.
const (
	maxBraces     = 8
	maxBraceWords = 128
)

// expandBraces returns the words that braces make of one. More than the bounds
// becomes one word that nobody can tell.
func expandBraces(word *syntax.Word) []*syntax.Word {
	open := 0
	for _, p := range word.Parts {
		if l, ok := p.(*syntax.Lit); ok {
			open += strings.Count(l.Value, "{")
		}
	}
	if open == 0 {
		return []*syntax.Word{word}
	}
	cp := *word
	if !syntax.SplitBraces(&cp) {
		return []*syntax.Word{word}
	}
	if open > maxBraces {
		return []*syntax.Word{hiddenWord()}
	}
	out, ok := expandAll(&cp, nil)
	if !ok {
		return []*syntax.Word{hiddenWord()}
	}
	return out
}

func hiddenWord() *syntax.Word {
	return &syntax.Word{Parts: []syntax.WordPart{&syntax.Lit{Value: hidden}}}
}

func expandAll(word *syntax.Word, out []*syntax.Word) ([]*syntax.Word, bool) {
	for i, p := range word.Parts {
		b, ok := p.(*syntax.BraceExp)
		if !ok || b.Sequence {
			continue
		}
		for _, e := range b.Elems {
			parts := append(append(append([]syntax.WordPart{}, word.Parts[:i]...), e.Parts...), word.Parts[i+1:]...)
			if out, ok = expandAll(&syntax.Word{Parts: parts}, out); !ok {
				return nil, false
			}
		}
		return out, true
	}
	return append(out, word), len(out) < maxBraceWords
}

// sequence stands for {1..9}: numbers are harmless in any path; letters may
// spell a command.
func sequence(b *syntax.BraceExp) string {
	first := b.Elems[0].Lit()
	if strings.Trim(first, "0123456789") == "" && first != "" {
		return first
	}
	return hidden
}
