#!/usr/bin/env bash
# Makes the files of a release of this commit, and tries them. Publishes nothing.
#
#   scripts/release.sh          writes to dist/: archives of the programs for six platforms and their SBOMs (goreleaser), the
#                               source, an OCI image for two processors, the Helm chart, the wheels, notes.md (the section of
#                               the changelog) and SHA256SUMS of all of it
#   scripts/release.sh try      unpacks those for this machine into empty folders, and runs the demo, the image's programs, the
#                               chart and the wheel
#
# Needs a Python with hatchling (PYTHON, default python3). GORELEASER_FLAGS are passed on, such as --parallelism=1.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
readonly goreleaser=github.com/goreleaser/goreleaser/v2@v2.16.0 helm=helm.sh/helm/v4/cmd/helm@v4.3.2
export PYTHON=${PYTHON:-python3}

# notes prints the changelog of a version, or of what has no version yet.
notes() {
  awk -v version="$1" '
    /^## \[/ { on = index($0, "[" version "]") > 0 }
    on' CHANGELOG.md
}

make_all() {
  local name value number stamp flags=()
  read -ra flags <<<"${GORELEASER_FLAGS-}"
  scripts/wheel.sh check
  # VERSION, COMMIT and DATE, which the programs below inherit.
  stamp=$(scripts/build.sh stamp)
  while IFS='=' read -r name value; do export "$name=$value"; done <<<"$stamp"
  TIMESTAMP=$(date -d "$DATE" +%s)
  export TIMESTAMP
  number=${VERSION#v}
  go run "$goreleaser" release --snapshot --clean "${flags[@]}"
  git archive --format=tar.gz --prefix="eerf-$number/" --output="dist/eerf_${number}_source.tar.gz" HEAD
  scripts/image.sh "dist/eerf_${number}_image.tar" "ghcr.io/eerf-stream/eerf:${VERSION//+/_}"
  go run "$helm" package k8s/chart --version "$number" --app-version "${VERSION//+/_}" --destination dist
  scripts/wheel.sh dist
  notes "$number" >dist/notes.md
  [[ -s dist/notes.md ]] || notes Unreleased >dist/notes.md
  (cd dist && find . -maxdepth 1 -type f ! -name SHA256SUMS ! -name '*.json' ! -name config.yaml -printf '%f\n' -o -name '*.cdx.json' -printf '%f\n' |
    sort | xargs sha256sum >SHA256SUMS)
  echo "release.sh: dist/ has $(wc -l <dist/SHA256SUMS) files of $VERSION"
}

try_all() {
  local system arch archive
  work=$(mktemp -d)
  trap 'rm -rf "$work"' EXIT
  (cd dist && sha256sum --quiet --check SHA256SUMS)
  system=$(go env GOOS) arch=$(go env GOARCH)
  archive=$(find dist -maxdepth 1 -name "eerf_*_${system}_${arch}.tar.gz")
  mkdir "$work/archive" "$work/image" "$work/layer"
  tar xzf "$archive" -C "$work/archive" --strip-components=1
  (cd "$work/archive" && env -i ./featurizer --version && env -i ./trainer --version && env -i HOME="$work" ./featurizer demo)

  tar xf "$(find dist -maxdepth 1 -name 'eerf_*_image.tar')" -C "$work/image"
  # The layers are the large blobs; the one with a program for this processor runs.
  local blob ran=
  for blob in $(find "$work/image/blobs" -type f -size +1M); do
    rm -rf "$work/layer" && mkdir "$work/layer"
    tar xzf "$blob" -C "$work/layer"
    if env -i "$work/layer/usr/local/bin/featurizer" --version 2>/dev/null && env -i "$work/layer/usr/local/bin/trainer" --version; then
      ran=yes
    fi
  done
  [[ -n $ran ]] || { echo "release.sh: no image has a program for $system/$arch" >&2 && return 1; }

  go run "$helm" template any dist/eerf-*.tgz --set image.repository=registry.example.com/eerf >"$work/objects.yaml"
  echo "release.sh: the chart renders $(grep -c '^kind:' "$work/objects.yaml") objects"

  "$PYTHON" -m venv "$work/venv"
  "$work/venv/bin/pip" install --quiet --no-deps --no-index --find-links dist eerf
  "$work/venv/bin/python" -c 'import importlib.metadata as m; print("wheel", m.version("eerf"))'
}

case ${1-make} in
  make) make_all ;;
  try) try_all ;;
  *)
    sed -n '2,/^set/s/^# \{0,1\}//p' "${BASH_SOURCE[0]}" >&2
    exit 2
    ;;
esac
