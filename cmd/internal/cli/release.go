package cli

// release is the version of this source or, between two releases, the next version.
// scripts/build.sh reads this line; cmd/internal/checks/release checks that the Python package and
// CHANGELOG.md have the same number.
const release = "0.1.0"
