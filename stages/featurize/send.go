package featurize

import (
	"context"
	"time"
	"unsafe"

	"github.com/eerf-stream/eerf/stages/deadletter"
	"github.com/eerf-stream/eerf/stages/meter"
)

// add queues a part and moves the position past its rows. It first sends what waits if that and the part are too much
// together: a request holds outputs of at most MaxOutputBytes, or a single one.
func (p *partition) add(ctx context.Context, part outgoing) error {
	outputBytes, held := int64(0), partBytes
	var deadLetterBytes int
	if part.Output != nil {
		outputBytes, held = int64(part.Output.Size()), int64(part.Output.Memory())
	}
	if part.DeadLetter != nil {
		deadLetterBytes = part.DeadLetter.Memory()
		held += int64(deadLetterBytes)
	}
	if p.outputBytes+outputBytes > p.Config.MaxOutputBytes || p.deadLetterBytes+deadLetterBytes > deadletter.Share(p.Env.Partitions) {
		if err := p.sendWithin(ctx, patience); err != nil {
			return err
		}
	}
	if err := p.charge(ctx, held); err != nil {
		return err
	}
	p.waiting = append(p.waiting, part)
	p.outputBytes += outputBytes
	p.deadLetterBytes += deadLetterBytes
	if part.Rows.RowCount > 0 {
		p.advancePast(part.Rows)
	}
	return nil
}

// partBytes is what a part takes that waits, in lists that grow: a message may give nothing else.
const partBytes = 2 * int64(unsafe.Sizeof(outgoing{}))

// patience is how long a message keeps its slot while its output waits for the broker.
const patience = time.Second

// charge takes memory for a part, with its output and dead letter. Before it waits for memory, it has everything of this
// partition acknowledged, so that no one waits for memory it holds.
func (p *partition) charge(ctx context.Context, bytes int64) error {
	if !p.outputs.try(bytes) {
		for range 2 { // the request in progress, then what waited
			if err := p.sendWithin(ctx, patience); err != nil {
				return err
			}
		}
		if err := p.outputs.wait(ctx, bytes); err != nil {
			return err
		}
	}
	p.charged += p.outputs.charge(bytes)
	return nil
}

// sendWithin sends what waits, after the request in progress. If that takes longer than limit, it fails with
// errSlotNeeded.
func (p *partition) sendWithin(ctx context.Context, limit time.Duration) error {
	if p.request != nil && p.failure == nil {
		select {
		case <-p.request.done:
		case <-time.After(limit):
			return errSlotNeeded
		}
	}
	return p.send(ctx)
}

// send awaits the request in progress and starts one with the waiting parts.
func (p *partition) send(ctx context.Context) error {
	if err := p.await(); err != nil || len(p.waiting)+len(p.blocks.closed) == 0 {
		return err
	}
	p.request = startRequest(ctx, p.owned, p.waiting, p.blocks.take(), p.next, p.refused, p.charged)
	p.waiting, p.outputBytes, p.deadLetterBytes = nil, 0, 0
	return nil
}

// sendLast sends what waits once all records of a fetch are mapped. The records are given back next, so what the
// request needs of them is copied or, if that is much, they are held until it is done.
func (p *partition) sendLast(ctx context.Context) error {
	if err := p.await(); err != nil {
		return err
	}
	kept := keep(p.waiting, deadletter.Share(p.Env.Partitions))
	if err := p.send(ctx); err != nil || kept {
		return err
	}
	return p.await()
}

// await waits for the request in progress, if any, and applies its result. Once it has failed, every later call returns
// that error.
func (p *partition) await() error {
	if p.request == nil || p.failure != nil {
		return p.failure
	}
	q := p.request
	if <-q.done; q.err != nil {
		p.failure = q.err
		return q.err
	}
	for i := range q.parts {
		p.apply(&q.parts[i], q)
	}
	p.request, p.refused = nil, q.refused
	p.giveBack(q.charged)
	return nil
}

// giveBack returns output memory.
func (p *partition) giveBack(charged int64) {
	p.outputs.giveBack(charged)
	p.charged -= charged
}

// apply counts a part that is acknowledged.
func (p *partition) apply(part *outgoing, q *request) {
	if part.Output != nil {
		p.Env.Meter.Arrived(meter.EventTime(&part.source), q.acknowledged)
		p.blocks.add(messageOf(part.Rows, part.Live, part.Output))
		if !q.triedAgain {
			p.core.Recycle(part.Output.Value)
		}
	}
	p.Env.Meter.AddFeaturize(part.Counts)
	p.Env.Meter.AddTraffic(meter.StageFeaturize, part.traffic())
	p.at.Count(part.Counts.Messages, part.Counts.Rows)
	p.classes.saw(part.Unseen)
	for _, c := range part.Unseen {
		p.unseen.Add(c.Class, c.Rows)
	}
}

// traffic returns what was read and written for a part.
func (o *outgoing) traffic() (t meter.Traffic) {
	size := int64(o.source.Size())
	switch {
	case o.Counts.Undecodable > 0:
		t.UndecodableBytes = size
	case o.Counts.Messages > 0: // the part that stands for the message
		t.UsedBytes = size
	}
	if o.Output != nil {
		t.OutputMessages, t.OutputBytes = 1, int64(o.Output.Size())
	}
	return t
}
