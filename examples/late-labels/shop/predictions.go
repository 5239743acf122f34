package main

import (
	"context"
	"fmt"
	"time"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"

	"github.com/eerf-stream/eerf/arrowio"
	"github.com/eerf-stream/eerf/arrowio/wire"
	"github.com/eerf-stream/eerf/pipeline"
	"github.com/eerf-stream/eerf/stages/events"
	"github.com/eerf-stream/eerf/stages/topics"
)

// waitFor returns once all events of a topic have features.
func (s *shop) waitFor(ctx context.Context, events, features string) error {
	for {
		waiting, err := s.notFeaturized(ctx, events, features)
		if err == nil && waiting == 0 {
			return nil
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("%d messages of %s have no features on %s (%w): %w", waiting, events, features, err, ctx.Err())
		case <-time.After(200 * time.Millisecond):
		}
	}
}

// notFeaturized counts the messages after the last one with features.
func (s *shop) notFeaturized(ctx context.Context, source, features string) (waiting int64, err error) {
	for partition := range partitions {
		_, end, err := s.client.Offsets(ctx, source, partition)
		if err != nil {
			return waiting, err
		}
		next, err := s.featurizedUpTo(ctx, features, partition)
		if err != nil {
			return waiting, err
		}
		waiting += max(0, end-next)
	}
	return waiting, nil
}

// featurizedUpTo returns the offset after the last event with features.
func (s *shop) featurizedUpTo(ctx context.Context, features string, partition int) (next int64, err error) {
	first, end, err := s.client.Offsets(ctx, features, partition)
	if err != nil || first == end {
		return 0, err
	}
	err = topics.ReadSpan(ctx, s.client, s.logger, features, partition, end-1, end, func(rec pipeline.Record) error {
		part, err := wire.ParseFeatureHeaders(rec.Headers)
		next = part.SourceOffset + 1
		return err
	})
	return next, err
}

// predictions counts the predictions of orders.
type predictions struct {
	rows, without int // without counts rows without a prediction
	models        map[string]int
	wrong         int
	of            map[string]int // rows by outcome
}

// readPredictions reads the features of orders with known outcomes. Their ids are among the
// passthrough columns.
func (s *shop) readPredictions(ctx context.Context, topic string, became map[string]string) (p predictions, err error) {
	p.models, p.of = map[string]int{}, map[string]int{}
	decoder := arrowio.NewDecoder(arrowio.DefaultLimits())
	err = topics.Read(ctx, s.client, s.logger, topic, func(rec pipeline.Record) error {
		batches, err := decoder.Decode(rec.Value)
		if err != nil {
			return fmt.Errorf("topic %s, partition %d, offset %d: %w", topic, rec.Partition, rec.Offset, err)
		}
		defer events.Release(batches)
		for _, batch := range batches {
			if err := p.add(batch, became); err != nil {
				return fmt.Errorf("topic %s, partition %d, offset %d: %w", topic, rec.Partition, rec.Offset, err)
			}
		}
		return nil
	}, nil)
	return p, err
}

func (p *predictions) add(batch arrow.Record, became map[string]string) error {
	info, err := wire.ParseFeaturesInfo(batch.Schema())
	if err != nil {
		return err
	}
	ids, predicted := column(batch, "id"), column(batch, wire.ColumnPrediction)
	if ids == nil || predicted == nil {
		return fmt.Errorf("columns id and %s are missing: %v", wire.ColumnPrediction, batch.Schema())
	}
	for i := range int(batch.NumRows()) {
		truth, known := became[ids.ValueStr(i)]
		if !known {
			return fmt.Errorf("order %s is unknown to this shop", ids.ValueStr(i))
		}
		p.rows++
		p.of[truth]++
		p.models[info.Model]++
		switch {
		case predicted.IsNull(i):
			p.without++
		case text(predicted, i) != truth:
			p.wrong++
		}
	}
	return nil
}

// column returns the named column, or nil if it is missing.
func column(batch arrow.Record, name string) arrow.Array {
	if found := batch.Schema().FieldIndices(name); len(found) == 1 {
		return batch.Column(found[0])
	}
	return nil
}

// text returns the value of a column of classes.
func text(a arrow.Array, i int) string {
	if d, ok := a.(*array.Dictionary); ok {
		return d.Dictionary().ValueStr(d.GetValueIndex(i))
	}
	return a.ValueStr(i)
}
