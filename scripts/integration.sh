#!/usr/bin/env bash
# The tests that need Apache Kafka, in a few minutes. Has the requirements of kafka.sh. Prints the tests with their results,
# their whole output on a failure, and finally their number.
#
#   scripts/integration.sh [one] [secured] [three]     on one node, on one that demands credentials and rights, on three of
#                                                      which some die; without arguments on all of these clusters
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

readonly packages=(./pipeline/kafka ./stages ./cmd/internal/integration)
counts=()

log=$(mktemp)
trap 'rm -f "$log"' EXIT

# on KAFKA-OPTIONS... -- TESTS runs the tests with matching names on a cluster, package by package: some kill its nodes.
on() {
  local options=() start=$SECONDS
  while [[ $1 != -- ]]; do
    options+=("$1")
    shift
  done
  printf -- '-- on Apache Kafka %s\n' "${options[*]}"
  if ! scripts/kafka.sh run "${options[@]}" go test -v -count=1 -p 1 -timeout 30m -run "$2" "${packages[@]}" |
    tee "$log" | grep -E '^(--- |ok|FAIL|panic)'; then
    cat "$log"
    return 1
  fi
  counts+=("$(printf '%5d s  %-22s %s passed, %s skipped' $((SECONDS - start)) "${options[*]}" "$(ended PASS)" "$(ended SKIP)")")
}

# ended counts the tests and subtests with a result.
ended() { grep -cE -- "^ *--- $1" "$log" || true; }

(($#)) || set -- one secured three
go test -run '^$' "${packages[@]}" # compile before the nodes start
for cluster in "$@"; do
  case $cluster in
    one) on --nodes 1 -- 'TestConformance|TestIdentit|TestRoad|TestReaderPassesBatchesLeftByCompaction' ;;
    secured) on --nodes 1 --secured -- 'TestConformance|TestAllSecurityConfigurationsConnect|TestWrongSecurityConfigurationsAreRefused|TestAMissingRight|TestWritersAre|TestTheDocumentedRights|TestSystemAuthorities|TestTokensAreRenewed' ;;
    three) on --nodes 3 -- 'TestConformance|TestIdentityIsOf|TestUncleanElection|TestRoad' ;;
    *) echo "integration.sh: expected one, secured or three, not $cluster" >&2 && exit 2 ;;
  esac
done
printf -- '-- all passed on Apache Kafka\n'
printf '%s\n' "${counts[@]}"
