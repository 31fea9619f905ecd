package hashedit

// unchanged maps lines (1-based) of one text to the lines of another that are
// the same and in the same order. It follows lines that stand once in both,
// and what is equal next to them, which is enough to tell where a line went; it
// finds no least difference.
func unchanged(a, b []string) map[int]int {
	m := map[int]int{}
	match(a, b, 0, 0, m)
	return m
}

// match pairs the lines of two ranges that start after the given offsets.
func match(a, b []string, atA, atB int, m map[int]int) {
	for len(a) > 0 && len(b) > 0 && a[0] == b[0] {
		atA, atB = atA+1, atB+1
		m[atA] = atB
		a, b = a[1:], b[1:]
	}
	for len(a) > 0 && len(b) > 0 && a[len(a)-1] == b[len(b)-1] {
		m[atA+len(a)] = atB + len(b)
		a, b = a[:len(a)-1], b[:len(b)-1]
	}
	if len(a) == 0 || len(b) == 0 {
		return
	}
	prevA, prevB := 0, 0
	for _, pair := range increasing(uniquePairs(a, b)) {
		match(a[prevA:pair[0]], b[prevB:pair[1]], atA+prevA, atB+prevB, m)
		m[atA+pair[0]+1] = atB + pair[1] + 1
		prevA, prevB = pair[0]+1, pair[1]+1
	}
	if prevA > 0 {
		match(a[prevA:], b[prevB:], atA+prevA, atB+prevB, m)
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
