//go:build !unix

package clitest

import "os"

// lock does nothing here: packages have to be tested one at a time (go test -p 1).
func lock(*os.File) error { return nil }
