package cli

import (
	"errors"
	"fmt"
	"net"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/eerf-stream/eerf/config"
	"github.com/eerf-stream/eerf/pipeline"
)

// hintFor returns advice for an error, empty if there is none.
func hintFor(c *cobra.Command, err error) string {
	var faults config.Faults
	switch {
	case errors.As(err, &faults):
		return "run `featurizer config explain` for the meaning of every key"
	case isUsage(err):
		return fmt.Sprintf("run `%s --help` for its flags and an example", c.CommandPath())
	case errors.Is(err, pipeline.ErrUnknownTopic):
		return "check pipeline.name; `featurizer topics create` with the same configuration creates missing topics"
	case errors.Is(err, syscall.EADDRINUSE):
		return "nothing was started, because another process listens there; choose another port, or port 0 for any free port"
	case isUnreachable(err):
		return "check that Kafka is running and that kafka.brokers names it; " +
			"`featurizer broker` starts a small one on this machine for trials"
	}
	return ""
}

// isUnreachable reports whether a broker cannot be reached: its name does not resolve, there is no
// route, the connection is refused, or it times out.
func isUnreachable(err error) bool {
	var lookup *net.DNSError
	return errors.Is(err, syscall.ECONNREFUSED) || errors.Is(err, syscall.EHOSTUNREACH) ||
		errors.Is(err, syscall.ETIMEDOUT) ||
		errors.As(err, &lookup)
}
