package linediff

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"
)

func TestUnchanged(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		gen := rapid.SliceOfN(rapid.SampledFrom([]string{"a", "b", "c", "d", "", "x"}), 0, 20)
		a, b := gen.Draw(t, "a"), gen.Draw(t, "b")
		last := 0
		m := Unchanged(a, b)
		for i := range a {
			j, ok := m[i+1]
			if !ok {
				continue
			}
			if j <= last || a[i] != b[j-1] {
				t.Fatalf("%q %q: %v", a, b, m)
			}
			last = j
		}
		if slices.Equal(a, b) && len(m) != len(a) {
			t.Fatalf("%q: %v", a, m)
		}
	})
}

// Texts in which every pass finds one pair only would take a pass a line.
func TestUnchangedIsBounded(t *testing.T) {
	var a, b []string
	for i := range 20_000 {
		a = append(a, fmt.Sprint(i), fmt.Sprint(i+1))
		b = append(b, fmt.Sprint(i), "x", fmt.Sprint(i+1))
	}
	from := time.Now()
	m := Unchanged(a, b)
	if spent := time.Since(from); spent > 20*time.Second {
		t.Errorf("%v for %d lines", spent, len(a)+len(b))
	}
	if len(m) == 0 {
		t.Error("nothing is paired")
	}
}
