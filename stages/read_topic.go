package stages

import (
	"context"
	"fmt"

	"github.com/eerf-stream/eerf/pipeline"
)

// ReadTopic reads a topic from its start to its present end, partition after partition in the order of offsets. A record is
// valid during the call of do alone. Batches that cannot be read are passed over with a warning. Progress, if not nil, is
// told how many of so many offsets were read.
func ReadTopic(ctx context.Context, r *Runtime, topic string, do func(pipeline.Record) error, progress func(done, total int64)) error {
	partitions, err := r.Broker.Partitions(ctx, topic)
	if err != nil {
		return fmt.Errorf("topic %s: %w", topic, err)
	}
	spans := make([][2]int64, partitions)
	var done, total int64
	for p := range spans {
		if spans[p][0], spans[p][1], err = r.Broker.Offsets(ctx, topic, p); err != nil {
			return fmt.Errorf("offsets of %s/%d: %w", topic, p, err)
		}
		total += spans[p][1] - spans[p][0]
	}
	for p, span := range spans {
		err := readSpan(ctx, r, topic, p, span[0], span[1], func(rec pipeline.Record) error {
			if progress != nil {
				progress(done+rec.Offset-span[0], total)
			}
			return do(rec)
		})
		if err != nil {
			return err
		}
		done += span[1] - span[0]
	}
	return nil
}
