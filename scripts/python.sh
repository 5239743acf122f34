#!/usr/bin/env bash
# Tests the package in python/ in its published form: builds its wheels, installs the one with the program into a venv in the
# cache, and runs linter, tests and example against it, then the tests of this repository that need its Python.
#
#   scripts/python.sh missing         prints the missing requirements of this machine, or nothing
#   scripts/python.sh fetch           makes the venv, with the packages of python/requirements-test.txt
#   scripts/python.sh test [ARG...]   runs the tests, with the arguments for pytest
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
readonly venv="${XDG_CACHE_HOME:-${HOME:-/tmp}/.cache}/eerf/venv-package"
readonly pins=python/requirements-test.txt

missing() {
  if ! command -v python3 >/dev/null; then
    echo "no python3"
  elif ! python3 -c 'import sys, venv; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; then
    echo "no Python 3.11 with venv"
  fi
}

# fetch makes the venv if it is missing or has other packages.
fetch() {
  cmp -s "$pins" "$venv/requirements.txt" && return
  rm -rf "$venv"
  python3 -m venv "$venv"
  "$venv/bin/python3" -m pip install --quiet --disable-pip-version-check --only-binary :all: -r "$pins"
  cp "$pins" "$venv/requirements.txt"
}

# check runs everything; the tests use the featurizer of the wheel and the trainer next to it.
check() {
  local work
  work=$(mktemp -d)
  # shellcheck disable=SC2064 # expand the folder now
  trap "rm -rf '$work'" EXIT
  export PATH="$venv/bin:$PATH" PYTHONDONTWRITEBYTECODE=1
  unset EERF_FEATURIZER PYTHONPATH
  ruff check --no-cache python
  ruff format --no-cache --check python
  scripts/wheel.sh "$work"
  go build -o "$work/" ./cmd/trainer
  pip install --quiet --disable-pip-version-check --no-index --no-deps --force-reinstall "$work"/eerf-*-manylinux*.whl
  (cd python && EERF_TRAINER=$work/trainer pytest -p no:cacheprovider "$@")
  python3 python/examples/scikit_learn.py
  go test -count=1 -run '^TestTrees' ./compare
  go test -C cmd/internal/checks -count=1 -run '^TestPython' ./docs
}

case ${1-} in
missing | fetch) "$1" ;;
test) check "${@:2}" ;;
*)
  sed -n '2,/^set/s/^# \{0,1\}//p' "${BASH_SOURCE[0]}" >&2
  exit 2
  ;;
esac
