package jsonscan

import (
	"bytes"
	"testing"
	"unicode/utf8"
)

func checkUTF8(t *testing.T, data []byte) {
	if got := validUTF8(data); got != utf8.Valid(data) {
		t.Fatalf("%x: %v", data, got)
	}
}

// Every first byte, before bytes at the border of each class, in different
// places of a word and behind another character.
func TestUTF8(t *testing.T) {
	border := []byte{0x00, 0x41, 0x7f, 0x80, 0x8f, 0x90, 0x9f, 0xa0, 0xbf, 0xc0, 0xc2, 0xdf, 0xe0, 0xed, 0xf0, 0xf4, 0xff}
	for _, lead := range []string{"", "a", "abcdefg", "é", "€", "😀"} {
		for a := range 256 {
			for _, b := range border {
				for _, c := range border {
					data := append([]byte(lead), byte(a), b, c)
					checkUTF8(t, append(data, 0x80, 'x', 'x', 'x', 'x', 'x', 'x', 'x'))
					checkUTF8(t, append(data, "xxxxxxxx"...))
				}
			}
		}
	}
	var buf [16]byte
	for r := range rune(utf8.MaxRune + 1) {
		data := append(utf8.AppendRune(append(buf[:0], "é"...), r), "日本xx"...)
		if !validUTF8(data) {
			t.Fatalf("%U is refused", r)
		}
		for cut := range len(data) {
			if r%0x3fd == 0 {
				checkUTF8(t, data[:cut])
			}
		}
	}
}

func FuzzUTF8(f *testing.F) {
	for _, in := range append(seeds(), "naïve café, 12 € 😀 ", "Привет мир", "\xf4\x90\x80\x80xxxxxxxx", "\xe0\x9f\xbfxxxxxxxx") {
		f.Add([]byte(in), uint8(3))
	}
	f.Fuzz(func(t *testing.T, data []byte, n uint8) {
		checkUTF8(t, data)
		checkUTF8(t, bytes.Repeat(data, int(n%9)))
	})
}
