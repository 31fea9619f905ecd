package web

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"magicode/internal/tool"
)

func TestPublic(t *testing.T) {
	for want, list := range map[bool]string{
		true: "1.1.1.1 8.8.8.8 93.184.215.14 100.63.255.255 100.128.0.1 172.15.0.1 172.32.0.1 192.0.1.1 192.167.1.1 198.17.0.1 198.20.0.1 223.255.255.255 " +
			"2606:4700::1111 2001:4860:4860::8888 2a00:1450::1 ::ffff:8.8.8.8 64:ff9b::808:808",
		false: "0.0.0.0 0.1.2.3 10.0.0.1 10.255.255.255 100.64.0.1 100.127.255.255 127.0.0.1 127.1.2.3 169.254.169.254 169.254.0.1 172.16.0.1 172.31.255.255 192.0.0.8 192.0.2.1 192.88.99.1 192.168.0.1 " +
			"198.18.0.1 198.19.255.255 198.51.100.1 203.0.113.1 224.0.0.1 239.255.255.255 240.0.0.1 255.255.255.255 100.100.100.200 " +
			":: ::1 ::127.0.0.1 ::8.8.8.8 ::ffff:127.0.0.1 ::ffff:10.0.0.1 ::ffff:169.254.169.254 64:ff9b::7f00:1 64:ff9b::a9fe:a9fe 64:ff9b::c0a8:1 64:ff9b:1::808:808 " +
			"fe80::1 fe80::1%eth0 febf::1 fec0::1 fc00::1 fd00:ec2::254 fdff::1 ff02::1 100::1 2001::1 2001:db8::1 2001:20::1 2002:7f00:1:: 2002:808:808:: 3fff::1 4000::1",
	} {
		for _, a := range strings.Fields(list) {
			if got := public(netip.MustParseAddr(a)); got != want {
				t.Errorf("%s: %v", a, got)
			}
		}
	}
	if public(netip.Addr{}) {
		t.Error("no address is public")
	}
}

