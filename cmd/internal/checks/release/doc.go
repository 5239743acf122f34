// Package release tests what is published: the Dockerfile passes its own builder's checks, the binaries are static,
// two builds and two releases have the same bytes, the programs report their stamp, and every place that names
// the version names the same one.
//
// It needs no container engine: it runs the build steps of the Dockerfile on a copy of the context that
// .dockerignore leaves. cmd/internal/checks is a module of its own, so that the programs do not depend on what it needs.
package release
