#!/usr/bin/env bash
# A real API server of Kubernetes (loopback only) with its etcd, without nodes and controllers, to check the manifests on one
# machine. Needs Go and openssl.
#
#   scripts/apiserver.sh run COMMAND...   builds both if necessary, starts them, runs COMMAND with KUBECONFIG (and
#                                         EERF_TEST_APISERVER, by which tests know that the server is theirs), stops
#                                         them, and returns COMMAND's exit code
#   scripts/apiserver.sh build            only builds them: minutes, once per version
#
# They are built from their Go modules, which Go checks by its checksum database, and stay in
# ${XDG_CACHE_HOME:-~/.cache}/eerf/kubernetes-VERSION. Data and logs are in a temporary folder that is removed with the server.
#
# The documented commands and the overlays against it:
#   scripts/apiserver.sh run bash -c 'cd cmd/internal/checks && go test -count=1 -v -run APIServer ./k8s'
set -euo pipefail

readonly version=1.37.0 etcd=v3.6.5
readonly home="${XDG_CACHE_HOME:-${HOME:?}/.cache}/eerf/kubernetes-$version"
readonly patience=120 # seconds for the server to become ready; about ten on an idle machine

dir= # of the running server
pids=()

fail() {
  printf 'apiserver.sh: %s\n' "$*" >&2
  exit 1
}

# build makes modules that require the programs: Kubernetes keeps parts of itself in separate modules, which it replaces by
# folders, so here they are named by the matching version.
build() (
  [[ -x $home/kube-apiserver && -x $home/etcd ]] && return
  scratch=$(mktemp -d) && trap 'rm -rf "$scratch"' EXIT
  mkdir -p "$home" "$scratch/etcd" && cd "$scratch"
  source=$(go mod download -json "k8s.io/kubernetes@v$version" | sed -n 's/.*"Dir": "\(.*\)",/\1/p')
  cp "$source/go.mod" "$source/go.sum" . && chmod u+w go.mod go.sum
  go mod edit -module eerf.invalid/build -require "k8s.io/kubernetes@v$version"
  while read -r module; do
    go mod edit -replace "$module=$module@v0.${version#1.}"
  done < <(sed -n 's#^\t\(k8s.io/[a-z-]*\) => ./staging.*#\1#p' "$source/go.mod")
  go build -mod=mod -trimpath -ldflags="-s -w -X k8s.io/component-base/version.gitVersion=v$version" -o kube-apiserver k8s.io/kubernetes/cmd/kube-apiserver
  cd etcd && go mod init eerf.invalid/build && go get "go.etcd.io/etcd/server/v3@$etcd"
  go build -mod=mod -trimpath -ldflags='-s -w' -o etcd go.etcd.io/etcd/server/v3
  mv ../kube-apiserver etcd "$home/"
)

stop() {
  for ((i = ${#pids[@]} - 1; i >= 0; i--)); do # the server before its etcd
    kill "${pids[i]}" 2>/dev/null && wait "${pids[i]}" 2>/dev/null || true
  done
  [[ -z $dir ]] || rm -rf "$dir"
}

# port prints a free port.
port() {
  local candidate
  for _ in {1..100}; do
    candidate=$((20000 + RANDOM % 10000))
    (exec 3<>"/dev/tcp/127.0.0.1/$candidate") 2>/dev/null || { echo "$candidate" && return; }
  done
  fail "no free port"
}

start() {
  dir=$(mktemp -d)
  local token client peer secure
  client=$(port) peer=$(port) secure=$(port)
  token=$(openssl rand -hex 16)
  openssl genrsa -out "$dir/accounts.key" 2048 2>/dev/null
  printf '%s,admin,admin,"system:masters"\n' "$token" >"$dir/tokens"
  "$home/etcd" --data-dir "$dir/etcd" --unsafe-no-fsync \
    --listen-client-urls "http://127.0.0.1:$client" --advertise-client-urls "http://127.0.0.1:$client" \
    --listen-peer-urls "http://127.0.0.1:$peer" --initial-advertise-peer-urls "http://127.0.0.1:$peer" \
    --initial-cluster "default=http://127.0.0.1:$peer" >"$dir/etcd.log" 2>&1 &
  pids+=($!)
  "$home/kube-apiserver" --etcd-servers "http://127.0.0.1:$client" --bind-address 127.0.0.1 --secure-port "$secure" \
    --cert-dir "$dir" --service-cluster-ip-range 10.0.0.0/24 --authorization-mode RBAC --token-auth-file "$dir/tokens" \
    --service-account-issuer https://kubernetes.invalid --service-account-key-file "$dir/accounts.key" \
    --service-account-signing-key-file "$dir/accounts.key" >"$dir/apiserver.log" 2>&1 &
  pids+=($!)
  cat >"$dir/kubeconfig" <<YAML
apiVersion: v1
kind: Config
clusters: [{name: it, cluster: {server: "https://127.0.0.1:$secure", insecure-skip-tls-verify: true}}]
users: [{name: admin, user: {token: $token}}]
contexts: [{name: it, context: {cluster: it, user: admin}}]
current-context: it
YAML
  export KUBECONFIG="$dir/kubeconfig" EERF_TEST_APISERVER=1
  for ((i = 0; i < patience; i++)); do
    kubectl get --raw /readyz >/dev/null 2>&1 && kubectl get namespace default >/dev/null 2>&1 && return
    kill -0 "${pids[1]}" 2>/dev/null || break
    sleep 1
  done
  tail -n 20 "$dir/etcd.log" "$dir/apiserver.log" >&2
  fail "the server does not answer"
}

case ${1-} in
build) build ;;
run)
  shift
  [[ $# -gt 0 ]] || fail "run: missing command"
  build
  trap stop EXIT
  start
  "$@"
  ;;
*)
  sed -n '2,/^set/{/^set/d;s/^# \{0,1\}//;p}' "$0" >&2
  exit 2
  ;;
esac
