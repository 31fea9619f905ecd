package redact

import "math/bits"

// blockBytes is how many bytes are looked at in one step: one bit each.
const blockBytes = 64

// Constants of eight equal bytes.
const (
	ones  = 0x0101010101010101
	highs = 0x80 * ones
	lows  = 0x7f * ones
)

// block is what is known of blockBytes bytes of a text.
type block struct {
	end   int    // of the block; 0: there is none
	words uint64 // which bytes are ASCII word characters
	todo  uint64 // where a word starts, and which bytes are separators or backslashes
}

// skim returns the first place at or behind i that has to be looked at in
// ordinary text, or one so near the end that bytes are looked at one by one.
func (c *scan) skim(i int) int {
	b, s := &c.block, c.s
	for {
		if i >= b.end {
			if len(s)-i <= blockBytes+headBytes {
				return i
			}
			b.read(s, i)
		}
		base := b.end - blockBytes
		for todo := b.todo &^ (1<<(i-base) - 1); todo != 0; todo &= todo - 1 {
			k := bits.TrailingZeros64(todo)
			n := bits.TrailingZeros64(^(b.words >> k))
			p := base + k
			if n == 0 || k+n >= blockBytes {
				return p
			}
			h := headHash(uint32(s[p]) | uint32(s[p+1])<<8 | uint32(s[p+2])<<16 | uint32(s[p+3])<<24)
			if heads[h>>5]>>(h&31)&1 != 0 || n >= minBody || opaqueLens[s[p+n]]>>n&1 != 0 {
				return p
			}
		}
		i = b.end
	}
}

// read looks at the block that starts at i.
func (b *block) read(s string, i int) {
	var words, marks uint64
	for k := 0; k < blockBytes; k += 8 {
		p := s[i+k : i+k+8]
		w, m := eight(uint64(p[0]) | uint64(p[1])<<8 | uint64(p[2])<<16 | uint64(p[3])<<24 | uint64(p[4])<<32 | uint64(p[5])<<40 | uint64(p[6])<<48 | uint64(p[7])<<56)
		words |= w << k
		marks |= m << k
	}
	*b = block{end: i + blockBytes, words: words, todo: words&^(words<<1) | marks}
}

// eight returns a bit for each of the eight bytes of v that is a word
// character, and one for each that is ':', '=' or '\\'.
func eight(v uint64) (words, marks uint64) {
	t := v & lows
	low := t | 0x20*ones
	alpha := (low + (0x80-'a')*ones) &^ (low + (0x80-'z'-1)*ones)
	number := (t + (0x80-'0')*ones) &^ (t + (0x80-'9'-1)*ones)
	words = (alpha | number | is(t, '_')) &^ v & highs
	marks = (is(t, ':') | is(t, '=') | is(t, '\\')) &^ v & highs
	return gather(words), gather(marks)
}

// is sets the high bit of each byte of t, all below 0x80, that equals b.
func is(t uint64, b uint64) uint64 { return ^((t ^ b*ones) + lows) }

// gather makes eight bits of the high bits of eight bytes.
func gather(v uint64) uint64 { return v >> 7 * 0x0102040810204080 >> 56 }
