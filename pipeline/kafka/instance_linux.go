package kafka

import (
	"context"
	"errors"
	"net"
	"syscall"
)

// claimName reserves a name for this process until release is called. The name is the address of an
// unused socket in the abstract namespace, so the kernel releases it when the process ends, even if
// killed.
func claimName(name string) (release func(), err error) {
	var config net.ListenConfig
	socket, err := config.ListenPacket(context.Background(), "unixgram", "@"+name)
	if errors.Is(err, syscall.EADDRINUSE) {
		return nil, errClaimed
	}
	if err != nil {
		return nil, err
	}
	return func() { _ = socket.Close() }, nil
}
