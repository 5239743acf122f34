package stages

import (
	"context"
	"errors"
	"fmt"

	"github.com/eerf-stream/eerf/internal/failpoint"
	"github.com/eerf-stream/eerf/pipeline"
)

// flight is a request of dead letters and, behind it, one of outputs that are under way: one flight at a time for a
// partition. The next outputs are made meanwhile, and wait.
type flight struct {
	parts   []pendingPart
	letters []pipeline.Record // of parts
	outputs []pipeline.Record // of parts
	next    int64             // position when it was sent, for errors
	done    chan sent
	failed  bool // the fault has been reported
}

// sent is how a flight went.
type sent struct {
	letters error // the fault with the dead letters: no output was sent then
	err     error
	again   bool // it took more than one try: the broker client may still be reading the records of one given up
}

// send waits until the flight under way is acknowledged and starts one of what is pending.
func (p *featurizePartition) send(ctx context.Context) error {
	if err := p.land(ctx); err != nil || len(p.pending) == 0 {
		return err
	}
	f := &flight{parts: p.pending, next: p.next, done: make(chan sent, 1)}
	for _, part := range f.parts {
		if part.Letter != nil {
			f.letters = append(f.letters, *part.Letter)
		}
		if part.Output != nil {
			f.outputs = append(f.outputs, *part.Output)
		}
	}
	p.flight, p.pending, p.outputBytes, p.letterBytes = f, nil, 0, 0
	go func() { f.done <- p.fly(ctx, f) }()
	return nil
}

// fly sends the dead letters, waits for them, and sends the outputs: once an output is out, nothing in front of it is read
// again. A letter costs its round trip, but nobody waits for it but the outputs of its flight.
func (p *featurizePartition) fly(ctx context.Context, f *flight) sent {
	if len(f.letters) > 0 {
		if err := p.sendLetters(ctx, f.letters, f.next); err != nil {
			return sent{letters: err}
		}
		failpoint.Hit(failpoint.LettersAfter)
	}
	var went sent
	if len(f.outputs) > 0 {
		went = p.produce(ctx, f.outputs)
	}
	if went.err == nil {
		p.acknowledged(f)
	}
	return went
}

// land waits for the flight under way, if there is one, and counts what it held. Its fault is that of every later call.
func (p *featurizePartition) land(ctx context.Context) error {
	f := p.flight
	if f == nil {
		return nil
	}
	went := <-f.done
	err := went.err
	switch {
	case went.letters != nil:
		err = went.letters
	case errors.Is(err, pipeline.ErrMessageTooLarge):
		err, went.again = p.sendSingly(ctx, f, err), true
		if err == nil {
			p.acknowledged(f)
		}
	case err != nil:
		err = fmt.Errorf("write features of partition %d before offset %d: %w", p.partition, f.next, err)
	}
	if err != nil {
		f.failed = true
		f.done <- sent{letters: err} // as it is
		return err
	}
	for _, part := range f.parts {
		p.book(part)
		if part.Output != nil && !went.again {
			p.core.Recycle(part.Output.Value)
		}
	}
	p.flight = nil
	return nil
}

// acknowledged notes, at the time when they are, that the parts of a request are out.
func (p *featurizePartition) acknowledged(f *flight) {
	p.at.done(f.next)
	now := p.Clock()
	for i := range f.parts {
		part := &f.parts[i]
		if part.Output != nil {
			p.Counters.arrived(part.Output.Time, now)
		}
		if part.span != nil {
			part.span.End()
		}
	}
}

// book counts a part that is out.
func (p *featurizePartition) book(part pendingPart) {
	p.Counters.addFeaturize(part.Counts)
	p.Counters.addTraffic(StageFeaturize, part.traffic())
	p.at.count(part.Counts.Messages, part.Counts.Rows)
	p.unseenClass += part.Counts.UnseenClass
}

// traffic is what was read and written for a part.
func (p *pendingPart) traffic() (t Traffic) {
	size := int64(p.source.Size())
	switch {
	case p.Counts.Undecodable > 0:
		t.UndecodableBytes = size
	case p.Counts.Messages > 0: // the part that stands for the message
		t.UsedBytes = size
	}
	if p.Output != nil {
		t.OutputMessages, t.OutputBytes = 1, int64(p.Output.Size())
	}
	return t
}

// sendLetters waits for the acknowledgement. next is the position, for errors.
func (p *featurizePartition) sendLetters(ctx context.Context, letters []pipeline.Record, next int64) error {
	err := pipeline.Try(ctx, p.logger, "send dead letters", func() error {
		return deadLetters{p.Broker, p.Settings.Topics.DeadLetters}.send(ctx, p.partition, letters)
	})
	if err != nil {
		return fmt.Errorf("send dead letters of partition %d before offset %d: %w", p.partition, next, err)
	}
	p.Counters.addLetters(letters)
	return nil
}

func (p *featurizePartition) produce(ctx context.Context, outputs []pipeline.Record) sent {
	failpoint.Hit(failpoint.FeaturesBefore)
	tries := 0
	err := pipeline.Try(ctx, p.logger, "write features", func() error {
		tries++
		_, err := p.Broker.Produce(ctx, p.Settings.Topics.Features, p.partition, outputs)
		return err
	})
	failpoint.Hit(failpoint.FeaturesAfter)
	return sent{err: err, again: tries > 1}
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
			err = p.refuseOutput(ctx, f, part, err)
		}
		if err != nil {
			return fmt.Errorf("write features of partition %d offset %d: %w", p.partition, part.source.Offset, err)
		}
	}
	return nil
}

// refuseOutput makes a dead letter of the message whose output is over the broker's limit, one for all its outputs that
// are, and counts the rows of the output as rejected.
func (p *featurizePartition) refuseOutput(ctx context.Context, f *flight, part *pendingPart, cause error) error {
	part.Counts = FeaturizeCounts{Messages: part.Counts.Messages, Rows: part.Counts.Rows, Rejected: part.Counts.Rows}
	part.Output = nil
	if p.refused == part.source.Offset {
		return nil
	}
	letter := refusedMessage(StageFeaturize, part.source, fmt.Errorf("%w: %w", errOutputTooLarge, cause), p.Clock())
	if err := p.sendLetters(ctx, []pipeline.Record{letter}, f.next); err != nil {
		return err
	}
	p.refused = part.source.Offset
	return nil
}
