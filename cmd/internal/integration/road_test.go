package integration

import (
	"strings"
	"testing"

	"github.com/eerf-stream/eerf/cmd/internal/cli"
	"github.com/eerf-stream/eerf/cmd/internal/clitest"
	"github.com/eerf-stream/eerf/pipeline/kafkatest"
)

const smallExploration = "features: 32, candidates: 128, sample_rate: 1, min_rows: 1000, calibration_rows: 300"

// The tour of the README on Apache Kafka: topics, events, feature sets, features, models, by
// processes that share the work. The feature set equals the one that a single process makes on the
// embedded broker. With three nodes, one is killed meanwhile.
func TestRoad(t *testing.T) {
	cluster := kafkatest.Find()
	if cluster == nil || cluster.Secured() {
		t.Skip("needs Apache Kafka: scripts/kafka.sh run COMMAND, or with --nodes 3")
	}
	const rows = 3000
	s := newSite(t, cluster.Addrs, smallExploration)
	s.run("featurizer", "topics", "create").Want(t, cli.ExitOK)
	s.run("featurizer", "topics", "check").Want(t, cli.ExitOK)
	s.produce(rows)
	planner := s.stages("calibrate,selection")
	workers := []*clitest.Process{s.stages("subsample,featurize"), s.stages("subsample,featurize")}
	trainer := s.start("trainer", "run", "--json")
	s.untilTrained(rows)

	disturbed := len(cluster.Addrs) == 3
	s.produce(rows) // it does not retry writes with an unknown outcome, so it runs before the kill
	if disturbed {
		cluster.Kill(t, 1)
	}
	model := s.untilTrained(2 * rows)
	if disturbed {
		cluster.Start(t, 1)
	}
	if e, constant := model.Number(
		t, "model.metrics.misclassification",
	), model.Number(t, "model.metrics.constant_error"); e >= constant {
		t.Errorf("error of the model %.1f %%, of a constant %.1f %%", e, constant)
	}
	if a, b := s.featureSet(), model.Text(t, "model.feature_set"); a != b {
		t.Errorf("model uses feature set %s, current is %s", b, a)
	}
	trainer.AwaitLog(t, model.Text(t, "model.id")) // the service trains the same model
	s.stop(trainer)
	s.stop(planner)
	scored, judging, featurized := 0.0, 0.0, 0.0
	for _, w := range workers {
		totals := s.stop(w).Object(t)
		scored += totals.Number(t, "scoring.scored")
		judging += totals.Number(t, "scoring.not_sampled") // every row is sampled but those that judge
		featurized += totals.Number(t, "featurize.featurized")
	}
	// A killed node loses acknowledgements: that work is repeated, or a successor finds it done and
	// does not count it. The model has every row in any case.
	if !disturbed && (scored+judging != rows || judging > rows/4 || featurized != 2*rows) {
		t.Errorf("scored %v rows, left out %v that judge, featurized %v", scored, judging, featurized)
	}
	if a, b := s.featureSet(), embeddedSet(t, rows); a != b {
		t.Errorf("feature set %s, want %s as on the embedded broker", a, b)
	}
}

// Without ca_file the system's authorities apply.
func TestSystemAuthorities(t *testing.T) {
	s, cluster := securedSite(t)
	s = s.as("kafka.tls.ca_file", "")
	s.run("featurizer", "topics", "create", "--timeout", "1s").
		Want(t, cli.ExitFailure, "certificate signed by unknown authority")
	s.as("SSL_CERT_FILE", cluster.File("ca.pem")).run("featurizer", "topics", "create").Want(t, cli.ExitOK)
}

// embeddedSet is the feature set made from the same rows by one process on the embedded broker.
func embeddedSet(t *testing.T, rows int) (id string) {
	t.Helper()
	s := newSite(t, strings.Split(clitest.Broker(t), ","), smallExploration)
	s.run("featurizer", "topics", "create").Want(t, cli.ExitOK)
	s.produce(rows)
	all := s.stages("calibrate,subsample,selection")
	clitest.Eventually(
		t,
		"a feature set",
		func() bool { return s.run("featurizer", "inspect", "--json").Code == cli.ExitOK },
	)
	s.stop(all)
	return s.featureSet()
}
