#!/usr/bin/env bash
# gate.sh BASE HEAD: two benchmark texts, compared by benchstat and held against
# bench/gates.json, HEAD's own comparisons too. Status 3: a gate is broken.
set -euo pipefail
cd "$(dirname "$0")/.."
go tool -modfile=tools/go.mod benchstat "base=$1" "head=$2"
go build -o bench/out/report ./bench/cmd/report # go run has one status for every other
bench/out/report -in "$2" -against "$1"
