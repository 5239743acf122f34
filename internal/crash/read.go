package crash

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"

	"go.uber.org/zap"

	"github.com/eerf-stream/eerf/arrowio"
	"github.com/eerf-stream/eerf/arrowio/wire"
	"github.com/eerf-stream/eerf/pipeline"
	"github.com/eerf-stream/eerf/pipeline/kafka"
	"github.com/eerf-stream/eerf/stages/train"
)

// feature is a message of features and its origin.
type feature struct {
	wire.FeatureBatch
	record pipeline.Record
}

// features reads a partition of features if it has grown.
func (r *run) features(ctx context.Context, partition int) ([]feature, error) {
	topic, known := r.loaded.Stages.Topics.Features, &r.known[partition]
	_, next, err := r.client.Offsets(ctx, topic, partition)
	if err != nil || next == known.next {
		return known.messages, err
	}
	var found []feature
	err = r.read(ctx, topic, partition, func(rec pipeline.Record) error {
		at, err := wire.ParseFeatureHeaders(rec.Headers)
		found = append(found, feature{at, rec})
		return err
	})
	if err == nil {
		known.next, known.messages = next, found
	}
	return found, err
}

// letter is a dead letter with its rows.
type letter struct {
	wire.DeadLetter
	record pipeline.Record
	rows   []int32
}

// letters reads a partition of the dead letters.
func (r *run) letters(ctx context.Context, partition int) ([]letter, error) {
	var found []letter
	decoder := arrowio.NewDecoder(arrowio.DefaultLimits())
	err := r.read(ctx, r.loaded.Stages.Topics.DeadLetters, partition, func(rec pipeline.Record) error {
		header, err := wire.ParseDeadLetterHeaders(rec.Headers)
		if err != nil {
			return err
		}
		l := letter{DeadLetter: header, record: rec}
		if header.Rows > 0 {
			if l.rows, err = rejected(decoder, rec.Value); err != nil {
				return err
			}
		}
		found = append(found, l)
		return nil
	})
	return found, err
}

// rejected reads the numbers of rejected rows from a dead letter.
func rejected(decoder *arrowio.Decoder, value []byte) ([]int32, error) {
	batches, err := decoder.Decode(value)
	if err != nil {
		return nil, err
	}
	var rows []int32
	for _, batch := range batches {
		rows = append(rows, rowNumbers(batch)...)
		batch.Release()
	}
	return rows, nil
}

// models returns the models on their topic by id, and the pointer.
func (r *run) models(ctx context.Context) (map[string]*wire.Model, *wire.Current, error) {
	found := map[string]*wire.Model{}
	var newest *wire.Current
	decoder := arrowio.NewDecoder(arrowio.DefaultLimits())
	err := r.read(ctx, r.loaded.Stages.Topics.Models, 0, func(rec pipeline.Record) error {
		_, id, current, ok := wire.ParseSetKey(rec.Key)
		switch {
		case !ok:
			return fmt.Errorf("model under key %q", rec.Key)
		case current:
			pointer, err := wire.DecodeCurrent(rec.Value)
			if err == nil && (newest == nil || pointer.Sequence >= newest.Sequence) {
				newest = pointer
			}
			return err
		case rec.Value == nil:
			delete(found, id)
			return nil
		}
		model, err := wire.DecodeModel(decoder, rec.Value)
		found[id] = model
		return err
	})
	return found, newest, err
}

// featureSets returns the feature sets on their topic by id.
func (r *run) featureSets(ctx context.Context, from *kafka.Client) (map[string]*wire.FeatureSet, error) {
	found := map[string]*wire.FeatureSet{}
	decoder := arrowio.NewDecoder(arrowio.DefaultLimits())
	err := r.readFrom(ctx, from, r.loaded.Stages.Topics.FeatureSets, 0, func(rec pipeline.Record) error {
		_, id, current, ok := wire.ParseSetKey(rec.Key)
		switch {
		case !ok || rec.Value == nil && r.lost[id] == nil:
			r.fault("feature-sets: key %q, %d bytes", rec.Key, len(rec.Value))
			return nil
		case current:
			return nil
		case rec.Value == nil:
			delete(found, id)
			return nil
		}
		set, err := wire.DecodeFeatureSet(decoder, rec.Value)
		found[id] = set
		return err
	})
	return found, err
}

// loadSets reads the feature sets and recomputes each, including lost ones.
func (r *run) loadSets(ctx context.Context) error {
	found, err := r.featureSets(ctx, r.client)
	if err != nil {
		return err
	}
	r.sets = nil
	for id, set := range merged(found, r.lost) {
		again, err := r.explore(ctx, set)
		if err != nil {
			return fmt.Errorf("repeat the exploration of set %s: %w", id, err)
		}
		again.id, again.gone = id, found[id] == nil
		r.sets = append(r.sets, again)
	}
	slices.SortFunc(r.sets, func(a, b *explored) int {
		return cmp.Or(cmp.Compare(a.Lineage.Sequence, b.Lineage.Sequence), cmp.Compare(a.id, b.id))
	})
	return nil
}

// trainable counts the rows of a set in features that a trainer can use.
func (r *run) trainable(ctx context.Context, set string) (int64, error) {
	trainer, err := r.trainer(ctx, set, nil)
	if err != nil {
		return 0, err
	}
	return trainer.Rows(), nil
}

// trainer feeds a trainer with the features of a set, up to the ranges of a model, or all of them.
func (r *run) trainer(ctx context.Context, id string, until []wire.Range) (*train.Trainer, error) {
	at := slices.IndexFunc(r.sets, func(s *explored) bool { return s.id == id })
	if at < 0 {
		return nil, fmt.Errorf("features of set %s, which is not on its topic", id)
	}
	trainer, err := train.New(r.sets[at].FeatureSet, r.loaded.Stages.Train, arrowio.DefaultLimits(), partitions)
	if err != nil {
		return nil, err
	}
	for partition := range partitions {
		messages, err := r.features(ctx, partition)
		if err != nil {
			return nil, err
		}
		for _, m := range messages {
			if until != nil && exceeds(m, until) {
				continue
			}
			if err := trainer.Partition(partition).Add(m.record); err != nil {
				return nil, err
			}
		}
	}
	return trainer, nil
}

// exceeds reports whether a features message has rows after the range of its partition.
func exceeds(m feature, until []wire.Range) bool {
	for _, u := range until {
		if u.Partition == m.SourcePartition && u.Log == m.SourceLog {
			return m.SourceOffset > u.NextOffset || m.SourceOffset == u.NextOffset && m.FirstRow+m.RowCount > u.NextRow
		}
	}
	return true
}

// read reads a partition.
func (r *run) read(ctx context.Context, topic string, partition int, apply func(pipeline.Record) error) error {
	return r.readFrom(ctx, r.client, topic, partition, apply)
}

func (r *run) readFrom(
	ctx context.Context,
	client *kafka.Client,
	topic string,
	partition int,
	apply func(pipeline.Record) error,
) error {
	if _, err := pipeline.ReadAll(ctx, client, zap.NewNop(), topic, partition, apply); err != nil {
		return fmt.Errorf("read %s/%d: %w", topic, partition, err)
	}
	return nil
}

// merged returns the feature sets of two maps.
func merged(a, b map[string]*wire.FeatureSet) map[string]*wire.FeatureSet {
	both := maps.Clone(b)
	maps.Copy(both, a)
	return both
}
