// Package freeport reserves loopback ports for tests. A port that is merely free may be taken
// before the program under test listens on it.
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
