package lease

import "testing"

func TestParseStat(t *testing.T) {
	ticks, state := parseStat("123 (a) b) c) S 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 4242 20 21\n")
	if ticks != "4242" || state != "S" {
		t.Errorf("%q %q", ticks, state)
	}
	if ticks, _ := parseStat("1 (x) S 1"); ticks != "" {
		t.Errorf("%q", ticks)
	}
}
