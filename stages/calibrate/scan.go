package calibrate

import (
	"context"
	"errors"
	"fmt"

	"github.com/apache/arrow/go/v15/arrow"
	"go.uber.org/zap"
	"golang.org/x/sync/errgroup"

	"github.com/eerf-stream/eerf/arrowio/encoder"
	"github.com/eerf-stream/eerf/arrowio/formats"
	"github.com/eerf-stream/eerf/arrowio/wire"
	"github.com/eerf-stream/eerf/pipeline"
	"github.com/eerf-stream/eerf/stages/events"
	"github.com/eerf-stream/eerf/stages/meter"
)

// Scanners is the number of partitions that are read at a time.
const Scanners = 8

// errPlanAgain reports that the log lost offsets of a range, or that the registry changed an
// answer, during the scan. Planning must start again.
var errPlanAgain = errors.New("the log changed while it was read")

// scan is the result of reading a range once.
type scan struct {
	part   wire.Partition
	kept   *keptRows
	labels *encoder.LabelCounter
	counts meter.CalibrateCounts
	read   meter.Traffic
	last   wire.BatchMark // last batch of events

	unreadable *unreadable
	columns    []string // of the first message that is not JSON
}

// newScans returns an unread scan for each range.
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
			part: part,
			kept: newKeptRows(
				s.Events,
				s.Exploration.Seed,
				part.Partition,
				s.Exploration.CalibrationRows,
				calibrationShare(busy),
			),
			labels: encoder.NewLabelCounter(s.Events.Options()),
		}
	}
	return scans
}

// add adds the rows of a message. Rows of JSON are already staged.
func (s *scan) add(m message) error {
	var faults []error
	for _, batch := range m.batches {
		if !m.text {
			faults = append(faults, s.kept.add(batch))
		}
		s.labels.Add(batch)
	}
	s.kept.acceptText()
	s.counts.Rows += m.rows
	return errors.Join(faults...)
}

func releaseScans(scans []*scan) {
	for _, s := range scans {
		s.kept.release()
	}
}

// noteLastBatches records the last batch read from each partition.
func noteLastBatches(spec *wire.Spec, scans []*scan) {
	for _, s := range scans {
		if s.last != (wire.BatchMark{}) {
			spec.EditNote(s.part.Partition).LastBatch = s.last
		}
	}
}

// scanAll reads the ranges of all partitions, several at a time, and returns the schemas named by
// their messages; nil without a registry.
func (l *log) scanAll(ctx context.Context, s Settings, scans []*scan) ([]wire.SeenSchema, error) {
	admission := events.NewAdmission()
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(Scanners)
	for _, one := range scans {
		if !one.part.Empty() {
			group.Go(func() error {
				return l.scan(ctx, l.source(s, admission), s, one)
			})
		}
	}
	if err := group.Wait(); err != nil || l.env.Registry == nil {
		return nil, err
	}
	return admission.Seen(), nil
}

// scan reads one range. Undecodable messages have no rows here.
func (l *log) scan(ctx context.Context, source events.Source, settings Settings, s *scan) error {
	options := pipeline.ReadOptions{
		From:  s.part.StartOffset,
		Until: s.part.EndOffset,
		Ahead: true,
		OnGap: func(g pipeline.Gap) error {
			if g.Kind == pipeline.GapUnreadable {
				return nil
			}
			return fmt.Errorf("%w: %v", errPlanAgain, g)
		},
	}
	return l.each(
		ctx,
		source,
		settings,
		int(s.part.Partition),
		options,
		s.kept.addText,
		func(record pipeline.Record, m message, err error) {
			s.counts.Messages++
			s.last = wire.BatchMark{Offset: record.Batch.Offset, Checksum: record.Batch.Checksum}
			if err != nil {
				s.counts.Undecodable++
				s.read.UndecodableBytes += int64(record.Size())
				s.unreadable.add(record, err)
				s.kept.refuseText()
				return
			}
			s.read.UsedBytes += int64(record.Size())
			if len(s.columns) == 0 && !m.text && len(m.batches) > 0 {
				s.columns = columnNames(m.batches[0].Schema())
			}
			if record.Value == nil {
				s.counts.Tombstones++
			}
			if err := s.add(m); err != nil {
				l.env.Logger.Warn("calibration skips rows that cannot be copied",
					zap.Int32("partition", s.part.Partition), zap.Int64("offset", record.Offset), zap.Error(err))
			}
		},
	)
}

// message holds the contents of an event message.
type message struct {
	batches []arrow.Record // for JSON only the labels, one batch per kind
	rows    int64
	text    bool // the message is JSON
}

// each calls do for each message of an events partition, with its rows or the error that makes them
// unreadable. The rows are valid until do returns. For a JSON message, it first calls row for each
// row.
func (l *log) each(
	ctx context.Context,
	source events.Source,
	s Settings,
	partition int,
	options pipeline.ReadOptions,
	row func(text []byte),
	do func(record pipeline.Record, m message, err error),
) error {
	var text int64
	reader := source.Learner(formats.Learning{Labels: s.Events.Label, Row: func(one []byte) {
		text++
		row(one)
	}})
	for record, err := range pipeline.NewReader(
		l.env.Broker, l.env.Logger, l.env.Topics.Events, partition, options,
	).Records(ctx) {
		if err == nil {
			err = reader.Prepare(ctx, &record)
		}
		if err == nil {
			err = reader.Begin(ctx)
		}
		if errors.Is(err, events.ErrRegistryChanged) {
			return fmt.Errorf("%w: %w", errPlanAgain, err)
		}
		if err != nil {
			return &partitionError{
				int32(partition),
				fmt.Errorf("read %s/%d offset %d: %w", l.env.Topics.Events, partition, record.Offset, err),
			}
		}
		text = 0
		batches, err := reader.ReadRecord(&record)
		m := message{batches: batches, rows: text, text: text > 0}
		if !m.text {
			m.rows = events.CountRows(batches)
		}
		do(record, m, err)
		events.Release(batches)
		reader.End()
	}
	return nil
}
