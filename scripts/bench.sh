#!/usr/bin/env bash
# Rounds of benchmarks. A round runs each benchmark once, so that a temporary slowdown of the machine slows all of them, and
# ratios within a round hold; go test -count would repeat each benchmark in turn.
#
#   scripts/bench.sh FILE FLAG...
#
# Runs `go test -run '^$' -bench=... FLAG...` ROUNDS times, writes the output to FILE, which benchstat reads, and prints
# benchstat's tables. FILE is overwritten.
#
# ROUNDS=N            number of rounds (6, which benchstat needs for its intervals)
# PEERS=COMMAND       pass each round's output to COMMAND and add its output: see lab/scripts/bench_peers.py
# TABLE=COMMAND       the go tool in internal/tools that reads FILE ("tool benchstat")
set -euo pipefail

(($# > 1)) || { sed -n '2,/^set/{/^#/p}' "$0" >&2; exit 2; }
file=$(realpath -m "$1")
shift
cd "$(dirname "${BASH_SOURCE[0]}")/.."
mkdir -p "$(dirname "$file")"
round=$(mktemp)
trap 'rm -f "$round"' EXIT

: >"$file"
for ((i = 1; i <= ${ROUNDS:=6}; i++)); do
  echo "round $i of $ROUNDS" >&2
  go test -run '^$' "$@" >"$round" || { cat "$round" >&2; exit 1; }
  cat "$round" >>"$file"
  if [[ -n ${PEERS:-} ]]; then
    $PEERS <"$round" >>"$file"
  fi
done
read -ra table <<<"${TABLE:-tool benchstat}"
go -C internal/tools "${table[@]}" "$file"
