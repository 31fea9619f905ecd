package main

import (
	"math"
	"slices"
)

func median(v []float64) float64 { return quantile(v, 0.5) }

// quantile interpolates between the two nearest values.
func quantile(v []float64, q float64) float64 {
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

// interval holds the median of what v was drawn from with 95 % certainty: it
// lies between the k-th smallest and the k-th largest value, whatever the
// distribution. With fewer than six values it is all of them, and less certain.
func interval(v []float64) [2]float64 {
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
