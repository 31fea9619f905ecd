package web

import (
	"net/url"
	"strings"
	"testing"
	"time"
)

func TestRender(t *testing.T) {
	base, _ := url.Parse("https://example.org/docs/page")
	long := strings.Repeat("long enough ", 30)
	for _, c := range []struct{ name, html, want, scope string }{
		{"paragraphs", "<p>One\n  two<p>three <b>four</b>.</p>\n\n<div>five</div><div>six</div>", "One two\n\nthree four.\n\nfive\nsix", "page"},
		{"headings", "<h1>A</h1><h3>B  <i>c</i></h3>text", "# A\n\n### B c\n\ntext", "page"},
		{"lists", "<ul><li>a<li>b<ol><li>c</li><li>d</li></ol></li></ul>after", "- a\n- b\n  1. c\n  2. d\n\nafter", "page"},
		{"links", `<a href="/x?q=1">rel</a> <a href="other">two <b>words</b></a> <a href="#top">top</a> <a href="javascript:x()">js</a> <a href="http://u:p@h/">user</a> <a>none</a> <a href="/y"></a>.`,
			"[rel](https://example.org/x?q=1) [two words](https://example.org/docs/other) top js user none .", "page"},
		{"code", "a <code>b  c</code>\n<pre>x\n  y &lt;z&gt;\n</pre>end", "a `b c`\n\n```\nx\n  y <z>\n\n```\n\nend", "page"},
		{"table", "<table><tr><th>a<th>b</tr><tr><td>1</td><td>2</td></tr></table>x", "a | b\n1 | 2\n\nx", "page"},
		{"image, line", `a<br>b<hr>c <img alt="a cat" src=x> <img src=y>`, "a\nb\n\n---\n\nc [image: a cat]", "page"},
		{"quote", "<blockquote>q</blockquote>x", "> q\n\nx", "page"},
		{"unseen", "<head><title>T</title><style>s</style><script>var a='</p>'</script></head><template>t</template><svg><title>no</title><text>v</text></svg><p hidden>h</p><p aria-hidden=true>i</p><noscript>n</noscript>seen", "seen", "page"},
		{"entities", "a &amp; b &eacute; &#x1F600; &nosuch;", "a & b é 😀 &nosuch;", "page"},
		{"main", "<nav>menu</nav><header>h</header><main><h1>T</h1><nav>inner</nav>" + long + "<footer>f</footer></main><footer>end</footer>", "# T\n\n" + strings.TrimSpace(long), "main"},
		{"article", "<div>menu</div><article>" + long + "</article><aside>x</aside>", strings.TrimSpace(long), "main"},
		{"role", `<div role="main"><div>` + long + "</div></div><div>x</div>", strings.TrimSpace(long), "main"},
		{"short main", "<nav>menu</nav><main>short</main>", "menu\n\nshort", "page"},
		{"open nav in main", "<main><nav>menu " + long + "</main>", "menu " + strings.TrimSpace(long), "page"},
		{"stray ends", "</ul></li></main></a></pre></b>x</p>", "x", "page"},
		{"nested main", "<main><main>" + long + "</main>after</main>out", strings.TrimSpace(long) + "\n\nafter", "main"},
		{"broken", "<p>a<", "a<", "page"},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, got, scope, cut := readable(c.html, base)
			if got != c.want || scope != c.scope || cut {
				t.Errorf("%s %v\n%q\nwant\n%q", scope, cut, got, c.want)
			}
		})
	}
	if title, _, _, _ := readable("<title> A &amp;\n B </title><svg><title>no</title></svg><title>second</title>x", base); title != "A & B" {
		t.Errorf("title %q", title)
	}
}

// TestHostilePages: half a megabyte of the worst is rendered in a blink, and
// never to more than is kept.
func TestHostilePages(t *testing.T) {
	base, _ := url.Parse("https://example.org/")
	const size = maxBody
	fill := func(s string) string { return strings.Repeat(s, size/len(s)) }
	for name, page := range map[string]string{
		"deep": fill("<div>"), "deep lists": fill("<ul><li>"), "formatting": fill("<b><i>x"), "links": fill("<a href=x>y"), "ends": fill("</p></a></ul>"), "tables": fill("<table><tr><td>"),
		"open tag": "<a " + fill("x=y "), "one attribute": `<a href="` + fill("x") + `">t</a>`, "entities": fill("&amp;"), "half entities": fill("&"), "script": "<script>" + fill("x"), "comment": "<!--" + fill("-"),
		"less": fill("<"), "title": "<title>" + fill("t"), "pre": fill("<pre>"), "nav": "<main>" + fill("<nav>"), "main": fill("<main>x"), "link text": "<a href=x>" + fill("word ") + "</a>", "long links": fill("<a href=x>word word</a></a></a>"),
		"spaces": fill(" \n"), "headings": fill("<h1>x</h1>"), "nul": fill("\x00<p>"), "images": fill("<img alt='x y'>"),
	} {
		from := time.Now()
		title, text, _, _ := readable(page, base)
		if took := time.Since(from); took > 3*time.Second || len(text) > maxRendered+size || len(title) > 300 {
			t.Errorf("%s: %v, %d bytes", name, took, len(text))
		}
	}
}

func FuzzRender(f *testing.F) {
	f.Add("<main><p>a<a href=/x>b</a><ul><li>c<pre>d</pre>")
	f.Add("<title>x</title><nav><table><tr><td>y</nav></table>")
	base, _ := url.Parse("https://example.org/")
	f.Fuzz(func(t *testing.T, page string) {
		_, text, scope, _ := readable(page, base)
		if strings.Contains(text, "\n\n\n") && !strings.Contains(strings.ToLower(page), "<pre") {
			t.Errorf("gaps in %q", text)
		}
		if scope == scopeMain && len(text) < minMain {
			t.Errorf("a main part of %d bytes", len(text))
		}
	})
}
