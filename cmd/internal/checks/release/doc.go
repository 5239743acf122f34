// Package release tests what is published: the Dockerfile passes its own builder's checks, the binaries are static, two builds
// have the same bytes, the programs report their stamp, and every place that names the version names the same one.
//
// It needs no container engine: it runs the build steps of the Dockerfile on a copy of the context that .dockerignore leaves.
package release