func TestURLs(t *testing.T) {
	secret := "ghp_" + strings.Repeat("a1B2", 9)
	for _, c := range []struct{ url, want string }{
		{"http://example.org", ""}, {"https://example.org:8443/a/b?q=1&page=2#part", ""}, {"HTTP://EXAMPLE.org./x", ""}, {"http://93.184.215.14/", ""}, {"http://[2606:4700::1111]:80/", ""},
		{"http://a_b.example.org/", ""}, {"http://bücher.example/", ""}, {"https://xn--bcher-kva.example/", ""}, {"http://example.org/?tokens=5&monkey=1", ""},
		{"", "only http and https"}, {"example.org", "only http and https"}, {"ftp://example.org", "only http and https"}, {"file:///etc/passwd", "only http and https"}, {"javascript:alert(1)", "only http and https"},
		{"http://", "no host"}, {"http:example.org", "no host"}, {"http:///x", "no host"}, {"http://?x", "no host"},
		{"http://user@example.org", "user name"}, {"http://user:pw@example.org", "user name"}, {"http://example.org@127.0.0.1/", "user name"}, {"http://@example.org", "user name"},
		{"http://example.org/?api_key=1", "credential"}, {"http://example.org/?a=1&Access-Token=2", "credential"}, {"http://example.org/#id_token=x", "credential"}, {"http://example.org/?a=1;password=2", "credential"},
		{"http://example.org/?%61pi_key=1", "credential"}, {"http://example.org/?my_secret", "credential"}, {"http://example.org/" + secret, "credential"}, {"http://example.org/#x?token=1", "credential"},
		{"http://127.0.0.1/", "not public"}, {"http://169.254.169.254/latest/meta-data", "not public"}, {"http://[::1]/", "not public"}, {"http://[::ffff:10.0.0.1]/", "not public"}, {"http://[64:ff9b::a9fe:a9fe]/", "not public"},
		{"http://[fe80::1%25eth0]/", "not public"}, {"http://0.0.0.0/", "not public"}, {"http://１２７.０.０.１/", "not public"}, {"http://127。0。0。1/", "not public"},
		{"http://2130706433/", "a number"}, {"http://0x7f000001/", "a number"}, {"http://0x7f.1/", "a number"}, {"http://127.1/", "a number"}, {"http://0177.0.0.1/", "a number"}, {"http://127.0.0.0x1/", "a number"},
		{"http://example.1/", "a number"}, {"http://1.2.3.4.5/", "a number"}, {"http://256.256.256.256/", "a number"}, {"http://127.0.0.1./", "a number"}, {"http://example.0x/", "a number"},
		{"http://exa mple.org/", "not valid"}, {"http://example.org/a b", "not valid"}, {"http://example..org/", "not valid"}, {"http://-a.org/", "not valid"}, {"http://.org/", "not valid"}, {"http://./", "not valid"}, {"http://exa%6dple.org/", "not valid"},
		{"http://example.org\\@127.0.0.1/", "not valid"}, {"http://example.org/\r\nX: y", "not valid"}, {"http://[::1", "not valid"}, {"http://" + strings.Repeat("a", 64) + ".org", "not valid"}, {"http://xn--/", "not valid"},
		{"http://example.org:0/", "port"}, {"http://example.org:65536/", "port"}, {"http://example.org:/", "port"}, {"http://example.org:http/", "not valid"},
		{"http://example.org/" + strings.Repeat("a", 2030), "too long"},
	} {
		u, err := checkURL(c.url)
		switch {
		case c.want == "" && (err != nil || u.Fragment != ""):
			t.Errorf("%s: %v", c.url, err)
		case c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)):
			t.Errorf("%s: %v, want %q", c.url, err, c.want)
		case err != nil && strings.Contains(err.Error(), "example"):
			t.Errorf("%s: the error repeats it: %v", c.url, err)
		}
	}
}

// TestPinned: a name is resolved once, and the connection goes to what was
// checked, though the name means something else by then.
func TestPinned(t *testing.T) {
	n := newInternet(t, text("hello"))
	n.hosts["example.org"] = [][]string{{somewhere}, {"127.0.0.1"}}
	if res := n.open("http://example.org:8080/"); !res.Success || !strings.Contains(res.Content, "hello") {
		t.Errorf("%v %s", res.Success, res.Content)
	}
	if len(n.asked) != 1 || n.asked[0] != "example.org." || len(n.dialed) != 1 || n.dialed[0] != somewhere+":8080" {
		t.Errorf("asked %v, dialed %v", n.asked, n.dialed)
	}
	if res := n.open("http://example.org:8080/"); res.Success || !strings.Contains(res.Content, "not public") || len(n.dialed) != 1 {
		t.Errorf("%v %s, dialed %v", res.Success, res.Content, n.dialed)
	}
}

func TestAddresses(t *testing.T) {
	for _, c := range []struct {
		name   string
		give   []string
		refuse []string
		want   string
		dialed string
	}{
		{"two, the first does not answer", []string{somewhere, "2606:4700::1111"}, []string{somewhere + ":80"}, "", somewhere + ":80 [2606:4700::1111]:80"},
		{"v4-mapped", []string{"::ffff:93.184.215.14"}, nil, "", somewhere + ":80"},
		{"none answers", []string{somewhere}, []string{somewhere + ":80"}, "could not be reached", somewhere + ":80"},
		{"one of them private", []string{somewhere, "10.0.0.1"}, nil, "not public", ""},
		{"metadata", []string{"169.254.169.254"}, nil, "not public", ""},
		{"metadata by NAT64", []string{"64:ff9b::a9fe:a9fe"}, nil, "not public", ""},
		{"loopback, v6", []string{"::1"}, nil, "not public", ""},
		{"private, v4-mapped", []string{"::ffff:192.168.1.1"}, nil, "not public", ""},
		{"none", []string{}, nil, "could not be resolved", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			n := newInternet(t, text("hello"))
			n.hosts["example.org"], n.refuse = [][]string{c.give}, c.refuse
			res := n.open("http://example.org/")
			if res.Success != (c.want == "") || !strings.Contains(res.Content, c.want) || strings.Join(n.dialed, " ") != c.dialed {
				t.Errorf("%v %s, dialed %v", res.Success, res.Content, n.dialed)
			}
		})
	}
	n := newInternet(t, text("hello"))
	if res := n.open("http://nowhere.example/"); res.Success || !strings.Contains(res.Content, "could not be resolved") {
		t.Errorf("%v %s", res.Success, res.Content)
	}
}

