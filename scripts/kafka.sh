#!/usr/bin/env bash
# Apache Kafka (KRaft, loopback only) for the tests, without Docker: needs Java 17, Maven and openssl.
#
#   scripts/kafka.sh run [--nodes N] [--secured] COMMAND...
#                                     starts a cluster, runs COMMAND with the variables below, stops the cluster, and
#                                     returns COMMAND's exit code
#   scripts/kafka.sh start [--nodes N] [--secured]
#                                     starts a cluster that stays; prints the folder of its logs
#   scripts/kafka.sh env              prints its variables, for: eval "$(scripts/kafka.sh env)"
#   scripts/kafka.sh stop             stops it and removes its data; does nothing if none runs
#   scripts/kafka.sh node kill I      kills node I (1 to N) of the cluster in EERF_TEST_KAFKA, like kill -9
#   scripts/kafka.sh node stop I      stops it in an orderly way
#   scripts/kafka.sh node start I     restarts it on its data, and returns when it answers
#   scripts/kafka.sh consume TOPIC    prints the committed records of a topic of the cluster in EERF_TEST_KAFKA, read by Kafka's
#                                     own consumer, until none has come for 10 seconds
#   scripts/kafka.sh fetch            only downloads Kafka (54 MB, once)
#   scripts/kafka.sh missing          prints the missing requirements of this machine, or nothing
#
# COMMAND and `env` get
#   EERF_TEST_BROKERS   the addresses, comma separated
#   EERF_TEST_KAFKA     the folder of the cluster, with a folder 1 to N for each node and its log; the file script names this file
# With --nodes 3 topics have three replicas, of which two acknowledge; the default is one node.
# With --secured brokers demand TLS and SASL (plain, scram-sha-256, scram-sha-512, oauthbearer), users have only the rights
# that they are given, and the folder holds
#   ca.pem, client.pem, client.key   the authority, and a certificate of the user "client"
#   password                         of the user "admin", who may do everything
#   signer.key                       signs tokens: RS256, key id "1", by "issuer", for "kafka"
#   brokers-mutual                   addresses for clients that authenticate by certificate
#   brokers-readable                 addresses with SASL and without TLS
#
# Several `run` may run at once; `start` keeps one cluster per user. The jars come from Maven's repository with the user's
# settings and stay in ${XDG_CACHE_HOME:-~/.cache}/eerf/kafka-VERSION. Data and logs are in a temporary folder that is
# removed with the cluster; if a node does not start, the end of its log is shown.
#
# KAFKA_PORT=N       listen on the ports from N on, four for each node and one more, instead of free ones
# KAFKA_KEEP_LOGS=D  copy the nodes' logs to the folder D when the cluster stops
set -euo pipefail

readonly kafka=4.1.1 log4j=2.25.4
readonly plugin=org.apache.maven.plugins:maven-dependency-plugin:3.8.1
readonly home="${XDG_CACHE_HOME:-${HOME:?}/.cache}/eerf/kafka-$kafka"
readonly started="$home/cluster" # holds the folder of the cluster that `start` left running
readonly patience=600            # seconds for a node to answer or to end; about five on an idle machine

# shellcheck source=scripts/kafka-settings.sh
source "$(dirname "${BASH_SOURCE[0]}")/kafka-settings.sh"

cluster=  # folder of the cluster
owned=    # set while this process owns the cluster
scratch=  # unfinished download

# java_quick starts Java for short-lived programs: optimizing would take most of their time.
java_quick=(java -XX:+UseSerialGC -XX:TieredStopAtLevel=1 -cp "$home/lib/*")

fail() {
  printf 'kafka.sh: %s\n' "$*" >&2
  exit 1
}

# missing prints the missing requirements of this machine, or nothing. Some systems have a `java` that only explains how to
# install one.
missing() {
  local major
  major=$(java -version 2>&1 | sed -n 's/.* version "\([0-9]*\).*/\1/p') || true
  if ((${major:-0} < 17)); then
    echo "no Java 17"
  elif ! command -v mvn >/dev/null; then
    echo "no Maven"
  elif ! command -v openssl >/dev/null; then
    echo "no openssl"
  fi
}

pom() {
  cat <<XML
<project xmlns="http://maven.apache.org/POM/4.0.0">
  <modelVersion>4.0.0</modelVersion>
  <groupId>com.github.eerf-stream</groupId>
  <artifactId>kafka-for-tests</artifactId>
  <version>1</version>
  <packaging>pom</packaging>
  <dependencies>
    <dependency>
      <groupId>org.apache.kafka</groupId>
      <artifactId>kafka_2.13</artifactId>
      <version>$kafka</version>
    </dependency>
    <dependency>
      <groupId>org.apache.kafka</groupId>
      <artifactId>kafka-tools</artifactId>
      <version>$kafka</version>
    </dependency>
    <dependency>
      <groupId>org.apache.logging.log4j</groupId>
      <artifactId>log4j-slf4j-impl</artifactId>
      <version>$log4j</version>
    </dependency>
  </dependencies>
</project>
XML
}

