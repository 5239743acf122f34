// Package freeport reserves ports on loopback for tests: a port that was merely free a moment ago may be taken before the program that
// a test starts listens on it.
package freeport

import (
	"net"
	"strconv"
	"testing"
)

// Address reserves a port of 127.0.0.1 for the duration of a test.
func Address(t testing.TB) string {
	t.Helper()
	port, release, err := Reserve()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(release)
	return net.JoinHostPort("127.0.0.1", strconv.Itoa(port))
}