// TestRedirect: none is followed; what may be opened next is named.
func TestRedirect(t *testing.T) {
	for to, want := range map[string]string{
		"http://169.254.169.254/latest/": "status 302", "/other?x=1": "now at http://example.org/other?x=1, which was not followed", "https://www.example.org/": "now at https://www.example.org/",
		"http://user:pw@example.org/": "status 302", "file:///etc/passwd": "status 302", "//[::1]/": "status 302", "": "status 302",
	} {
		n := newInternet(t, func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Location", to)
			w.WriteHeader(http.StatusFound)
		})
		res := n.open("http://example.org/a")
		if res.Success || !strings.Contains(res.Content, want) || strings.Contains(want, "status") && strings.Contains(res.Content, "now at") || len(n.dialed) != 1 || res.Metadata["status"] != 302 {
			t.Errorf("%s: %v %s, dialed %v", to, res.Success, res.Content, n.dialed)
		}
	}
}

func TestRequest(t *testing.T) {
	var got *http.Request
	n := newInternet(t, func(w http.ResponseWriter, r *http.Request) {
		got = r.Clone(context.Background())
		text("ok")(w, r)
	})
	t.Setenv("HTTP_PROXY", "http://127.0.0.1:1")
	if res := n.open("http://example.org/a%20b?q=%C3%A4#part"); !res.Success {
		t.Fatal(res.Content)
	}
	if got.Host != "example.org" || got.RequestURI != "/a%20b?q=%C3%A4" || got.UserAgent() != "magi-code/9" || got.Header.Get("Cookie")+got.Header.Get("Authorization")+got.Referer() != "" {
		t.Errorf("%s %s %v", got.Host, got.RequestURI, got.Header)
	}
}

