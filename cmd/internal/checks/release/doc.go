// Package release tests the published artefacts: the programs are static, contain no paths of the
// build machine and report their stamp, the image has the user of the manifests, and all places
// agree on the version.
package release
