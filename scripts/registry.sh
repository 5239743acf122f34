#!/usr/bin/env bash
# A Schema Registry (Apicurio, in memory, loopback only) for the tests, without Docker: needs Java 17 and Maven.
#
#   scripts/registry.sh run COMMAND...   starts a registry, runs COMMAND with the variables below, stops the registry, and
#                                        returns COMMAND's exit code
#   scripts/registry.sh stop             inside COMMAND: kills the registry, like kill -9
#   scripts/registry.sh start            inside COMMAND: restarts it, empty, and returns when it answers
#   scripts/registry.sh fetch            only downloads Apicurio (142 MB, once)
#   scripts/registry.sh missing          prints the missing requirements of this machine, or nothing
#
# COMMAND gets
#   EERF_TEST_REGISTRY         the address of its interface that is compatible with Confluent's registry
#   EERF_TEST_REGISTRY_FOLDER  the folder of the registry, with its log
#   EERF_TEST_REGISTRY_SCRIPT  this file
# The archive comes from Maven's repository with the user's settings and stays in ${XDG_CACHE_HOME:-~/.cache}/eerf.
set -euo pipefail

readonly apicurio=2.6.13.Final
readonly plugin=org.apache.maven.plugins:maven-dependency-plugin:3.8.1
readonly home="${XDG_CACHE_HOME:-${HOME:?}/.cache}/eerf/apicurio-$apicurio"
readonly patience=300 # seconds for it to answer; about ten on an idle machine

folder= # of the registry that this process owns
scratch=

fail() {
  printf 'registry.sh: %s\n' "$*" >&2
  exit 1
}

missing() {
  local major
  major=$(java -version 2>&1 | sed -n 's/.* version "\([0-9]*\).*/\1/p') || true
  if ((${major:-0} < 17)); then
    echo "no Java 17"
  elif ! command -v mvn >/dev/null; then
    echo "no Maven"
  elif ! command -v curl >/dev/null; then
    echo "no curl"
  fi
}

# fetch puts the program into $home; an existing download counts if it is complete.
fetch() {
  [[ ! -e $home ]] || return 0
  mkdir -p "${home%/*}"
  scratch=$(mktemp -d "$home.XXXXXX")
  echo "fetching Apicurio Registry $apicurio into $home" >&2
  maven || maven || fail "Maven could not fetch Apicurio Registry $apicurio"
  tar -xzf "$scratch"/*.tar.gz -C "$scratch"
  rm "$scratch"/*.tar.gz
  mv "$scratch" "$home"
  scratch=
}

maven() {
  mvn -B -q -Dstyle.color=never --strict-checksums -Daether.connector.connectTimeout=20000 -Daether.connector.requestTimeout=60000 \
    "$plugin:copy" -Dartifact="io.apicurio:apicurio-registry-app:$apicurio:tar.gz:all" -DoutputDirectory="$scratch" </dev/null >&2
}

listening() { (exec 3<>"/dev/tcp/127.0.0.1/$1") 2>/dev/null; }

free_port() {
  local port
  for _ in {1..50}; do
    port=$((20000 + RANDOM % 12000))
    if ! listening "$port"; then
      echo "$port"
      return
    fi
  done
  fail "no free port"
}

address() { echo "http://127.0.0.1:$(cat "$folder/port")/apis/ccompat/v7"; }

# start starts the registry of a folder, and returns when it answers.
start() {
  local until=$((SECONDS + patience))
  (cd "$folder" && exec nohup java -Xmx400M -XX:+UseSerialGC -XX:TieredStopAtLevel=1 \
    -Dquarkus.http.host=127.0.0.1 -Dquarkus.http.port="$(cat port)" -jar "$home/apicurio-registry-app-$apicurio-runner.jar" \
    </dev/null >>log 2>&1) &
  echo $! >"$folder/pid"
  disown
  until curl -fs -m 5 -o "$folder/answer" "$(address)/subjects"; do
    if ! kill -0 "$(cat "$folder/pid")" 2>/dev/null || ((SECONDS >= until)); then
      tail -n 40 "$folder/log" >&2
      fail "Apicurio Registry does not answer"
    fi
    sleep 0.3
  done
}

# end kills the registry of a folder and returns when its process has ended. Another program may have its number since.
end() {
  local pid
  pid=$(cat "$folder/pid" 2>/dev/null) || return 0
  while [[ $(ps -o args= -p "$pid") == *apicurio-registry-app* ]]; do
    kill -KILL "$pid" || true
    sleep 0.1
  done
}

run() {
  local lacks
  (($# > 0)) || fail "run: missing command"
  lacks=$(missing)
  [[ -z $lacks ]] || fail "$lacks on this machine"
  fetch
  folder=$(mktemp -d "${TMPDIR:-/tmp}/eerf-registry.XXXXXX")
  free_port >"$folder/port"
  start
  echo "Apicurio Registry $apicurio at $(address) after $SECONDS s" >&2
  EERF_TEST_REGISTRY=$(address) EERF_TEST_REGISTRY_FOLDER=$folder \
    EERF_TEST_REGISTRY_SCRIPT=$(realpath "${BASH_SOURCE[0]}") "$@"
}

clean_up() {
  trap '' HUP INT TERM
  if [[ -n $folder ]]; then
    end
    rm -rf "$folder"
  fi
  [[ -z $scratch ]] || rm -rf "$scratch"
}

case ${1:-} in
  run)
    trap clean_up EXIT
    trap 'exit 129' HUP
    trap 'exit 130' INT
    trap 'exit 143' TERM
    "$@"
    ;;
  start | stop)
    folder=${EERF_TEST_REGISTRY_FOLDER:?names no registry}
    if [[ $1 == stop ]]; then end; else start; fi
    ;;
  fetch)
    trap clean_up EXIT
    fetch
    ;;
  missing) missing ;;
  *)
    sed -n '2,/^set /s/^# \{0,1\}//p' "${BASH_SOURCE[0]}" >&2
    exit 2
    ;;
esac
