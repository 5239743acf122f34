package kafkatest

import (
	"crypto/tls"
	"crypto/x509"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/sasl/scram"
)

// Admin is the user of a secured cluster with all rights.
const Admin = "admin"

// Cluster is a cluster started by scripts/kafka.sh.
type Cluster struct {
	// Addrs are where clients connect; on a secured cluster with TLS and SASL.
	Addrs []string

	folder string
}

// Find returns the cluster named by EERF_TEST_BROKERS and EERF_TEST_KAFKA, or nil.
func Find() *Cluster {
	folder := os.Getenv("EERF_TEST_KAFKA")
	if folder == "" {
		return nil
	}
	return &Cluster{Addrs: strings.Split(os.Getenv("EERF_TEST_BROKERS"), ","), folder: folder}
}

// Need returns the cluster, or skips the test unless a cluster with the given nodes and security
// runs.
func Need(t testing.TB, nodes int, secured bool) *Cluster {
	t.Helper()
	c := Find()
	if c == nil || len(c.Addrs) != nodes || c.Secured() != secured {
		option := map[bool]string{true: " --secured"}[secured]
		t.Skipf("needs Apache Kafka: scripts/kafka.sh run --nodes %d%s COMMAND", nodes, option)
	}
	return c
}

// Secured reports whether clients have to authenticate.
func (c *Cluster) Secured() bool {
	_, err := os.Stat(c.File("password"))
	return err == nil
}

// File returns the path of a file that scripts/kafka.sh describes.
func (c *Cluster) File(name string) string { return filepath.Join(c.folder, name) }

// Read returns the text of such a file.
func (c *Cluster) Read(t testing.TB, name string) string {
	t.Helper()
	text, err := os.ReadFile(c.File(name))
	if err != nil {
		t.Fatal(err)
	}
	return strings.TrimSuffix(string(text), "\n")
}

// Kill kills a node. Nodes count from 1.
func (c *Cluster) Kill(t testing.TB, node int) {
	t.Helper()
	c.control(t, "kill", node)
}

// Start starts a stopped node, and returns when it answers.
func (c *Cluster) Start(t testing.TB, node int) {
	t.Helper()
	c.control(t, "start", node)
}

func (c *Cluster) control(t testing.TB, do string, node int) {
	t.Helper()
	cmd := exec.Command(c.Read(t, "script"), "node", do, strconv.Itoa(node))
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("%s node %d: %v\n%s", do, node, err, out)
	}
}

// KillAll kills every node at once.
func (c *Cluster) KillAll(t testing.TB) {
	t.Helper()
	for i := range c.Addrs {
		c.Kill(t, i+1)
	}
}

// StartAll starts all nodes together, because no node answers before most have started.
func (c *Cluster) StartAll(t testing.TB) {
	t.Helper()
	var starting sync.WaitGroup
	for i := range c.Addrs {
		starting.Go(func() { c.Start(t, i+1) })
	}
	starting.Wait()
}

// Options returns the options of another client library to connect as [Admin].
func (c *Cluster) Options(t testing.TB) []kgo.Opt {
	t.Helper()
	options := []kgo.Opt{kgo.SeedBrokers(c.Addrs...)}
	if !c.Secured() {
		return options
	}
	pool := x509.NewCertPool()
	pool.AppendCertsFromPEM([]byte(c.Read(t, "ca.pem")))
	return append(options, kgo.DialTLSConfig(&tls.Config{RootCAs: pool, MinVersion: tls.VersionTLS12}),
		kgo.SASL(scram.Auth{User: Admin, Pass: c.Read(t, "password")}.AsSha512Mechanism()))
}
