package meter

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"sync"
	"time"

	"go.uber.org/zap"

	"github.com/eerf-stream/eerf/pipeline"
)

// PartitionStatus is where a stage stands in a partition that the process owns and reads: of events, or for train of features.
type PartitionStatus struct {
	Stage     string
	Partition int
	// NextOffset is the offset of the first record that is not processed: not scored, not known to be featurized, or not added
	// to the sums of training.
	NextOffset int64
	// EndOffset is the next offset of the log, as far as is known; zero before its first answer.
	EndOffset int64
	// FetchedAt is when the log last answered a request for records; zero before its first answer.
	FetchedAt time.Time
	// Lag is how long the first record that is not processed has been on the log, by the time that it carries; 0 when
	// all are. Between two fetches that record is not known: then Lag may be too long, by the time between two records.
	Lag time.Duration
	// LagRows are the rows in the records that are not processed, estimated by the rows of a message so far.
	LagRows float64

	// Messages and Rows were processed since the process owns the partition.
	Messages, Rows int64

	// CheckpointAt is when the newest checkpoint was written, of the stage subsample; zero before the first one.
	CheckpointAt time.Time
	// UnsavedRows are in no checkpoint yet, of those that a checkpoint could hold.
	UnsavedRows int64
}

// LagMessages is how many offsets are behind the last one processed. Of a log with transactions or after a compaction not
// every offset has a message.
func (s PartitionStatus) LagMessages() int64 { return max(0, s.EndOffset-s.NextOffset) }

// Position follows a stage through a partition. Records become known by Fetched and are processed by Done. A nil progress
// follows nothing.
type Position struct {
	meter *Meter
	topic string

	mu       sync.Mutex
	status   PartitionStatus // without Lag
	waiting  []stamp         // records that were fetched and are not processed
	lastTime time.Time       // of the last record processed
	caughtUp time.Time       // when the log had nothing more last
}

// stamp is what is kept of a record that waits.
type stamp struct {
	offset int64
	time   time.Time
}

// Follow begins to follow a stage through a partition of a topic from an offset on, until the Leave of what it returns is
// called. It takes the place of what was followed there before.
func (m *Meter) Follow(stage, topic string, partition int, next int64) *Position {
	p := &Position{meter: m, topic: topic, status: PartitionStatus{Stage: stage, Partition: partition, NextOffset: next}}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.positions[place{stage, partition}] = p
	return p
}

// Leave ends it.
func (p *Position) Leave() {
	at := place{p.status.Stage, p.status.Partition}
	p.meter.mu.Lock()
	defer p.meter.mu.Unlock()
	if p.meter.positions[at] == p {
		delete(p.meter.positions, at)
	}
}

type place struct {
	stage     string
	partition int
}

// Partitions returns where the stages stand in the partitions that the process owns and reads, in the order of the stages.
func (m *Meter) Partitions(now time.Time) []PartitionStatus {
	var statuses []PartitionStatus
	for _, p := range m.followed() {
		statuses = append(statuses, p.at(now))
	}
	slices.SortFunc(statuses, func(a, b PartitionStatus) int {
		order := Stages()
		return cmp.Or(slices.Index(order, a.Stage)-slices.Index(order, b.Stage), a.Partition-b.Partition)
	})
	return statuses
}

func (m *Meter) followed() []*Position {
	m.mu.Lock()
	defer m.mu.Unlock()
	return slices.Collect(maps.Values(m.positions))
}

// Fetched records what the log answered.
func (p *Position) Fetched(f pipeline.Fetched, now time.Time) {
	if p == nil {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	for i := range f.Records {
		if r := &f.Records[i]; r.Offset >= p.status.NextOffset {
			p.waiting = append(p.waiting, stamp{r.Offset, EventTime(r)})
		}
	}
	p.status.EndOffset, p.status.FetchedAt = f.End, now
	if f.NextOffset >= f.End {
		p.caughtUp = now
	}
}

// Done records that all records before an offset are processed.
func (p *Position) Done(next int64) {
	if p == nil {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.status.NextOffset = next
	processed := 0
	for processed < len(p.waiting) && p.waiting[processed].offset < next {
		p.lastTime = p.waiting[processed].time
		processed++
	}
	if p.waiting = p.waiting[processed:]; len(p.waiting) == 0 {
		p.waiting = nil // the records of one fetch, not of all
	}
}

// Count adds what was processed.
func (p *Position) Count(messages, rows int64) {
	if p == nil {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.status.Messages += messages
	p.status.Rows += rows
}

// Saved records the newest checkpoint and how many rows are not in it.
func (p *Position) Saved(checkpointAt time.Time, unsavedRows int64) {
	if p == nil {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.status.CheckpointAt, p.status.UnsavedRows = checkpointAt, unsavedRows
}

// at is the status at a time.
func (p *Position) at(now time.Time) PartitionStatus {
	p.mu.Lock()
	defer p.mu.Unlock()
	status := p.status
	if status.LagMessages() == 0 {
		return status
	}
	since := p.lastTime
	switch {
	case len(p.waiting) > 0:
		since = p.waiting[0].time
	case p.caughtUp.After(since): // what came behind it was not there then
		since = p.caughtUp
	}
	if carriesTime(since) {
		status.Lag = max(0, now.Sub(since))
	}
	return status
}

// endsEvery is how old the known end of a partition may be, about: it usually comes with every fetch, but a stage that waits
// for the broker to take its output does not fetch.
const endsEvery = 2 * time.Second

// FollowEnds looks up the ends of partitions that stages have not fetched from for a while, until ctx ends. Without it
// lag would stand still for as long as a stage does.
func (m *Meter) FollowEnds(ctx context.Context, log pipeline.Log, logger *zap.Logger, clock func() time.Time) {
	tick := time.NewTicker(endsEvery)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		for _, p := range m.followed() {
			if !p.fetchedBefore(clock().Add(-endsEvery)) {
				continue
			}
			_, end, err := log.Offsets(ctx, p.topic, p.status.Partition)
			if err != nil { // it is not away because of this, and those whom it matters to say so
				logger.Debug("end of a partition not looked up", zap.Int("partition", p.status.Partition), zap.Error(err))
				continue
			}
			p.Ends(end)
		}
	}
}

func (p *Position) fetchedBefore(t time.Time) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.status.FetchedAt.Before(t)
}

// Ends records where the partition ends now.
func (p *Position) Ends(end int64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.status.EndOffset = max(p.status.EndOffset, end)
}
