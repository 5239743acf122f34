#!/usr/bin/env bash
# One Apache Kafka node (KRaft, plain text, loopback only) for the tests, without Docker: needs Java 17 and Maven.
#
#   scripts/kafka.sh run COMMAND...   starts a node, runs COMMAND with EERF_TEST_BROKERS set to its address,
#                                     stops it, and returns what COMMAND returned
#   scripts/kafka.sh start            starts a node that stays; says where its log is
#   scripts/kafka.sh env              prints its address, for: eval "$(scripts/kafka.sh env)"
#   scripts/kafka.sh stop             stops it and removes its data; does nothing where none runs
#   scripts/kafka.sh fetch            downloads Kafka (43 MB, once) and does nothing else
#   scripts/kafka.sh missing          prints what this machine lacks: nothing where all is there
#
# Several `run` may go on at once; `start` keeps one node per user. The jars come from Maven's repository by the
# settings of its user and stay in ${XDG_CACHE_HOME:-~/.cache}/eerf/kafka-VERSION. Data and log of a node are in a
# temporary folder that goes with the node; where a node does not start, the end of its log is shown.
#
# KAFKA_PORT=N       listen on N, and on N+1 for the controller, instead of free ports
# KAFKA_KEEP_LOG=F   copy the node's log to the file F when it stops
set -euo pipefail

readonly kafka=4.1.1 log4j=2.25.4
readonly plugin=org.apache.maven.plugins:maven-dependency-plugin:3.8.1
readonly home="${XDG_CACHE_HOME:-${HOME:?}/.cache}/eerf/kafka-$kafka"
readonly started="$home/node" # names the folder of the node that `start` left running
readonly patience=120         # seconds for a node to answer; it takes about five

node=     # folder of the node that this process is responsible for
scratch=  # unfinished download

fail() {
  printf 'kafka.sh: %s\n' "$*" >&2
  exit 1
}

# missing prints what this machine lacks, or nothing. A `java` may be there that only says how to install one.
missing() {
  local major
  major=$(java -version 2>&1 | sed -n 's/.* version "\([0-9]*\).*/\1/p') || true
  if ((${major:-0} < 17)); then
    echo "no Java 17"
  elif ! command -v mvn >/dev/null; then
    echo "no Maven"
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
      <groupId>org.apache.logging.log4j</groupId>
      <artifactId>log4j-slf4j-impl</artifactId>
      <version>$log4j</version>
    </dependency>
  </dependencies>
</project>
XML
}

# fetch leaves the jars in $home/lib, or what was there: a download counts when it is complete.
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
  mv "$scratch/lib" "$scratch/pom.xml" "$home/" # the pom last: it says that the jars are there
  rmdir "$scratch"
}

maven() {
  mvn -B -q -f "$scratch/pom.xml" --strict-checksums \
    -Daether.connector.connectTimeout=20000 -Daether.connector.requestTimeout=60000 \
    "$plugin:copy-dependencies" -DincludeScope=runtime -DoutputDirectory="$scratch/lib" </dev/null >&2
}

# listening is whether something accepts connections at a port.
listening() { (exec 3<>"/dev/tcp/127.0.0.1/$1") 2>/dev/null; }

# free_port prints N where nothing listens at N and N+1, below the ports that systems hand out to clients.
free_port() {
  local port
  for _ in {1..50}; do
    port=$((20000 + RANDOM % 6000 * 2))
    if ! listening "$port" && ! listening $((port + 1)); then
      echo "$port"
      return
    fi
  done
  fail "no free port"
}

# settings prints a server.properties. The cleaner runs often because tests wait for compaction.
settings() {
  local port=$1 controller=$(($1 + 1))
  cat <<PROPERTIES
process.roles=broker,controller
node.id=1
listeners=PLAINTEXT://127.0.0.1:$port,CONTROLLER://127.0.0.1:$controller
listener.security.protocol.map=CONTROLLER:PLAINTEXT,PLAINTEXT:PLAINTEXT
controller.listener.names=CONTROLLER
controller.quorum.bootstrap.servers=127.0.0.1:$controller
log.dirs=$node/data
offsets.topic.replication.factor=1
offsets.topic.num.partitions=4
transaction.state.log.replication.factor=1
transaction.state.log.min.isr=1
transaction.state.log.num.partitions=4
share.coordinator.state.topic.replication.factor=1
share.coordinator.state.topic.min.isr=1
group.initial.rebalance.delay.ms=0
message.max.bytes=8388608
log.cleaner.backoff.ms=500
log.segment.delete.delay.ms=1000
PROPERTIES
}

