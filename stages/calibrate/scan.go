package calibrate

import (
	"context"
	"errors"
	"fmt"

	"github.com/apache/arrow/go/v15/arrow"
	"go.uber.org/zap"
	"golang.org/x/sync/errgroup"

	"github.com/eerf-stream/eerf/arrowio/encoder"
	"github.com/eerf-stream/eerf/arrowio/wire"
	"github.com/eerf-stream/eerf/pipeline"
	"github.com/eerf-stream/eerf/stages/events"
	"github.com/eerf-stream/eerf/stages/meter"
)

// Scanners is how many partitions are read at a time.
const Scanners = 8

// errRangeMoved says that the log lost offsets of a range during the scan, so that the plan has to be made again.
var errRangeMoved = errors.New("the log lost offsets of the range while it was read")

// scan is the result of reading a range once.
type scan struct {
	part   wire.Partition
	first  *firstRows
	labels *encoder.LabelCounter
	counts meter.CalibrateCounts
	read   meter.Traffic
	last   wire.BatchMark // last batch of events
}

// newScans returns a scan of each range that has read nothing yet.
func newScans(s Settings, partitions []wire.Partition) []*scan {
	busy := 0
	for _, part := range partitions {
		if !part.Empty() {
			busy++
		}
	}
	scans := make([]*scan, len(partitions))
	for i, part := range partitions {
		scans[i] = &scan{
			part: part, first: newFirstRows(s.Events, s.Exploration.CalibrationRows, calibrationShare(busy)),
			labels: encoder.NewLabelCounter(s.Events.Options()),
		}
	}
	return scans
}

// add adds the rows of a message.
func (s *scan) add(batches []arrow.Record) error {
	var faults []error
	for _, batch := range batches {
		faults = append(faults, s.first.add(batch))
		s.labels.Add(batch)
		s.counts.Rows += batch.NumRows()
	}
	return errors.Join(faults...)
}

func releaseScans(scans []*scan) {
	for _, s := range scans {
		s.first.release()
	}
}

// lastBatches returns the last batch read of each partition.
func lastBatches(scans []*scan) map[int32]wire.BatchMark {
	found := map[int32]wire.BatchMark{}
	for _, s := range scans {
		if s.last != (wire.BatchMark{}) {
			found[s.part.Partition] = s.last
		}
	}
	return found
}

// scanAll reads the ranges of all partitions, several at a time.
func (l *Log) scanAll(ctx context.Context, s Settings, scans []*scan) error {
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(Scanners)
	for _, one := range scans {
		if !one.part.Empty() {
			group.Go(func() error {
				return l.scan(ctx, s, one)
			})
		}
	}
	return group.Wait()
}

// scan reads one range. Messages that do not decode have no rows here: subsample makes dead letters of them.
func (l *Log) scan(ctx context.Context, settings Settings, s *scan) error {
	options := pipeline.ReadOptions{From: s.part.StartOffset, Until: s.part.EndOffset, Ahead: true, OnGap: func(g pipeline.Gap) error {
		if g.Kind == pipeline.GapUnreadable {
			return nil
		}
		return fmt.Errorf("%w: %v", errRangeMoved, g)
	}}
	return l.each(ctx, settings, int(s.part.Partition), options, func(record pipeline.Record, batches []arrow.Record, err error) {
		s.counts.Messages++
		s.last = wire.BatchMark{Offset: record.Batch.Offset, Checksum: record.Batch.Checksum}
		if err != nil {
			s.counts.Undecodable++
			s.read.UndecodableBytes += int64(record.Size())
			return
		}
		s.read.UsedBytes += int64(record.Size())
		if err := s.add(batches); err != nil {
			l.Logger.Warn("calibration skips rows that cannot be copied",
				zap.Int32("partition", s.part.Partition), zap.Int64("offset", record.Offset), zap.Error(err))
		}
	})
}

// each calls do with the messages of a partition of events: with their rows, which are valid until it returns, or with
// why they cannot be read.
func (l *Log) each(ctx context.Context, s Settings, partition int, options pipeline.ReadOptions,
	do func(record pipeline.Record, batches []arrow.Record, err error)) error {
	reader := l.source(s).Learner()
	for record, err := range pipeline.NewReader(l.Broker, l.Logger, l.Topics.Events, partition, options).Records(ctx) {
		if err == nil {
			err = reader.Prepare(ctx, record.Value)
		}
		if err == nil {
			err = reader.Begin(ctx)
		}
		if err != nil {
			return &partitionError{int32(partition), fmt.Errorf("read %s/%d offset %d: %w", l.Topics.Events, partition, record.Offset, err)}
		}
		batches, err := reader.Read(record.Value)
		do(record, batches, err)
		events.Release(batches)
		reader.End()
	}
	return nil
}
