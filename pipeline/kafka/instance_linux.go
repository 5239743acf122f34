package kafka

import (
	"context"
	"errors"
	"net"
	"syscall"
)

// claimName takes something for this process until release is called. The kernel gives it back when the process ends, however it ends: it
// is the address of a socket in the abstract namespace, to which nobody sends.
func claimName(what string) (release func(), err error) {
	var config net.ListenConfig
	socket, err := config.ListenPacket(context.Background(), "unixgram", "@"+what)
	if errors.Is(err, syscall.EADDRINUSE) {
		return nil, errClaimed
	}
	if err != nil {
		return nil, err
	}
	return func() { _ = socket.Close() }, nil
}
