//go:build !promclient

package promtext

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"magicode/telemetry/point"
)

func TestAppend(t *testing.T) {
	got := string(Append(nil, []point.Metric{
		{Name: "magi.frames", Unit: "{frame}", Type: point.Counter, Points: []point.Point{
			{Value: 2, Labels: []point.Label{{Key: "magi.direction", Value: "out"}}}, {Value: 1e16, Labels: []point.Label{{Key: "magi.direction", Value: "in\"\\\n"}}}}},
		{Name: "magi.output.pending", Unit: "{frame}", Type: point.Gauge, Points: []point.Point{{Value: 0.5}}},
		{Name: "magi.frame.size", Unit: "By", Type: point.Histogram, Bounds: []float64{128, 0.25}, Points: []point.Point{{Buckets: []uint64{1, 0, 2}, Sum: 1.5}}},
		{Name: "magi.x", Unit: "s", Type: point.Histogram, Bounds: []float64{1}, Points: []point.Point{{Buckets: []uint64{0, 0}, Labels: []point.Label{{Key: "a.b", Value: "c"}}}}},
	}))
	want := `# TYPE magi_frames_total counter
magi_frames_total{magi_direction="in\"\\\n"} 1e+16
magi_frames_total{magi_direction="out"} 2
# TYPE magi_output_pending gauge
magi_output_pending 0.5
# TYPE magi_frame_size_bytes histogram
magi_frame_size_bytes_bucket{le="128"} 1
magi_frame_size_bytes_bucket{le="0.25"} 1
magi_frame_size_bytes_bucket{le="+Inf"} 3
magi_frame_size_bytes_sum 1.5
magi_frame_size_bytes_count 3
# TYPE magi_x_seconds histogram
magi_x_seconds_bucket{a_b="c",le="1"} 0
magi_x_seconds_bucket{a_b="c",le="+Inf"} 0
magi_x_seconds_sum{a_b="c"} 0
magi_x_seconds_count{a_b="c"} 0
`
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}
