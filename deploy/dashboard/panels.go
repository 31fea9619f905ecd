package main

import (
	"fmt"
	"strings"

	"magicode/telemetry"
	"magicode/telemetry/point"
	"magicode/telemetry/promtext"
)

// group is a row of the dashboard.
type group struct {
	title    string
	prefixes []string // of the names as Prometheus has them
	panels   []panel
}

// families are the groups of the catalogue. The first that fits takes a metric.
func families() []group {
	return []group{
		{title: "Frames, queues and deadlines", prefixes: []string{"magi_frame", "magi_output", "magi_worker", "magi_deltas"}},
		{title: "Requests", prefixes: []string{"rpc_", "magi_admission", "magi_request"}},
		{title: "Startup and MCP servers", prefixes: []string{"magi_startup", "magi_mcp", "mcp_"}},
		{title: "Runs and tasks", prefixes: []string{"gen_ai_invoke_agent", "magi_run", "magi_subagent"}},
		{title: "Models and tokens", prefixes: []string{"gen_ai_client", "magi_provider"}},
		{title: "Tools", prefixes: []string{"gen_ai_execute_tool", "magi_tool", "magi_code_mode"}},
		{title: "Approvals", prefixes: []string{"magi_approval"}},
		{title: "Sessions on disk", prefixes: []string{"magi_session"}},
		{title: "History", prefixes: []string{"magi_history"}},
		{title: "Cleanup", prefixes: []string{"magi_cleanup"}},
		{title: "Telemetry itself", prefixes: []string{"magi_telemetry"}},
		{title: "Go runtime and process", prefixes: []string{"go_", "process_"}},
		{title: "Other", prefixes: []string{""}},
	}
}

// splits are the labels by which a metric is worth looking at. Others are shown
// as one.
var splits = map[string]string{
	"magi_frames_total":                        "magi_direction, magi_event",
	"magi_deltas_total":                        "magi_delta_outcome",
	"magi_admission_rejections_total":          "error_type",
	"magi_output_failures_total":               "magi_output_outcome",
	"magi_approval_answers_total":              "magi_answer",
	"magi_approval_wait_duration_seconds":      "magi_approval_outcome",
	"magi_provider_retries_total":              "magi_retry_reason",
	"magi_startup_duration_seconds":            "magi_startup_phase",
	"magi_cleanup_duration_seconds":            "magi_cleanup_phase",
	"magi_cleanup_detached_total":              "magi_cleanup_phase",
	"magi_session_append_duration_seconds":     "magi_session_class",
	"magi_history_project_duration_seconds":    "magi_history_trigger",
	"magi_telemetry_dropped_total":             "magi_drop",
	"go_memory_used_bytes":                     "go_memory_type",
	"process_cpu_time_seconds_total":           "cpu_mode",
	"rpc_server_call_duration_seconds":         "rpc_method",
	"mcp_client_operation_duration_seconds":    "mcp_method_name",
	"gen_ai_invoke_agent_duration_seconds":     "magi_run_outcome",
	"gen_ai_client_inference_duration_seconds": "magi_chat_purpose",
	"gen_ai_execute_tool_duration_seconds":     "gen_ai_tool_name",
}

// limits are the protocol's, where a figure has one.
var limits = map[string]float64{"magi_output_pending": 32, "magi_output_pending_peak": 32, "magi_worker_pending": 32, "magi_worker_pending_peak": 32, "magi_request_ids": 4096}

func groups() []group {
	all := families()
	for _, m := range telemetry.Catalogue() {
		name := promtext.Name(&m)
		for i := range all {
			if fits(all[i], name) {
				all[i].panels = append(all[i].panels, panelOf(&m, name))
				break
			}
		}
	}
	out := []group{{title: "At a glance", panels: glance()}}
	for _, g := range all {
		if len(g.panels) > 0 {
			out = append(out, g)
		}
	}
	return out
}

func fits(g group, name string) bool {
	for _, p := range g.prefixes {
		if strings.HasPrefix(name, p) {
			return true
		}
	}
	return false
}

func unitOf(m *point.Metric) string {
	switch m.Unit {
	case "s":
		return "s"
	case "By":
		return "bytes"
	}
	return "short"
}

