package stages

import (
	"context"
	"errors"
	"fmt"

	"github.com/eerf-stream/eerf/pipeline"
)

// flight is a produce request of outputs that is under way: one at a time for a partition. The next outputs are made
// meanwhile, and wait.
type flight struct {
	parts   []pendingPart
	outputs []pipeline.Record // of parts
	next    int64             // position when it was sent, for errors
	done    chan sent
	failed  bool // the fault has been reported
}

// sent is how a request went.
type sent struct {
	err   error
	again bool // it took more than one try: the broker client may still be reading the records of one given up
}

// send waits until the request under way is acknowledged, sends the pending dead letters, waits for them, and sends the
// pending outputs in one request.
func (p *featurizePartition) send(ctx context.Context) error {
	if err := p.land(ctx); err != nil || len(p.pending) == 0 {
		return err
	}
	f := &flight{parts: p.pending, next: p.next, done: make(chan sent, 1)}
	var letters []pipeline.Record
	for _, part := range f.parts {
		if part.Letter != nil {
			letters = append(letters, *part.Letter)
		}
		if part.Output != nil {
			f.outputs = append(f.outputs, *part.Output)
		}
	}
	if err := p.sendLetters(ctx, letters); err != nil {
		return err
	}
	p.flight, p.pending, p.outputBytes, p.letterBytes = f, nil, 0, 0
	if len(f.outputs) == 0 {
		f.done <- sent{}
		return p.land(ctx)
	}
	go func() { f.done <- p.produce(ctx, f.outputs) }()
	return nil
}

// land waits for the request under way, if there is one, and counts what it held. Its fault is that of every later call.
func (p *featurizePartition) land(ctx context.Context) error {
	f := p.flight
	if f == nil {
		return nil
	}
	went := <-f.done
	err := went.err
	switch {
	case errors.Is(err, pipeline.ErrMessageTooLarge):
		err, went.again = p.sendSingly(ctx, f, err), true
	case err != nil:
		err = fmt.Errorf("write features of partition %d before offset %d: %w", p.partition, f.next, err)
	}
	if err != nil {
		f.failed = true
		f.done <- sent{err: err}
		return err
	}
	for _, part := range f.parts {
		p.Counters.addFeaturize(part.Counts)
		p.unseenClass += part.Counts.UnseenClass
		if part.Output != nil && !went.again {
			p.core.Recycle(part.Output.Value)
		}
	}
	p.flight = nil
	return nil
}

func (p *featurizePartition) sendLetters(ctx context.Context, letters []pipeline.Record) error {
	err := pipeline.Try(ctx, p.logger, "send dead letters", func() error {
		return deadLetters{p.Broker, p.Settings.Topics.DeadLetters}.send(ctx, p.partition, letters)
	})
	if err != nil {
		return fmt.Errorf("send dead letters of partition %d before offset %d: %w", p.partition, p.next, err)
	}
	return nil
}

func (p *featurizePartition) produce(ctx context.Context, outputs []pipeline.Record) sent {
	tries := 0
	err := pipeline.Try(ctx, p.logger, "write features", func() error {
		tries++
		_, err := p.Broker.Produce(ctx, p.Settings.Topics.Features, p.partition, outputs)
		return err
	})
	return sent{err, tries > 1}
}

// sendSingly sends the outputs one by one where so many together are over the broker's limit. A single one is not sent
// again: the refusal is of that one.
func (p *featurizePartition) sendSingly(ctx context.Context, f *flight, refusal error) error {
	for i := range f.parts {
		part := &f.parts[i]
		if part.Output == nil {
			continue
		}
		err := refusal
		if len(f.outputs) > 1 {
			err = p.produce(ctx, []pipeline.Record{*part.Output}).err
		}
		if errors.Is(err, pipeline.ErrMessageTooLarge) {
			err = p.refuseOutput(ctx, part, err)
		}
		if err != nil {
			return fmt.Errorf("write features of partition %d offset %d: %w", p.partition, part.source.Offset, err)
		}
	}
	return nil
}

// refuseOutput makes a dead letter of the message whose output is over the broker's limit, one for all its outputs that
// are, and counts the rows of the output as rejected.
func (p *featurizePartition) refuseOutput(ctx context.Context, part *pendingPart, cause error) error {
	part.Counts = FeaturizeCounts{Messages: part.Counts.Messages, Rows: part.Counts.Rows, Rejected: part.Counts.Rows}
	if p.refused == part.source.Offset {
		return nil
	}
	letter := refusedMessage(StageFeaturize, part.source, fmt.Errorf("%w: %w", errOutputTooLarge, cause), p.Clock())
	if err := p.sendLetters(ctx, []pipeline.Record{letter}); err != nil {
		return err
	}
	p.refused = part.source.Offset
	return nil
}
