package injection

import (
	"context"
	"strings"
	"unicode"

	"magicode/internal/protect/judge"
)

// Local judges by wordings, without a network. It knows the ways that such text
// is usually written in English; a paraphrase passes it. It implements
// judge.Assessor for the questions of this package.
type Local struct{}

// LocalModel is the name under which it reports itself.
const LocalModel = "local-injection-1"

// Ask implements judge.Assessor.
func (Local) Ask(ctx context.Context, told any, _ map[string]judge.Question) (judge.Answers, error) {
	if cause := context.Cause(ctx); cause != nil {
		return judge.Answers{}, cause
	}
	s, ok := told.(state)
	if !ok {
		return judge.Answers{}, judge.ErrTooLarge
	}
	f := look(s.Result)
	return judge.Answers{Model: LocalModel, Of: map[string]judge.Answer{
		askInstructions: {Noul: f.Instructions}, askInjection: {Noul: f.Injection}, askImpact: {Score: f.Impact, Confidence: f.Confidence},
	}}, nil
}

// sign is one kind of wording: what it says of instructions and of injection,
// when it is there.
type sign struct {
	instructions, injection float64
	there                   func(raw string, words []string, text string) bool
}

// sure is how sure the wordings make of an impact.
const sure = 0.7

// look judges a text.
func look(raw string) Figures {
	words := wordsOf(raw)
	text := " " + strings.Join(words, " ") + " "
	no, clean, told := 1.0, 1.0, false
	for _, s := range [...]sign{
		{.90, .75, func(_ string, w []string, _ string) bool { return overrides(w) }},
		{.60, .60, func(raw string, _ []string, _ string) bool { return anyOf(strings.ToLower(raw), markers) }},
		{.70, .60, func(_ string, _ []string, t string) bool { return anyOf(t, secrecy) }},
		{.50, .40, func(_ string, _ []string, t string) bool { return anyOf(t, roles) }},
		{.50, .40, func(_ string, _ []string, t string) bool { return anyOf(t, addresses) }},
		{.50, .20, func(_ string, _ []string, t string) bool { return anyOf(t, demands) }},
	} {
		if s.there(raw, words, text) {
			no, clean, told = no*(1-s.instructions), clean*(1-s.injection), true
		}
	}
	f := Figures{Instructions: 1 - no, Injection: 1 - clean, Confidence: sure}
	switch {
	case !told:
	case leaks(words) || anyOf(text, harms) || fetchesAndRuns(words):
		f.Impact = 2
	default:
		f.Impact = 1
	}
	return f
}

// wordsOf are the words of a text in lower case. Characters that hide or
// imitate others are taken for what a reader sees.
func wordsOf(raw string) []string {
	plain := strings.Map(func(c rune) rune {
		switch {
		case unicode.In(c, unicode.Cf, unicode.Mn) || c == 0x115f || c == 0x3164:
			return -1
		case c >= 0xff01 && c <= 0xff5e: // full width
			return unicode.ToLower(c - 0xfee0)
		}
		if seen, ok := imitations[c]; ok {
			return seen
		}
		return unicode.ToLower(c)
	}, raw)
	return strings.FieldsFunc(plain, func(c rune) bool { return !unicode.IsLetter(c) && !unicode.IsDigit(c) })
}

// imitations are letters of other scripts that look like Latin ones.
var imitations = map[rune]rune{'а': 'a', 'А': 'a', 'е': 'e', 'Е': 'e', 'о': 'o', 'О': 'o', 'р': 'p', 'Р': 'p', 'с': 'c', 'С': 'c',
	'у': 'y', 'У': 'y', 'х': 'x', 'Х': 'x', 'і': 'i', 'І': 'i', 'ѕ': 's', 'Ѕ': 's', 'ј': 'j', 'ԁ': 'd', 'ɡ': 'g', 'ο': 'o', 'α': 'a', 'ν': 'v', 'ι': 'i'}

func anyOf(text string, phrases []string) bool {
	for _, p := range phrases {
		if strings.Contains(text, p) {
			return true
		}
	}
	return false
}

// near reports whether a word of second follows one of first within n words.
func near(words []string, first, second string, n int) bool {
	for i, w := range words {
		if !listed(first, w) {
			continue
		}
		for _, v := range words[i+1 : min(len(words), i+1+n)] {
			if listed(second, v) {
				return true
			}
		}
	}
	return false
}

// listed reports whether a word stands in a list " of words ".
func listed(list, word string) bool { return strings.Contains(list, " "+word+" ") }
