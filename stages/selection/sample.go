package selection

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"go.uber.org/zap"

	"github.com/eerf-stream/eerf/arrowio"
	"github.com/eerf-stream/eerf/arrowio/rowid"
	"github.com/eerf-stream/eerf/arrowio/wire"
	"github.com/eerf-stream/eerf/pipeline"
	"github.com/eerf-stream/eerf/scoring"
)

// disagreement reports that the samples of a partition do not match its checkpoint.
type disagreement struct {
	partition int32
	attempt   int
	reason    string
}

func (d *disagreement) Error() string {
	return fmt.Sprintf("samples of partition %d, attempt %d: %s", d.partition, d.attempt, d.reason)
}

// sampleReader reads the sample of an exploration from its topic.
type sampleReader struct {
	log    pipeline.Log
	logger *zap.Logger
	topic  string
	limits arrowio.Limits
	// keep runs the reading of a partition and retries failures.
	keep func(ctx context.Context, partition int, run func(context.Context) error) error
}

// read returns the rows that the checkpoints count, in partition order. A [disagreement] names a
// partition with unusable samples.
func (r *sampleReader) read(
	ctx context.Context,
	spec *wire.Spec,
	checkpoints map[int32]*wire.Checkpoint,
) (*scoring.Sample, error) {
	sample, hash := NewSample(spec), spec.Hash()
	for _, part := range spec.Partitions {
		c := checkpoints[part.Partition]
		if c == nil || c.Samples.Rows == 0 {
			continue
		}
		if part.Quota > 0 && c.Samples.Rows > part.Quota { // the plan reserved memory for the quota only
			return nil, &disagreement{
				c.Partition,
				c.Attempt,
				fmt.Sprintf("%d rows, more than the quota of %d", c.Samples.Rows, part.Quota),
			}
		}
		var rows *wire.Samples
		var disagrees error
		err := r.keep(ctx, int(c.Partition), func(ctx context.Context) (err error) {
			rows, err = r.partition(ctx, spec, hash, c)
			var d *disagreement
			if errors.As(err, &d) { // a result, not a failure to read
				disagrees, err = err, nil
			}
			return err
		})
		if err := errors.Join(err, disagrees, ctx.Err()); err != nil {
			return nil, err
		}
		appendRows(sample, spec, rows)
	}
	return sample, nil
}

// NewSample returns the sample of an exploration from the rows of its partitions, in partition
// order.
func NewSample(spec *wire.Spec, partitions ...*wire.Samples) *scoring.Sample {
	sample := &scoring.Sample{Dim: spec.Encoder.Dim, Targets: scoring.Targets{Outputs: spec.Encoder.Outputs()}}
	for _, rows := range partitions {
		appendRows(sample, spec, rows)
	}
	return sample
}

// appendRows adds the rows of a partition to the sample.
func appendRows(sample *scoring.Sample, spec *wire.Spec, rows *wire.Samples) {
	if rows.Rows() == 0 {
		return
	}
	sample.Parts = append(sample.Parts, rows.Rows())
	if spec.Criterion.HoldsOut() {
		for i, ordinal := range rows.Ordinal {
			identity := rowid.PlaceOf(rows.Partition, ordinal, 0)
			if len(rows.Identity) > 0 {
				identity = rows.Identity[i]
			}
			sample.HeldOut = append(sample.HeldOut, scoring.HeldOut(spec.SampleSeed, identity))
			sample.Identities = append(sample.Identities, identity)
		}
	}
	sample.X = append(sample.X, rows.X...)
	sample.Rows += rows.Rows()
	sample.Targets.Class = append(sample.Targets.Class, rows.Targets.Class...)
	sample.Targets.Values = append(sample.Targets.Values, rows.Targets.Values...)
}

