package integration

import (
	"fmt"
	"math/rand/v2"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/eerf-stream/eerf/cmd/internal/cli"
	"github.com/eerf-stream/eerf/cmd/internal/clitest"
	"github.com/eerf-stream/eerf/pipeline/kafkatest"
)

// residual needs samples.
const residualExploration = "criterion: residual, rounds: 2, features: 16, candidates: 64, sample_rate: 1, min_rows: 1000, calibration_rows: 300"

// operations are the columns of the table of rights.
var operations = map[string]kmsg.ACLOperation{
	"read":             kmsg.ACLOperationRead,
	"write":            kmsg.ACLOperationWrite,
	"describe":         kmsg.ACLOperationDescribe,
	"describe configs": kmsg.ACLOperationDescribeConfigs,
	"create":           kmsg.ACLOperationCreate,
	"alter":            kmsg.ACLOperationAlter,
}

var quoted = regexp.MustCompile("`([a-z-]+)`")

// documented reads the table of rights in docs/operations.md: by the first cell of a row, for the
// topics and groups of s.
func (s *site) documented() map[string][]kafkatest.Right {
	s.t.Helper()
	text, err := os.ReadFile("../../../docs/operations.md")
	if err != nil {
		s.t.Fatal(err)
	}
	_, table, _ := strings.Cut(string(text), "\n| who | read |")
	table, _, _ = strings.Cut("| who | read |"+table, "\n\n")
	lines := strings.Split(table, "\n")
	columns := cells(lines[0])
	rights := map[string][]kafkatest.Right{}
	for _, line := range lines[2:] {
		row := cells(line)
		for i, column := range columns[1:] {
			for _, name := range quoted.FindAllStringSubmatch(row[i+1], -1) {
				right := kafkatest.Topic(operations[column], s.topic(name[1]))
				switch group := "eerf-" + s.name + "-" + name[1]; column {
				case "groups":
					right = kafkatest.Group(kmsg.ACLOperationRead, group)
				case "transactional ids":
					right = kafkatest.TransactionalIDs(group + "/")
				}
				rights[row[0]] = append(rights[row[0]], right)
			}
		}
	}
	return rights
}

func cells(line string) []string {
	parts := strings.Split(strings.Trim(line, "|"), "|")
	for i := range parts {
		parts[i] = strings.TrimSpace(parts[i])
	}
	return parts
}

// securedSite is a site on the secured cluster, used as its administrator, whose password is in the
// environment.
func securedSite(t *testing.T) (*site, *kafkatest.Cluster) {
	t.Helper()
	cluster := kafkatest.Need(t, 1, true)
	s := newSite(t, cluster.Addrs, residualExploration)
	return s.as(
		"kafka.tls.enabled",
		"true",
		"kafka.tls.ca_file",
		cluster.File("ca.pem"),
		"kafka.sasl.mechanism",
		"scram-sha-512",
		"kafka.sasl.user",
		kafkatest.Admin,
		"kafka.sasl.password",
		cluster.Read(t, "password"),
	), cluster
}

// user makes a user and returns the site for that user, with the password in a file.
func (s *site) user(cluster *kafkatest.Cluster, name string, rights []kafkatest.Right) (string, *site) {
	s.t.Helper()
	user := fmt.Sprintf("%s-%s-%x", s.name, regexp.MustCompile("[^a-z]+").ReplaceAllString(name, "-"), rand.Uint32())
	cluster.AddUser(s.t, user, canary)
	cluster.Grant(s.t, user, rights...)
	return user, s.as("kafka.sasl.user", user, "kafka.sasl.password", "",
		"kafka.sasl.password_file", clitest.File(s.t, "password", canary+"\n"))
}

// stageNames are the stages in the order in which they run.
var stageNames = []string{"calibrate", "subsample", "selection", "featurize", "train"}

