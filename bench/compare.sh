#!/usr/bin/env bash
# compare.sh BASE HEAD SUITE COUNT BENCHTIME: what changed from BASE to HEAD, by
# benchstat and held against bench/gates.json, HEAD's own comparisons too. Both
# are results (the text or the JSON of `make bench`), or both are commits, whose
# benchmarks are measured in turns in worktrees. Without HEAD it is the latest
# result, or the working tree. bench/out gets compare.json and compare.svg.
# Status 3: a gate is broken; 2: it was asked for what is not there.
set -euo pipefail
base=$1 head=$2 suite=$3 count=$4 benchtime=$5
cd "$(dirname "$0")/.."
top=$PWD
out=$(mktemp -d)
made=() # worktrees, and nothing else: git removes the working tree itself where it is asked to
remove() {
  for t in ${made[@]+"${made[@]}"}; do git -C "$top" worktree remove --force "$t" 2>/dev/null || true; done
  rm -rf "$out"
  git -C "$top" worktree prune
}
trap remove EXIT
trap 'exit 130' INT TERM
die() { echo "bench-compare: $*" >&2; exit 2; }
mkdir -p bench/out
go build -o "$out/report" ./bench/cmd/report # go run has one status for every other

tree() { # name commit
  git rev-parse --verify --quiet "$2^{commit}" >/dev/null || die "$2 is neither a result nor a commit"
  made+=("$out/$1")
  git worktree add --quiet --detach "$out/$1" "$2"
}
if [ -f "$base" ]; then
  head=${head:-bench/out/bench.txt}
  [ -f "$head" ] || die "$base is a result, and $head is none"
else
  tree base "$base"
  measured=$top
  if [ -n "$head" ]; then
    tree head "$head"
    measured=$out/head
  fi
  base=$top/bench/out/compare-base.txt head=$top/bench/out/compare-head.txt
  # $suite may be several packages.
  (cd "$measured" && "$out/report" -base "$out/base" -base-text "$base" -text "$head" -rounds "$count" -benchtime "$benchtime" -gates "" $suite >/dev/null)
fi
case $(head -c 1 "$base")$(head -c 1 "$head") in
*"{"*) ;; # benchstat reads text alone
*) go tool -modfile=tools/go.mod benchstat -ignore commit "base=$base" "head=$head" ;;
esac
"$out/report" -in "$head" -against "$base" -out bench/out/compare.json -svg bench/out/compare.svg