# fetch puts the jars into $home/lib; an existing download counts if it is complete.
fetch() {
  if [[ -d $home/lib ]] && pom | cmp -s - "$home/pom.xml"; then
    return
  fi
  mkdir -p "$home"
  scratch=$(mktemp -d "$home/fetch.XXXXXX")
  pom >"$scratch/pom.xml"
  echo "fetching Apache Kafka $kafka into $home" >&2
  maven || maven || fail "Maven could not fetch Apache Kafka $kafka"
  rm -rf "${home:?}/lib"
  mv "$scratch/lib" "$scratch/pom.xml" "$home/" # the pom last, as the mark of a complete download
  rmdir "$scratch"
}

maven() {
  mvn -B -q -Dstyle.color=never -f "$scratch/pom.xml" --strict-checksums \
    -Daether.connector.connectTimeout=20000 -Daether.connector.requestTimeout=60000 \
    "$plugin:copy-dependencies" -DincludeScope=runtime -DoutputDirectory="$scratch/lib" </dev/null >&2
}

# listening succeeds if something accepts connections at a port.
listening() { (exec 3<>"/dev/tcp/127.0.0.1/$1") 2>/dev/null; }

# free succeeds if nothing listens at any of the given number of ports from the first one on.
free() {
  local port
  for ((port = $1; port < $1 + $2; port++)); do
    ! listening "$port" || return 1
  done
}

# free_ports prints the first of the given number of free ports in a row, below the ports that systems give to clients.
free_ports() {
  local port
  for _ in {1..50}; do
    port=$((20000 + RANDOM % (12000 / $1) * $1))
    if free "$port" "$1"; then
      echo "$port"
      return
    fi
  done
  fail "no free ports"
}

# launch starts the cluster that the options describe, and returns when its nodes answer.
launch() {
  local ports=$((4 * nodes + 1)) i
  port=${KAFKA_PORT:-$(free_ports "$ports")}
  free "$port" "$ports" || fail "ports $port to $((port + ports - 1)) are not free"
  cluster=$(mktemp -d "${TMPDIR:-/tmp}/eerf-kafka.XXXXXX")
  owned=yes
  describe
  format
  each start_node
  each wait_until_ready
}

each() {
  local i
  for ((i = 1; i <= nodes; i++)); do "$1" "$i"; done
}

# format makes the storage of all nodes, in parallel because each takes a Java virtual machine.
format() {
  local id i pids=()
  id=$(openssl rand -hex 11) # 22 letters, as 16 bytes in base64 have
  for ((i = 1; i <= nodes; i++)); do
    mkdir "$cluster/$i"
    settings "$i" >"$cluster/$i/server.properties"
    "${java_quick[@]}" kafka.tools.StorageTool format -t "$id" -c "$cluster/$i/server.properties" "${users[@]}" \
      >"$cluster/$i/log" 2>&1 &
    pids+=($!)
  done
  for ((i = 1; i <= nodes; i++)); do
    wait "${pids[i - 1]}" || fail_with_log "$i" "the storage of node $i could not be formatted"
  done
}

# start_node starts a node with a fresh log, so that only messages of this start are awaited.
start_node() {
  cat "$cluster/$1/log" >>"$cluster/$1/log-before"
  nohup "${java_quick[@]}" -Xmx256M -Dlog4j2.level=INFO \
    "-Dorg.apache.kafka.sasl.oauthbearer.allowed.urls=$(sed -n 's/^sasl.oauthbearer.jwks.endpoint.url=//p' "$cluster/$1/server.properties")" \
    kafka.Kafka "$cluster/$1/server.properties" \
    </dev/null >"$cluster/$1/log" 2>&1 &
  echo $! >"$cluster/$1/pid"
  disown # or the shell reports its end, which may be intended
}

wait_until_ready() {
  local until=$((SECONDS + patience))
  until grep -qF 'Kafka Server started' "$cluster/$1/log" && answers "$(cat "$cluster/$1/readable-port")"; do
    # Not running: until it has become Java, the process has the name of this script.
    kill -0 "$(cat "$cluster/$1/pid")" 2>/dev/null || fail_with_log "$1" "node $1 ended"
    ((SECONDS < until)) || fail_with_log "$1" "node $1 does not answer after $patience s"
    sleep 0.2
  done
}

# answers asks a broker for its API versions; the length of its answer begins with a zero byte.
answers() (
  exec 3<>"/dev/tcp/127.0.0.1/$1" || return
  printf '\0\0\0\12\0\22\0\0\0\0\0\1\377\377' >&3
  IFS= read -r -t 5 -d '' _ <&3
) 2>/dev/null

