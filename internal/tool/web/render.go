package web

import (
	"net/url"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

// minMain is how many characters make a readable part: tools.md 1.16.
const minMain = 200

// maxRendered bounds the Markdown of a page; more is never kept.
const maxRendered = maxPageBytes + 4096

// readable turns a page into Markdown: its main part where it marks one that is
// long enough, else the whole page.
func readable(text string, base *url.URL) (title, markdown, scope string, cut bool) {
	main := renderer{base: base, mainOnly: true}
	main.run(text)
	if utf8.RuneCountInString(main.text()) > minMain {
		return main.title, main.text(), scopeMain, main.full
	}
	all := renderer{base: base}
	all.run(text)
	return all.title, all.text(), scopePage, all.full
}

// renderer writes Markdown from tokens, in one pass. Elements that are left open
// cost nothing: it keeps counters, no tree.
type renderer struct {
	base     *url.URL
	mainOnly bool
	title    string

	out  []byte
	gap  int  // line ends that are due before the next text
	full bool // maxRendered was reached

	skip, main nesting // what is left out; the main part
	pre        int
	lists      []int // per open list: the number of the next item, 0 for bullets
	link       link
	cells      int // of the table row so far
	titled     bool
}

// nesting is an element that is inside itself some times.
type nesting struct {
	tag   string
	depth int
}

func (n *nesting) open(tag string) {
	if n.depth == 0 {
		n.tag = tag
	}
	if n.tag == tag {
		n.depth++
	}
}

func (n *nesting) close(tag string) {
	if n.depth > 0 && n.tag == tag {
		n.depth--
	}
}

// link is an open link: where it leads, and where its text begins in out.
type link struct {
	href  string
	start int
}

func (r *renderer) text() string { return strings.TrimSpace(string(r.out)) }

func (r *renderer) run(text string) {
	z := html.NewTokenizer(strings.NewReader(text))
	for !r.full {
		switch z.Next() {
		case html.ErrorToken:
			return
		case html.TextToken:
			r.words(string(z.Text()))
		case html.StartTagToken:
			r.start(z, false)
		case html.SelfClosingTagToken:
			r.start(z, true)
		case html.EndTagToken:
			name, _ := z.TagName()
			r.end(string(name))
		}
	}
}

func (r *renderer) start(z *html.Tokenizer, closed bool) {
	raw, more := z.TagName()
	tag := string(raw)
	attr := attributes{}
	for more {
		var k, v []byte
		k, v, more = z.TagAttr()
		attr.note(string(k), string(v))
	}
	a := atom.Lookup(raw)
	if void(a) || closed && a == 0 {
		r.single(a, &attr)
		return
	}
	if a == atom.Title {
		r.titled = r.title == "" && r.skip.depth == 0
	}
	if r.skip.depth > 0 || r.leftOut(a, &attr) {
		r.skip.open(tag)
		return
	}
	if a == atom.Main || a == atom.Article || attr.role == "main" || r.main.depth > 0 {
		r.main.open(tag)
	}
	r.begin(a, &attr)
}

// attributes are those that count here.
type attributes struct {
	href, alt, role string
	hidden          bool
}

func (a *attributes) note(key, value string) {
	switch key {
	case "href":
		a.href = value
	case "alt":
		a.alt = value
	case "role":
		a.role = value
	case "hidden":
		a.hidden = true
	case "aria-hidden":
		a.hidden = a.hidden || value == "true"
	}
}

func void(a atom.Atom) bool {
	switch a {
	case atom.Area, atom.Base, atom.Br, atom.Col, atom.Embed, atom.Hr, atom.Img, atom.Input, atom.Link, atom.Meta, atom.Source, atom.Track, atom.Wbr:
		return true
	}
	return false
}

// leftOut reports what no reader sees, and in the main part what is not of it.
func (r *renderer) leftOut(a atom.Atom, attr *attributes) bool {
	switch a {
	case atom.Script, atom.Style, atom.Template, atom.Svg, atom.Math, atom.Iframe, atom.Object, atom.Select, atom.Textarea, atom.Noscript, atom.Canvas, atom.Audio, atom.Video:
		return true
	case atom.Nav, atom.Aside, atom.Footer, atom.Form, atom.Dialog, atom.Button:
		return r.mainOnly
	}
	return attr.hidden
}

// single handles an element without content.
func (r *renderer) single(a atom.Atom, attr *attributes) {
	switch a {
	case atom.Br:
		r.lines(1)
	case atom.Hr:
		r.lines(2)
		r.write("---")
		r.lines(2)
	case atom.Img:
		if alt := strings.Join(strings.Fields(attr.alt), " "); alt != "" {
			r.words(" [image: " + alt + "] ")
		}
	}
}

func (r *renderer) begin(a atom.Atom, attr *attributes) {
	switch a {
	case atom.H1, atom.H2, atom.H3, atom.H4, atom.H5, atom.H6:
		r.lines(2)
		r.write(strings.Repeat("#", heading(a)) + " ")
	case atom.Ul, atom.Ol:
		r.lines(1 + btoi(len(r.lists) == 0))
		if len(r.lists) < 16 {
			r.lists = append(r.lists, btoi(a == atom.Ol))
		}
	case atom.Li:
		r.item()
	case atom.Pre:
		r.lines(2)
		if r.pre++; r.pre == 1 {
			r.write("```\n")
		}
	case atom.Code:
		if r.pre == 0 {
			r.write("`")
		}
	case atom.Blockquote:
		r.lines(2)
		r.write("> ")
	case atom.A:
		r.link = link{href: attr.href, start: -1}
	case atom.Tr:
		r.lines(1)
		r.cells = 0
	case atom.Td, atom.Th:
		if r.cells++; r.cells > 1 {
			r.words(" | ")
		}
	default:
		r.lines(blockLines(a))
	}
}

func (r *renderer) end(tag string) {
	a := atom.Lookup([]byte(tag))
	if a == atom.Title {
		r.titled = false
	}
	if r.skip.depth > 0 {
		r.skip.close(tag)
		return
	}
	switch a {
	case atom.H1, atom.H2, atom.H3, atom.H4, atom.H5, atom.H6, atom.Blockquote, atom.Table:
		r.lines(2)
	case atom.Ul, atom.Ol:
		if len(r.lists) > 0 {
			r.lists = r.lists[:len(r.lists)-1]
		}
		r.lines(1 + btoi(len(r.lists) == 0))
	case atom.Pre:
		if r.pre == 1 {
			r.lines(1)
			r.write("```")
			r.lines(2)
		}
		r.pre = max(0, r.pre-1)
	case atom.Code:
		if r.pre == 0 {
			r.write("`")
		}
	case atom.A:
		r.endLink()
	default:
		r.lines(blockLines(a))
	}
	r.main.close(tag)
}

// blockLines is how many line ends part an element from what is around it.
func blockLines(a atom.Atom) int {
	switch a {
	case atom.P, atom.Table, atom.Dl, atom.Figure, atom.Article, atom.Section, atom.Main, atom.Header, atom.Footer, atom.Nav, atom.Aside:
		return 2
	case atom.Div, atom.Li, atom.Dt, atom.Dd, atom.Figcaption, atom.Address, atom.Form, atom.Fieldset, atom.Details, atom.Summary, atom.Option, atom.Body, atom.Title:
		return 1
	}
	return 0
}

func heading(a atom.Atom) int {
	return map[atom.Atom]int{atom.H1: 1, atom.H2: 2, atom.H3: 3, atom.H4: 4, atom.H5: 5, atom.H6: 6}[a]
}

func btoi(b bool) int {
	if b {
		return 1
	}
	return 0
}

func (r *renderer) item() {
	r.lines(1)
	mark := "- "
	if n := len(r.lists); n > 0 {
		if next := &r.lists[n-1]; *next > 0 {
			mark = itoa(*next) + ". "
			*next++
		}
		mark = strings.Repeat("  ", n-1) + mark
	}
	r.write(mark)
}

// endLink wraps the text of a link that leads to another page.
func (r *renderer) endLink() {
	l := r.link
	r.link = link{}
	if l.start < 0 || l.start >= len(r.out) || l.href == "" || r.pre > 0 {
		return
	}
	to, err := r.base.Parse(strings.TrimSpace(l.href))
	if err != nil || to.Scheme != "http" && to.Scheme != "https" || to.User != nil || strings.HasPrefix(l.href, "#") {
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
