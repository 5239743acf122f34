#!/usr/bin/env bash
# Builds both programs for distribution: static, and without traces of the build machine, so that the same source, Go version
# and stamp give the same bytes anywhere. scripts/image.sh calls it; .goreleaser.yaml has the same flags.
#
#   scripts/build.sh FOLDER      writes featurizer and trainer to it
#   scripts/build.sh stamp       prints the stamp as variables, and builds nothing
#   scripts/build.sh release     prints the stamp of a release of this source; fails if changes are not committed
#
# The stamp is the version that --version prints: VERSION, COMMIT and DATE (of the commit, because the time of the build would
# differ from build to build). Each comes from the environment, else from git and cmd/internal/cli/release.go. GOOS and GOARCH
# have the meaning of go build.
set -euo pipefail

# ask prints git's answer, or nothing in a source archive.
ask() {
  TZ=UTC git -c safe.directory='*' "$@" 2>/dev/null || true
}

# released prints the version in the source, with the v of a tag.
released() {
  sed -n 's/^const release = "\(.*\)"$/v\1/p' cmd/internal/cli/release.go
}

# version names a build by the tag of the commit, or as a step towards the version in the source.
version() {
  local commit tag
  tag=$(ask describe --tags --exact-match --match 'v*' --dirty)
  commit=$(ask describe --always --exclude '*' --dirty=.dirty)
  echo "${tag:-$(released)-dev${commit:++$commit}}"
}

stamp() {
  VERSION=${VERSION:-$(version)}
  COMMIT=${COMMIT:-$(ask log -1 --format=%H)}
  DATE=${DATE:-$(ask log -1 --format=%cd --date=format-local:%Y-%m-%dT%H:%M:%SZ)}
  local name
  for name in VERSION COMMIT DATE; do
    if [[ ! ${!name} =~ ^[A-Za-z0-9._:+-]*$ ]]; then
      printf 'build.sh: %s: a stamp may only contain letters, digits and . _ : + -: %q\n' "$name" "${!name}" >&2
      exit 2
    fi
  done
}

build() {
  local cli=github.com/eerf-stream/eerf/cmd/internal/cli
  # Set, not inherited: these change what is built.
  export CGO_ENABLED=0 GOFLAGS=-mod=readonly GOWORK=off GOEXPERIMENT='' GOAMD64=v1 GOARM64=v8.0
  # gRPC includes a page of traces that nothing here serves, and whose templates keep the linker from dropping unused code:
  # 7 MB of featurizer.
  go build -trimpath -buildvcs=false -tags=grpcnotrace \
    -ldflags "-s -w -X $cli.stampedVersion=$VERSION -X $cli.stampedCommit=$COMMIT -X $cli.stampedDate=$DATE" \
    -o "$1/" ./cmd/featurizer ./cmd/trainer
}

if (($# != 1)); then
  sed -n '2,/^set/s/^# \{0,1\}//p' "${BASH_SOURCE[0]}" >&2
  exit 2
fi
if [[ $1 == stamp || $1 == release ]]; then
  cd "$(dirname "${BASH_SOURCE[0]}")/.."
  if [[ $1 == release && -z ${VERSION:-} ]]; then
    if [[ -n $(ask status --porcelain) ]]; then
      echo 'build.sh: commit all changes before a release, or set VERSION' >&2
      exit 1
    fi
    VERSION=$(released)
  fi
  stamp
  printf '%s=%s\n' VERSION "$VERSION" COMMIT "$COMMIT" DATE "$DATE"
  exit
fi
mkdir -p "$1"
folder=$(cd "$1" && pwd)
cd "$(dirname "${BASH_SOURCE[0]}")/.."
stamp
build "$folder"