// panelOf shows a counter as its rate, a gauge as it is, and a histogram as its
// middle and its upper end.
func panelOf(m *point.Metric, name string) panel {
	p := panel{title: m.Name, about: m.Name + " (" + m.Unit + ")", unit: unitOf(m), kind: "timeseries", width: 8, most: limits[name]}
	by := splits[name]
	switch m.Type {
	case point.Counter:
		if p.unit == "short" {
			p.unit = "ops"
		}
		p.targets = []target{{summed(by, rate(name)), legend("", by)}}
	case point.Gauge:
		p.targets = []target{{"max by (instance) (" + name + selector + ")", "{{instance}}"}}
	default:
		p.targets = []target{{quantile(0.5, name, by), legend("p50 ", by)}, {quantile(0.95, name, by), legend("p95 ", by)}}
	}
	return p
}

func rate(series string) string { return "rate(" + series + selector + "[$__rate_interval])" }

func summed(by, expr string) string {
	if by == "" {
		return "sum(" + expr + ")"
	}
	return "sum by (" + by + ") (" + expr + ")"
}

func quantile(q float64, name, by string) string {
	labels := "le"
	if by != "" {
		labels += ", " + by
	}
	return fmt.Sprintf("histogram_quantile(%g, %s)", q, summed(labels, rate(name+"_bucket")))
}

func legend(prefix, by string) string {
	var parts []string
	for l := range strings.SplitSeq(by, ", ") {
		if l != "" {
			parts = append(parts, "{{"+l+"}}")
		}
	}
	return prefix + strings.Join(parts, " ")
}

// glance is the first row: what a support case begins with.
func glance() []panel {
	stat := func(title, about, unit string, expr string) panel {
		return panel{title: title, about: about, unit: unit, kind: "stat", width: 4, targets: []target{{expr, ""}}}
	}
	wide := func(title, about, unit string, t ...target) panel {
		return panel{title: title, about: about, unit: unit, kind: "timeseries", width: 12, targets: t}
	}
	queues := wide("Queues", "Greatest lengths; the protocol ends a connection at 32 frames.", "short",
		target{"max(magi_output_pending_peak" + selector + ")", "output"}, target{"max(magi_worker_pending_peak" + selector + ")", "worker events"})
	queues.most = 32
	const cleanup = "magi_cleanup_duration_seconds"
	return []panel{
		stat("Children", "Text files whose child is alive.", "short", "sum(magi_up"+selector+")"),
		stat("Runs", "At work now.", "short", "sum(magi_runs_active"+selector+")"),
		stat("Open questions", "Approvals that a user has not answered.", "short", "sum(magi_approvals_pending"+selector+")"),
		stat("Near misses in an hour", "Frames that had less than 500 ms left.", "short", "sum(increase(magi_output_near_misses_total"+selector+"[1h]))"),
		stat("Longest in the queue", "Age of the oldest frame when it was written; 2 s end a connection.", "s", "max(magi_output_oldest_age_peak_seconds"+selector+")"),
		stat("Cleanups given up in an hour", "Their process left something behind.", "short", `sum(increase(`+cleanup+`_count{job=~"$job", magi_cleanup_phase="total", magi_cleanup_outcome="detached"}[1h])) or vector(0)`),
		queues,
		wide("Deadline margin", "What was left of the 2,000 ms of a frame: the lowest hundredth, and the middle.", "s",
			target{quantile(0.01, "magi_output_deadline_margin_seconds", ""), "p1"}, target{quantile(0.5, "magi_output_deadline_margin_seconds", ""), "p50"}),
		wide("Approvals", "How long users take, 60 s at most.", "s",
			target{quantile(0.5, "magi_approval_wait_duration_seconds", "magi_approval_outcome"), "p50 {{magi_approval_outcome}}"},
			target{quantile(0.95, "magi_approval_wait_duration_seconds", "magi_approval_outcome"), "p95 {{magi_approval_outcome}}"}),
		wide("Cleanup by phase", "The slowest twentieth; 2 s and the rest is given up.", "s", target{quantile(0.95, cleanup, "magi_cleanup_phase"), "{{magi_cleanup_phase}}"}),
		wide("Tokens per second", "In and out, from the sums of what each request used.", "short",
			target{summed("", rate("gen_ai_client_inference_operation_input_tokens_sum")), "in"}, target{summed("", rate("gen_ai_client_inference_operation_output_tokens_sum")), "out"}),
		wide("Runs by outcome", "Per second.", "ops", target{summed("magi_run_outcome", rate("gen_ai_invoke_agent_duration_seconds_count")), "{{magi_run_outcome}}"}),
	}
}
