package train

import (
	"cmp"
	"context"
	"io"
	"slices"
	"time"

	"go.uber.org/zap"

	"github.com/eerf-stream/eerf/arrowio/encoder"
	"github.com/eerf-stream/eerf/arrowio/wire"
	"github.com/eerf-stream/eerf/pipeline"
	"github.com/eerf-stream/eerf/scoring"
	"github.com/eerf-stream/eerf/stages/events"
	"github.com/eerf-stream/eerf/training"
)

// acrossRows is how many held-out rows are compared across feature sets at most, lowest hashes first: each may take a
// fetch of events.
const acrossRows = 2000

// otherSet predicts with a model of another feature set than the one trained on. It uses the events that the rows came
// from, because the features in the topic belong to the new set. It keeps its results, as the next challenger is
// compared on nearly the same rows.
type otherSet struct {
	log     pipeline.Log
	logger  *zap.Logger
	topic   string // of events
	trainer *Trainer
	model   *wire.Model // the incumbent

	reader    *events.Reader
	encoder   *encoder.Encoder
	transform *scoring.Transformer
	weights   *training.Model              // of labels as the trainer codes them
	class     []int32                      // maps the model's classes to the trainer's; -1 for none
	known     map[training.RowID][]float32 // nil for a row that the model cannot predict, or whose event is gone
	rows      encoder.Rows                 // reused
	z, f      []float32                    // reused
}

func newOtherSet(r *Runner, model *wire.Model, set *wire.FeatureSet) *otherSet {
	o := &otherSet{
		log: r.Broker, logger: r.Logger, topic: r.Topics.Events, trainer: r.trainer, model: model, reader: r.Source.Reader(set.Encoder),
		encoder: set.Encoder, transform: scoring.NewTransformer(&set.Set), weights: r.trainer.recoded(model.Judged),
		known: map[training.RowID][]float32{},
	}
	for _, name := range set.Encoder.Label.Classes {
		o.class = append(o.class, int32(slices.Index(r.trainer.set.Encoder.Label.Classes, name)))
	}
	return o
}

// predict reads the events of the rows that are not known yet.
func (o *otherSet) predict(ctx context.Context, rows heldOutRows) ([][]float32, error) {
	if err := o.read(ctx, rows.ids); err != nil {
		clear(o.known) // some were not read
		return nil, err
	}
	k := o.trainer.outputs
	predicted := make([][]float32, len(rows.ids))
	for i, id := range rows.ids {
		if outputs := o.known[id]; outputs != nil {
			predicted[i] = o.coded(outputs, rows.y[i*k:(i+1)*k])
		}
	}
	return predicted, nil
}

// coded returns the outputs for a row with the coded label y as the trainer codes them. A class that the trainer does
// not have counts as any wrong one.
func (o *otherSet) coded(outputs, y []float32) []float32 {
	t := o.trainer
	if t.set.Task == scoring.Regression {
		return outputs
	}
	classes := int32(max(2, t.outputs))
	class := o.class[training.DecideClass(outputs, len(outputs))]
	if class < 0 {
		class = (training.DecideClass(y, t.outputs) + 1) % classes
	}
	coded := make([]float32, t.outputs)
	training.CodeClasses(coded, []int32{class}, int(classes))
	return coded
}

// read predicts the rows that are not known yet, partition by partition.
func (o *otherSet) read(ctx context.Context, ids []training.RowID) error {
	now, err := pipeline.Retry(ctx, o.logger, "look up the identity of "+o.topic, func() (pipeline.LogID, error) {
		return o.log.Identity(ctx, o.topic, pipeline.AnyPartition, time.Now())
	})
	if err != nil {
		return err
	}
	var missing []training.RowID
	for _, id := range ids {
		if _, ok := o.known[id]; !ok {
			if o.known[id] = nil; o.trainer.stands(id, string(now)) {
				missing = append(missing, id)
			}
		}
	}
	slices.SortFunc(missing, func(a, b training.RowID) int {
		return cmp.Or(cmp.Compare(a.Partition, b.Partition), cmp.Compare(a.Offset, b.Offset), cmp.Compare(a.Row, b.Row))
	})
	for len(missing) > 0 {
		end := 1
		for end < len(missing) && missing[end].Partition == missing[0].Partition {
			end++
		}
		if err := o.readPartition(ctx, now, missing[:end]); err != nil {
			return err
		}
		missing = missing[end:]
	}
	return nil
}

// readPartition predicts rows of one partition in offset order. Rows whose events are gone stay unknown.
func (o *otherSet) readPartition(ctx context.Context, of pipeline.LogID, ids []training.RowID) error {
	r := pipeline.NewReader(o.log, o.logger, o.topic, int(ids[0].Partition),
		pipeline.ReadOptions{From: ids[0].Offset, Until: ids[len(ids)-1].Offset + 1, Watch: pipeline.WatchLog, Place: pipeline.Place{Log: of}, OnGap: func(g pipeline.Gap) error {
			if g.Changed() { // there may be other events now
				return io.EOF
			}
			return nil
		}})
	for fetched, err := range r.Fetches(ctx) {
		if err != nil {
			return err
		}
		for _, rec := range fetched.Records {
			first, _ := slices.BinarySearchFunc(ids, rec.Offset, func(id training.RowID, offset int64) int { return cmp.Compare(id.Offset, offset) })
			last := first
			for last < len(ids) && ids[last].Offset == rec.Offset {
				last++
			}
			if err := o.predictEvent(ctx, rec.Value, ids[first:last]); err != nil {
				return err
			}
		}
		for len(ids) > 0 && ids[0].Offset < fetched.NextOffset {
			ids = ids[1:]
		}
		if len(ids) > 0 {
			r.MoveTo(ids[0].Offset)
		}
	}
	return nil
}

// predictEvent maps some rows of an event through the model's own feature set. It leaves out a message that the set's
// encoder refuses.
func (o *otherSet) predictEvent(ctx context.Context, value []byte, ids []training.RowID) error {
	if len(ids) == 0 {
		return nil
	}
	if err := o.reader.Prepare(ctx, value); err != nil {
		return err
	}
	batches, err := o.reader.Read(value)
	if err != nil {
		return nil // the other set refuses it, so that model has no prediction
	}
	defer events.Release(batches)
	first := int32(0)
	for _, batch := range batches {
		next := first + int32(batch.NumRows())
		var take []int32
		for _, id := range ids {
			if id.Row >= first && id.Row < next {
				take = append(take, id.Row-first)
			}
		}
		if len(take) > 0 {
			if err := o.encoder.Encode(&o.rows, batch, take); err != nil {
				return err
			}
			o.keep(ids[0], first)
		}
		first = next
	}
	return nil
}

// keep predicts the encoded rows of a batch whose first row is row first of the message of id.
func (o *otherSet) keep(id training.RowID, first int32) {
	m, k := o.weights.Features, o.weights.Outputs
	o.z = slices.Grow(o.z[:0], o.rows.N*m)[:o.rows.N*m]
	o.f = slices.Grow(o.f[:0], o.rows.N*k)[:o.rows.N*k]
	o.transform.Transform(o.z, o.rows.X[:o.rows.N*o.rows.Dim], o.rows.N)
	o.weights.Predict(o.f, o.z, o.rows.N)
	for i := range o.rows.N {
		id.Row = first + o.rows.Row[i]
		o.known[id] = slices.Clone(o.f[i*k : (i+1)*k])
	}
}
