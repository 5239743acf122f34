package stages

import (
	"context"
	"fmt"
	"time"

	"go.uber.org/zap"

	"github.com/eerf-stream/eerf/arrowio/wire"
	"github.com/eerf-stream/eerf/pipeline"
)

// calibrationPartition collects the first rows of one partition.
type calibrationPartition struct {
	part   wire.Partition
	reader *eventReader
	next   int64 // offset to read
	rows   *calibrationRows
	atEnd  bool // nothing was left to read when last looked
}

// full reports whether the partition gives no more rows.
func (c *calibrationPartition) full() bool {
	return c.rows.enough() || c.part.EndOffset >= 0 && c.next >= c.part.EndOffset
}

// calibrateFromLog reads the first rows of each partition and learns from them in partition order. It waits for rows
// to come, at most for the configured time once there are any. It notes in the partitions how many rows each gave.
//
// It learns from rows of one shape (names and kinds of the columns that can be features or labels): of those that have
// the label the one with the most rows, so that a stray message does not decide what the features are. All others are
// passed over, also those that an encoder of that shape could read.
func calibrateFromLog(ctx context.Context, r *Runtime, logger *zap.Logger, s Settings, partitions []wire.Partition) (*Calibrated, int64, error) {
	schemas := newCalibrationSchemas(s.Events)
	collected := make([]*calibrationPartition, len(partitions))
	rows := make([]*calibrationRows, len(partitions))
	for i, part := range partitions {
		rows[i] = newCalibrationRows(schemas, s.Exploration.CalibrationRows, calibrationShare(len(partitions)))
		collected[i] = &calibrationPartition{
			part: part, next: part.StartOffset, rows: rows[i], reader: newEventReader(s.Limits.decoder(), nil),
		}
		defer rows[i].release()
	}
	if err := collect(ctx, r, logger, s, collected); err != nil {
		return nil, 0, err
	}
	calibration := NewCalibration(s.Events)
	defer calibration.Release()
	if err := learn(calibration, logger, partitions, rows); err != nil {
		return nil, 0, err
	}
	found, err := calibration.Finish(s.Exploration)
	return found, calibration.Rows(), err
}

// learn adds the rows of the shape that is chosen and notes how many each partition gave.
func learn(calibration *Calibration, logger *zap.Logger, partitions []wire.Partition, rows []*calibrationRows) error {
	schema := chosen(rows)
	var passedOver int64
	for i, c := range rows {
		var ordinal int64
		for _, group := range c.groups {
			if group.schema != schema {
				passedOver += group.rows
				continue
			}
			for _, batch := range group.kept {
				if err := calibration.add(partitions[i].Partition, ordinal, batch); err != nil {
					return fmt.Errorf("calibrate on %d rows: %w", group.rows, err)
				}
				ordinal += batch.NumRows()
			}
		}
		partitions[i].CalibrationRows = ordinal
		if c.overBudget() && !c.filled {
			calibration.cut++
		}
	}
	if passedOver > 0 {
		logger.Warn("calibration passed over rows of other columns than most", zap.Int64("rows", passedOver))
	}
	if calibration.cut > 0 {
		logger.Warn("calibration stopped at its memory bound", zap.Int("partitions", calibration.cut),
			zap.Int64("bytes_per_partition", calibrationShare(len(partitions))), zap.Int64("rows", calibration.Rows()))
	}
	return nil
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
			rows += len(c.rows.groups)
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
	reader := pipeline.NewReader(r.Broker, logger, topic, int(c.part.Partition), pipeline.ReadOptions{
		From: c.next, Until: pipeline.Forever, OnGap: func(g pipeline.Gap) error {
			if g.Kind != pipeline.GapUnreadable {
				return g.Err
			}
			return nil
		}})
	fetched, err := reader.Next(ctx)
	if err != nil {
		return fmt.Errorf("calibrate on %s/%d from offset %d: %w", topic, c.part.Partition, c.next, err)
	}
	for _, rec := range fetched.Records {
		if c.rows.enough() || c.part.EndOffset >= 0 && rec.Offset >= c.part.EndOffset {
			break
		}
		rows, err := c.take(logger, rec)
		if counts, bytes := (CalibrateCounts{Messages: 1, Rows: rows}), int64(rec.Size()); err != nil {
			counts.Undecodable = 1
			r.Counters.addCalibrate(counts, Traffic{UndecodableBytes: bytes})
		} else {
			r.Counters.addCalibrate(counts, Traffic{UsedBytes: bytes})
		}
	}
	c.next = fetched.NextOffset
	c.atEnd = c.next >= fetched.End
	return nil
}

// take keeps the first rows of a message, up to those wanted, and returns how many it has. What does not decode, which the
// error says, is passed over: it has no ordinals.
func (c *calibrationPartition) take(logger *zap.Logger, rec pipeline.Record) (rows int64, err error) {
	batches, err := c.reader.read(rec.Value)
	if err != nil {
		return 0, err
	}
	defer releaseAll(batches)
	for _, batch := range batches {
		if err := c.rows.add(batch); err != nil {
			logger.Warn("calibration passes over rows that cannot be copied",
				zap.Int32("partition", c.part.Partition), zap.Int64("offset", rec.Offset), zap.Error(err))
		}
	}
	return totalRows(batches), nil
}