func TestContent(t *testing.T) {
	bomb := new(bytes.Buffer)
	z := gzip.NewWriter(bomb)
	for range 100 {
		_, _ = z.Write(make([]byte, 1<<20))
	}
	_ = z.Close()
	packed := func(s string) string {
		var b bytes.Buffer
		z := gzip.NewWriter(&b)
		_, _ = z.Write([]byte(s))
		_ = z.Close()
		return b.String()
	}
	textBomb := packed(strings.Repeat("x", 64<<20))
	for _, c := range []struct {
		name, media, encoding, body string
		want                        string // of the content
		ok, cut                     bool
	}{
		{"plain", "text/plain", "", "a\nb", "URL: http://example.org/\n\na\nb", true, false},
		{"json", "application/json", "", `{"a":1}`, `{"a":1}`, true, false},
		{"json of a kind", "application/ld+json", "", `{"a":1}`, `{"a":1}`, true, false},
		{"no type, text", "", "", "just text", "just text", true, false},
		{"no type, image", "", "", "\x89PNG\r\n\x1a\n0000", "it is no text: image/png", false, false},
		{"image", "image/png", "", "x", "it is no text: image/png", false, false},
		{"archive", "application/zip", "", "PK\x03\x04", "it is no text", false, false},
		{"binary as text", "text/plain", "", "a\x00b", "it is no text", false, false},
		{"empty", "text/plain", "", "", "holds no text", true, false},
		{"escapes", "text/plain", "", "a\x1b[2Jb\x07\x1b]0;t\x07c", "abc", true, false},
		{"latin1", "text/plain; charset=ISO-8859-1", "", "caf\xe9 \x93q\x94", "café “q”", true, false},
		{"mislabelled", "text/plain; charset=latin1", "", "café", "café", true, false},
		{"utf-16", "text/plain; charset=utf-16le", "", "h\x00i\x00", "hi", true, false},
		{"byte order mark", "text/plain", "", "\xfe\xff\x00h\x00i", "hi", true, false},
		{"bad utf-8", "text/plain", "", "a\xffb", "a\uFFFDb", true, false},
		{"other charset", "text/plain; charset=shift_jis", "", "\x82\xa0", "shift_jis", false, false},
		{"meta charset", "text/html", "", "<meta charset='windows-1252'><p>caf\xe9", "café", true, false},
		{"long", "text/plain", "", strings.Repeat("ä", 15_000), "[truncated: the page is longer", true, true},
		{"huge", "text/plain", "", strings.Repeat("x", 3<<20), "[truncated: the page is longer", true, true},
		{"gzip", "text/plain", "gzip", packed("unpacked"), "unpacked", true, false},
		{"gzip bomb", "text/plain", "gzip", textBomb, "[truncated: the page is longer", true, true},
		{"gzip bomb of nothing", "text/plain", "gzip", bomb.String(), "it is no text", false, false},
		{"no gzip", "text/plain", "gzip", "plain", "its compression is broken", false, false},
		{"cut gzip", "text/plain", "gzip", packed("unpacked")[:15], "broke off", false, false},
		{"brotli", "text/plain", "br", "xx", `compression "br" is not supported`, false, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			n := newInternet(t, func(w http.ResponseWriter, _ *http.Request) {
				w.Header()["Content-Type"] = []string{c.media}
				if c.encoding != "" {
					w.Header().Set("Content-Encoding", c.encoding)
				}
				_, _ = io.WriteString(w, c.body)
			})
			res := n.open("http://example.org/")
			if res.Success != c.ok || !strings.Contains(res.Content, c.want) || len(res.Content) > 21_000 {
				t.Errorf("%v %.300q (%d bytes)", res.Success, res.Content, len(res.Content))
			}
			if c.ok && (res.Metadata["truncated"] != c.cut || res.Metadata["provider"] != "direct" || res.Metadata["url"] != "http://example.org/" || res.Metadata["cache"] != "miss") {
				t.Errorf("%v", res.Metadata)
			}
		})
	}
}

func TestStatus(t *testing.T) {
	n := newInternet(t, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		w.WriteHeader(404)
		_, _ = io.WriteString(w, "<title>Gone</title><h1>No such page</h1>")
	})
	res := n.open("http://example.org/x")
	if res.Success || res.Metadata["status"] != 404 || !strings.Contains(res.Content, "status 404:\n\n# No such page") {
		t.Errorf("%v %v %s", res.Success, res.Metadata, res.Content)
	}
}

// pipes connects to handlers without a network, so that time can be the test's.
func pipes(t *testing.T, serve func(net.Conn)) *Tool {
	n := &names{hosts: map[string][][]string{"example.org": {{somewhere}}}}
	var wg sync.WaitGroup
	t.Cleanup(wg.Wait)
	return New(Options{Resolver: n, Dial: func(context.Context, string, string) (net.Conn, error) {
		client, server := net.Pipe()
		wg.Go(func() {
			defer server.Close()
			serve(server)
		})
		return client, nil
	}})
}

type stuck struct{}

func (stuck) LookupNetIP(ctx context.Context, _, _ string) ([]netip.Addr, error) {
	<-ctx.Done()
	return nil, context.Cause(ctx)
}

