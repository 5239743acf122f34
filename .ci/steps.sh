# Shared by .ci/run and .ci/nightly: how a step runs and is reported, and their common steps. Sourced.
# shellcheck shell=bash
set -euo pipefail
exec </dev/null
cd "$(dirname "${BASH_SOURCE[0]}")/.."

export CI=true
# In a clone owned by another user git refuses to answer, and so does go build; no check needs the stamp.
export GOFLAGS="${GOFLAGS:-} -buildvcs=false"

readonly lint=github.com/golangci/golangci-lint/v2/cmd/golangci-lint@v2.15.0
readonly cache="${XDG_CACHE_HOME:-${HOME:-/tmp}/.cache}/eerf"
readonly venv="$cache/venv" log="$cache/install.log" # a virtual environment, and the output of its installation
mkdir -p "$cache"

# Packages that compute: the kernels and their callers.
readonly computing=(./arrowio/encoder/... ./arrowio/onnx/... ./internal/simd/... ./scoring/... ./training/...)

keep_going= # if set, a failed check does not end the script
times=()
skipped=()
failures=0

# step NAME COMMAND... runs a check and prints its time.
step() {
  local name=$1 start=$SECONDS outcome=took
  shift
  printf '\n== %s\n' "$name"
  "$@" || outcome="FAILED after"
  printf '== %s %s %d s\n' "$name" "$outcome" $((SECONDS - start))
  times+=("$(printf '%5d s  %s' $((SECONDS - start)) "$name")")
  if [[ $outcome != took ]]; then
    failures=$((failures + 1))
    times[-1]+="  FAILED"
    [[ -n $keep_going ]] || report
  fi
}

# skip NAME REASON notes a check that this machine cannot run.
skip() {
  printf '\n== %s not run: %s\n' "$1" "$2"
  skipped+=("$1 ($2)")
}

# report prints the time of every step and the checks that were not run, and ends the script.
report() {
  if ((failures)); then
    printf '\n== %d failed, %d s in all\n' "$failures" "$SECONDS"
  else
    printf '\n== all passed in %d s\n' "$SECONDS"
  fi
  printf '%s\n' "${times[@]+"${times[@]}"}"
  local what
  for what in "${skipped[@]+"${skipped[@]}"}"; do
    printf '  not run  %s\n' "$what"
  done
  exit $((failures > 0))
}

# modules prints the folders of all modules but the root's.
modules() { find . -mindepth 2 -name go.mod -exec dirname {} \; | sort; }

# install_into VENV PACKAGE... installs wheels.
install_into() {
  "$1/bin/python3" -m pip install --quiet --disable-pip-version-check --only-binary :all: "${@:2}"
}

# make_venv VENV IMPORT PACKAGE... makes a virtual environment, unless one exists that can import the module.
make_venv() {
  "$1/bin/python3" -c "import $2" 2>/dev/null && return
  rm -rf "$1"
  { python3 -m venv "$1" && install_into "$1" "${@:3}"; } >"$log" 2>&1 || { tail -n 5 "$log"; return 1; }
}

# python_for_interop puts a python3 with numpy, pyarrow and onnxruntime first on PATH, for the tests that read this project's
# messages and run its graphs in another language.
python_for_interop() {
  if ! command -v python3 >/dev/null; then
    skip "interop tests with pyarrow and onnxruntime" "no python3"
  elif python3 -c 'import numpy, pyarrow, onnx, onnxruntime' 2>/dev/null; then
    echo "pyarrow, onnxruntime: found"
  elif make_venv "$venv" 'numpy, pyarrow, onnx, onnxruntime' numpy pyarrow onnx onnxruntime; then
    export PATH="$venv/bin:$PATH"
    echo "pyarrow, onnxruntime: in $venv"
  else
    skip "interop tests with pyarrow and onnxruntime" "they could not be installed"
  fi
}

# has_kafka NAME succeeds if Apache Kafka is installed or could be fetched; otherwise the check NAME is noted as not run.
has_kafka() {
  local lacks
  lacks=$(scripts/kafka.sh missing)
  if [[ -z $lacks ]] && ! scripts/kafka.sh fetch; then
    lacks="it could not be fetched"
  fi
  [[ -z $lacks ]] || skip "$1" "$lacks"
  [[ -z $lacks ]]
}

# has_compiler NAME succeeds if go's C compiler works; the race detector needs it.
has_compiler() {
  local compiler
  read -ra compiler < <(go env CC)
  echo '#include <stdlib.h>' | "${compiler[@]}" -x c -fsyntax-only - 2>/dev/null && return
  skip "$1" "no C compiler, or none that finds its headers"
  return 1
}

# kernels FLAG... tests the computing packages with other kernels, and runs the demo with them.
kernels() {
  go test -short "$@" "${computing[@]}" && go test -short "$@" -run Demo ./cmd/featurizer
}
