package redact

import "strings"

// dataURL hides type and content of the base64 data URL whose ':' stands at i.
func (c *scan) dataURL(i int) int {
	s := c.s
	if c.s[i] != ':' || i-4 < c.floor || s[i-4:i] != "data" {
		return none
	}
	end := c.mediaType(i + 1)
	if end < 0 {
		return end
	}
	const base64 = ";base64,"
	if rest := s[end:]; len(rest) < len(base64) && strings.HasPrefix(base64, rest) {
		return c.end(none)
	}
	if !strings.HasPrefix(s[end:], base64) {
		return none
	}
	from := end + len(base64)
	stop := runEnd(s, from, dataSet)
	if stop == len(s) && !c.final {
		return more
	}
	if stop == from {
		return none
	}
	c.hide(i+1, end)
	c.hide(from, stop)
	return stop
}

// mediaType returns the end of the "type/subtype" at i.
func (c *scan) mediaType(i int) int {
	s := c.s
	end := runEnd(s, i, typeSet)
	if end == len(s) && !c.final {
		return more
	}
	if !isMediaType(s[i:end]) {
		return none
	}
	return end
}

func isMediaType(t string) bool {
	k := strings.IndexByte(t, '/')
	return k > 0 && k < len(t)-1 && strings.IndexByte(t[k+1:], '/') < 0 && runEnd(t, 0, typeSet) == len(t)
}

// dataHead reports whether v ends in "data:type/subtype".
func dataHead(v string) bool {
	k := strings.LastIndex(v, "data:")
	return k >= 0 && isMediaType(v[k+len("data:"):])
}