// partition reads the rows that a checkpoint counts: each ordinal below the checkpoint's next one
// once, in whatever order the current and past owners of the partition wrote them.
func (r *sampleReader) partition(
	ctx context.Context,
	spec *wire.Spec,
	hash string,
	c *wire.Checkpoint,
) (*wire.Samples, error) {
	refuse := func(format string, args ...any) error {
		return &disagreement{partition: c.Partition, attempt: c.Attempt, reason: fmt.Sprintf(format, args...)}
	}
	if err := r.awaitStable(ctx, int(c.Partition)); err != nil {
		return nil, err
	}
	found := &ordinals{
		next: c.NextOrdinal,
		most: c.Samples.Rows,
		seen: map[int64]bool{},
		rows: &wire.Samples{Partition: c.Partition, Dim: spec.Encoder.Dim},
	}
	lost := ""
	reader := pipeline.NewReader(r.log, r.logger, r.topic, int(c.Partition), pipeline.ReadOptions{
		From: c.Samples.FirstOffset, Until: pipeline.PresentEnd, OnGap: func(g pipeline.Gap) error {
			lost = g.String()
			return nil
		},
	})
	decoder, key := arrowio.NewDecoder(r.limits), wire.CheckpointKey(spec.Exploration)
	classes := spec.Encoder.Label.Task == scoring.MultiClass
	for record, err := range reader.Records(ctx) {
		if err != nil {
			return nil, fmt.Errorf("read the samples of partition %d: %w", c.Partition, err)
		}
		if !bytes.Equal(record.Key, key) || !wire.SamplesOf(record.Headers, hash, c.Partition) {
			continue
		}
		rows, err := wire.DecodeSamples(decoder, record.Value, record.Headers)
		if err == nil &&
			(rows.Dim != spec.Encoder.Dim || rows.Targets.Outputs != spec.Encoder.Outputs() ||
				(rows.Targets.Class != nil) != classes) {
			err = fmt.Errorf(
				"%w: unexpected dimensions (%d), outputs (%d) or task",
				wire.ErrMalformed,
				rows.Dim,
				rows.Targets.Outputs,
			)
		}
		if err != nil { // a copy of its rows may follow
			lost = fmt.Sprintf("offset %d: %v", record.Offset, err)
			continue
		}
		if found.add(rows) {
			break // complete, or too many: later records cannot change that
		}
	}
	rows, mark := found.sorted(), wire.SampleMark{FirstOffset: c.Samples.FirstOffset}
	mark.Add(rows, 0)
	switch {
	case mark == c.Samples:
		return rows, nil
	case lost != "":
		return nil, refuse("%d of %d rows: %s", mark.Rows, c.Samples.Rows, lost)
	case mark.Rows != c.Samples.Rows:
		return nil, refuse("%d of %d rows", mark.Rows, c.Samples.Rows)
	}
	return nil, refuse("checksum of %d rows differs from the checkpoint's", mark.Rows)
}

// stablePatience is the longest time that another writer's transaction may hide samples before
// their partition counts as unreadable.
const stablePatience = 10 * time.Second

// awaitStable waits until no open transaction hides records of a partition.
func (r *sampleReader) awaitStable(ctx context.Context, partition int) error {
	until := time.Now().Add(stablePatience)
	return pipeline.Try(ctx, r.logger, "await the end of transactions", func() error {
		err := pipeline.CheckStable(ctx, r.log, r.topic, partition)
		if errors.Is(err, pipeline.ErrOpenTransaction) && time.Now().After(until) {
			return pipeline.Permanent(err)
		}
		return err
	})
}

// ordinals collects rows by their ordinals. It copies them, because a message may hold one new row
// among many known ones.
type ordinals struct {
	next int64 // this ordinal and later ones are ignored
	most int64 // expected number of rows
	seen map[int64]bool
	rows *wire.Samples // in the order found, at most one more than expected
}

// add adds the rows with new ordinals and reports whether the expected number is reached.
func (o *ordinals) add(rows *wire.Samples) bool {
	for i, ordinal := range rows.Ordinal {
		if ordinal < o.next && !o.seen[ordinal] && int64(o.rows.Rows()) <= o.most {
			o.seen[ordinal] = true
			o.rows.Append(rows, i)
		}
	}
	return int64(o.rows.Rows()) >= o.most
}

// sorted returns the rows in ordinal order.
func (o *ordinals) sorted() *wire.Samples {
	at := o.rows.Ordinal
	if slices.IsSorted(at) {
		return o.rows
	}
	order := make([]int, len(at))
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(i, j int) int { return cmp.Compare(at[i], at[j]) })
	all := &wire.Samples{Partition: o.rows.Partition, Dim: o.rows.Dim}
	for _, i := range order {
		all.Append(o.rows, i)
	}
	return all
}
