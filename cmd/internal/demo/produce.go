package demo

import (
	"context"
	"errors"
	"fmt"

	"github.com/apache/arrow/go/v15/arrow"

	"github.com/eerf-stream/eerf/arrowio/encoder"
	"github.com/eerf-stream/eerf/scoring"
	"github.com/eerf-stream/eerf/stages"
)

// sent says what was produced.
type sent struct{ messages, rows int64 }

var errNoRows = errors.New("the data have no rows")

// testTag, in place of a partition, keeps the hash that splits test rows off apart from the hashes that sample rows.
const testTag = -1

// produce writes the training rows to events and keeps the test rows.
func (r *run) produce(ctx context.Context) error {
	producer, err := stages.NewEventProducer(ctx, r.broker, r.Settings.Topics.Events, r.RowsPerMessage)
	if err != nil {
		return err
	}
	calibration := newPreview(r.Settings)
	defer calibration.learn.Release()
	var row int64
	err = eachBatch(ctx, r.Train, func(batch arrow.Record) error {
		train := batch
		if r.Test == nil {
			var test arrow.Record
			if train, test, err = r.split(batch, row); err != nil {
				return err
			}
			defer train.Release()
			r.test = append(r.test, test)
		}
		row += batch.NumRows()
		if err := calibration.add(train); err != nil {
			return err
		}
		return producer.Add(ctx, train)
	})
	if err != nil {
		return err
	}
	if r.report, err = calibration.finish(); err != nil {
		return err
	}
	if err := producer.Flush(ctx); err != nil {
		return err
	}
	r.sent = sent{messages: producer.Messages(), rows: producer.Rows()}
	if r.Test == nil {
		return nil
	}
	return eachBatch(ctx, r.Test, func(batch arrow.Record) error {
		batch.Retain()
		r.test = append(r.test, batch)
		return nil
	})
}

// preview calibrates on the rows that the stages will calibrate on, the first of each partition: it shows a fault in the
// data, and the columns that are left out, before anything runs.
type preview struct {
	exploration stages.ExplorationConfig
	learn       *stages.Calibration
	wanted      int64
}

func newPreview(s stages.Settings) *preview {
	s.Exploration.Sigma = 1 // the bandwidth takes time and is found later
	return &preview{
		exploration: s.Exploration, learn: stages.NewCalibration(s.Events),
		wanted: s.Exploration.CalibrationRows * int64(s.Topics.Partitions),
	}
}

func (p *preview) add(batch arrow.Record) error {
	n := min(p.wanted-p.learn.Rows(), batch.NumRows())
	if n <= 0 {
		return nil
	}
	head := batch.NewSlice(0, n)
	defer head.Release()
	return p.learn.Add(0, p.learn.Rows(), head)
}

func (p *preview) finish() (encoder.Report, error) {
	if p.learn.Rows() == 0 {
		return encoder.Report{}, errNoRows
	}
	found, err := p.learn.Finish(p.exploration)
	if err != nil {
		return encoder.Report{}, err
	}
	return found.Report, nil
}

// split takes test rows out of a batch by the hash of their number.
func (r *run) split(batch arrow.Record, first int64) (train, test arrow.Record, err error) {
	var trainRows, testRows []int32
	for i := range batch.NumRows() {
		if scoring.Taken(scoring.Hash(r.Settings.Exploration.Seed, testTag, first+i), r.TestFraction) {
			testRows = append(testRows, int32(i))
		} else {
			trainRows = append(trainRows, int32(i))
		}
	}
	if train, err = stages.TakeRows(batch, trainRows, nil); err != nil {
		return nil, nil, fmt.Errorf("split off test rows: %w", err)
	}
	if test, err = stages.TakeRows(batch, testRows, nil); err != nil {
		train.Release()
		return nil, nil, fmt.Errorf("split off test rows: %w", err)
	}
	return train, test, nil
}

// eachBatch calls do for every batch of a file.
func eachBatch(ctx context.Context, open func() (stages.RowReader, error), do func(arrow.Record) error) error {
	return stages.EachBatch(ctx, open, func(_ int64, batch arrow.Record) error { return do(batch) })
}
