package reader

import (
	"bytes"
	"io"
	"regexp"
	"slices"
	"strings"
	"testing"

	"golang.org/x/net/html"
)

// What a page may have: its elements, and of their attributes those that cannot
// refer to anything or do anything.
var (
	elements = strings.Fields("html head meta title style body h1 h2 p strong section div span details summary ul li table tr th td pre svg rect line polyline")
	inert    = strings.Fields("lang charset http-equiv content name class viewbox preserveaspectratio x y x1 x2 y1 y2 width height points role aria-label")
	spoken   = strings.Fields("content aria-label") // text for people
	refers   = regexp.MustCompile(`(?i)url\(|@import|https?:|//|javascript:|expression\(`)
)

// malformed tells what is wrong with a page: an element or an attribute that is
// none of the above, one that is not closed in its place, a reference; "" for none.
func malformed(page string) string {
	z := html.NewTokenizer(strings.NewReader(page))
	var open []string
	for {
		kind := z.Next()
		token := z.Token()
		switch kind {
		case html.ErrorToken:
			if z.Err() != io.EOF || len(open) > 0 {
				return "the end is missing: " + strings.Join(open, " ")
			}
			return ""
		case html.CommentToken:
			return "a comment"
		case html.TextToken:
			if len(open) == 0 && strings.TrimSpace(token.Data) != "" {
				return "text outside of the page: " + token.Data
			}
			if len(open) > 0 && open[len(open)-1] == "style" && refers.MatchString(token.Data) {
				return "a reference in the style: " + refers.FindString(token.Data)
			}
		case html.StartTagToken, html.SelfClosingTagToken:
			if !slices.Contains(elements, token.Data) {
				return "an element " + token.Data
			}
			for _, a := range token.Attr {
				if !slices.Contains(inert, a.Key) || !slices.Contains(spoken, a.Key) && refers.MatchString(a.Val) {
					return "an attribute of " + token.Data + ": " + a.Key + "=" + a.Val
				}
			}
			if kind == html.StartTagToken && token.Data != "meta" {
				open = append(open, token.Data)
			}
		case html.EndTagToken:
			if len(open) == 0 || open[len(open)-1] != token.Data {
				return "</" + token.Data + "> in " + strings.Join(open, " ")
			}
			open = open[:len(open)-1]
		}
	}
}

// TestPageIsValid: a page is well-formed, has no script and refers to nothing
// (T-44), whatever is in the capture. What a browser makes of it has the same
// elements: nothing was moved or closed for it.
func TestPageIsValid(t *testing.T) {
	evil := `"><img src=https://example.org/x onerror=alert(1)><!-- </style></pre><a href=//h>`
	hostile := busy().span("magi.cleanup"+evil, 0, 10, "magi.mcp.server", evil).span(runSpan, 0, 5, "magi.run.outcome", evil).
		record("magi.goroutines", 9, "", "body", evil)
	for name, b := range map[string]*build{"everything": busy(), "nothing": new(build), "hostile": hostile} {
		var out bytes.Buffer
		HTML(&out, b.analyse(t))
		page := out.String()
		if what := malformed(page); what != "" {
			t.Errorf("%s: %s in\n%s", name, what, page)
		}
		doc, err := html.Parse(strings.NewReader(page))
		if err != nil {
			t.Fatal(err)
		}
		made := map[string]int{}
		for n := range doc.Descendants() {
			if n.Type == html.ElementNode {
				made[n.Data]++
			}
		}
		for tag, n := range made {
			if written := len(regexp.MustCompile(`<`+tag+`[ >/]`).FindAllString(page, -1)); tag != "tbody" && written != n {
				t.Errorf("%s: %d elements %s, %d are written", name, n, tag, written)
			}
		}
		if made["h1"] != 1 || name == "everything" && (made["svg"] == 0 || made["td"] == 0) {
			t.Errorf("%s: %v", name, made)
		}
	}
	for _, bad := range []string{"<p><script></script></p>", `<p onclick="x">a</p>`, "<p><div></p></div>", "<p>", `<svg><path d="url(#a)"/></svg>`,
		"<style>@import 'x'</style>", `<a href="x"></a>`, "<p>a</p>b"} {
		if malformed(bad) == "" {
			t.Errorf("nothing is wrong with %s", bad)
		}
	}
}
