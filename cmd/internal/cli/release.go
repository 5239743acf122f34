package cli

// release is the version of this source or, between two releases, the next version. scripts/build.sh reads this line; the
// Python package and CHANGELOG.md must have the same number, which cmd/internal/checks/release checks.
const release = "0.1.0"
