package crash

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
	"github.com/apache/arrow/go/v15/arrow/memory"
	"go.uber.org/zap"
	"golang.org/x/sync/errgroup"

	"github.com/eerf-stream/eerf/arrowio"
	"github.com/eerf-stream/eerf/config"
	"github.com/eerf-stream/eerf/internal/failpoint"
	"github.com/eerf-stream/eerf/pipeline"
	"github.com/eerf-stream/eerf/pipeline/kafka"
	"github.com/eerf-stream/eerf/stages/topics"
)

// The load of a full-speed soak.
const (
	speedPartitions = 4
	speedDim        = 64
	speedRows       = 1024 // of a message
	speedMessages   = 32   // different ones
	speedWindow     = 128  // most messages of a partition that are sent and not yet featurized
	speedRetention  = 512 << 20
	speedSession    = 10 * time.Second
)

// Speed runs the two programs at full speed, sending rows as fast as they are featurized, and samples the
// resources of the processes.
type Speed struct {
	Programs Programs // without failpoints
	Broker   Broker
	Dir      string // for logs and configuration
	Duration time.Duration
	Every    time.Duration // between two samples
	Report   func(Sample)

	loaded *config.Config
	client *kafka.Client
	sent   atomic.Int64
}

// Run returns all samples. An error means that a process ended or did not answer.
func (s *Speed) Run(ctx context.Context) (samples []Sample, err error) {
	featurizer, trainer, err := s.prepare(ctx)
	if err != nil {
		return nil, err
	}
	defer func() { _ = s.client.Close() }()
	processes := []*watched{featurizer, trainer}
	for _, w := range processes {
		if err := w.start(s); err != nil {
			return nil, err
		}
		defer w.process.kill()
	}
	ctx, cancel := context.WithTimeout(ctx, s.Duration)
	defer cancel()
	group, ctx := errgroup.WithContext(ctx)
	for partition := range speedPartitions {
		group.Go(func() error { return s.feed(ctx, partition) })
	}
	group.Go(func() (err error) {
		samples, err = s.watch(ctx, processes)
		return err
	})
	if err := group.Wait(); err != nil {
		return samples, err
	}
	return samples, s.end(processes)
}

// end ends the processes in an orderly way.
func (s *Speed) end(processes []*watched) error {
	var faults []error
	for _, w := range processes {
		w.process.signal(syscall.SIGTERM)
		select {
		case <-w.process.done:
			if w.process.err != nil {
				faults = append(faults, fmt.Errorf("%s: %w", w.name, w.process.err))
			}
		case <-time.After(time.Minute):
			faults = append(faults, fmt.Errorf("%s has not ended", w.name))
		}
	}
	return errors.Join(faults...)
}

// prepare creates the topics, with short retention for the large ones, and the configurations.
func (s *Speed) prepare(ctx context.Context) (featurizer, trainer *watched, err error) {
	values := map[string]any{
		"kafka.brokers": strings.Join(s.Broker.Addrs(), ","), "kafka.session_timeout": speedSession.String(),
		"pipeline.name": "speed", "topics.partitions": fmt.Sprint(speedPartitions),
		"events.label": "y", "exploration.features": "100", "exploration.candidates": "1000",
		"exploration.sample_rate": "0.1", "exploration.sample_rows": "10000", "exploration.every": "2m",
		"featurize.commit_interval": "200ms", "train.interval": "20s",
	}
	for _, role := range []struct {
		name string
		args []string
		into **watched
	}{
		{"featurizer", []string{"--stages", RoleAll.stages()}, &featurizer}, {"trainer", nil, &trainer},
	} {
		port, err := freePort()
		if err != nil {
			return nil, nil, err
		}
		address := fmt.Sprintf("127.0.0.1:%d", port)
		values["admin.listen"] = address
		path := filepath.Join(s.Dir, role.name+".yaml")
		if err := writeConfig(path, values); err != nil {
			return nil, nil, err
		}
		*role.into = &watched{name: role.name, address: address, args: append([]string{"run", "-c", path}, role.args...)}
	}
	if s.loaded, err = load(values); err != nil {
		return nil, nil, err
	}
	if s.client, err = kafka.New(s.loaded.Kafka, zap.NewNop()); err != nil {
		return nil, nil, err
	}
	return featurizer, trainer, s.createTopics(ctx)
}

