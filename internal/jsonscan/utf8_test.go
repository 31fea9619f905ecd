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

// Every pair of bytes that may begin a character, before bytes of each class,
// in each place of a word and behind another character.
func TestUTF8(t *testing.T) {
	border := []byte{0x41, 0x7f, 0x80, 0x8f, 0x90, 0x9f, 0xa0, 0xbf, 0xc0, 0xc2, 0xed, 0xff}
	for _, lead := range []string{"", "a", "abcdefg", "é", "€", "😀", "ééé"} {
		for a := range 256 {
			for b := range 256 {
				for _, c := range border {
					data := append([]byte(lead), byte(a), byte(b), c)
					checkUTF8(t, append(data, 0x80, 'x', 'x', 'x', 'x', 'x', 'x', 'x'))
					checkUTF8(t, append(data, "xxxxxxxx"...))
				}
			}
		}
	}
	for r := range rune(utf8.MaxRune + 1) {
		data := append(utf8.AppendRune([]byte("é"), r), "日本xxxx"...)
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
