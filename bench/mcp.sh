#!/bin/bash
# Holds the MCP client against servers of others: installs them below a temporary
# folder (or MCP_DIR, which is kept) from npm and PyPI, then runs
#   1. real servers: list, call, a failing call, cancel, stop (stdio and Streamable HTTP)
#   2. the MCP project's conformance suite for clients
# Needs node, npm and python3, and the two registries. Status 1 if anything fails
# that is not expected to (docs/compatibility.md names what is, and why).
set -u
cd "$(dirname "$0")/.."
dir=${MCP_DIR:-$(mktemp -d)}
mkdir -p "$dir"
server=
finish() {
  [ -n "$server" ] && kill "$server" 2>/dev/null
  [ -n "${MCP_DIR:-}" ] || rm -rf "$dir"
}
trap finish EXIT

scope=@modelcontextprotocol
npm install --silent --no-fund --no-audit --prefix "$dir" $scope/server-everything@2026.8.31 $scope/server-filesystem@2026.8.31 $scope/conformance@0.1.16 node@22 || exit 1
[ -x "$dir/venv/bin/mcp-server-time" ] || { python3 -m venv "$dir/venv" && "$dir/venv/bin/pip" install -q mcp-server-time==2026.10.19; } || exit 1
CGO_ENABLED=0 go build -o "$dir/mcpinterop" ./bench/cmd/mcpinterop || exit 1

bad=0
port=$(python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])')
PORT=$port node "$dir/node_modules/$scope/server-everything/dist/index.js" streamableHttp >"$dir/everything.log" 2>&1 &
server=$!
for _ in $(seq 50); do
  (exec 3<>"/dev/tcp/127.0.0.1/$port") 2>/dev/null && break
  sleep 0.2
done
echo "== real servers"
MCP_EVERYTHING_URL=http://127.0.0.1:$port/mcp "$dir/mcpinterop" real "$dir" || bad=1

echo "== conformance suite, client scenarios"
suite="$dir/node_modules/.bin/node $dir/node_modules/$scope/conformance/dist/index.js"
for scenario in $($suite list 2>/dev/null | sed -n '/^Client/,$s/^  - \([^ ]*\) .*/\1/p'); do
  case $scenario in
  # Elicitation is no capability that this client has; the others are extensions.
  elicitation-* | auth/client-credentials-* | auth/cross-app-*) echo "skip  $scenario"; continue ;;
  esac
  if $suite client --command "$dir/mcpinterop client" --scenario "$scenario" -o "$dir/results" >"$dir/out.txt" 2>&1; then
    echo "ok    $scenario"
  else
    echo "FAIL  $scenario"; grep -A20 'Failed Checks' "$dir/out.txt"; bad=1
  fi
done
exit $bad
