#!/usr/bin/env bash
# A stream of 400 rows a second on an Apache Kafka of its own, with the defaults of a pipeline; one coefficient changes its
# sign after 100 seconds. Prints what live errors say each second.
#
#   ../scripts/kafka.sh run scripts/flip.sh BIN      BIN has featurizer and lab
set -euo pipefail

bin=$1
work=$(mktemp -d)
run=
trap '[[ -z $run ]] || kill "$run"; wait; rm -r "$work"' EXIT

cat >"$work/eerf.yaml" <<YAML
kafka: {brokers: [$EERF_TEST_BROKERS]}
events: {label: [class]}
admin: {listen: "127.0.0.1:0"}
YAML
"$bin/featurizer" topics create -c "$work/eerf.yaml" >&2
"$bin/featurizer" run -c "$work/eerf.yaml" &
run=$!
"$bin/lab" play turn --brokers "$EERF_TEST_BROKERS"