func (s *Speed) createTopics(ctx context.Context) error {
	names := s.loaded.Stages.Topics
	forget := map[string]string{"cleanup.policy": "delete", "max.message.bytes": fmt.Sprint(names.MaxMessageBytes),
		"retention.bytes": fmt.Sprint(speedRetention), "segment.bytes": fmt.Sprint(speedRetention / 8)}
	_, err := s.client.CreateTopics(ctx, []pipeline.TopicSpec{
		{Name: names.Events, Partitions: speedPartitions, Configs: forget},
		{Name: names.Features, Partitions: speedPartitions, Configs: forget},
	})
	if err != nil {
		return err
	}
	_, err = topics.Create(ctx, s.client, names)
	return err
}

// feed sends messages to a partition, as fast as they are featurized, until ctx ends.
func (s *Speed) feed(ctx context.Context, partition int) error {
	messages, err := speedInput(uint64(partition))
	if err != nil {
		return err
	}
	featurized := int64(0)
	for n := 0; ; n++ {
		for int64(n)-featurized >= speedWindow {
			if featurized, err = s.client.Committed(ctx, "eerf-speed-featurize", s.loaded.Stages.Topics.Events, partition); err != nil && ctx.Err() == nil {
				return fmt.Errorf("look up what is featurized: %w", err)
			}
			if !sleep(ctx, 20*time.Millisecond) {
				return nil
			}
		}
		record := pipeline.Record{Value: messages[n%len(messages)]}
		if _, err := s.client.Produce(ctx, s.loaded.Stages.Topics.Events, partition, []pipeline.Record{record}); err != nil {
			if ctx.Err() != nil {
				return nil
			}
			return fmt.Errorf("send event %d of partition %d: %w", n, partition, err)
		}
		s.sent.Add(speedRows)
	}
}

// speedInput makes messages with one vector column and a label.
func speedInput(seed uint64) ([][]byte, error) {
	schema := arrow.NewSchema([]arrow.Field{
		{Name: "x", Type: arrow.FixedSizeListOf(speedDim, arrow.PrimitiveTypes.Float32)},
		{Name: "y", Type: arrow.PrimitiveTypes.Float32},
	}, nil)
	random := rand.New(rand.NewPCG(seed, 0x50ec))
	var messages [][]byte
	for range speedMessages {
		b := array.NewRecordBuilder(memory.DefaultAllocator, schema)
		vectors := b.Field(0).(*array.FixedSizeListBuilder)
		for range speedRows {
			vectors.Append(true)
			sum := float32(0)
			for range speedDim {
				v := float32(random.NormFloat64())
				sum += v
				vectors.ValueBuilder().(*array.Float32Builder).Append(v)
			}
			b.Field(1).(*array.Float32Builder).Append(sum*sum/speedDim + float32(random.NormFloat64()))
		}
		rec := b.NewRecord()
		value, err := arrowio.EncodeStream(schema, rec)
		rec.Release()
		b.Release()
		if err != nil {
			return nil, err
		}
		messages = append(messages, value)
	}
	return messages, nil
}

// watched is a program and its metrics.
type watched struct {
	name, address string
	args          []string
	process       *process
}

func (w *watched) start(s *Speed) (err error) {
	w.process, err = startProcess(filepath.Join(s.Dir, w.name+".log"), failpoint.Trigger{}, 0, s.Programs.path(w.name), w.args...)
	return err
}

// residentBytes is the resident size of a process; 0 if the system does not report it.
func residentBytes(pid int) int64 {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/statm", pid))
	if err != nil {
		return 0
	}
	var size, resident int64
	if _, err := fmt.Sscan(string(text), &size, &resident); err != nil {
		return 0
	}
	return resident * int64(os.Getpagesize())
}
