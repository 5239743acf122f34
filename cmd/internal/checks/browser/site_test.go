package browser

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"sync/atomic"
	"testing"
	"time"

	"github.com/eerf-stream/eerf/arrowio/files"
	"github.com/eerf-stream/eerf/cmd/internal/clitest"
	"github.com/eerf-stream/eerf/cmd/internal/demo"
	"github.com/eerf-stream/eerf/internal/messy"
	"github.com/eerf-stream/eerf/pipeline"
	"github.com/eerf-stream/eerf/pipeline/kafka"
	"github.com/eerf-stream/eerf/stages/events"
	"github.com/eerf-stream/eerf/stages/stagestest"
)

const eventsTopic = "default.events"

// site is a featurizer with all stages, its page, and a broker.
type site struct {
	t      *testing.T
	broker *stagestest.Broker
	client *kafka.Client
	url    string
	sent   uint64
	// flipped is set if rows follow another relation from now on.
	flipped atomic.Bool

	command func(args ...string) // runs a command of the featurizer
}

// newSite starts a pipeline without events, until the end of the test. Overrides are further
// arguments of the program.
func newSite(t *testing.T, overrides ...string) *site {
	t.Helper()
	s := &site{t: t, broker: stagestest.NewBroker(t)}
	s.client = s.broker.Dial(nil)
	configuration := clitest.File(t, "eerf.yaml", fmt.Sprintf(`
kafka: {brokers: [%q], fetch_max_wait: 20ms, request_timeout: 20s}
topics: {partitions: 2}
events: {label: [%s]}
exploration: {criterion: residual, features: 24, candidates: 480, sample_rate: 1, sample_rows: 4000, calibration_rows: 400}
subsample: {checkpoint_interval: 200ms}
featurize: {commit_interval: 200ms}
train: {interval: 1s}
admin: {listen: "127.0.0.1:0"}
`, s.broker.Addr(), demo.SyntheticLabel))
	arguments := []string{"-c", configuration}
	for _, override := range overrides {
		arguments = append(arguments, "--set", override)
	}
	s.command = func(args ...string) {
		t.Helper()
		clitest.Finish(t, clitest.Command(t, "featurizer", append(args, arguments...)...)).Want(t, 0)
	}
	s.command("topics", "create")
	process := clitest.Start(t, clitest.Command(t, "featurizer", append([]string{"run", "--json"}, arguments...)...))
	s.url = "http://" + process.LogLine(t, "serving health, metrics and configuration").Text(t, "address")
	return s
}

// produce writes generated rows to events.
func (s *site) produce(rows int64) {
	s.t.Helper()
	if err := s.tryProduce(s.t.Context(), rows); err != nil {
		s.t.Fatal(err)
	}
}

func (s *site) tryProduce(ctx context.Context, rows int64) error {
	s.sent++
	if s.flipped.Load() {
		return s.send(ctx, demo.GenerateFlipped(s.sent, rows))
	}
	return s.send(ctx, demo.Generate(s.sent, rows))
}

// send writes all rows of a reader.
func (s *site) send(ctx context.Context, reader events.RowReader) error {
	producer, err := events.NewProducer(ctx, s.client, eventsTopic, 64)
	if err != nil {
		return err
	}
	for {
		batch, err := reader.Next()
		if errors.Is(err, io.EOF) {
			return producer.Flush(ctx)
		}
		if err != nil {
			return err
		}
		err = producer.Add(ctx, batch)
		batch.Release()
		if err != nil {
			return err
		}
	}
}

// keepProducing writes events until the end of the test.
func (s *site) keepProducing() {
	ctx, stop := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() {
		defer close(done)
		tick := time.NewTicker(100 * time.Millisecond)
		defer tick.Stop()
		for ctx.Err() == nil {
			rows := int64(640)
			if s.flipped.Load() { // so few that the page can show the change before the model adapts
				rows = 40
			}
			if err := s.tryProduce(ctx, rows); err != nil && ctx.Err() == nil {
				s.t.Error(err)
				return
			}
			select {
			case <-ctx.Done():
			case <-tick.C:
			}
		}
	}()
	s.t.Cleanup(func() {
		stop()
		<-done
	})
}

// produceMessy writes the rows of the messy file.
func (s *site) produceMessy(rows int) {
	s.t.Helper()
	path := filepath.Join(s.t.TempDir(), "messy.csv")
	file, err := os.Create(path)
	if err != nil {
		s.t.Fatal(err)
	}
	if err := errors.Join(messy.Write(file, rows, 1), file.Close()); err != nil {
		s.t.Fatal(err)
	}
	reader, err := files.Open(path, files.Options{})
	if err != nil {
		s.t.Fatal(err)
	}
	defer reader.Close()
	if err := s.send(s.t.Context(), reader); err != nil {
		s.t.Fatal(err)
	}
}

// poison writes a message that no stage can use.
func (s *site) poison(value string) {
	s.t.Helper()
	record := pipeline.Record{Value: []byte(value), Time: time.Now()}
	if _, err := s.client.Produce(s.t.Context(), eventsTopic, 0, []pipeline.Record{record}); err != nil {
		s.t.Fatal(err)
	}
}
