package plot

import (
	"bufio"
	"encoding/xml"
	"fmt"
	"io"
	"math"
	"strings"
)

// Row is a figure. Rows that are not above zero are drawn without a dot.
type Row struct {
	Group  string // rows of one group stand together, under its name
	Label  string
	Median float64
	CI     [2]float64
	Text   string  // beside the figure
	Mark   float64 // a target: a line across the row; 0: none
	Bad    bool    // drawn as missed
}

// Sizes in pixels.
const (
	lineHeight  = 18
	labelWidth  = 430
	plotWidth   = 460
	textWidth   = 230
	headHeight  = 76
	footHeight  = 24
	groupHeight = 26
)

const style = `text{font:12px ui-sans-serif,system-ui,sans-serif;fill:#1f2328}.g{font-weight:600}.t{font-size:16px;font-weight:600}.m{fill:#59636e}` +
	`.b{fill:#fff}.x{stroke:#d1d9e0;stroke-width:1}.i{stroke:#0969da;stroke-width:3;stroke-opacity:.45;stroke-linecap:round}.d{fill:#0969da}` +
	`.k{stroke:#1a7f37;stroke-width:2}.f.i{stroke:#cf222e}.f.d{fill:#cf222e}` +
	`@media(prefers-color-scheme:dark){text{fill:#f0f6fc}.m{fill:#9198a1}.b{fill:#0d1117}.x{stroke:#3d444d}.i{stroke:#4493f8}.d{fill:#4493f8}.k{stroke:#3fb950}.f.i{stroke:#f85149}.f.d{fill:#f85149}}`

// Write draws the rows. axis says what is drawn, with its unit.
func Write(w io.Writer, title, axis string, rows []Row) error {
	out := bufio.NewWriter(w)
	s := scaleOf(rows)
	height := headHeight + footHeight + lineHeight*len(rows)
	group := ""
	for _, r := range rows {
		if r.Group != group {
			group, height = r.Group, height+groupHeight
		}
	}
	width := labelWidth + plotWidth + textWidth
	fmt.Fprintf(out, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %d" width="%d" height="%d" role="img"><title>%s</title><style>%s</style>`+"\n", width, height, width, height, text(title), style)
	fmt.Fprintf(out, `<rect class="b" width="%d" height="%d"/><text class="t" x="16" y="28">%s</text><text class="m" x="16" y="48">%s</text>`+"\n", width, height, text(title), text(axis))
	s.grid(out, height-footHeight)
	y, group := headHeight, ""
	for _, r := range rows {
		if r.Group != group {
			group = r.Group
			fmt.Fprintf(out, `<text class="g" x="16" y="%d">%s</text>`+"\n", y+18, text(group))
			y += groupHeight
		}
		s.row(out, r, y+lineHeight/2)
		y += lineHeight
	}
	fmt.Fprintln(out, "</svg>")
	return out.Flush()
}

// scale maps values to the axis.
type scale struct{ lo, hi float64 } // powers of ten

func scaleOf(rows []Row) scale {
	lo, hi := math.Inf(1), math.Inf(-1)
	for _, r := range rows {
		for _, v := range []float64{r.Median, r.CI[0], r.CI[1], r.Mark} {
			if v > 0 && !math.IsInf(v, 0) {
				lo, hi = min(lo, math.Log10(v)), max(hi, math.Log10(v))
			}
		}
	}
	if lo > hi {
		return scale{0, 1}
	}
	// Whole decades where there are several; else a little room at both ends.
	if hi-lo > 1.5 {
		return scale{math.Floor(lo), math.Ceil(hi)}
	}
	return scale{lo - 0.05, hi + 0.05}
}

func (s scale) x(v float64) float64 {
	if v <= 0 {
		return labelWidth
	}
	at := (math.Log10(v) - s.lo) / (s.hi - s.lo)
	return labelWidth + plotWidth*max(0, min(1, at))
}

// grid has a line at each decade, at 1, 2 and 5 where there are few of them.
func (s scale) grid(out io.Writer, bottom int) {
	steps := []float64{1}
	if s.hi-s.lo < 3.5 {
		steps = []float64{1, 2, 5}
	}
	for decade := math.Floor(s.lo); decade <= s.hi; decade++ {
		for _, step := range steps {
			v := step * math.Pow(10, decade)
			if l := math.Log10(v); l < s.lo-1e-9 || l > s.hi+1e-9 {
				continue
			}
			x := s.x(v)
			fmt.Fprintf(out, `<line class="x" x1="%.1f" x2="%.1f" y1="%d" y2="%d"/>`, x, x, headHeight, bottom)
			for _, y := range []int{headHeight - 4, bottom + 16} {
				fmt.Fprintf(out, `<text class="m" text-anchor="middle" x="%.1f" y="%d">%s</text>`, x, y, text(short(v)))
			}
			fmt.Fprintln(out)
		}
	}
}

func (s scale) row(out io.Writer, r Row, y int) {
	fmt.Fprintf(out, `<text x="28" y="%d">%s</text>`, y+4, text(r.Label))
	class := ""
	if r.Bad {
		class = "f "
	}
	if r.Mark > 0 {
		fmt.Fprintf(out, `<line class="k" x1="%.1f" x2="%.1f" y1="%d" y2="%d"/>`, s.x(r.Mark), s.x(r.Mark), y-7, y+7)
	}
	if r.Median > 0 {
		fmt.Fprintf(out, `<line class="%si" x1="%.1f" x2="%.1f" y1="%d" y2="%d"/><circle class="%sd" cx="%.1f" cy="%d" r="4"/>`, class, s.x(r.CI[0]), s.x(r.CI[1]), y, y, class, s.x(r.Median), y)
	}
	fmt.Fprintf(out, `<text class="m" x="%d" y="%d">%s</text>`+"\n", labelWidth+plotWidth+12, y+4, text(r.Text))
}

func text(s string) string {
	var b strings.Builder
	_ = xml.EscapeText(&b, []byte(s)) // a Builder does not fail
	return b.String()
}

func short(v float64) string {
	switch {
	case v >= 1e9:
		return fmt.Sprintf("%gG", v/1e9)
	case v >= 1e6:
		return fmt.Sprintf("%gM", v/1e6)
	case v >= 1e3:
		return fmt.Sprintf("%gk", v/1e3)
	}
	return fmt.Sprintf("%.3g", v)
}
