// Package k8s checks the Kubernetes manifests in k8s/ against the types of the Kubernetes API, the
// schemas of third-party resources, the policy of their namespaces, and the programs and the
// configuration that they run.
//
// The manifests are rendered as `kubectl kustomize` renders them, and each is read as strictly as
// the API server reads with validation: a field that the type does not have, or that appears twice,
// is a fault. Third-party resources are validated by their definitions: those of KEDA and of the
// Prometheus operator come with their Go modules; those of Strimzi, which publishes none, are in
// testdata. With a real API server (scripts/apiserver.sh) the rendered manifests are also applied,
// and the documented commands are run.
//
// cmd/internal/checks is its own module, so that the programs do not depend on its requirements.
// The programs that it runs are built from the surrounding module.
package k8s
