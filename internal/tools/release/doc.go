// Command release writes what a release consists of into an empty folder: an archive of both programs for each platform, a list of
// what is in each archive (a CycloneDX SBOM), the source, the Python wheels, and SHA256SUMS.
//
//	go run -C internal/tools ./release -to /tmp/release
//	go run -C internal/tools ./release -to /tmp/release -platforms linux/amd64 -wheels=false
//
// The same commit and version of Go give the same bytes. scripts/build.sh builds the programs and names the version. It refuses
// uncommitted changes, unless the variable VERSION names what is built.
package main
