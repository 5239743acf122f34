// Package k8s holds the Kubernetes manifests in k8s/ to the types of the Kubernetes API and to the schemas of the resources
// of others, to the policy that their namespaces are under, and to the programs and the configuration that they run.
//
// The manifests are rendered as `kubectl kustomize` renders them, and each is then read as strictly as the API server reads
// what is applied with validation: a field that the type does not have, or that is there twice, is a fault. The resources of
// others are validated by their definitions: those of KEDA and of the Prometheus operator come with their Go modules, those of
// Strimzi, which publishes none, are in testdata. Against a real API server (scripts/apiserver.sh) what is rendered is applied
// too, and the commands of the documentation are run.
//
// internal/checks is a module of its own, so that what it needs is no dependency of the programs. What is run of them is built from the
// module around it.
package k8s
