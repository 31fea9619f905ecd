package main

import (
	"math/rand/v2"
	"testing"
)

func TestMedianAndInterval(t *testing.T) {
	for _, c := range []struct {
		values []float64
		median float64
		ci     [2]float64
	}{
		{[]float64{3}, 3, [2]float64{3, 3}},
		{[]float64{4, 1, 3, 2}, 2.5, [2]float64{1, 4}},
		{[]float64{6, 5, 4, 3, 2, 1}, 3.5, [2]float64{1, 6}},
		{[]float64{9, 8, 7, 6, 5, 4, 3, 2, 1}, 5, [2]float64{2, 8}}, // the sign test's table: k = 2 of 9
	} {
		if got := median(c.values); got != c.median {
			t.Errorf("%v: median %v", c.values, got)
		}
		if got := interval(c.values); got != c.ci {
			t.Errorf("%v: interval %v, wanted %v", c.values, got, c.ci)
		}
	}
}

// TestIntervalHolds draws from a skewed distribution whose median is known.
func TestIntervalHolds(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	const draws, size = 2000, 15
	held := 0
	for range draws {
		v := make([]float64, size)
		for i := range v {
			v[i] = rng.ExpFloat64()
		}
		if ci := interval(v); ci[0] <= 0.6931 && 0.6931 <= ci[1] {
			held++
		}
	}
	if share := float64(held) / draws; share < 0.95 {
		t.Errorf("the interval held the median in %.1f %% of the draws", 100*share)
	}
}
