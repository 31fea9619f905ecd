package stats

import (
	"math"
	"slices"
)

// Median is NaN of nothing.
func Median(v []float64) float64 { return Quantile(v, 0.5) }

// Quantile interpolates between the two nearest values; q is from 0 to 1.
func Quantile(v []float64, q float64) float64 {
	if len(v) == 0 {
		return math.NaN()
	}
	s := slices.Sorted(slices.Values(v))
	at := q * float64(len(s)-1)
	i := int(at)
	if i+1 == len(s) {
		return s[i]
	}
	return s[i] + (at-float64(i))*(s[i+1]-s[i])
}

// Interval holds the median of what v was drawn from with 95 % certainty: it
// lies between the k-th smallest and the k-th largest value, whatever the
// distribution. With fewer than six values it is all of them, and less certain.
func Interval(v []float64) [2]float64 {
	s := slices.Sorted(slices.Values(v))
	if len(s) == 0 {
		return [2]float64{math.NaN(), math.NaN()}
	}
	n, k, outside := len(s), 0, 0.0
	p := math.Pow(0.5, float64(n)) // of exactly k values below the median
	for k < (n-1)/2 && 2*(outside+p) <= 0.05 {
		outside += p
		p *= float64(n-k) / float64(k+1)
		k++
	}
	k = max(k-1, 0)
	return [2]float64{s[k], s[n-1-k]}
}

// Ratios are b over a of each round, those of rounds without an a left out.
func Ratios(a, b []float64) []float64 {
	var out []float64
	for i := range min(len(a), len(b)) {
		if a[i] > 0 && !math.IsNaN(b[i]) {
			out = append(out, b[i]/a[i])
		}
	}
	return out
}

// MannWhitney is the two-sided probability of a difference at least this large
// between a and b if both were drawn from the same distribution: the normal
// approximation of the U test, corrected for ties and for continuity. It is
// conservative for the few rounds of a benchmark; 1 where either is empty.
func MannWhitney(a, b []float64) float64 {
	n, m := float64(len(a)), float64(len(b))
	if n == 0 || m == 0 {
		return 1
	}
	all := slices.Sorted(slices.Values(slices.Concat(a, b)))
	rank := make(map[float64]float64, len(all)) // the mean rank of equal values
	ties := 0.0
	for i := 0; i < len(all); {
		j := i
		for j < len(all) && all[j] == all[i] {
			j++
		}
		rank[all[i]] = float64(i+j+1) / 2
		t := float64(j - i)
		ties += t*t*t - t
		i = j
	}
	sum := 0.0
	for _, v := range a {
		sum += rank[v]
	}
	u := sum - n*(n+1)/2
	variance := n * m / 12 * (n + m + 1 - ties/((n+m)*(n+m-1)))
	if variance <= 0 {
		return 1
	}
	z := max(math.Abs(u-n*m/2)-0.5, 0) / math.Sqrt(variance)
	return math.Erfc(z / math.Sqrt2)
}

// Value is a figure with its spread.
type Value struct {
	Name   string     `json:"name,omitempty"`
	Unit   string     `json:"unit,omitempty"`
	N      int        `json:"n"`
	Median float64    `json:"median"`
	CI     [2]float64 `json:"ci"`
	Values []float64  `json:"values,omitempty"`
}

// Of summarizes v.
func Of(v []float64) Value { return Value{N: len(v), Median: Median(v), CI: Interval(v), Values: v} }
