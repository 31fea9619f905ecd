package web

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// endLink wraps the text of a link that leads to another page.
func (r *renderer) endLink() {
	l := r.link
	r.link = link{}
	if l.start < 0 || l.start >= len(r.out) || l.href == "" || r.pre > 0 || len(l.href) > maxURL {
		return // what is longer is not opened either, and would be the whole page
	}
	to, err := r.base.Parse(strings.TrimSpace(l.href))
	if err != nil || len(to.String()) > maxURL || to.Scheme != "http" && to.Scheme != "https" || to.User != nil || strings.HasPrefix(l.href, "#") {
		return
	}
	text := strings.TrimSpace(string(r.out[l.start:]))
	if text == "" || strings.Contains(text, "\n\n") {
		return
	}
	r.out = append(r.out[:l.start], ("[" + text + "](" + to.String() + ")")...)
}

// lines asks for at least n line ends before the next text.
func (r *renderer) lines(n int) {
	if r.visible() {
		r.gap = max(r.gap, n)
	}
}

// visible reports whether what comes now belongs to the output.
func (r *renderer) visible() bool {
	return r.skip.depth == 0 && !r.titled && (!r.mainOnly || r.main.depth > 0)
}

// words adds text; outside of pre, white space is one space.
func (r *renderer) words(text string) {
	if r.titled {
		r.title = strings.Join(strings.Fields(cutText(text, 300)), " ")
		return
	}
	if r.pre > 0 {
		r.write(text)
		return
	}
	fields := strings.Fields(text)
	if len(fields) == 0 {
		r.space()
		return
	}
	if first, _ := utf8.DecodeRuneInString(text); unicode.IsSpace(first) {
		r.space()
	}
	r.write(strings.Join(fields, " "))
	if last, _ := utf8.DecodeLastRuneInString(text); unicode.IsSpace(last) {
		r.space()
	}
}

// space adds one between words, none at the start of a line.
func (r *renderer) space() {
	if n := len(r.out); r.visible() && r.gap == 0 && n > 0 && r.out[n-1] != ' ' && r.out[n-1] != '\n' {
		r.out = append(r.out, ' ')
	}
}

func (r *renderer) write(text string) {
	if text == "" || !r.visible() {
		return
	}
	if r.gap > 0 && len(r.out) > 0 {
		for n := len(r.out); n > 0 && r.out[n-1] == ' '; n-- {
			r.out = r.out[:n-1]
		}
		r.out = append(r.out, "\n\n"[:min(r.gap, 2)]...)
	}
	r.gap = 0
	if r.link.href != "" && r.link.start < 0 {
		r.link.start = len(r.out)
	}
	r.out = append(r.out, text...)
	if len(r.out) > maxRendered {
		r.full = true
	}
}
