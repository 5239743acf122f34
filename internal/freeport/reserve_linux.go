package freeport

import "syscall"

// Reserve holds a port of 127.0.0.1 until release is called. The kernel does not assign it to
// programs that request any port; a program that requests this one may listen on it repeatedly. The
// socket that holds it does not listen, so connections are refused unless a program does.
func Reserve() (port int, release func(), err error) {
	socket, err := syscall.Socket(syscall.AF_INET, syscall.SOCK_STREAM|syscall.SOCK_CLOEXEC, 0)
	if err != nil {
		return 0, nil, err
	}
	release = func() { _ = syscall.Close(socket) }
	err = syscall.SetsockoptInt(socket, syscall.SOL_SOCKET, syscall.SO_REUSEADDR, 1)
	if err == nil {
		err = syscall.Bind(socket, &syscall.SockaddrInet4{Addr: [4]byte{127, 0, 0, 1}})
	}
	if err == nil {
		var at syscall.Sockaddr
		at, err = syscall.Getsockname(socket)
		if err == nil {
			return at.(*syscall.SockaddrInet4).Port, release, nil
		}
	}
	release()
	return 0, nil, err
}
