package web

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// maxMeta is how far into a page its charset is looked for (HTML standard).
const maxMeta = 1024

// toUTF8 decodes a body. The encodings that nearly all pages use are known; for
// others there would be tables of a megabyte.
func toUTF8(body []byte, charset string) (string, error) {
	switch {
	case bytes.HasPrefix(body, []byte("\xef\xbb\xbf")):
		return valid(body[3:]), nil
	case bytes.HasPrefix(body, []byte("\xff\xfe")):
		return fromUTF16(body[2:], binary.LittleEndian), nil
	case bytes.HasPrefix(body, []byte("\xfe\xff")):
		return fromUTF16(body[2:], binary.BigEndian), nil
	}
	if charset == "" {
		charset = metaCharset(body[:min(len(body), maxMeta)])
	}
	switch strings.ToLower(strings.TrimSpace(charset)) {
	case "", "utf-8", "utf8":
		return valid(body), nil
	case "us-ascii", "ascii", "iso-8859-1", "latin1", "windows-1252", "cp1252", "iso-8859-15":
		if utf8.Valid(body) { // mislabelled, as most such pages are
			return string(body), nil
		}
		return fromWindows1252(body), nil
	case "utf-16", "utf-16le":
		return fromUTF16(body, binary.LittleEndian), nil
	case "utf-16be":
		return fromUTF16(body, binary.BigEndian), nil
	}
	if utf8.Valid(body) {
		return string(body), nil
	}
	return "", fmt.Errorf("its text is in the encoding %.40q, which is not supported", charset)
}

func valid(b []byte) string { return strings.ToValidUTF8(string(b), "\uFFFD") }

// metaCharset finds charset=NAME in the beginning of a page.
func metaCharset(head []byte) string {
	_, rest, ok := bytes.Cut(bytes.ToLower(head), []byte("charset="))
	if !ok {
		return ""
	}
	rest = bytes.TrimLeft(rest, `"' `)
	if end := bytes.IndexAny(rest, "\"' />;"); end >= 0 {
		rest = rest[:end]
	}
	return string(rest[:min(len(rest), 40)])
}

func fromUTF16(b []byte, order binary.ByteOrder) string {
	units := make([]uint16, len(b)/2)
	for i := range units {
		units[i] = order.Uint16(b[2*i:])
	}
	return string(utf16.Decode(units))
}

// windows1252 are the bytes 0x80 to 0x9f (WHATWG Encoding, index windows-1252);
// the others are their own code points.
var windows1252 = [32]rune{
	'€', 0x81, '‚', 'ƒ', '„', '…', '†', '‡', 'ˆ', '‰', 'Š', '‹', 'Œ', 0x8d, 'Ž', 0x8f,
	0x90, '‘', '’', '“', '”', '•', '–', '—', '˜', '™', 'š', '›', 'œ', 0x9d, 'ž', 'Ÿ',
}

func fromWindows1252(b []byte) string {
	var out strings.Builder
	out.Grow(len(b) + len(b)/8)
	for _, c := range b {
		if c >= 0x80 && c < 0xa0 {
			out.WriteRune(windows1252[c-0x80])
		} else {
			out.WriteRune(rune(c))
		}
	}
	return out.String()
}
