package promtext

import (
	"bytes"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"

	"magicode/telemetry/point"
)

// TestEncode: Prometheus's own parser reads every value, label and bucket.
func TestEncode(t *testing.T) {
	label := func(kv ...string) (out []point.Label) {
		for i := 0; i < len(kv); i += 2 {
			out = append(out, point.Label{Key: kv[i], Value: kv[i+1]})
		}
		return out
	}
	const odd = "a\\b\"c\nd é"
	text := Encode([]point.Metric{
		{Name: "magi.z", Unit: "{x}", Type: point.Counter, Points: []point.Point{{Labels: label("z.z", odd, "a.a", "2"), Value: 1e21}, {Labels: label("z.z", "x", "a.a", "1"), Value: 0.25}}},
		{Name: "magi.a", Unit: "s", Type: point.Histogram, Bounds: []float64{5e-6, 0.1, 2}, Points: []point.Point{{Labels: label("k", "v"), Buckets: []uint64{1, 0, 2, 3}, Count: 6, Sum: 7.5}}},
		{Name: "magi.g", Unit: "By", Type: point.Gauge, Points: []point.Point{{Value: -3}}},
		{Name: "magi.none", Unit: "By", Type: point.Gauge},
	})
	parser := expfmt.NewTextParser(model.LegacyValidation)
	families, err := parser.TextToMetricFamilies(bytes.NewReader(text))
	if err != nil {
		t.Fatalf("%v in\n%s", err, text)
	}
	var got []string
	for _, name := range []string{"magi_a_seconds", "magi_g_bytes", "magi_none_bytes", "magi_z_total"} {
		f := families[name]
		if f == nil {
			continue
		}
		for _, m := range f.Metric {
			s := f.GetHelp() + " " + f.GetType().String()
			for _, l := range m.Label {
				s += " " + l.GetName() + "=" + l.GetValue()
			}
			switch {
			case m.Histogram != nil:
				s += " sum " + number(m.Histogram.GetSampleSum())
				for _, b := range m.Histogram.Bucket {
					s += " " + number(b.GetUpperBound()) + ":" + number(float64(b.GetCumulativeCount()))
				}
			case m.Gauge != nil:
				s += " " + number(m.Gauge.GetValue())
			default:
				s += " " + number(m.Counter.GetValue())
			}
			got = append(got, s)
		}
	}
	want := []string{
		"magi.a (s) HISTOGRAM k=v sum 7.5 5e-06:1 0.1:1 2:3 +Inf:6",
		"magi.g (By) GAUGE -3",
		"magi.z ({x}) COUNTER a_a=1 z_z=x 0.25",
		"magi.z ({x}) COUNTER a_a=2 z_z=" + odd + " 1e+21",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if again := Encode(nil); len(again) != 0 {
		t.Errorf("of nothing: %q", again)
	}
}
