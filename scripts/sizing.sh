#!/usr/bin/env bash
# Measures the cost of the stages on this machine: seconds of processor time per million rows, and the peak memory of each
# process, for rows of D numbers. The figures of docs/operations.md#sizing come from here.
#
#   scripts/sizing.sh                          ROWS=400000 D=77 M=500 M0=5000 SCORED=100000 PARTITIONS=2
#   ROWS=1000000 D=20 scripts/sizing.sh        other numbers; an exploration scores about SCORED rows by CRITERION=residual
#   scripts/kafka.sh run scripts/sizing.sh     on Apache Kafka instead of the project's broker
#
# Times are processor times, so that other programs disturb them little. Needs go, awk, curl.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

rows=${ROWS:-400000} d=${D:-77} m=${M:-500} m0=${M0:-5000} scored=${SCORED:-100000} partitions=${PARTITIONS:-2}
criterion=${CRITERION:-residual}
work=$(mktemp -d "${TMPDIR:-/tmp}/eerf-sizing.XXXXXX")
pids=()

clean_up() {
  trap '' HUP INT TERM
  local pid
  for pid in "${pids[@]+"${pids[@]}"}"; do
    kill "$pid" 2>/dev/null || continue
    wait "$pid" 2>/dev/null || true
  done
  rm -rf "$work"
}
trap clean_up EXIT

# metric FILE NAME [LABEL] prints the sum of the samples of a metric whose line has the label.
metric() { awk -v name="$2" -v label="${3:-}" '{ split($1, part, "{") } part[1] == name && index($0, label) { sum += $NF } END { print sum + 0 }' "$1"; }

# service STAGES NAME STAGE OUTCOME COUNT runs stages until COUNT rows have an outcome, and prints their cost.
service() {
  "$work/featurizer" run -c "$work/eerf.yaml" --stages "$1" >"$work/log" 2>&1 &
  pids+=($!)
  local address='' have=0
  until [[ -n $address ]]; do
    sleep 0.2
    address=$(sed -n 's/.*are served.*"address":"\([^"]*\)".*/\1/p' "$work/log")
  done
  until ((have >= $5)); do
    kill -0 "${pids[-1]}" 2>/dev/null || { tail -n 5 "$work/log" >&2; exit 1; }
    sleep 0.5
    curl -fsS "http://$address/metrics" >"$work/metrics" || continue
    have=$(metric "$work/metrics" eerf_rows_total "outcome=\"$4\",pipeline=\"default\",stage=\"$3\"")
  done
  if [[ $3 == subsample ]]; then # the exploration continues after its last row is sampled
    until grep -q '"feature set published"' "$work/log"; do sleep 0.2; done
    curl -fsS "http://$address/metrics" >"$work/metrics"
    have=$(metric "$work/metrics" eerf_rows_total "outcome=\"$4\",pipeline=\"default\",stage=\"$3\"")
  fi
  report "$2" "$have" "$(metric "$work/metrics" process_cpu_seconds_total)" "$(awk '/VmHWM/ { print $2 / 1024 }' "/proc/${pids[-1]}/status")"
  kill -TERM "${pids[-1]}"
  wait "${pids[-1]}"
  unset 'pids[-1]'
}

# report WHAT ROWS SECONDS [MIB]
report() {
  awk -v w="$1" -v n="$2" -v s="$3" -v m="${4:-}" 'BEGIN {
    printf "%-22s %9d rows %8.2f s, %7.2f s per million rows%s\n", w, n, s, s / n * 1e6, m == "" ? "" : sprintf(", %d MiB", m)
  }'
}

go build -o "$work/" ./cmd/featurizer ./cmd/trainer
brokers=${EERF_TEST_BROKERS:-}
if [[ -z $brokers ]]; then
  : >"$work/broker.log"
  "$work/featurizer" broker --listen 127.0.0.1:0 --dir "$work/broker" >"$work/broker.log" &
  pids+=($!)
  until brokers=$(sed -n 's/^broker at \([^;]*\);.*/\1/p' "$work/broker.log") && [[ -n $brokers ]]; do sleep 0.1; done
fi
cat >"$work/eerf.yaml" <<YAML
kafka: {brokers: ["${brokers//,/\",\"}"]}
topics: {partitions: $partitions}
events: {label: [y]}
exploration:
  {features: $m, candidates: $m0, criterion: $criterion, sample_rows: $scored, sample_memory: 4GiB}
train: {promote: {rule: always}}
admin: {listen: "127.0.0.1:0"}
YAML
awk -v n="$rows" -v d="$d" 'BEGIN {
  srand(7); printf "y"; for (j = 0; j < d; j++) printf ",x%d", j; print ""
  for (i = 0; i < n; i++) {
    for (j = 0; j < d; j++) x[j] = rand() * 4 - 2
    printf "%.3f", cos(x[0] + 2 * x[1]) + 0.1 * rand(); for (j = 0; j < d; j++) printf ",%.4f", x[j]; print ""
  }
}' >"$work/rows.csv"

echo "$rows rows of $d numbers, $m features of $m0 candidates by $criterion, $partitions partitions"
"$work/featurizer" topics create -c "$work/eerf.yaml" >/dev/null
"$work/featurizer" produce -c "$work/eerf.yaml" --data "$work/rows.csv" >/dev/null
# A hash selects the sampled rows: about SCORED of them.
service calibrate,subsample,selection "explore (scored rows)" subsample scored "$((scored * 95 / 100))"
service featurize "featurize" featurize featurized "$rows"
TIMEFORMAT='%U %S'
{ time "$work/trainer" fit -c "$work/eerf.yaml" >/dev/null; } 2>"$work/times"
report "train (trainer fit)" "$rows" "$(awk '{ print $1 + $2 }' "$work/times")"
