package main

import (
	"context"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/eerf-stream/eerf/config"
	"github.com/eerf-stream/eerf/pipeline/kafka"
	"github.com/eerf-stream/eerf/stages"
	"github.com/eerf-stream/eerf/stages/meter"
	"github.com/eerf-stream/eerf/stages/stagestest"
	"github.com/eerf-stream/eerf/stages/state"
	"github.com/eerf-stream/eerf/stages/topics"
)

// process runs the pipeline of one of the example's files.
func process(t *testing.T, file string, brokers *stagestest.Broker) *stages.Process {
	t.Helper()
	c, err := config.Load(nil, file, map[string]any{"kafka.brokers": brokers.Addr()})
	if err != nil {
		t.Fatal(err)
	}
	client := brokers.Dial(func(k *kafka.Config) { k.FetchMaxWait = 20 * time.Millisecond })
	p := stages.NewProcess(client, c.Stages, stagestest.Logger(t))
	p.Env.DrainTimeout = 5 * time.Second
	if _, err := topics.Create(t.Context(), client, c.Stages.Topics); err != nil {
		t.Fatal(err)
	}
	return p
}

// TestPipelines runs the pipelines on a join in memory.
func TestPipelines(t *testing.T) {
	broker := stagestest.NewBroker(t)
	o := options{
		brokers:  broker.Addr(),
		rows:     2600,
		seed:     5,
		timeout:  stagestest.Patience,
		events:   topicEvents,
		features: "orders.features",
	}
	if err := run(t.Context(), o, []string{"make"}); err != nil {
		t.Fatal(err)
	}
	s := stagestest.Must(connect(o.brokers))
	defer s.client.Close()
	joined := join(
		stagestest.Must(read[order](t.Context(), s, topicEvents)),
		stagestest.Must(read[label](t.Context(), s, topicLabels)),
	)
	rows := slices.SortedFunc(maps.Values(joined), func(a, b labelled) int { return strings.Compare(a.ID, b.ID) })
	if err := write(t.Context(), s, topicLabelled, rows, func(l labelled) string { return l.ID }); err != nil {
		t.Fatal(err)
	}

	ctx, stop := context.WithCancel(t.Context())
	running, ctx := errgroup.WithContext(ctx)
	learns := process(t, "../labelled.yaml", broker)
	running.Go(func() error {
		return learns.Run(ctx, meter.StageCalibrate, meter.StageSubsample, meter.StageSelection, meter.StageFeaturize)
	})
	if err := s.waitFor(ctx, topicLabelled, "returns.features"); err != nil {
		t.Fatal(err)
	}
	trainer := process(t, "../labelled.yaml", broker)
	err := trainer.Env.State.During(ctx, func(ctx context.Context, _ state.Snapshot) error {
		_, err := trainer.Trainer().Fit(ctx)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	live := process(t, "../live.yaml", broker)
	running.Go(func() error { return live.Run(ctx, live.Settings.Runs()...) })
	if err := run(ctx, o, []string{"check-predictions"}); err != nil {
		t.Error(err)
	}
	stop()
	if err := running.Wait(); err != nil {
		t.Error(err)
	}
	if totals := live.Env.Meter.Totals().Featurize; totals.Featurized != int64(o.rows) ||
		totals.Predicted != int64(o.rows) {
		t.Errorf("counted %+v", totals)
	}
}
