package demo

import (
	"context"
	"errors"
	"fmt"

	"github.com/apache/arrow/go/v15/arrow"

	"github.com/eerf-stream/eerf/scoring"
	"github.com/eerf-stream/eerf/stages/events"
)

// sent counts the produced messages and rows.
type sent struct{ messages, rows int64 }

var errNoRows = errors.New(
	"no rows to learn from: --data is empty, or all rows are held back for testing (--test-fraction)")

// testTag replaces the partition in the hash that selects test rows, so that it differs from the
// hashes that sample rows.
const testTag = -1

// produce writes the training rows to events and keeps the test rows.
func (r *run) produce(ctx context.Context) error {
	producer, err := events.NewProducer(ctx, r.broker, r.Settings.Topics.Events, r.RowsPerMessage)
	if err != nil {
		return err
	}
	var row int64
	err = eachBatch(ctx, r.Train, func(batch arrow.Record) error {
		train := batch
		if r.Test == nil {
			var test arrow.Record
			train, test, err = r.split(batch, row)
			if err != nil {
				return err
			}
			defer train.Release()
			r.test = append(r.test, test)
		}
		row += batch.NumRows()
		return producer.Add(ctx, train)
	})
	if err != nil {
		return err
	}
	if err := producer.Flush(ctx); err != nil {
		return err
	}
	r.sent = sent{messages: producer.Messages(), rows: producer.Rows()}
	if r.sent.rows == 0 {
		return errNoRows
	}
	if r.Test == nil {
		return nil
	}
	return eachBatch(ctx, r.Test, func(batch arrow.Record) error {
		batch.Retain()
		r.test = append(r.test, batch)
		return nil
	})
}

// split takes test rows out of a batch by the hash of their row number.
func (r *run) split(batch arrow.Record, first int64) (train, test arrow.Record, err error) {
	var trainRows, testRows []int32
	for i := range batch.NumRows() {
		if scoring.Sampled(scoring.Hash(r.Settings.Exploration.Seed, testTag, first+i), r.TestFraction) {
			testRows = append(testRows, int32(i))
		} else {
			trainRows = append(trainRows, int32(i))
		}
	}
	train, err = events.TakeRows(batch, trainRows, nil)
	if err != nil {
		return nil, nil, fmt.Errorf("split off test rows: %w", err)
	}
	test, err = events.TakeRows(batch, testRows, nil)
	if err != nil {
		train.Release()
		return nil, nil, fmt.Errorf("split off test rows: %w", err)
	}
	return train, test, nil
}

// eachBatch calls do for every batch of a file.
func eachBatch(ctx context.Context, open func() (events.RowReader, error), do func(arrow.Record) error) error {
	return events.EachBatch(ctx, open, func(_ int64, batch arrow.Record) error { return do(batch) })
}
