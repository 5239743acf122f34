package kafka_test

import (
	"os"
	"testing"
	"time"

	"go.uber.org/zap"
	"go.uber.org/zap/zaptest"

	"github.com/eerf-stream/eerf/pipeline/embedded"
	"github.com/eerf-stream/eerf/pipeline/kafka"
)

func startBroker(t testing.TB, options embedded.Options) *embedded.Broker {
	t.Helper()
	broker, err := embedded.Start(options)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := broker.Close(); err != nil {
			t.Error(err)
		}
	})
	return broker
}

// config has short times, except where speed is tested. Sessions are long, so that members keep
// their membership on a busy machine.
func config(addrs []string) kafka.Config {
	c := kafka.DefaultConfig()
	c.Brokers = addrs
	c.FetchMaxWait = 50 * time.Millisecond
	c.SessionTimeout = 20 * time.Second
	c.HeartbeatInterval = 50 * time.Millisecond
	c.PartitionWatchInterval = 100 * time.Millisecond
	return c
}

func dial(t testing.TB, c kafka.Config) *kafka.Client {
	t.Helper()
	client, err := kafka.New(c, logger(t))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { client.Close() })
	return client
}

func logger(t testing.TB) *zap.Logger {
	if os.Getenv("EERF_TEST_LOG") == "" {
		return zap.NewNop()
	}
	return zaptest.NewLogger(t)
}