// TestTimes: each wait ends on time, however the other side keeps it going.
func TestTimes(t *testing.T) {
	request := func(tl *Tool, ctx context.Context) (tool.Result, time.Duration) {
		from := time.Now()
		res := tl.Run(ctx, tool.Env{}, []byte(`{"operation":"open","url":"http://example.org/"}`))
		return res, time.Since(from)
	}
	drain := func(c net.Conn) {
		buf := make([]byte, 4096)
		_, _ = c.Read(buf)
	}
	for _, c := range []struct {
		name  string
		make  func(t *testing.T) *Tool
		after time.Duration
		want  string
	}{
		{"resolver", func(*testing.T) *Tool { return New(Options{Resolver: stuck{}}) }, 5 * time.Second, "could not be resolved"},
		{"connect", func(*testing.T) *Tool {
			return New(Options{Resolver: &names{hosts: map[string][][]string{"example.org": {{somewhere, "1.1.1.1"}}}}, Dial: func(ctx context.Context, _, _ string) (net.Conn, error) {
				<-ctx.Done()
				return nil, ctx.Err()
			}})
		}, 5 * time.Second, "could not be reached"},
		{"no headers", func(t *testing.T) *Tool {
			return pipes(t, func(c net.Conn) {
				drain(c)
				_, _ = io.Copy(io.Discard, c)
			})
		}, 15 * time.Second, "took too long"},
		{"slow body", func(t *testing.T) *Tool {
			return pipes(t, func(c net.Conn) {
				drain(c)
				_, _ = io.WriteString(c, "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\n\r\n")
				for {
					time.Sleep(time.Second)
					if _, err := io.WriteString(c, "x"); err != nil {
						return
					}
				}
			})
		}, 15 * time.Second, "took too long"},
		{"endless headers", func(t *testing.T) *Tool {
			return pipes(t, func(c net.Conn) {
				drain(c)
				_, _ = io.WriteString(c, "HTTP/1.1 200 OK\r\n")
				for i := 0; ; i++ {
					if _, err := fmt.Fprintf(c, "X-%d: %s\r\n", i, strings.Repeat("x", 1000)); err != nil {
						return
					}
				}
			})
		}, 0, "could not be reached"},
		{"endless body", func(t *testing.T) *Tool {
			return pipes(t, func(c net.Conn) {
				drain(c)
				_, _ = io.WriteString(c, "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\n\r\n")
				for {
					if _, err := c.Write(bytes.Repeat([]byte("x"), 8192)); err != nil {
						return
					}
				}
			})
		}, 0, "[truncated"},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				res, took := request(c.make(t), t.Context())
				if took != c.after || !strings.Contains(res.Content, c.want) {
					t.Errorf("after %v: %v %.200s", took, res.Success, res.Content)
				}
			})
		})
	}
	t.Run("cancelled", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			ctx, cancel := context.WithCancelCause(t.Context())
			time.AfterFunc(time.Second, func() { cancel(errors.New("enough")) })
			res, took := request(New(Options{Resolver: stuck{}}), ctx)
			if took != time.Second || res.Success || res.Content != tool.CancelledText {
				t.Errorf("after %v: %v %s", took, res.Success, res.Content)
			}
		})
	})
	t.Run("nine at once", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			counting := &counter{}
			tl := New(Options{Resolver: counting})
			var wg sync.WaitGroup
			for range 20 {
				wg.Go(func() { request(tl, t.Context()) })
			}
			wg.Wait()
			if counting.most != maxResolvers {
				t.Errorf("%d look-ups at once", counting.most)
			}
		})
	})
}

// counter counts look-ups at once; each takes a second.
type counter struct {
	mu        sync.Mutex
	now, most int
}

func (c *counter) LookupNetIP(context.Context, string, string) ([]netip.Addr, error) {
	c.mu.Lock()
	c.now++
	c.most = max(c.most, c.now)
	c.mu.Unlock()
	time.Sleep(time.Second)
	c.mu.Lock()
	c.now--
	c.mu.Unlock()
	return nil, errRefused
}

