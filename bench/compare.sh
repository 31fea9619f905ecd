#!/usr/bin/env bash
# compare.sh BASE HEAD SUITE COUNT: benchmarks of two commits, measured in turns
# in worktrees of their own, compared by benchstat. HEAD may be a file that does
# not exist: then it is the working tree.
set -euo pipefail
base=$1 head=$2 suite=$3 count=$4
top=$(git rev-parse --show-toplevel)
out=$(mktemp -d)
trap 'for t in base head; do git -C "$top" worktree remove --force "$out/$t" 2>/dev/null || true; done; rm -rf "$out"' EXIT

tree() { # name commit
  if git -C "$top" rev-parse --verify --quiet "$2^{commit}" >/dev/null; then
    git -C "$top" worktree add --quiet --detach "$out/$1" "$2"
  elif [ "$1" = head ]; then
    ln -s "$top" "$out/$1"
  else
    echo "compare.sh: $2 is neither a result nor a commit" >&2
    exit 2
  fi
}
tree base "$base"
tree head "$head"
for ((i = 0; i < count; i++)); do
  for t in base head; do
    (cd "$out/$t" && go test -run '^$' -bench . -benchmem -count 1 $suite) >>"$out/$t.txt"
  done
done
cd "$top"
mkdir -p bench/out
cp "$out/base.txt" bench/out/compare-base.txt
cp "$out/head.txt" bench/out/compare-head.txt
bench/gate.sh bench/out/compare-base.txt bench/out/compare-head.txt
