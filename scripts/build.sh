#!/usr/bin/env bash
# Builds both programs as they are given away: static, and without anything of the machine in them, so that the same
# source, version of Go and stamp give the same bytes anywhere. The Dockerfile and `make release` call it.
#
#   scripts/build.sh FOLDER      writes featurizer and trainer there
#   scripts/build.sh stamp       prints the stamp as variables, and builds nothing
#   scripts/build.sh release     prints the stamp of the release that the source is; fails where changes are not committed
#
# The stamp is what --version says: VERSION, COMMIT and DATE (of the commit: that of the build would differ from build to
# build). Each is taken from the environment, else from git and cmd/internal/cli/release.go. GOOS and GOARCH are those of go build.
set -euo pipefail

# ask prints what git says, or nothing: there is no git in an image that builds from a context without one.
ask() {
  TZ=UTC git -c safe.directory='*' "$@" 2>/dev/null || true
}

# released is the version in the source, with the v of a tag.
released() {
  sed -n 's/^const release = "\(.*\)"$/v\1/p' cmd/internal/cli/release.go
}

# version names a build: by the tag of the commit, or as a step towards the version in the source.
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
      printf 'build.sh: %s: letters, digits and . _ : + - alone go into a stamp: %q\n' "$name" "${!name}" >&2
      exit 2
    fi
  done
}

build() {
  local cli=github.com/eerf-stream/eerf/cmd/internal/cli
  # Set, not inherited: these change what is built.
  export CGO_ENABLED=0 GOFLAGS=-mod=readonly GOWORK=off GOEXPERIMENT='' GOAMD64=v1 GOARM64=v8.0
  # gRPC comes with a page of traces that nothing here serves, and whose templates keep the linker from leaving out what
  # is never called: 7 MB of featurizer.
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
      echo 'build.sh: commit all changes before a release, or name what is built by VERSION' >&2
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
