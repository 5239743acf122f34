package selection

import (
	"context"
	"errors"
	"fmt"

	"go.uber.org/zap"

	"github.com/eerf-stream/eerf/arrowio/wire"
	"github.com/eerf-stream/eerf/pipeline"
)

// confirm fails unless events still holds the last batch of each partition's range. A log may be
// truncated and grow again between the plan and the end of the last partition, and sums over rows
// from before and after the truncation would describe no log at all.
func (r *Runner) confirm(ctx context.Context, spec *wire.Spec, checkpoints map[int32]*wire.Checkpoint) error {
	keep := r.supervised().Run
	for _, part := range spec.Partitions {
		last := spec.Note(part.Partition).LastBatch
		if c := checkpoints[part.Partition]; last == (wire.BatchMark{}) && c != nil {
			last = c.LastBatch
		}
		if last == (wire.BatchMark{}) {
			continue
		}
		holds, denied := true, error(nil)
		err := keep(ctx, int(part.Partition), func(ctx context.Context) (err error) {
			mark := pipeline.Mark{Offset: last.Offset, Checksum: last.Checksum}
			holds, err = pipeline.Holds(ctx, r.Env.Broker, r.Env.Logger, spec.EventsTopic, int(part.Partition), mark)
			if errors.Is(err, pipeline.ErrDenied) {
				denied, err = err, nil
			}
			return err
		})
		switch {
		case err != nil || ctx.Err() != nil:
			return errors.Join(err, ctx.Err())
		case denied != nil:
			r.Env.Logger.Warn("no read access to events; cannot verify that it still holds the scored rows", zap.Error(denied))
			return nil
		case !holds:
			return fmt.Errorf("partition %d of events no longer holds the rows of the exploration: "+
				"the topic was truncated or recreated", part.Partition)
		}
	}
	return nil
}
