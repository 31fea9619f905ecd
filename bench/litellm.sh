#!/usr/bin/env bash
# Real children of this program against the litellm proxy from PyPI, which
# answers with mock responses: no key, no model. Everything goes below one
# temporary folder, which is removed at the end.
set -euo pipefail
cd "$(dirname "$0")/.."
dir=$(mktemp -d)
proxy=
trap '[ -z "$proxy" ] || kill "$proxy" 2>/dev/null || true; rm -rf "$dir"' EXIT
if [ -z "${MAGI_LITELLM:-}" ]; then
  python3 -m venv "$dir/venv"
  "$dir/venv/bin/pip" install -q 'litellm[proxy]==1.*'
  MAGI_LITELLM=$dir/venv/bin/litellm
fi
port=$(python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])')
key=sk-interop-$(python3 -c 'import secrets; print(secrets.token_hex(16))')
base=http://127.0.0.1:$port
# "mock" answers by itself; "bridge" and "messages" have the proxy translate the
# Responses and the Messages API to its own mock and back, as a stream.
cat >"$dir/config.yaml" <<YAML
model_list:
  - model_name: mock
    litellm_params: {model: openai/gpt-4o-mini, api_key: none, mock_response: "Hello from the proxy."}
  - model_name: messages
    litellm_params: {model: hosted_vllm/mock, api_base: "$base/v1", api_key: $key}
  - model_name: bridge
    litellm_params: {model: deepseek/mock, api_base: "$base/v1", api_key: $key}
general_settings: {master_key: $key}
YAML
LITELLM_TELEMETRY=False LITELLM_LOCAL_MODEL_COST_MAP=True "$MAGI_LITELLM" --config "$dir/config.yaml" --host 127.0.0.1 --port "$port" >"$dir/log" 2>&1 &
proxy=$!
for _ in $(seq 60); do
  if python3 -c "import urllib.request; urllib.request.urlopen('$base/health/liveliness', timeout=1)" 2>/dev/null; then ready=1; break; fi
  sleep 1
done
[ -n "${ready:-}" ] || { cat "$dir/log"; exit 1; }
MAGI_LITELLM_URL=$base MAGI_LITELLM_KEY=$key go test -count=1 -v -timeout 5m ./bench/litellm
