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

// hintFor says what to do about an error, if that is known.
func hintFor(c *cobra.Command, err error) string {
	var faults config.Faults
	switch {
	case errors.As(err, &faults):
		return "run `featurizer config explain` for the meaning of every key"
	case isUsage(err):
		return fmt.Sprintf("run `%s --help` for its flags and an example", c.CommandPath())
	case errors.Is(err, pipeline.ErrUnknownTopic):
		return "is pipeline.name right? `featurizer topics create` with the same configuration creates what is missing"
	case errors.Is(err, syscall.EADDRINUSE):
		return "something else listens there: choose another port; port 0 takes any that is free"
	case isUnreachable(err):
		return "is Kafka running, and does kafka.brokers name it? `featurizer broker` starts a small one on this machine, to try things out"
	}
	return ""
}

// isUnreachable reports whether nothing answers at a broker's address: no name, no route, refused, or nothing in time.
func isUnreachable(err error) bool {
	var lookup *net.DNSError
	return errors.Is(err, syscall.ECONNREFUSED) || errors.Is(err, syscall.EHOSTUNREACH) || errors.Is(err, syscall.ETIMEDOUT) ||
		errors.As(err, &lookup)
}
