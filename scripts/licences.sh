#!/usr/bin/env bash
# Prints the licences of Go and of every module that the programs link on any platform, which have to accompany the programs. A
# module without a licence is an error.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

# texts NAME FOLDER prints the licence files of a folder, or its README if that contains the licence.
texts() {
  local file found=
  printf '==== %s\n' "$1"
  for file in $(find "$2" -maxdepth 1 -type f | grep -iE '/(licen[cs]e|copying|notice|patents)([.-][^/]*)?$' | sort); do
    printf '\n' && cat "$file" && found=yes
  done
  if [[ -z $found ]] && file=$(grep -liE 'permission is (hereby )?granted|redistribution and use' "$2"/[Rr][Ee][Aa][Dd][Mm][Ee]*); then
    printf '\n' && cat "$file" && found=yes
  fi
  [[ -n $found ]] || { echo "licences.sh: $1 has no licence" >&2 && return 1; }
  printf '\n'
}

texts "$(go env GOVERSION)" "$(go env GOROOT)"
for system in linux darwin windows; do
  GOOS=$system CGO_ENABLED=0 go list -deps -tags grpcnotrace -f '{{with .Module}}{{if not .Main}}{{.Path}} {{.Version}} {{.Dir}}{{end}}{{end}}' \
    ./cmd/featurizer ./cmd/trainer
done | sort -u | while read -r path version folder; do
  texts "$path $version" "$folder"
done
