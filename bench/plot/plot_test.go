package plot

import (
	"encoding/xml"
	"errors"
	"io"
	"math"
	"strings"
	"testing"
)

// TestWrite: what comes out is XML with a dot for each figure that has one, and
// no text escapes into it.
func TestWrite(t *testing.T) {
	rows := []Row{
		{Group: "a", Label: "first <&>", Median: 10, CI: [2]float64{5, 20}, Text: "10 ms"},
		{Group: "a", Label: "second", Median: 2000, CI: [2]float64{1500, 2500}, Mark: 800, Bad: true},
		{Group: "b", Label: "none", Median: 0},
		{Group: "b", Label: "not a number", Median: math.NaN(), CI: [2]float64{math.NaN(), math.NaN()}},
	}
	var b strings.Builder
	if err := Write(&b, "A <title>", "ms", rows); err != nil {
		t.Fatal(err)
	}
	seen := map[string]int{}
	dec := xml.NewDecoder(strings.NewReader(b.String()))
	for {
		tok, err := dec.Token()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		if e, ok := tok.(xml.StartElement); ok {
			seen[e.Name.Local]++
		}
	}
	if seen["circle"] != 2 || seen["script"] != 0 || strings.Contains(b.String(), "NaN") {
		t.Errorf("%v\n%s", seen, b.String())
	}
	if strings.Count(b.String(), `class="k"`) != 1 || strings.Count(b.String(), `class="f d"`) != 1 {
		t.Error("a target or a miss is not drawn")
	}
}

func TestScale(t *testing.T) {
	s := scaleOf([]Row{{Median: 3}, {Median: 4000}})
	if s.lo != 0 || s.hi != 4 {
		t.Errorf("%+v", s)
	}
	if s.x(1) != labelWidth || s.x(1e4) != labelWidth+plotWidth || s.x(100) != labelWidth+plotWidth/2 {
		t.Errorf("%v %v %v", s.x(1), s.x(100), s.x(1e4))
	}
	if near := scaleOf([]Row{{Median: 0.97, CI: [2]float64{0.95, 1.01}}}); near.hi-near.lo > 0.2 {
		t.Errorf("too wide for figures that are close: %+v", near)
	}
	if none := scaleOf(nil); none.hi <= none.lo {
		t.Errorf("%+v", none)
	}
}
