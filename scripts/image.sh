#!/usr/bin/env bash
# Builds the image of both programs for two processors, without a container engine. The image has static programs, the licence
# and root certificates, runs as user 65532, and has no shell. The same commit gives the same digest.
#
#   scripts/image.sh FILE.tar [NAME]      an OCI layout, which engines load as NAME (default docker.io/library/eerf:dev)
#   scripts/image.sh push NAME:TAG        pushes it, as ghcr.io/eerf-stream/eerf:v1.2.3, with the credentials of `docker login`
#
# The stamp comes from scripts/build.sh. To load the file: podman load -i FILE.tar, docker load -i FILE.tar (with Docker's
# containerd image store), kind load image-archive FILE.tar, ctr images import FILE.tar.
set -euo pipefail

if (($# == 0)) || { (($# != 2)) && [[ $1 == push ]]; }; then
  sed -n '2,/^set/s/^# \{0,1\}//p' "${BASH_SOURCE[0]}" >&2
  exit 2
fi
if [[ $1 == push ]]; then
  to=(-push "$2")
else
  to=(-out "$(realpath -m "$1")" -name "${2:-docker.io/library/eerf:dev}")
fi
cd "$(dirname "${BASH_SOURCE[0]}")/.."
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

platforms=()
for architecture in amd64 arm64; do
  GOOS=linux GOARCH=$architecture scripts/build.sh "$work/$architecture"
  platforms+=("linux/$architecture=$work/$architecture")
done
(cd internal/tools && go build -o "$work/image" ./image)
declare -A stamped
while IFS='=' read -r key value; do
  stamped[$key]=$value
done < <(scripts/build.sh stamp)
"$work/image" "${to[@]}" -version "${stamped[VERSION]}" -commit "${stamped[COMMIT]}" -date "${stamped[DATE]}" LICENSE "${platforms[@]}"
