package topics

import (
	"context"
	"fmt"

	"go.uber.org/zap"

	"github.com/eerf-stream/eerf/pipeline"
)

// Read reads a topic from its start to its current end, partition by partition in offset order. A
// record is valid only during the call of do. Unreadable batches are skipped with a warning.
// Progress, if not nil, is called with the number of offsets read and their total.
func Read(ctx context.Context, log pipeline.Log, logger *zap.Logger, topic string, do func(pipeline.Record) error,
	progress func(done, total int64)) error {
	partitions, err := log.Partitions(ctx, topic)
	if err != nil {
		return fmt.Errorf("topic %s: %w", topic, err)
	}
	spans := make([][2]int64, partitions)
	var done, total int64
	for p := range spans {
		if spans[p][0], spans[p][1], err = log.Offsets(ctx, topic, p); err != nil {
			return fmt.Errorf("offsets of %s/%d: %w", topic, p, err)
		}
		total += spans[p][1] - spans[p][0]
	}
	for p, span := range spans {
		err := ReadSpan(ctx, log, logger, topic, p, span[0], span[1], func(rec pipeline.Record) error {
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

// ReadSpan calls do for the records of a partition from first up to, but not including, next.
func ReadSpan(ctx context.Context, log pipeline.Log, logger *zap.Logger, topic string, partition int, first, next int64,
	do func(pipeline.Record) error) error {
	reader := pipeline.NewReader(log, logger, topic, partition, pipeline.ReadOptions{From: first, Until: next})
	for rec, err := range reader.Records(ctx) {
		if err == nil {
			err = do(rec)
		}
		if err != nil {
			return err
		}
	}
	return nil
}
