package crash

import (
	"context"
	"reflect"

	"github.com/eerf-stream/eerf/arrowio/wire"
	"github.com/eerf-stream/eerf/pipeline"
	"github.com/eerf-stream/eerf/stages/live"
	"github.com/eerf-stream/eerf/stages/meter"
)

// checkLive compares the distinct blocks of live errors with blocks made from the features
// messages. The last block may be unpublished.
func (r *run) checkLive(ctx context.Context) error {
	// logs may have lost the blocks' rows
	if r.result.Duplicates > 0 || r.plan.Kind != KindCrashes || r.plan.brokerDies() {
		return nil
	}
	for partition := range partitions {
		want, err := r.blocksOfFeatures(ctx, partition)
		if err != nil {
			return err
		}
		have, err := r.blocks(ctx, partition)
		if err != nil {
			return err
		}
		if len(have) > len(want) || len(have)+1 < len(want) {
			r.fault("live/%d: %d blocks, recomputed %d", partition, len(have), len(want))
			continue
		}
		for i, b := range have {
			if !reflect.DeepEqual(b, want[i]) {
				r.fault("live/%d: block %d is %+v, recomputed %+v", partition, i, b, want[i])
			}
		}
		r.result.Blocks += int64(len(have))
	}
	return nil
}

// blocksOfFeatures makes the blocks of a partition from its features.
func (r *run) blocksOfFeatures(ctx context.Context, partition int) (blocks []*wire.Block, err error) {
	messages, err := r.features(ctx, partition)
	if err != nil {
		return nil, err
	}
	builder := live.Builder{Pipeline: r.loaded.Stages.Pipeline.Name, Partition: int32(partition)}
	for _, m := range messages {
		sums, err := wire.ParseLive(m.record.Headers)
		if err != nil {
			return nil, err
		}
		blocks = append(blocks, builder.Add(live.Message{
			Rows: m.FeatureBatch, Live: sums, Time: meter.EventTime(&m.record), Bytes: len(m.record.Value),
		})...)
	}
	return blocks, nil
}

// blocks reads the distinct final blocks of a partition.
func (r *run) blocks(ctx context.Context, partition int) (blocks []*wire.Block, err error) {
	err = r.read(ctx, r.loaded.Stages.Topics.Live, partition, func(rec pipeline.Record) error {
		b, err := wire.DecodeBlock(rec.Value)
		if err != nil {
			return err
		}
		if b.Provisional {
			return nil
		}
		if n := len(blocks); n == 0 || blocks[n-1].NextOffset < b.NextOffset ||
			blocks[n-1].NextOffset == b.NextOffset && blocks[n-1].NextRow < b.NextRow {
			blocks = append(blocks, b)
		}
		return nil
	})
	return blocks, err
}
