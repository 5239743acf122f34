package featurize

import (
	"context"
	"time"
	"unsafe"

	"github.com/eerf-stream/eerf/pipeline"
	"github.com/eerf-stream/eerf/stages/deadletter"
	"github.com/eerf-stream/eerf/stages/meter"
)

// add queues a part and moves the position past its rows. It first sends the waiting parts if they
// and the new one are together too large: a request holds outputs of at most MaxOutputBytes, or a
// single one.
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
	if p.outputBytes+outputBytes > p.runner.Config.MaxOutputBytes ||
		p.deadLetterBytes+deadLetterBytes > deadletter.Share(p.runner.Env.Partitions) {
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

// partBytes is the memory of a waiting part in lists that grow, without its output and dead letter.
const partBytes = 2 * int64(unsafe.Sizeof(outgoing{}))

// patience is the time for which a message keeps its slot while its output waits for the broker.
const patience = time.Second

// charge takes memory for a part, with its output and dead letter. Before it waits for memory, it
// waits until all parts of this partition are acknowledged, so that other partitions do not wait
// for memory that it holds.
func (p *partition) charge(ctx context.Context, bytes int64) error {
	if !p.runner.outputs.try(bytes) {
		for range 2 { // the request in progress, then the waiting parts
			if err := p.sendWithin(ctx, patience); err != nil {
				return err
			}
		}
		if err := p.runner.outputs.wait(ctx, bytes); err != nil {
			return err
		}
	}
	p.charged += p.runner.outputs.charge(bytes)
	return nil
}

// sendWithin sends the waiting parts after the request in progress. If that one takes longer than
// limit, it fails with errSlotNeeded.
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
	if err := p.await(); err != nil {
		return err
	}
	p.start(ctx, p.blocks.take(false))
	return nil
}

// start starts a request with the waiting parts and with blocks, unless there are neither.
func (p *partition) start(ctx context.Context, blocks []pipeline.Record) {
	if len(p.waiting)+len(blocks) == 0 {
		return
	}
	p.request = &request{
		owned:   p.owned,
		parts:   p.waiting,
		blocks:  blocks,
		next:    p.next,
		refused: p.refused,
		charged: p.charged,
	}
	p.request.start(ctx)
	p.waiting = nil
	p.outputBytes = 0
	p.deadLetterBytes = 0
}

// sendLast sends the waiting parts once all records of a fetch are mapped. The records are released
// next, so the parts are copied; if they are too large to copy, sendLast waits until they are
// acknowledged.
func (p *partition) sendLast(ctx context.Context) error {
	if err := p.await(); err != nil {
		return err
	}
	kept := keep(p.waiting, deadletter.Share(p.runner.Env.Partitions))
	if err := p.send(ctx); err != nil || kept {
		return err
	}
	return p.await()
}

// await waits for the request in progress, if any, and applies its result. Once it has failed,
// every later call returns that error.
func (p *partition) await() error {
	if p.request == nil || p.failure != nil {
		return p.failure
	}
	q := p.request
	<-q.done
	if q.err != nil {
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

// giveBack releases output memory.
func (p *partition) giveBack(charged int64) {
	p.runner.outputs.giveBack(charged)
	p.charged -= charged
}

// apply counts an acknowledged part.
func (p *partition) apply(part *outgoing, q *request) {
	if part.Output != nil {
		p.runner.Env.Meter.Arrived(meter.EventTime(&part.source), q.acknowledged)
		p.blocks.add(messageOf(part.Rows, part.Live, part.Output))
		if !q.retried {
			p.core.Recycle(part.Output.Value)
		}
	}
	p.runner.Env.Meter.AddFeaturize(part.Counts)
	p.runner.Env.Meter.AddTraffic(meter.StageFeaturize, part.traffic())
	p.at.Count(part.Counts.Messages, part.Counts.Rows)
	p.classes.saw(part.Unseen)
	for _, c := range part.Unseen {
		p.unseen.Add(c.Class, c.Rows)
	}
}

// traffic returns the bytes read and written for a part.
func (o *outgoing) traffic() (t meter.Traffic) {
	size := int64(o.source.Size())
	switch {
	case o.Counts.Undecodable > 0:
		t.UndecodableBytes = size
	case o.Counts.Messages > 0: // the part that counts the message
		t.UsedBytes = size
	}
	if o.Output != nil {
		t.OutputMessages, t.OutputBytes = 1, int64(o.Output.Size())
	}
	return t
}
