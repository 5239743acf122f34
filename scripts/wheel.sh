#!/usr/bin/env bash
# Builds the wheels of the package in python/: one with the program featurizer for Linux on x86-64, and one without a program
# for every other platform. Both have the version in python/src/eerf/__init__.py, and no compiler is needed to install them.
# Needs go, and a Python with hatchling and its dependencies (PYTHON, default python3).
#
#   scripts/wheel.sh FOLDER      writes the wheels there
#   scripts/wheel.sh check       prints the missing requirements, and builds nothing
set -euo pipefail

if (($# != 1)); then
  sed -n '2,/^set/s/^# \{0,1\}//p' "${BASH_SOURCE[0]}" >&2
  exit 2
fi
if ! "${PYTHON:-python3}" -c 'import hatchling' 2>/dev/null; then
  echo "wheel.sh: ${PYTHON:-python3} lacks hatchling, which builds wheels; run ${PYTHON:-python3} -m pip install hatchling, or set PYTHON to a venv that has it" >&2
  exit 1
fi
if [[ $1 == check ]]; then
  exit
fi
mkdir -p "$1"
folder=$(cd "$1" && pwd)
cd "$(dirname "${BASH_SOURCE[0]}")/.."
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# wheel builds one wheel; the commit's time makes the result independent of the time of the build.
wheel() {
  (cd python && SOURCE_DATE_EPOCH=$(git -c safe.directory='*' log -1 --format=%ct 2>/dev/null || echo 1577836800) \
    "${PYTHON:-python3}" -m hatchling build -t wheel -d "$folder")
}

GOOS=linux GOARCH=amd64 scripts/build.sh "$work"
wheel
EERF_PROGRAM=$work/featurizer wheel
