#!/usr/bin/env bash
# Loads everything in deploy/ by the program that it is for, with what a real
# child writes:
#   1. promtool reads the text file; the node exporter serves it; a Prometheus
#      scrapes that and answers every query of the dashboard
#   2. the dashboard is decoded strictly by Grafana's own schema types (Grafana
#      itself is in no package registry)
#   3. an OpenTelemetry Collector takes the configuration, the child's capture
#      and its OTLP over HTTP and gRPC
# Needs Go, curl, python3, promtool, prometheus and the node exporter, which Debian
# calls prometheus-node-exporter and everyone else node_exporter.
set -euo pipefail
cd "$(dirname "$0")/.."
dir=$(mktemp -d)
pids=()
finish() {
  for p in "${pids[@]}"; do kill "$p" 2>/dev/null && wait "$p" 2>/dev/null || true; done
  rm -rf "$dir"
}
trap finish EXIT
die() { echo "deploy-check: $*" >&2; exit 1; }
exporter=prometheus-node-exporter
command -v "$exporter" >/dev/null || exporter=node_exporter
for need in promtool prometheus "$exporter" curl python3; do
  command -v "$need" >/dev/null || die "$need is missing; on Debian: apt-get install prometheus prometheus-node-exporter curl python3"
done
port() { python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])'; }
# await SECONDS COMMAND...: until it succeeds
await() {
  local n=$(($1 * 5)); shift
  for ((i = 0; i < n; i++)); do "$@" >/dev/null 2>&1 && return; sleep 0.2; done
  return 1
}
program=${MAGI_CODE:-bin/magi-code}
(cd tools/deploycheck && go build -o "$dir/bin/" ./collector ./grafana)
go build -o "$dir/bin/observe" ./bench/cmd/observe

echo "== text file: promtool, node exporter, Prometheus"
mkdir "$dir/text" "$dir/child"
"$dir/bin/observe" -program "$program" -dir "$dir/child" MC_TELEMETRY=file,prom MC_TELEMETRY_PROM="$dir/text/magi.prom"
for f in "$dir/text/magi.prom" deploy/node-exporter/magi-code.prom; do
  promtool check metrics <"$f" >"$dir/lint" 2>&1 || true
  # The findings are names of OpenTelemetry's conventions.
  if grep -vE '^(go_goroutine_count|process_unix_file_descriptor_count) ' "$dir/lint"; then die "promtool on ${f##*/}"; fi
done
node=$(port) prom=$(port)
"$exporter" --collector.disable-defaults --collector.textfile --collector.textfile.directory="$dir/text" \
  --web.listen-address="127.0.0.1:$node" >"$dir/node.log" 2>&1 & pids+=($!)
await 10 curl -sf "http://127.0.0.1:$node/metrics" || die "the node exporter does not answer: $(tail -3 "$dir/node.log")"
curl -sf "http://127.0.0.1:$node/metrics" >"$dir/scrape"
grep -q '^node_textfile_scrape_error 0' "$dir/scrape" || die "the node exporter cannot read the text file"
grep -q '^magi_frames_total{' "$dir/scrape" || die "the node exporter does not serve magi_frames_total"
printf 'global: {scrape_interval: 1s}\nscrape_configs:\n  - {job_name: magi-code, static_configs: [{targets: ["127.0.0.1:%s"]}]}\n' "$node" >"$dir/prometheus.yml"
promtool check config "$dir/prometheus.yml" >/dev/null
prometheus --config.file="$dir/prometheus.yml" --storage.tsdb.path="$dir/tsdb" --web.listen-address="127.0.0.1:$prom" >"$dir/prom.log" 2>&1 & pids+=($!)
has() { curl -sf --data-urlencode "query=$1" "http://127.0.0.1:$prom/api/v1/query" | grep -q '"value"'; }
await 20 has 'count_over_time(magi_up[1m]) >= 3' || die "Prometheus has no magi_up: $(tail -3 "$dir/prom.log")"
python3 deploy/queries.py deploy/grafana/magi-code.json "http://127.0.0.1:$prom"

echo "== dashboard: Grafana's schema"
"$dir/bin/grafana" deploy/grafana/magi-code.json

echo "== OpenTelemetry Collector"
http=$(port) grpc=$(port)
# The same configuration, on other ports, with a file in the place of a backend.
cat >"$dir/overlay.yaml" <<YAML
receivers: {otlp: {protocols: {http: {endpoint: "127.0.0.1:$http"}, grpc: {endpoint: "127.0.0.1:$grpc"}}}}
processors: {batch: {timeout: 100ms}}
exporters: {file/live: {path: "$dir/live.jsonl", flush_interval: 100ms}, file/captures: {path: "$dir/captures.jsonl", flush_interval: 100ms}}
service:
  pipelines:
    traces: {exporters: [file/live]}
    metrics: {exporters: [file/live]}
    traces/captures: {exporters: [file/captures]}
    logs/captures: {exporters: [file/captures]}
    metrics/captures: {exporters: [file/captures]}
YAML
export MAGI_BACKEND=http://127.0.0.1:9 MAGI_CAPTURES="$dir/child/home/state/telemetry"
"$dir/bin/collector" validate --config file:deploy/otel-collector.yaml
"$dir/bin/collector" --config file:deploy/otel-collector.yaml --config "file:$dir/overlay.yaml" >"$dir/collector.log" 2>&1 & pids+=($!)
took() { grep -q "$2" "$dir/$1.jsonl"; }
for want in '"magi.child"' '"magi.exit"' '"magi.frames"'; do
  await 30 took captures "$want" || die "the capture's $want did not pass the collector: $(tail -5 "$dir/collector.log")"
done
if grep otlpjsonfile: "$dir/collector.log"; then die "the collector's reader refused a line of the capture"; fi
for sender in "http/protobuf $http" "grpc $grpc"; do
  read -r protocol at <<<"$sender"
  rm -rf "$dir/sender" && mkdir "$dir/sender"
  "$dir/bin/observe" -program "$program" -dir "$dir/sender" MC_TELEMETRY=otlp MC_TELEMETRY_SHUTDOWN_MS=500 \
    MC_TELEMETRY_OTLP_PROTOCOL="$protocol" MC_TELEMETRY_OTLP_ENDPOINT="http://127.0.0.1:$at"
  status=$dir/sender/home/state/telemetry-status.json
  instance=$(python3 -c 'import json, sys; print(json.load(open(sys.argv[1]))["instance_id"])' "$status")
  for want in '"magi.child"' '"magi.frames"'; do
    await 15 took live "$instance.*$want" || die "the child's $want did not reach the collector over $protocol: $(cat "$status")"
  done
done
echo "deploy-check: everything was loaded"
