package featurize

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/eerf-stream/eerf/internal/failpoint"
	"github.com/eerf-stream/eerf/pipeline"
	"github.com/eerf-stream/eerf/stages/deadletter"
	"github.com/eerf-stream/eerf/stages/meter"
)

// request is dead letters and the outputs that follow them. A partition has one request at a time;
// the next outputs are made meanwhile and wait. A request belongs to its sending goroutine until
// done is closed, then to the partition.
type request struct {
	owned
	blocks  []pipeline.Record // of live errors, from outputs of earlier requests
	parts   []outgoing        // once done, without the outputs refused for their size
	next    int64             // position of the partition when the request was sent
	refused int64             // last offset with an output too large for the broker, which became a dead letter; -1 = none
	charged int64             // of the output memory
	done    chan struct{}

	err          error
	acknowledged time.Time
	retried      bool // outputs took more than one attempt: the client may still be reading the records of an earlier one
}

// start sends the request in a goroutine.
func (q *request) start(ctx context.Context) {
	q.done = make(chan struct{})
	go func() {
		defer close(q.done)
		q.err = q.send(ctx)
	}()
}

// send sends the dead letters, waits for them, and then sends the outputs, because nothing before a
// written output is reread. Dead letters cost a round trip, but only the outputs of the same
// request wait for it.
func (q *request) send(ctx context.Context) error {
	var deadLetters []deadletter.Draft
	var outputs []pipeline.Record
	for _, part := range q.parts {
		if part.DeadLetter != nil {
			deadLetters = append(deadLetters, *part.DeadLetter)
		}
		if part.Output != nil {
			outputs = append(outputs, *part.Output)
		}
	}
	if len(deadLetters) > 0 {
		if err := q.sendDeadLetters(ctx, deadLetters); err != nil {
			return err
		}
		failpoint.Hit(failpoint.DeadLettersAfter)
	}
	if len(outputs) > 0 {
		if err := q.sendOutputs(ctx, outputs); err != nil {
			return err
		}
	}
	q.sendBlocks(ctx)
	q.acknowledge()
	return nil
}

// acknowledge records the acknowledgement of the parts without waiting for the partition.
func (q *request) acknowledge() {
	q.acknowledged = q.runner.Env.Clock()
	q.at.Done(q.next)
	for i := range q.parts {
		if span := q.parts[i].span; span != nil {
			span.End()
		}
	}
}

// sendDeadLetters sends dead letters and waits for the acknowledgement.
func (q *request) sendDeadLetters(ctx context.Context, deadLetters []deadletter.Draft) error {
	to := deadletter.Sender{
		To:     q.writer,
		Topic:  q.runner.Env.Topics.DeadLetters,
		Meter:  q.runner.Env.Meter,
		Logger: q.logger,
	}
	if err := to.Send(ctx, q.number, deadLetters); err != nil {
		return fmt.Errorf("before offset %d: %w", q.next, err)
	}
	return nil
}

// sendOutputs sends the outputs together or, if they exceed the broker's limit, one by one.
func (q *request) sendOutputs(ctx context.Context, outputs []pipeline.Record) error {
	err := q.produce(ctx, outputs)
	if errors.Is(err, pipeline.ErrMessageTooLarge) {
		return q.sendSingly(ctx, len(outputs), err)
	}
	if err != nil {
		return fmt.Errorf("write features of partition %d before offset %d: %w", q.number, q.next, err)
	}
	return nil
}

func (q *request) produce(ctx context.Context, outputs []pipeline.Record) error {
	failpoint.Hit(failpoint.FeaturesBefore)
	tries := 0
	err := pipeline.Try(ctx, q.logger, "write features", func() error {
		tries++
		_, err := q.writer.Produce(ctx, q.runner.Env.Topics.Features, q.number, outputs)
		return err
	})
	failpoint.Hit(failpoint.FeaturesAfter)
	q.retried = q.retried || tries > 1
	return err
}

// sendSingly sends outputs one by one. A single output is not retried, because the refusal was
// about that one.
func (q *request) sendSingly(ctx context.Context, outputs int, refusal error) error {
	q.retried = true
	for i := range q.parts {
		part := &q.parts[i]
		if part.Output == nil {
			continue
		}
		err := refusal
		if outputs > 1 {
			err = q.produce(ctx, []pipeline.Record{*part.Output})
		}
		if errors.Is(err, pipeline.ErrMessageTooLarge) {
			err = q.refuseOutput(ctx, part, err)
		}
		if err != nil {
			return fmt.Errorf("write features of partition %d offset %d: %w", q.number, part.source.Offset, err)
		}
	}
	return nil
}

// refuseOutput makes one dead letter of a message for all its outputs that exceed the broker's
// limit, and counts the rows of the output as rejected.
func (q *request) refuseOutput(ctx context.Context, part *outgoing, cause error) error {
	part.Counts = meter.FeaturizeCounts{Messages: part.Counts.Messages, Rows: part.Counts.Rows, Rejected: part.Counts.Rows}
	part.Output = nil
	if q.refused == part.source.Offset {
		return nil
	}
	cause = fmt.Errorf("%w: %w", deadletter.ErrOutputTooLarge, cause)
	deadLetter := deadletter.Refused(meter.StageFeaturize, part.source, cause, q.runner.Env.Clock())
	if err := q.sendDeadLetters(ctx, []deadletter.Draft{deadLetter}); err != nil {
		return err
	}
	q.refused = part.source.Offset
	return nil
}