func TestArguments(t *testing.T) {
	n := newInternet(t, text("x"))
	for _, c := range []struct{ args, want string }{
		{`{}`, `"operation" is required`}, {`{"operation":"get"}`, "must be search or open"}, {`{"operation":"open"}`, "either url or reference"},
		{`{"operation":"open","url":"http://example.org","reference":"web:1"}`, "either url or reference"}, {`{"operation":"open","url":"http://example.org","query":"x"}`, "belong to search"},
		{`{"operation":"open","url":"http://example.org","limit":1}`, "belong to search"}, {`{"operation":"open","url":"http://example.org","domainFilter":[]}`, "belong to search"}, {`{"operation":"open","url":1}`, `"url" must be a string`},
		{`{"operation":"open","reference":"` + strings.Repeat("x", 81) + `"}`, "too long"}, {`{"operation":"open","reference":"web:00"}`, "not known"}, {`{"operation":"open","page":1}`, `unknown field "page"`},
		{`{"operation":"search"}`, `"query" is required`}, {`{"operation":"search","query":"  "}`, "not all blank"}, {`{"operation":"search","query":"` + strings.Repeat("ä", 513) + `"}`, "1 to 512 characters"},
		{`{"operation":"search","query":"x","limit":0}`, `"limit" must be from 1 to 10`}, {`{"operation":"search","query":"x","limit":11}`, `"limit" must be from 1 to 10`}, {`{"operation":"search","query":"x","url":"http://example.org"}`, "belong to open"},
		{`{"operation":"search","query":"x","recencyFilter":"hour"}`, "day, week, month or year"}, {`{"operation":"search","query":"x","domainFilter":["https://a.b"]}`, "bare host names"}, {`{"operation":"search","query":"x","domainFilter":["--a.b"]}`, "bare host names"},
		{`{"operation":"search","query":"x","domainFilter":["localhost"]}`, "bare host names"}, {`{"operation":"search","query":"x","domainFilter":["bücher.example"]}`, "bare host names"},
		{`{"operation":"search","query":"x","domainFilter":[` + strings.Repeat(`"a.b",`, 20) + `"a.b"]}`, "at most 20"}, {`{"operation":"search","query":"x"}`, "EXA_API_KEY"},
	} {
		if res := n.run(t.Context(), c.args); res.Success || !strings.Contains(res.Content, c.want) {
			t.Errorf("%.100s: %v %s", c.args, res.Success, res.Content)
		}
	}
	if len(n.dialed) != 0 {
		t.Errorf("dialed %v", n.dialed)
	}
}

func TestReference(t *testing.T) {
	count := 0
	n := newInternet(t, func(w http.ResponseWriter, r *http.Request) {
		count++
		text(strings.Repeat("x", 50_000))(w, r)
	})
	first := n.open("http://example.org/a")
	ref, _ := first.Metadata["reference"].(string)
	res := n.run(t.Context(), map[string]string{"operation": "open", "reference": ref})
	if !res.Success || res.Content != first.Content || res.Metadata["provider"] != "web-cache" || res.Metadata["cache"] != "hit" || count != 1 {
		t.Errorf("%v %v after %d requests", res.Success, res.Metadata, count)
	}
	if p, _ := n.tool.cache.get(ref); len(p.text) != maxPageBytes || len(ref) != len("web:")+64 {
		t.Errorf("%d bytes kept under %s", len(p.text), ref)
	}
	for i := range maxPages {
		n.open(fmt.Sprintf("http://example.org/%d", i))
	}
	if res := n.run(t.Context(), map[string]string{"operation": "open", "reference": ref}); res.Success || len(n.tool.cache.pages) != maxPages || len(n.tool.cache.order) != maxPages {
		t.Errorf("%v, %d pages", res.Success, len(n.tool.cache.pages))
	}
}
