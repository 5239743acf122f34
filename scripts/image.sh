#!/usr/bin/env bash
# Builds the image of both programs with Docker's buildx for two processors, with an SBOM by syft and build provenance, and
# pushes all of it.
#
#   scripts/image.sh NAME[:TAG]...      as ghcr.io/eerf-stream/eerf:v1.2.3
#
# The stamp comes from scripts/build.sh. Times in the image are the commit's, so that the same commit gives the same layers.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

if (($# == 0)); then
  sed -n '2,/^set/s/^# \{0,1\}//p' "${BASH_SOURCE[0]}" >&2
  exit 2
fi

arguments=()
while IFS= read -r line; do
  arguments+=(--build-arg "$line")
  if [[ $line == DATE=* ]]; then
    arguments+=(--build-arg "SOURCE_DATE_EPOCH=$(date -u -d "${line#DATE=}" +%s)")
  fi
done < <(scripts/build.sh stamp)
for name in "$@"; do
  arguments+=(--tag "$name")
done
docker buildx build --platform linux/amd64,linux/arm64 --pull --sbom=true --provenance=mode=max \
  --output type=registry,rewrite-timestamp=true "${arguments[@]}" .
