package integration

import (
	"fmt"
	"path/filepath"
	"testing"

	"github.com/eerf-stream/eerf/cmd/internal/cli"
	"github.com/eerf-stream/eerf/cmd/internal/clitest"
	"github.com/eerf-stream/eerf/pipeline/kafkatest"
)

// following is the site of a pipeline that uses the sets and models of s. All its other topics are
// its own.
func (s *site) following() *site {
	name := s.name + "-live"
	live := s.as(
		"pipeline.name",
		name,
		"featurize.sets_from",
		s.name,
		"featurize.predictions",
		"true",
		"events.label",
		"",
		"topics.scores",
		"",
		"topics.samples",
		"",
		"topics.events",
		name+"-events",
		"topics.features",
		name+"-features",
		"topics.live",
		name+"-live",
		"topics.dead_letters",
		name+"-dead-letters",
	)
	live.name = name
	return live
}

// exported counts the messages of a topic.
func (s *site) exported(topic string) int {
	s.t.Helper()
	out := filepath.Join(s.t.TempDir(), "messages")
	r := s.run("featurizer", "topics", "export", "--topic", topic, "--out", out, "--limit", "0", "--json").
		Want(s.t, cli.ExitOK)
	return len(r.Object(s.t).At(s.t, "messages").([]any))
}

// TestDocumentedRightsOfAFollowerSuffice featurizes and predicts with the set and model of another
// pipeline, as a user with exactly the documented rights.
func TestDocumentedRightsOfAFollowerSuffice(t *testing.T) {
	const rows = 2000
	s, cluster := securedSite(t)
	s.run("featurizer", "topics", "create").Want(t, cli.ExitOK)
	s.produce(rows)
	learns := s.stages("calibrate,subsample,selection,featurize")
	s.untilTrained(rows)
	s.stop(learns)

	live := s.following()
	live.run("featurizer", "topics", "create").Want(t, cli.ExitOK)
	live.produce(rows)
	// Control topics belong to the other pipeline, all others to this one.
	const row = "featurize by `featurize.sets_from`"
	rights := live.documented()[row]
	if len(rights) == 0 {
		t.Fatalf("docs/operations.md lists no rights for %s", row)
	}
	for i, right := range rights {
		for _, key := range []string{"explorations", "feature-sets", "models"} {
			if right.Name == live.topic(key) {
				rights[i] = kafkatest.Topic(right.Operation, s.topic(key))
			}
		}
	}
	_, user := live.user(cluster, "follower", rights)
	service := user.stages("featurize")
	clitest.Eventually(
		t,
		fmt.Sprintf("features of %d rows", rows),
		func() bool { return live.exported(live.topic("features")) == rows/100 },
	)
	totals := s.stop(service).Object(t)
	if totals.Number(t, "featurize.featurized") != rows || totals.Number(t, "featurize.predicted") != rows {
		t.Errorf("%v", totals)
	}
}
