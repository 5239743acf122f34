package crash

import (
	"context"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/eerf-stream/eerf/internal/failpoint"
	"github.com/eerf-stream/eerf/internal/freeport"
)

// Broker is a broker that a schedule may kill.
type Broker interface {
	Addrs() []string
	Kill() error                   // as kill -9 does
	Restart(context.Context) error // restarts the broker with its data; returns once it answers
	// Consume reads a topic from its first offset to the given ends with another library or Kafka's
	// own consumer, which returns only committed records.
	Consume(ctx context.Context, topic string, ends [partitions]int64) ([]message, error)
	Close()
}

// embeddedBroker is the embedded broker in a separate process.
type embeddedBroker struct {
	dir       string
	port      int
	release   func() // of the port
	rebalance time.Duration
	process   *process
}

// startEmbedded starts the embedded broker in a separate process, with its data and log in dir.
// rebalance is the time that a rebalance waits for members.
func startEmbedded(ctx context.Context, dir string, rebalance time.Duration) (Broker, error) {
	port, release, err := freeport.Reserve()
	if err != nil {
		return nil, err
	}
	b := &embeddedBroker{dir: dir, port: port, release: release, rebalance: rebalance}
	return b, b.Restart(ctx)
}

func (b *embeddedBroker) Addrs() []string { return []string{fmt.Sprintf("127.0.0.1:%d", b.port)} }

// Kill kills the broker, but not during compaction, which deletes the files of a partition before
// it writes their replacements: acknowledged records would be lost.
func (b *embeddedBroker) Kill() error {
	for {
		if spared, ok := spare(b.data()); ok {
			defer spared()
			b.process.kill()
			return nil
		}
		time.Sleep(time.Millisecond)
	}
}

func (b *embeddedBroker) Restart(ctx context.Context) (err error) {
	self, err := os.Executable()
	if err != nil {
		return err
	}
	log := filepath.Join(b.dir, "broker.log")
	b.process, err = startProcess(log, failpoint.Trigger{}, 0, self,
		brokerCommand, b.data(), strconv.Itoa(b.port), b.rebalance.String())
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

func (b *embeddedBroker) data() string { return filepath.Join(b.dir, "broker") }

func (b *embeddedBroker) saved() string { return filepath.Join(b.dir, "saved") }

// Save copies the data. The broker must be down.
func (b *embeddedBroker) Save() error {
	if err := os.RemoveAll(b.saved()); err != nil {
		return err
	}
	return os.CopyFS(b.saved(), os.DirFS(b.data()))
}

// Forget restores the copy, and returns a broker with the replaced data. The broker must be down.
func (b *embeddedBroker) Forget(ctx context.Context) (Broker, error) {
	lost, err := os.MkdirTemp(b.dir, "lost-")
	if err != nil {
		return nil, err
	}
	if err := os.Rename(b.data(), filepath.Join(lost, "broker")); err != nil {
		return nil, err
	}
	if err := os.CopyFS(b.data(), os.DirFS(b.saved())); err != nil {
		return nil, err
	}
	return startEmbedded(ctx, lost, b.rebalance)
}

func (b *embeddedBroker) Close() {
	b.process.kill()
	b.release()
}

// kafkaNode is the first node of a cluster started by scripts/kafka.sh.
type kafkaNode struct {
	script string
	addrs  []string
}

// realKafka returns the cluster in the environment, as set by scripts/kafka.sh run. Schedules that
// share it must not overlap.
func realKafka() (Broker, error) {
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

func (k *kafkaNode) node(ctx context.Context, command string) error {
	if out, err := exec.CommandContext(ctx, k.script, "node", command, "1").CombinedOutput(); err != nil {
		return fmt.Errorf("kafka.sh node %s 1: %w\n%s", command, err, out)
	}
	return nil
}
