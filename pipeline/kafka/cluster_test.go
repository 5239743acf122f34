package kafka_test

import (
	"net"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kfake"

	"github.com/eerf-stream/eerf/pipeline/embedded"
	"github.com/eerf-stream/eerf/pipeline/kafka"
	"github.com/eerf-stream/eerf/pipeline/kafkatest"
)

// cluster is the brokers under test.
type cluster struct {
	addrs []string
	tls   kafka.TLS
	sasl  kafka.SASL

	kill, start func(t testing.TB)                              // all nodes; nil if the test cannot
	move        func(t testing.TB, topic string, partition int) // makes another node the leader; nil if the test cannot
	compacts    bool                                            // soon

	real *kafkatest.Cluster // nil for other brokers
}

// connect returns the cluster that EERF_TEST_BROKERS and EERF_TEST_KAFKA name, or an embedded one.
func connect(t testing.TB) *cluster {
	t.Helper()
	addresses := os.Getenv("EERF_TEST_BROKERS")
	if addresses == "" {
		return newEmbedded(t)
	}
	on := &cluster{addrs: strings.Split(addresses, ","), compacts: true, real: kafkatest.Find()}
	if on.real == nil {
		return on
	}
	on.kill = func(t testing.TB) { on.real.KillAll(t) }
	on.start = func(t testing.TB) { on.real.StartAll(t) }
	if len(on.addrs) > 1 {
		on.move = on.elect
	}
	if on.real.Secured() {
		on.tls = kafka.TLS{Enabled: true, CAFile: on.real.File("ca.pem")}
		on.sasl = kafka.SASL{Mechanism: "scram-sha-512", User: kafkatest.Admin, PasswordFile: on.real.File("password")}
	}
	return on
}

// config is a configuration with short times and with credentials.
func (on *cluster) config() kafka.Config {
	c := config(on.addrs)
	c.TLS, c.SASL = on.tls, on.sasl
	return c
}

// newEmbedded starts a cluster of one embedded broker.
func newEmbedded(t testing.TB) *cluster {
	t.Helper()
	r := &restartable{options: embedded.Options{Dir: t.TempDir(), CompactEvery: 50 * time.Millisecond}}
	r.Broker = startBroker(t, r.options)
	_, port, err := net.SplitHostPort(r.Addrs()[0])
	if err == nil {
		r.options.Port, err = strconv.Atoi(port)
	}
	if err != nil {
		t.Fatal(err)
	}
	return &cluster{addrs: r.Addrs(), compacts: true, kill: r.kill, start: r.restart}
}

// newEmbeddedThree starts three nodes of the fake that the embedded broker uses.
func newEmbeddedThree(t testing.TB) *cluster {
	t.Helper()
	three, err := kfake.NewCluster(kfake.NumBrokers(3))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(three.Close)
	return &cluster{addrs: three.ListenAddrs(), move: func(t testing.TB, topic string, partition int) {
		t.Helper()
		leader := three.LeaderFor(topic, int32(partition))
		if err := three.MoveTopicPartition(topic, int32(partition), (leader+1)%3); err != nil {
			t.Fatal(err)
		}
	}}
}

// restartable is an embedded broker that restarts at the same address on the same data.
type restartable struct {
	*embedded.Broker
	options embedded.Options
}

func (r *restartable) kill(t testing.TB) {
	t.Helper()
	if err := r.Close(); err != nil {
		t.Fatal(err)
	}
}

func (r *restartable) restart(t testing.TB) {
	t.Helper()
	r.Broker = startBroker(t, r.options)
}
