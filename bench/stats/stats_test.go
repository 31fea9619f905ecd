package stats

import (
	"math"
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
		if got := Median(c.values); got != c.median {
			t.Errorf("%v: median %v", c.values, got)
		}
		if got := Interval(c.values); got != c.ci {
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
		if ci := Interval(v); ci[0] <= 0.6931 && 0.6931 <= ci[1] {
			held++
		}
	}
	if share := float64(held) / draws; share < 0.95 {
		t.Errorf("the interval held the median in %.1f %% of the draws", 100*share)
	}
}

// TestMannWhitney holds the approximation against exact two-sided values of the
// rank sum distribution.
func TestMannWhitney(t *testing.T) {
	for _, c := range []struct {
		name string
		a, b []float64
		p    float64
		near float64
	}{
		{"apart", []float64{1, 2, 3, 4, 5}, []float64{6, 7, 8, 9, 10}, 2.0 / 252, 0.006},
		{"one swapped", []float64{1, 2, 3, 4, 6}, []float64{5, 7, 8, 9, 10}, 4.0 / 252, 0.006},
		{"mixed", []float64{1, 4, 5, 8}, []float64{2, 3, 6, 7}, 1, 0.03},
		{"equal", []float64{2, 2, 2}, []float64{2, 2, 2}, 1, 0},
		{"none", nil, []float64{1}, 1, 0},
	} {
		if got := MannWhitney(c.a, c.b); math.Abs(got-c.p) > c.near {
			t.Errorf("%s: %v, wanted %v", c.name, got, c.p)
		}
	}
}

// TestMannWhitneyIsCalibrated: of draws from one distribution about one in
// twenty is called different, of draws that differ nearly all are.
func TestMannWhitneyIsCalibrated(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	const draws, size = 2000, 10
	for _, c := range []struct {
		shift, least, most float64
	}{{0, 0.02, 0.07}, {3, 0.95, 1}} {
		found := 0
		for range draws {
			a, b := make([]float64, size), make([]float64, size)
			for i := range a {
				a[i], b[i] = rng.ExpFloat64(), rng.ExpFloat64()+c.shift
			}
			if MannWhitney(a, b) < 0.05 {
				found++
			}
		}
		if share := float64(found) / draws; share < c.least || share > c.most {
			t.Errorf("shifted by %v: %.1f %% were called different", c.shift, 100*share)
		}
	}
}

func TestRatios(t *testing.T) {
	got := Ratios([]float64{2, 0, 4, 5}, []float64{1, 1, 8})
	if len(got) != 2 || got[0] != 0.5 || got[1] != 2 {
		t.Errorf("%v", got)
	}
}

// TestBudgets: growth from nothing is beyond any budget, and a budget may be in
// the unit itself.
func TestBudgets(t *testing.T) {
	flat := func(v float64) []float64 { return []float64{v, v, v, v, v} }
	for _, c := range []struct {
		budget, room float64
		a, b         []float64
		pass         bool
	}{
		{1, 0, flat(0), flat(0), true},
		{1, 0, flat(0), flat(1), false},
		{1, 0, flat(100), flat(100.9), true},
		{1, 0, flat(100), flat(102), false},
		{0, 0, flat(0), flat(1), true},
		{0, 1, flat(20), flat(20.9), true},
		{0, 1, flat(20), flat(21.1), false},
		{0, 1, flat(20), flat(10), true},
		{0, 1, []float64{1, 30, 20, 2, 9}, []float64{25, 3, 20, 30, 1}, true}, // not significant
	} {
		for form, got := range map[string]Comparison{"samples": Comparison{Budget: c.budget, Room: c.room}.Samples(c.a, c.b), "pairs": Comparison{Budget: c.budget, Room: c.room}.Pairs(c.a, c.b)} {
			if got.Pass != c.pass {
				t.Errorf("%s of %+v: %+v", form, c, got)
			}
		}
	}
}
