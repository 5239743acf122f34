package crash

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/eerf-stream/eerf/internal/failpoint"
)

// Broker is one that a schedule may kill.
type Broker interface {
	Addrs() []string
	Kill() error                   // as kill -9 does
	Restart(context.Context) error // on its data; returns when it answers
	Close()
}

// EmbeddedNudge is what [Options.Nudge] is to be with the embedded broker: longer than a rebalance after a death takes.
func EmbeddedNudge(session time.Duration) time.Duration { return 4*session + 2*time.Second }

// embeddedBroker is the embedded broker in a process of its own.
type embeddedBroker struct {
	programs  Programs
	dir       string
	port      int
	rebalance time.Duration
	process   *process
}

// StartEmbedded starts the embedded broker in a process of its own, with its data and log in dir. A rebalance waits as
// long for members as rebalance says.
func StartEmbedded(ctx context.Context, programs Programs, dir string, rebalance time.Duration) (Broker, error) {
	port, err := freePort()
	if err != nil {
		return nil, err
	}
	b := &embeddedBroker{programs: programs, dir: dir, port: port, rebalance: rebalance}
	return b, b.Restart(ctx)
}

// freePort returns a port below those that systems hand out, so that it is still free when the broker comes back.
func freePort() (int, error) {
	for range 100 {
		port := 10000 + rand.IntN(10000)
		listener, err := net.Listen("tcp", net.JoinHostPort("127.0.0.1", strconv.Itoa(port)))
		if err == nil {
			return port, listener.Close()
		}
	}
	return 0, fmt.Errorf("no free port")
}

func (b *embeddedBroker) Addrs() []string { return []string{fmt.Sprintf("127.0.0.1:%d", b.port)} }

func (b *embeddedBroker) Kill() error {
	b.process.kill()
	return nil
}

func (b *embeddedBroker) Restart(ctx context.Context) (err error) {
	b.process, err = startProcess(filepath.Join(b.dir, "broker.log"), failpoint.Trigger{}, b.programs.path("soak"),
		"broker", "--dir", filepath.Join(b.dir, "broker"), "--port", strconv.Itoa(b.port),
		"--rebalance", b.rebalance.String())
	if err != nil {
		return err
	}
	for {
		conn, err := net.DialTimeout("tcp", b.Addrs()[0], time.Second)
		if err == nil {
			return conn.Close()
		}
		if b.process.ended() || !sleep(ctx, 10*time.Millisecond) {
			return fmt.Errorf("embedded broker does not answer: %w\n%s", err, b.process.tail())
		}
	}
}

func (b *embeddedBroker) Close() { b.process.kill() }

// kafkaNode is the first node of a cluster that scripts/kafka.sh started.
type kafkaNode struct {
	script string
	addrs  []string
}

// RealKafka is the cluster that the environment names, as scripts/kafka.sh run sets it. Schedules that share it must not
// run at the same time.
func RealKafka(root string) (Broker, error) {
	brokers := os.Getenv("EERF_TEST_BROKERS")
	if brokers == "" || os.Getenv("EERF_TEST_KAFKA") == "" {
		return nil, fmt.Errorf("EERF_TEST_BROKERS and EERF_TEST_KAFKA are not set: run this by scripts/kafka.sh run")
	}
	return &kafkaNode{filepath.Join(root, "scripts", "kafka.sh"), strings.Split(brokers, ",")}, nil
}

func (k *kafkaNode) Addrs() []string { return k.addrs }

func (k *kafkaNode) Kill() error { return k.node(context.Background(), "kill") }

func (k *kafkaNode) Restart(ctx context.Context) error { return k.node(ctx, "start") }

func (k *kafkaNode) Close() {}

func (k *kafkaNode) node(ctx context.Context, what string) error {
	if out, err := exec.CommandContext(ctx, k.script, "node", what, "1").CombinedOutput(); err != nil {
		return fmt.Errorf("kafka.sh node %s 1: %w\n%s", what, err, out)
	}
	return nil
}
