#!/usr/bin/env bash
# Compares the featurizer of a revision with that of this tree: rows per second, and the delay of single messages.
#
#   scripts/before-after.sh REVISION [--rounds N] [--duration D]
set -euo pipefail

(($# > 0)) || { sed -n '2,/^set/{/^#/p}' "$0" >&2; exit 2; }
revision=$1
shift
cd "$(dirname "${BASH_SOURCE[0]}")/.."
work=$(mktemp -d)
trap 'git worktree remove --force "$work/tree" 2>/dev/null; rm -rf "$work"' EXIT
git worktree add -q --detach "$work/tree" "$revision"
mkdir "$work/before" "$work/after"
(cd "$work/tree" && go build -o "$work/before/" ./cmd/featurizer)
go build -o "$work/after/" ./cmd/featurizer ./internal/crash/soak
"$work/after/soak" pace "$work/before" "$work/after" "$@"
