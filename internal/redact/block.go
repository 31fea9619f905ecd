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
	if i >= b.end {
		b.end = 0
	}
	for {
		if b.end == 0 {
			if len(s)-i <= blockBytes+headBytes {
				return i
			}
			b.read(s, i)
		}
		base, next := b.end-blockBytes, b.end
		for todo := b.todo &^ (1<<(i-base) - 1); todo != 0; todo &= todo - 1 {
			k := bits.TrailingZeros64(todo)
			n := bits.TrailingZeros64(^(b.words >> k))
			p := base + k
			if n == 0 { // no word
				if dull(s, p) {
					continue
				}
				return p
			}
			if k+n >= blockBytes { // it goes on in the next block
				if k == 0 {
					return p
				}
				next = p
				break
			}
			if mayStart(s, p) || n >= minBody || opaqueLens[s[p+n]]>>n&1 != 0 {
				return p
			}
		}
		i, b.end = next, 0
	}
}

// dull reports whether the separator at i is one that nothing can be hidden
// behind: no name ends before it, in front of one blank or quote at most. It
// says no where it would have to look further.
func dull(s string, i int) bool {
	if i < 4 || s[i] == '\\' || s[i] == ':' && s[i+1] > ' ' {
		return false
	}
	b := s[i-1]
	if b == ' ' || b == '"' || b == '\'' {
		i--
		b = s[i-1]
	}
	if classes[b]&(lower|upper) == 0 {
		return !beforeSeparator[b] && b != '\\'
	}
	h := lastTwo(s[i-2], b)
	return namePairs[h>>5]>>(h&31)&1 == 0
}

// read looks at the block that starts at i, eight bytes at a time; the high bit
// of a byte says what the byte is.
func (b *block) read(s string, i int) {
	var words, marks uint64
	s = s[i : i+blockBytes]
	for k := 0; k <= blockBytes-8; k += 8 {
		p := s[k : k+8]
		v := uint64(p[0]) | uint64(p[1])<<8 | uint64(p[2])<<16 | uint64(p[3])<<24 | uint64(p[4])<<32 | uint64(p[5])<<40 | uint64(p[6])<<48 | uint64(p[7])<<56
		t := v & lows
		low := t | 0x20*ones
		alpha := (low + (0x80-'a')*ones) &^ (low + (0x80-'z'-1)*ones)
		number := (t + (0x80-'0')*ones) &^ (t + (0x80-'9'-1)*ones)
		ascii := ^v & highs
		words |= gather((alpha|number|is(t, '_'))&ascii) << k
		marks |= gather((is(t, ':')|is(t, '=')|is(t, '\\'))&ascii) << k
	}
	*b = block{end: i + blockBytes, words: words, todo: words&^(words<<1) | marks}
}

// is sets the high bit of each byte of t, all below 0x80, that equals b.
func is(t uint64, b uint64) uint64 { return ^((t ^ b*ones) + lows) }

// gather makes eight bits of the high bits of eight bytes.
func gather(v uint64) uint64 { return v >> 7 * 0x0102040810204080 >> 56 }
