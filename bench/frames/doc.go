// Package frames measures the way of a frame into the process: cutting input
// into lines, admitting them, and keeping their ids (telemetry.md 13.2). It
// holds benchmarks only, beside the shapes of frames they use.
//
// BenchmarkFrameParse calls the function that the server calls, and checks its
// verdict in the loop; BenchmarkFrameParseVsJsontext puts a general validator
// and a plain newline scan beside it.
package frames
