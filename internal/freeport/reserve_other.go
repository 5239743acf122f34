//go:build !linux

package freeport

import "net"

// Reserve returns a port that was free a moment ago; holding it works only on Linux.
func Reserve() (port int, release func(), err error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return 0, nil, err
	}
	return listener.Addr().(*net.TCPAddr).Port, func() {}, listener.Close()
}