// TestDocumentedRightsSuffice runs every stage and command as a user with exactly the rights of its
// row.
func TestDocumentedRightsSuffice(t *testing.T) {
	s, cluster := securedSite(t)
	s = s.as("featurize.predictions", "true") // reads models
	documented := s.documented()
	rights := func(name string) []kafkatest.Right {
		found := documented[name]
		if found == nil {
			t.Fatalf("docs/operations.md lists no rights for %s", name)
		}
		return found
	}
	command := func(row string, args ...string) {
		_, as := s.user(cluster, row, rights(row))
		as.run(args[0], args[1:]...).Want(t, cli.ExitOK)
	}
	command("`topics create`", "featurizer", "topics", "create")
	command("`topics check`", "featurizer", "topics", "check")
	s.garble(cluster) // before all rows, so that every exploration reads it
	command(
		"`produce`",
		"featurizer",
		"produce",
		"--data",
		clitest.File(t, "rows.csv", clitest.Mixed(3000)),
		"--rows-per-message",
		"100",
	)

	var running []*clitest.Process
	for _, name := range stageNames {
		_, as := s.user(cluster, name, rights(name))
		running = append(running, as.stages(name))
	}
	fits := "`trainer fit`"
	_, trainer := s.user(cluster, fits, rights(fits))
	model := trainer.untilTrained(3000).Text(t, "model.id")
	_, answers := s.user(cluster, "serve", rights("`featurizer serve`"))
	server := answers.as(answerSettings...).start("featurizer", "serve")
	server.AwaitLog(t, "serving a new pair")
	running = append(running, server)
	command("`inspect`, `explorations list`", "featurizer", "inspect")
	command("`inspect`, `explorations list`", "featurizer", "explorations", "list")
	command("`explorations start`, `cancel`", "featurizer", "explorations", "start")
	command("`dead-letters list`, `export`", "featurizer", "dead-letters", "list")
	command("`dead-letters list`, `export`", "featurizer", "dead-letters", "export", "--out", t.TempDir())
	command("`models list`, `show`", "trainer", "models", "list")
	command("`models list`, `show`", "trainer", "models", "show", model)
	command("`models rollback`, `unpin`", "trainer", "models", "rollback", "--to", model)
	command("`models rollback`, `unpin`", "trainer", "models", "unpin")
	command("`dead-letters replay`", "featurizer", "dead-letters", "replay", "--all", "--stage", "featurize")
	s.operate(cluster, slices.Concat(rights("`dead-letters list`, `export`"), rights("`dead-letters replay`")))

	for _, process := range running {
		s.stop(process)
	}
	silent(t, s.said.String(), canary, cluster.Read(t, "password"))
}

// operate handles dead letters like the operators on Kubernetes in docs/operations.md: as a single
// user with the rights for all steps, whose password comes from standard input.
func (s *site) operate(cluster *kafkatest.Cluster, rights []kafkatest.Right) {
	s.t.Helper()
	_, as := s.user(cluster, "operator", rights)
	as = as.as("kafka.sasl.password_file", "/dev/stdin")
	for _, args := range [][]string{
		{"list", "--since", "24h"}, {"replay", "--all", "--dry-run"}, {"export", "--out", "-"},
	} {
		command := as.command("featurizer", append([]string{"dead-letters"}, args...)...)
		command.Stdin = strings.NewReader(canary + "\n")
		as.said.add(clitest.Finish(s.t, command)).Want(s.t, cli.ExitOK)
	}
}

// answerSettings let `featurizer serve` listen on any port and end at once.
var answerSettings = []string{"serve.listen", "127.0.0.1:0", "serve.drain_delay", "0s"}

// garble writes unreadable bytes to every partition of the topics from which stages read rows.
func (s *site) garble(cluster *kafkatest.Cluster) {
	client, err := kgo.NewClient(append(cluster.Options(s.t), kgo.RecordPartitioner(kgo.ManualPartitioner()))...)
	if err != nil {
		s.t.Error(err)
		return
	}
	defer client.Close()
	for _, topic := range []string{"events", "features"} {
		for partition := range int32(3) {
			record := &kgo.Record{Topic: s.topic(topic), Partition: partition, Value: []byte("not arrow")}
			if err := client.ProduceSync(s.t.Context(), record).FirstErr(); err != nil {
				s.t.Error(err)
			}
		}
	}
}
