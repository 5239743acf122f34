#!/usr/bin/env bash
# Copies the Secrets that Strimzi made for a pipeline from Kafka's namespace to the pipeline's: the passwords of its users, and
# the certificates of the cluster's authority. Pods reread the files for every new connection, so nothing has to be restarted.
#
#   scripts/strimzi-secrets.sh NAMESPACE [PIPELINE [KAFKA_NAMESPACE [CLUSTER]]]     PIPELINE is default, the others are kafka
#
# Run it after the first apply, when Strimzi has made the users, and again after each renewal of the authority: once a year, a
# month before the old certificate expires. Running it every week does no harm. A missing Secret is an error.
set -euo pipefail

to=${1:?"usage: strimzi-secrets.sh NAMESPACE [PIPELINE [KAFKA_NAMESPACE [CLUSTER]]]"}
pipeline=${2:-default} from=${3:-kafka} cluster=${4:-kafka}

# copy SECRET KEY copies only that key of a Secret.
copy() {
  local value
  value=$(kubectl -n "$from" get secret "$1" -o "jsonpath={.data.${2//./\\.}}")
  [[ -n $value ]] || { echo "strimzi-secrets.sh: secret $1 in $from has no $2" >&2; exit 1; }
  base64 -d <<<"$value" | kubectl -n "$to" create secret generic "$1" --from-file="$2=/dev/stdin" --dry-run=client -o yaml |
    kubectl -n "$to" apply --server-side --force-conflicts -f -
}

copy "$cluster-cluster-ca-cert" ca.crt
for user in selector scoring featurizer trainer server retrain keda; do
  copy "$pipeline.$user" password
done
