package linediff

// Unchanged maps lines (1-based) of one text to the lines of another that are
// the same and in the same order. It follows lines that stand once in both,
// and what is equal next to them, which is enough to tell where a line went; it
// finds no least difference. Its time is bounded by the number of lines: texts
// that would take longer have fewer pairs.
func Unchanged(a, b []string) map[int]int {
	d := differ{pairs: map[int]int{}, work: maxPasses * (len(a) + len(b))}
	d.match(a, b, 0, 0)
	return d.pairs
}

// maxPasses is how often a line is looked at, on average. Changes that people
// and models make take fewer than ten.
const maxPasses = 64

type differ struct {
	pairs map[int]int
	work  int // lines that may still be looked at
}

// match pairs the lines of two ranges that start after the given offsets.
func (d *differ) match(a, b []string, atA, atB int) {
	d.work -= len(a) + len(b)
	for len(a) > 0 && len(b) > 0 && a[0] == b[0] {
		atA, atB = atA+1, atB+1
		d.pairs[atA] = atB
		a, b = a[1:], b[1:]
	}
	for len(a) > 0 && len(b) > 0 && a[len(a)-1] == b[len(b)-1] {
		d.pairs[atA+len(a)] = atB + len(b)
		a, b = a[:len(a)-1], b[:len(b)-1]
	}
	if len(a) == 0 || len(b) == 0 || d.work < 0 {
		return
	}
	prevA, prevB := 0, 0
	for _, pair := range increasing(uniquePairs(a, b)) {
		d.match(a[prevA:pair[0]], b[prevB:pair[1]], atA+prevA, atB+prevB)
		d.pairs[atA+pair[0]+1] = atB + pair[1] + 1
		prevA, prevB = pair[0]+1, pair[1]+1
	}
	if prevA > 0 {
		d.match(a[prevA:], b[prevB:], atA+prevA, atB+prevB)
	}
}

// uniquePairs are the indexes of lines that stand exactly once in each text, in
// the order of a.
func uniquePairs(a, b []string) (pairs [][2]int) {
	inB := map[string]int{} // index, or -1 for several
	for i, s := range b {
		if _, ok := inB[s]; ok {
			inB[s] = -1
		} else {
			inB[s] = i
		}
	}
	inA := map[string]int{}
	for _, s := range a {
		inA[s]++
	}
	for i, s := range a {
		if j, ok := inB[s]; ok && j >= 0 && inA[s] == 1 {
			pairs = append(pairs, [2]int{i, j})
		}
	}
	return pairs
}

// increasing is a longest subsequence whose second numbers grow.
func increasing(pairs [][2]int) [][2]int {
	var tops []int // of each length, the pair that ends lowest
	back := make([]int, len(pairs))
	for i, p := range pairs {
		low, high := 0, len(tops)
		for low < high {
			if mid := (low + high) / 2; pairs[tops[mid]][1] < p[1] {
				low = mid + 1
			} else {
				high = mid
			}
		}
		back[i] = -1
		if low > 0 {
			back[i] = tops[low-1]
		}
		if low == len(tops) {
			tops = append(tops, i)
		} else {
			tops[low] = i
		}
	}
	out := make([][2]int, len(tops))
	if len(tops) == 0 {
		return out
	}
	for i, at := len(tops)-1, tops[len(tops)-1]; i >= 0; i, at = i-1, back[at] {
		out[i] = pairs[at]
	}
	return out
}
