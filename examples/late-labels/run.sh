#!/usr/bin/env bash
# Labels that arrive later: orders and labels on two topics of Apache Kafka, joined by Flink; pipelines learn and predict.
#
#   examples/late-labels/run.sh            the whole example, on a temporary Apache Kafka (two minutes)
#   examples/late-labels/run.sh fetch      downloads Kafka and Flink (180 MB, once) and does nothing else
#   examples/late-labels/run.sh missing    prints what this machine lacks, nothing if it has everything
#
# Requires Go, Java 17 (a JDK), Maven and openssl. Fails if the joined topic differs from a join in memory, or if the
# predictions are no better than a constant. Flink's jars stay in ${XDG_CACHE_HOME:-~/.cache}/eerf/late-labels.
#
# ROWS=N  number of orders, 20000 by default
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."

readonly here=examples/late-labels
readonly home="${XDG_CACHE_HOME:-${HOME:?}/.cache}/eerf/late-labels"
readonly plugin=org.apache.maven.plugins:maven-dependency-plugin:3.8.1
readonly rows=${ROWS:-20000}

scratch=  # programs, logs and an unfinished download
running=() # process ids of the services

say() { printf '\n-- %s\n' "$*"; }

missing() {
  local lacks
  lacks=$(scripts/kafka.sh missing)
  if [[ -n $lacks ]]; then
    echo "$lacks"
  elif ! java --list-modules 2>/dev/null | grep -q '^jdk.compiler@'; then
    echo "no JDK (its Java cannot compile)"
  elif ! command -v go >/dev/null; then
    echo "no Go"
  fi
}

# fetch leaves the jars in $home/lib. An incomplete download changes nothing there.
fetch() {
  scripts/kafka.sh fetch
  if [[ -d $home/lib ]] && cmp -s "$here/pom.xml" "$home/pom.xml"; then
    return
  fi
  mkdir -p "$home"
  scratch=$(mktemp -d "$home/fetch.XXXXXX")
  echo "fetching Flink into $home" >&2
  maven || maven || { echo "late-labels: Maven could not fetch Flink" >&2 && return 1; }
  rm -rf "${home:?}/lib"
  mv "$scratch/lib" "$home/"
  cp "$here/pom.xml" "$home/" # last: it marks the jars as complete
  rm -r "$scratch"
  scratch=
}

maven() {
  mvn -B -q -Dstyle.color=never -f "$here/pom.xml" --strict-checksums \
    -Daether.connector.connectTimeout=20000 -Daether.connector.requestTimeout=60000 \
    "$plugin:copy-dependencies" -DincludeScope=runtime -DoutputDirectory="$scratch/lib" </dev/null >&2
}

# on_kafka is the example itself, with a broker at EERF_TEST_BROKERS.
on_kafka() {
  scratch=$(mktemp -d "${TMPDIR:-/tmp}/eerf-late-labels.XXXXXX")
  export EERF_KAFKA__BROKERS=$EERF_TEST_BROKERS
  go build -o "$scratch" ./cmd/featurizer ./cmd/trainer
  go build -C "$here/shop" -o "$scratch" .

  say "orders, and labels that come later"
  shop make

  say "Flink joins them"
  java -XX:+UseSerialGC -XX:TieredStopAtLevel=1 -Xmx512M -Dorg.slf4j.simpleLogger.defaultLogLevel=error \
    -cp "$home/lib/*" "$here/Join.java" "$here/join.sql" "$EERF_TEST_BROKERS"
  shop check-join

  say "features and a model, learned from the orders with a label"
  "$scratch/featurizer" topics create -c "$here/labelled.yaml"
  service featurizer run -c "$here/labelled.yaml" --stages calibrate,subsample,selection,featurize
  shop wait -events labelled -features returns.features
  "$scratch/trainer" fit -c "$here/labelled.yaml"

  say "predictions for all orders"
  "$scratch/featurizer" topics create -c "$here/live.yaml"
  service featurizer run -c "$here/live.yaml"
  shop check-predictions -features orders.features
  stop_services
}

# shop runs a command of the shop: its name, then flags.
shop() {
  local command=$1
  shift
  "$scratch/shop" -brokers "$EERF_TEST_BROKERS" -rows "$rows" "$@" "$command"
}

# service starts a program of this project. Its log is shown if the example fails.
service() {
  local program=$1
  shift
  "$scratch/$program" "$@" >"$scratch/service-${#running[@]}.log" 2>&1 &
  running+=($!)
}

# stop_services stops the services and fails if one did not stop in good order.
stop_services() {
  local pid list=("${running[@]+"${running[@]}"}")
  running=()
  for pid in "${list[@]+"${list[@]}"}"; do kill -TERM "$pid" 2>/dev/null || true; done
  for pid in "${list[@]+"${list[@]}"}"; do wait "$pid" || return 1; done
}

# clean_up always runs at the end.
clean_up() {
  local ended=$?
  trap '' INT TERM
  stop_services || true
  if ((ended != 0)) && compgen -G "$scratch/service-*.log" >/dev/null; then
    tail -n 20 "$scratch"/service-*.log >&2
  fi
  [[ -z $scratch ]] || rm -rf "$scratch"
}
trap clean_up EXIT
trap 'exit 130' INT
trap 'exit 143' TERM

case ${1:-} in
  missing) missing ;;
  fetch) fetch ;;
  on-kafka) on_kafka ;;
  '')
    lacks=$(missing)
    [[ -z $lacks ]] || { echo "late-labels: $lacks on this machine" >&2 && exit 1; }
    fetch
    scripts/kafka.sh run "$here/run.sh" on-kafka
    say "done in $SECONDS s"
    ;;
  *)
    sed -n '2,/^set /s/^# \{0,1\}//p' "${BASH_SOURCE[0]}" >&2
    exit 2
    ;;
esac
