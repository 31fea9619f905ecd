package web

import (
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"net/url"
	"strings"
	"time"

	"magicode/internal/httpx"
	"magicode/internal/redact"
)

// Bounds of fetching a page: tools.md 1.16.
const (
	openTimeout = 15 * time.Second // all of it
	maxBody     = 512 << 10        // as sent, and unpacked
)

// fetched is what a server answered.
type fetched struct {
	page
	status   int
	location string // of a redirect, if it may be opened
}

// fetch gets one page. The error says why there is no answer that can be shown.
func (t *Tool) fetch(parent context.Context, u *url.URL) (*fetched, error) {
	ctx, cancel := context.WithTimeoutCause(parent, openTimeout, errTime)
	defer cancel()
	f, err := t.get(ctx, u)
	if err != nil && ctx.Err() != nil {
		err = context.Cause(ctx)
	}
	return f, err
}

func (t *Tool) get(ctx context.Context, u *url.URL) (*fetched, error) {
	to, err := t.addresses(ctx, u.Hostname())
	if err != nil {
		return nil, err
	}
	client := httpx.New(httpx.Options{Dial: t.pinned(to), RootCAs: t.o.RootCAs}) // no proxy, no redirect
	defer client.Close()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, u.String(), nil)
	if err != nil {
		return nil, errors.New("the URL is not valid")
	}
	req.Header.Set("Accept", "text/html, text/plain, text/markdown, application/json, application/xhtml+xml, application/xml;q=0.9, text/*;q=0.8")
	req.Header.Set("Accept-Encoding", "gzip")
	req.Header.Set("User-Agent", t.o.UserAgent)
	resp, err := client.RoundTrip(req)
	if err != nil {
		return nil, errReach // what the transport says holds addresses
	}
	defer resp.Body.Close()
	return read(u, resp)
}

// read takes a bounded part of the body and makes text of it.
func read(u *url.URL, resp *http.Response) (*fetched, error) {
	f := &fetched{status: resp.StatusCode, page: page{url: u.String(), scope: scopePage}}
	f.location = locationOf(u, resp)
	media, params, err := mime.ParseMediaType(resp.Header.Get("Content-Type"))
	body, cut, rerr := unpacked(resp)
	if rerr != nil {
		return nil, rerr
	}
	if err != nil || media == "" {
		media, params, _ = mime.ParseMediaType(http.DetectContentType(body))
	}
	if len(body) == 0 {
		return f, nil
	}
	if !textual(media) {
		return nil, fmt.Errorf("it is no text: %.80s", media)
	}
	text, err := toUTF8(body, params["charset"])
	if err != nil {
		return nil, err
	}
	if media == "text/html" || media == "application/xhtml+xml" {
		f.title, text, f.scope, f.cut = readable(text, u)
	} else if strings.IndexByte(text, 0) >= 0 {
		return nil, errors.New("it is no text")
	}
	f.title = redact.Strip(f.title)
	f.text, f.cut = clip(redact.Strip(text), f.cut || cut)
	return f, nil
}

// locationOf is where a redirect leads, if that may be opened.
func locationOf(u *url.URL, resp *http.Response) string {
	location := resp.Header.Get("Location")
	if location == "" || resp.StatusCode/100 != 3 {
		return ""
	}
	to, err := u.Parse(location)
	if err != nil {
		return ""
	}
	if to, err = checkURL(to.String()); err != nil {
		return ""
	}
	return to.String()
}

// clip bounds what is kept of a page.
func clip(text string, cut bool) (string, bool) {
	return cutText(text, maxPageBytes), cut || len(text) > maxPageBytes
}

// unpacked reads a body, at most maxBody bytes of it packed and unpacked.
func unpacked(resp *http.Response) (body []byte, cut bool, err error) {
	raw := &io.LimitedReader{R: resp.Body, N: maxBody + 1}
	var r io.Reader = raw
	switch encoding := strings.ToLower(resp.Header.Get("Content-Encoding")); encoding {
	case "", "identity":
	case "gzip", "x-gzip":
		z, err := gzip.NewReader(raw)
		if err != nil {
			return nil, false, errors.New("its compression is broken")
		}
		r = z
	default:
		return nil, false, fmt.Errorf("its compression %.20q is not supported", encoding)
	}
	body, err = io.ReadAll(io.LimitReader(r, maxBody+1))
	switch {
	case len(body) > maxBody:
		return body[:maxBody], true, nil
	case raw.N <= 0 && err != nil: // the packed form alone is too long
		return body, true, nil
	case err != nil:
		return nil, false, errors.New("its content broke off")
	}
	return body, false, nil
}

// textual reports media types that can be shown.
func textual(media string) bool {
	switch media {
	case "application/json", "application/xml", "application/xhtml+xml", "application/javascript", "application/ecmascript",
		"application/yaml", "application/x-yaml", "application/toml", "application/x-sh", "application/sql", "application/x-ndjson":
		return true
	}
	return strings.HasPrefix(media, "text/") || strings.HasSuffix(media, "+json") || strings.HasSuffix(media, "+xml") && media != "image/svg+xml" || strings.HasSuffix(media, "+yaml")
}
