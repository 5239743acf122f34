// Package release holds what is given away to what is promised of it: that the Dockerfile has no faults that its own builder
// would warn of, that the binaries are static, are the same bytes wherever they are built, and say what was stamped on them, and
// that the release recipe builds them as scripts/build.sh does.
//
// There need be no container engine: the steps of the Dockerfile that build are carried out here, on a copy of the context that
// .dockerignore leaves. internal/checks is a module of its own, so that what it needs is no dependency of the programs.
package release