# launch starts a node in a folder of its own and returns when it answers.
launch() {
  local port=${KAFKA_PORT:-} id
  port=${port:-$(free_port)}
  if listening "$port" || listening $((port + 1)); then
    fail "ports $port and $((port + 1)) are not free"
  fi
  node=$(mktemp -d "${TMPDIR:-/tmp}/eerf-kafka.XXXXXX")
  settings "$port" >"$node/server.properties"
  echo "127.0.0.1:$port" >"$node/brokers"
  id=$(java -cp "$home/lib/*" kafka.tools.StorageTool random-uuid)
  java -cp "$home/lib/*" kafka.tools.StorageTool format --standalone -t "$id" -c "$node/server.properties" \
    >"$node/log" 2>&1 || fail_with_log "the node's storage could not be formatted"
  nohup java -Xmx1G -Dlog4j2.level=INFO -cp "$home/lib/*" kafka.Kafka "$node/server.properties" \
    </dev/null >>"$node/log" 2>&1 &
  echo $! >"$node/pid"
  wait_until_ready "$port"
}

wait_until_ready() {
  local until=$((SECONDS + patience))
  until grep -qF 'Kafka Server started' "$node/log" && answers "$1"; do
    running "$node" || fail_with_log "the node ended"
    ((SECONDS < until)) || fail_with_log "the node does not answer after $patience s"
    sleep 0.2
  done
}

# answers asks a broker which requests it knows; the length before its answer begins with a zero byte.
answers() (
  exec 3<>"/dev/tcp/127.0.0.1/$1" || return
  printf '\0\0\0\12\0\22\0\0\0\0\0\1\377\377' >&3
  IFS= read -r -t 5 -d '' _ <&3
) 2>/dev/null

# running is whether the process of a node's folder lives; its number may have gone to another program since.
running() {
  local pid arguments
  pid=$(cat "$1/pid" 2>/dev/null) || return
  if [[ -d /proc/self ]]; then
    arguments=$(tr '\0' ' ' 2>/dev/null <"/proc/$pid/cmdline") || return
  else
    arguments=$(ps -o args= -p "$pid") || return
  fi
  [[ $arguments == *"$1/server.properties"* ]]
}

# discard ends the node of a folder and removes the folder. No orderly end: nothing of it is kept.
discard() {
  local until=$((SECONDS + 10))
  if running "$1"; then
    kill -KILL "$(cat "$1/pid")" || true
    while running "$1" && ((SECONDS < until)); do sleep 0.1; done
  fi
  if [[ -n ${KAFKA_KEEP_LOG:-} && -f $1/log ]]; then
    cp "$1/log" "$KAFKA_KEEP_LOG" || true
  fi
  rm -rf "$1"
}

fail_with_log() {
  tail -n 40 "$node/log" >&2
  fail "$1"
}

# clean_up runs at every end of this process, and removes what it is still responsible for.
clean_up() {
  trap '' HUP INT TERM
  [[ -z $node ]] || discard "$node" 2>/dev/null
  [[ -z $scratch ]] || rm -rf "$scratch"
}

require_tools() {
  local lacks
  lacks=$(missing)
  [[ -z $lacks ]] || fail "$lacks on this machine"
}

run() {
  (($# > 0)) || fail "run: which command?"
  require_tools
  fetch
  launch
  echo "Apache Kafka $kafka at $(cat "$node/brokers") after $SECONDS s" >&2
  EERF_TEST_BROKERS=$(cat "$node/brokers") "$@"
}

start() {
  require_tools
  fetch
  if [[ -e $started ]] && running "$(cat "$started")"; then
    fail "a node runs already in $(cat "$started")"
  fi
  stop
  launch
  echo "$node" >"$started"
  echo "Apache Kafka $kafka at $(cat "$node/brokers"), log in $node/log"
  node= # it stays
}

environment() {
  if [[ ! -e $started ]] || ! running "$(cat "$started")"; then
    fail "no node runs: scripts/kafka.sh start"
  fi
  echo "export EERF_TEST_BROKERS=$(cat "$(cat "$started")/brokers")"
}

stop() {
  [[ -e $started ]] || return 0
  discard "$(cat "$started")"
  rm -f "$started"
}

trap clean_up EXIT
trap 'exit 129' HUP
trap 'exit 130' INT
trap 'exit 143' TERM

case ${1:-} in
  run) shift && run "$@" ;;
  start | stop | fetch | missing) "$1" ;;
  env) environment ;;
  *)
    sed -n '2,/^set /s/^# \{0,1\}//p' "${BASH_SOURCE[0]}" >&2
    exit 2
    ;;
esac
