package stages

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/apache/arrow/go/v15/arrow"
	"go.uber.org/zap"

	"github.com/eerf-stream/eerf/arrowio/wire"
	"github.com/eerf-stream/eerf/pipeline"
)

// calibrationPartition collects the first rows of one partition.
type calibrationPartition struct {
	part    wire.Partition
	reader  *eventReader
	next    int64 // offset to read
	wanted  int64 // rows still to be collected
	batches []arrow.Record
	atEnd   bool // nothing was left to read when last looked
}

// full reports whether the partition gives no more rows.
func (c *calibrationPartition) full() bool {
	return c.wanted <= 0 || c.part.EndOffset >= 0 && c.next >= c.part.EndOffset
}

// calibrateFromLog reads the first rows of each partition and learns from them in partition order. It waits for rows
// to come, at most for the configured time once there are any. It notes in the partitions how many rows each gave.
func calibrateFromLog(ctx context.Context, r *Runtime, logger *zap.Logger, s Settings, partitions []wire.Partition) (*Calibrated, int64, error) {
	collected := make([]*calibrationPartition, len(partitions))
	for i, part := range partitions {
		collected[i] = &calibrationPartition{
			part: part, next: part.StartOffset, wanted: s.Exploration.CalibrationRows,
			reader: newEventReader(s.Limits.decoder(), nil),
		}
	}
	defer func() {
		for _, c := range collected {
			releaseAll(c.batches)
		}
	}()
	if err := collect(ctx, r, logger, s, collected); err != nil {
		return nil, 0, err
	}
	calibration := NewCalibration(s.Events)
	defer calibration.Release()
	for i, c := range collected {
		partitions[i].CalibrationRows = learn(calibration, logger, c)
	}
	found, err := calibration.Finish(s.Exploration)
	return found, calibration.Rows(), err
}

// learn adds the rows of a partition and returns how many it used.
func learn(calibration *Calibration, logger *zap.Logger, c *calibrationPartition) int64 {
	var ordinal int64
	for _, batch := range c.batches {
		if err := calibration.Add(c.part.Partition, ordinal, batch); err != nil {
			logger.Warn("calibration passes over rows that do not go with the others",
				zap.Int32("partition", c.part.Partition), zap.Int64("rows", batch.NumRows()), zap.Error(err))
			continue
		}
		ordinal += batch.NumRows()
	}
	return ordinal
}

// collect reads until every partition has its rows, or has none left within its bounds, or the time for waiting is
// over.
func collect(ctx context.Context, r *Runtime, logger *zap.Logger, s Settings, parts []*calibrationPartition) error {
	var waited time.Time
	said := false
	for {
		missing, behind, rows := 0, 0, 0
		for _, c := range parts {
			if !c.full() {
				if err := c.read(ctx, r, logger, s.Topics.Events); err != nil {
					return err
				}
			}
			if !c.full() {
				missing++
				if !c.atEnd {
					behind++
				}
			}
			rows += len(c.batches)
		}
		if missing == 0 {
			return nil
		}
		if rows > 0 && waited.IsZero() {
			waited = time.Now()
		}
		if behind == 0 && !said {
			said = true
			logger.Info("calibration waits for rows", zap.Int("partitions_short", missing),
				zap.Int64("rows_per_partition", s.Exploration.CalibrationRows), zap.Duration("at_most", s.Exploration.CalibrationTimeout))
		}
		if behind == 0 && rows > 0 && time.Since(waited) >= s.Exploration.CalibrationTimeout {
			logger.Warn("calibration goes on with fewer rows than asked for", zap.Int("partitions_short", missing))
			return nil
		}
	}
}

// read takes the rows of one fetch.
func (c *calibrationPartition) read(ctx context.Context, r *Runtime, logger *zap.Logger, topic string) error {
	fetched, err := pipeline.Retry(ctx, logger, "read events for calibration", func() (pipeline.Fetched, error) {
		return r.Broker.Fetch(ctx, topic, int(c.part.Partition), c.next)
	})
	var unreadable *pipeline.UnreadableBatchError
	if errors.As(err, &unreadable) {
		c.next = unreadable.NextOffset
		return nil
	}
	if err != nil {
		return fmt.Errorf("calibrate on %s/%d from offset %d: %w", topic, c.part.Partition, c.next, err)
	}
	for _, rec := range fetched.Records {
		if c.wanted <= 0 || c.part.EndOffset >= 0 && rec.Offset >= c.part.EndOffset {
			break
		}
		c.take(rec.Value)
	}
	c.next = fetched.NextOffset
	c.atEnd = c.next >= fetched.HighWatermark
	return nil
}

// take keeps the first rows of a message, up to those wanted. What does not decode is passed over: it has no
// ordinals.
func (c *calibrationPartition) take(value []byte) {
	batches, err := c.reader.read(value)
	if err != nil {
		return
	}
	for _, batch := range batches {
		if c.wanted > 0 {
			n := min(batch.NumRows(), c.wanted)
			c.batches = append(c.batches, batch.NewSlice(0, n))
			c.wanted -= n
		}
		batch.Release()
	}
}