# running succeeds if the process of a node lives; another program may have its number since.
running() {
  local pid arguments
  pid=$(cat "$cluster/$1/pid" 2>/dev/null) || return
  if [[ -d /proc/self ]]; then
    arguments=$(tr '\0' ' ' 2>/dev/null <"/proc/$pid/cmdline") || return
  else
    arguments=$(ps -o args= -p "$pid") || return
  fi
  [[ $arguments == *"$cluster/"* ]]
}

# end sends a node a signal and returns when its process has ended.
end() {
  local until=$((SECONDS + patience))
  ! running "$1" || kill "-$2" "$(cat "$cluster/$1/pid")" || true
  while running "$1"; do
    ((SECONDS < until)) || fail "node $1 does not end"
    sleep 0.05
  done
}

# discard kills the nodes and removes the folder of the cluster.
discard() {
  local node
  [[ ! -d $cluster/jwks ]] || end jwks KILL || true
  for node in "$cluster"/[0-9]*; do
    end "${node##*/}" KILL || true
    if [[ -n ${KAFKA_KEEP_LOGS:-} ]]; then
      mkdir -p "$KAFKA_KEEP_LOGS"
      cat "$node"/log-before "$node"/log >"$KAFKA_KEEP_LOGS/${cluster##*/}-${node##*/}.log" || true
    fi
  done
  rm -rf "$cluster"
}

fail_with_log() {
  tail -n 40 "$cluster/$1/log" >&2
  fail "$2"
}

# clean_up runs at every end of this process, and removes the cluster that it still owns.
clean_up() {
  trap '' HUP INT TERM
  [[ -z $owned ]] || discard 2>/dev/null
  [[ -z $scratch ]] || rm -rf "$scratch"
}

# options reads the options before the command into nodes and secured, and leaves the command in rest.
options() {
  nodes=1 secured=
  while [[ ${1:-} == --* ]]; do
    case $1 in
      --nodes) nodes=${2:-} && shift 2 ;;
      --secured) secured=yes && shift ;;
      *) fail "unknown option $1" ;;
    esac
  done
  [[ $nodes =~ ^[1-9]$ ]] || fail "--nodes: expected 1 to 9"
  rest=("$@")
}

prepare() {
  local lacks
  lacks=$(missing)
  [[ -z $lacks ]] || fail "$lacks on this machine"
  fetch
}

run() {
  options "$@"
  ((${#rest[@]} > 0)) || fail "run: missing command"
  prepare
  launch
  echo "Apache Kafka $kafka at $(cat "$cluster/brokers") after $SECONDS s" >&2
  EERF_TEST_BROKERS=$(cat "$cluster/brokers") EERF_TEST_KAFKA=$cluster "${rest[@]}"
}

start() {
  options "$@"
  prepare
  if find_started && running 1; then
    fail "a cluster runs already in $cluster"
  fi
  stop
  launch
  echo "$cluster" >"$started"
  echo "Apache Kafka $kafka at $(cat "$cluster/brokers"), logs in $cluster"
  owned= # it stays
}

find_started() { [[ -e $started ]] && cluster=$(cat "$started"); }

environment() {
  if ! find_started || ! running 1; then
    fail "no cluster runs: scripts/kafka.sh start"
  fi
  echo "export EERF_TEST_BROKERS=$(cat "$cluster/brokers") EERF_TEST_KAFKA=$cluster"
}

stop() {
  find_started || return 0
  discard
  rm -f "$started"
}

# control acts on one node of the cluster that the caller was started with.
control() {
  cluster=${EERF_TEST_KAFKA:?names no cluster}
  [[ -n ${2:-} && -e $cluster/$2/server.properties ]] || fail "no node ${2:-} in $cluster"
  case $1 in
    kill) end "$2" KILL ;;
    stop) end "$2" TERM ;;
    start)
      ! running "$2" || fail "node $2 runs"
      start_node "$2"
      wait_until_ready "$2"
      ;;
    *) fail "node: expected kill, stop or start, not $1" ;;
  esac
}

# consume prints one record per line; bytes outside ASCII as \xFF. The consumer's timeout at the end is an error in its log,
# which is off.
consume() {
  "${java_quick[@]}" -Dlog4j2.level=OFF org.apache.kafka.tools.consumer.ConsoleConsumer \
    --bootstrap-server "$(cat "${EERF_TEST_KAFKA:?names no cluster}/brokers")" --topic "$1" \
    --from-beginning --isolation-level read_committed --timeout-ms 10000 \
    --property print.partition=true --property print.offset=true \
    --value-deserializer org.apache.kafka.common.serialization.BytesDeserializer
}

trap clean_up EXIT
trap 'exit 129' HUP
trap 'exit 130' INT
trap 'exit 143' TERM

case ${1:-} in
  run | start) "$@" ;;
  stop | fetch | missing) "$1" ;;
  env) environment ;;
  consume) consume "${2:?which topic?}" ;;
  node) control "${2:-}" "${3:-}" ;;
  *)
    sed -n '2,/^set /s/^# \{0,1\}//p' "${BASH_SOURCE[0]}" >&2
    exit 2
    ;;
esac
