#!/usr/bin/env bash
# Prints the size of this project: lines of Go by purpose, words of pages, and direct dependencies.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

# lines counts the lines of the files whose names it reads, without generated ones.
lines() { { xargs -r grep -LE '^// Code generated .* DO NOT EDIT' || true; } | xargs -r cat | wc -l; }

# linked prints the Go files of this module that the programs link.
linked() {
  go list -deps -f '{{if .Module}}{{if .Module.Main}}{{$d := .Dir}}{{range .GoFiles}}{{$d}}/{{.}}{{"\n"}}{{end}}{{end}}{{end}}' \
    ./cmd/featurizer ./cmd/trainer | grep . | sort -u
}

# within prints the Go files of the module in a folder, without those of nested modules.
within() {
  find "$1" -name .git -prune -o -mindepth 2 -name go.mod -printf '%h\n' | sed "s#^\./##" >"$below"
  find "$1" -name '*.go' | sed 's#^\./##' | { grep -vFf <(sed 's#$#/#' "$below") || true; }
}

below=$(mktemp)
trap 'rm -f "$below"' EXIT

programs=$(linked | lines)
root=$(within . | lines)
printf '%7d  lines that featurizer and trainer link, without generated ones\n' "$programs"
printf '%7d  lines of tests and of code that only tests use, in the module of the programs\n' $((root - programs))
for module in $(find . -mindepth 2 -name go.mod | sort); do
  printf '%7d  lines in %s, tests included\n' "$(within "$(dirname "$module")" | lines)" "$(dirname "$module" | cut -c3-)"
done
printf '%7d  words in pages, generated ones included\n' "$(find . -name .git -prune -o -path '*/vendor/*' -prune -o -name '*.md' -print | xargs cat | wc -w)"
printf '%7d  words in docs/operations.md\n' "$(wc -w <docs/operations.md)"
printf '%7d  direct dependencies of the module of the programs\n' "$(go list -m -f '{{if not (or .Main .Indirect)}}x{{end}}' all | grep -c x)"
