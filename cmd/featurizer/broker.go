package main

import (
	"errors"
	"fmt"
	"io"
	"net"
	"strconv"
	"time"

	"github.com/spf13/cobra"

	"github.com/eerf-stream/eerf/cmd/internal/cli"
	"github.com/eerf-stream/eerf/config"
	"github.com/eerf-stream/eerf/pipeline/embedded"
)

func newBroker() *cobra.Command {
	var listen, dir string
	var asJSON bool
	c := &cobra.Command{
		Use:   "broker",
		Short: "Run a small broker on this machine, to try things out without Kafka",
		Long: `broker runs a single node that speaks Kafka's protocol until it is stopped. It is for trials: it has no
replicas and no authentication, so it listens on the loopback address only. The tests and the demo of this
project run on it. It can also serve the folder that featurizer demo --keep wrote.`,
		Example: `  featurizer broker --dir broker-data`,
		Args:    cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			host, port, err := loopback(listen)
			if err != nil {
				return err
			}
			return serveBroker(c, embedded.Options{Host: host, Port: port, Dir: dir, RebalanceTimeout: brokerRebalance}, asJSON)
		},
	}
	c.Flags().StringVar(&listen, "listen", "127.0.0.1:9092",
		"loopback address and port to listen on; port 0 = any free port")
	c.Flags().StringVar(&dir, "dir", "",
		"data folder, created if missing; empty = a temporary folder, removed at the end")
	cli.JSONFlag(c, &asJSON)
	return c
}

// brokerRebalance bounds how long a rebalance waits for a killed member, which may have requested
// a longer timeout.
const brokerRebalance = 30 * time.Second

// loopback splits an address and refuses any host but this machine's loopback interface.
func loopback(listen string) (host string, port int, err error) {
	host, text, err := net.SplitHostPort(listen)
	if err != nil {
		return "", 0, cli.Usagef("--listen %s: expected host:port", listen)
	}
	number, err := strconv.ParseUint(text, 10, 16)
	if err != nil {
		return "", 0, cli.Usagef("--listen %s: expected a port number", listen)
	}
	if ip := net.ParseIP(host); host != "localhost" && (ip == nil || !ip.IsLoopback()) {
		return "", 0, cli.Usagef(
			"--listen %s: this broker has no authentication; expected a loopback address, such as 127.0.0.1", listen)
	}
	return host, int(number), nil
}

// serveBroker runs a broker until the command is stopped.
func serveBroker(c *cobra.Command, o embedded.Options, asJSON bool) error {
	logger, err := cli.NewLogger(config.LogConfig{Level: "warn", Format: config.LogConsole}, c.ErrOrStderr())
	if err != nil {
		return err
	}
	o.Logger = logger
	broker, err := embedded.Start(o)
	if err != nil {
		return err
	}
	said := map[string]any{"brokers": broker.Addrs(), "dir": o.Dir}
	err = cli.Print(c, asJSON, said, func(w io.Writer, _ map[string]any) {
		fmt.Fprintf(w, "broker at %s; interrupt to stop it\n", broker.Addrs()[0])
	})
	if err == nil {
		<-c.Context().Done()
	}
	return errors.Join(err, broker.Close())
}
