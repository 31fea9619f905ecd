package web

import (
	"net/url"
	"strconv"
	"strings"
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

func (r *renderer) item() {
	r.lines(1)
	mark := "- "
	if n := len(r.lists); n > 0 {
		if next := &r.lists[n-1]; *next > 0 {
			mark = strconv.Itoa(*next) + ". "
			*next++
		}
		mark = strings.Repeat("  ", n-1) + mark
	}
	r.write(mark)
}
