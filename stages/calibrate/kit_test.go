package calibrate

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/apache/arrow/go/v15/arrow"
	"go.uber.org/goleak"
	"go.uber.org/zap"

	"github.com/eerf-stream/eerf/arrowio/wire"
	"github.com/eerf-stream/eerf/pipeline"
	"github.com/eerf-stream/eerf/pipeline/pipelinetest"
	"github.com/eerf-stream/eerf/scoring"
	"github.com/eerf-stream/eerf/stages/env"
	"github.com/eerf-stream/eerf/stages/events"
	"github.com/eerf-stream/eerf/stages/stagestest"
	"github.com/eerf-stream/eerf/stages/topics"
)

// No goroutine outlives the tests.
func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// cuttings are ways to split rows into messages.
var cuttings = map[string]func(*rand.Rand) func() int{
	"1":      func(*rand.Rand) func() int { return stagestest.Every(1) },
	"64":     func(*rand.Rand) func() int { return stagestest.Every(64) },
	"4096":   func(*rand.Rand) func() int { return stagestest.Every(4096) },
	"random": func(rng *rand.Rand) func() int { return stagestest.UpTo(rng, 150) },
}

// testSettings returns settings of the pipeline test: 40 candidates for 10 features. The classes
// are configured, so the classes of bad rows stay unseen.
func testSettings(task string) Settings {
	s := Settings{
		Pipeline: "test", Events: events.Default(), Exploration: Default(), Limits: events.DefaultLimits(),
		EventsTopic: "events", MaxMessageBytes: topics.Default().MaxMessageBytes,
	}
	s.Events.Label, s.Events.Passthrough = []string{"y"}, []string{"id"}
	s.Events.Classes = map[string][]string{
		stagestest.Binary: {"no", "yes"}, stagestest.Classes: {"east", "north", "south", "west"},
	}[task]
	s.Exploration.Candidates, s.Exploration.Features = 40, 10
	s.Exploration.Criterion = scoring.Correlation
	s.Exploration.CalibrationRows, s.Exploration.MinRows = 300, 1
	s.Exploration.Sigma = 1.5 // the neighbour rule has its own tests
	return s
}

// topicsOf creates the topics of a pipeline with the given number of partitions.
func topicsOf(partitions int) *pipelinetest.Broker {
	b, t := pipelinetest.NewBroker(), topics.Default()
	for _, name := range []string{t.Events, t.Scores, t.Samples, t.DeadLetters} {
		b.AddTopic(name, partitions)
	}
	for _, name := range []string{t.Explorations, t.FeatureSets, t.Models} {
		b.AddTopic(name, 1)
	}
	return b
}

// envWith returns an environment with the given broker.
func envWith(b pipeline.Broker, logger *zap.Logger) env.Env {
	return env.Env{Broker: b, Logger: logger, Topics: topics.Default()}
}

// logOf returns a broker with the given messages in each partition.
func logOf(t testing.TB, partitions ...[][]byte) *pipelinetest.Broker {
	t.Helper()
	b := topicsOf(len(partitions))
	for partition, values := range partitions {
		send(t, b, partition, values...)
	}
	return b
}

func send(t testing.TB, log pipeline.Producer, partition int, values ...[]byte) {
	t.Helper()
	var records []pipeline.Record
	for _, value := range values {
		records = append(records, pipeline.Record{Value: value})
	}
	if len(records) > 0 {
		pipelinetest.Produce(t, log, topics.Default().Events, partition, records...)
	}
}

// messages encodes each batch as a message.
func messages(t testing.TB, batches []arrow.Record) [][]byte {
	t.Helper()
	var values [][]byte
	for _, batch := range batches {
		values = append(values, stagestest.Message(t, batch))
	}
	return values
}

// rowsAsMessages generates rows, size per message.
func rowsAsMessages(t testing.TB, task string, rows, size int, seed uint64) [][]byte {
	t.Helper()
	return messages(
		t,
		stagestest.Cut(t, stagestest.Events(t, task, rows, seed, stagestest.Faults{}), stagestest.Every(size)),
	)
}

// calibratedOn calibrates on batches of partitions, in the given order.
func calibratedOn(t testing.TB, s Settings, partitions ...[]arrow.Record) *calibrated {
	t.Helper()
	c := newCalibration(s.Events.Options())
	for partition, batches := range partitions {
		ordinal := int64(0)
		hasher := scoring.NewHasher(s.Exploration.Seed^scoring.CalibrationTag, int32(partition))
		for _, batch := range batches {
			run := calibrationBatch{open: again(batch)}
			for range batch.NumRows() {
				run.hashes = append(run.hashes, hasher.Row(ordinal))
				ordinal++
			}
			if err := c.add(run); err != nil {
				t.Fatal(err)
			}
		}
	}
	found, err := c.finish(s.Exploration)
	if err != nil {
		t.Fatal(err)
	}
	return found
}

// planned plans the exploration with sequence number 1 at noon, from the request's From or, if it
// is empty, as configured.
func planned(t testing.TB, b pipeline.Broker, s Settings, r Request) *Planned {
	t.Helper()
	r.Sequence, r.Now = max(1, r.Sequence), stagestest.Noon
	found, err := Plan(pipelinetest.Context(t), envWith(b, zap.NewNop()), s, r)
	if err != nil {
		t.Fatal(err)
	}
	return found
}

// fileOf plans over batches as if from a file.
func fileOf(s Settings, batches []arrow.Record) (*Planned, error) {
	return PlanRows(s, func(do func(arrow.Record) error) error {
		var faults []error
		for _, batch := range batches {
			faults = append(faults, do(batch))
		}
		return errors.Join(faults...)
	})
}

// ranges formats the ranges of a spec.
func ranges(partitions []wire.Partition) (text string) {
	for _, p := range partitions {
		text += fmt.Sprintf("%d-%d ", p.StartOffset, p.EndOffset)
	}
	return text
}

// at returns a stopped clock.
func at(when time.Time) func() time.Time { return func() time.Time { return when } }
