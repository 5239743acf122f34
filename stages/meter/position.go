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

// PartitionStatus is the position of a stage in a partition that the process owns and reads: of
// events or, for train, of features.
type PartitionStatus struct {
	Stage     Stage
	Partition int
	// NextOffset is the offset of the first unprocessed record: not scored, not confirmed as
	// featurized, or not in the sums of training.
	NextOffset int64
	// EndOffset is the last known end of the log; zero before its first answer.
	EndOffset int64
	// FetchedAt is when the log last answered a request for records; zero before its first answer.
	FetchedAt time.Time
	// Lag is the age of the first unprocessed record, by its own timestamp; 0 if all are processed.
	// Between two fetches that record is unknown, and Lag may be too long by the time between two
	// records.
	Lag time.Duration
	// LagRows estimates the rows in unprocessed records, from the rows of a message so far.
	LagRows float64

	// Messages and Rows count what was processed since the process took the partition.
	Messages, Rows int64

	// CheckpointAt is when subsample wrote the newest checkpoint; zero before the first one.
	CheckpointAt time.Time
	// UnsavedRows counts the rows that belong in a checkpoint and are in none yet.
	UnsavedRows int64
}

// LagMessages is the number of offsets after the last processed one. With transactions or after
// compaction, not every offset has a message.
func (s PartitionStatus) LagMessages() int64 { return max(0, s.EndOffset-s.NextOffset) }

// Position follows a stage through a partition. Fetched announces records, Done marks them as
// processed. A nil Position ignores all calls.
type Position struct {
	meter *Meter
	topic string

	mu       sync.Mutex
	status   PartitionStatus // without Lag
	waiting  []stamp         // fetched and unprocessed
	lastTime time.Time       // of the last processed record
	caughtUp time.Time       // when the log last had no further records
}

// stamp holds the facts of a waiting record.
type stamp struct {
	offset int64
	time   time.Time
}

// Follow starts to follow a stage through a partition of a topic from an offset, until Leave is
// called on the result. It replaces an earlier Position of the same partition.
func (m *Meter) Follow(stage Stage, topic string, partition int, next int64) *Position {
	p := &Position{meter: m, topic: topic, status: PartitionStatus{Stage: stage, Partition: partition, NextOffset: next}}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.positions[place{stage, partition}] = p
	return p
}

// Leave stops following.
func (p *Position) Leave() {
	at := place{p.status.Stage, p.status.Partition}
	p.meter.mu.Lock()
	defer p.meter.mu.Unlock()
	if p.meter.positions[at] == p {
		delete(p.meter.positions, at)
	}
}

type place struct {
	stage     Stage
	partition int
}

// Partitions returns the positions of the stages in the partitions that the process owns and reads,
// ordered by stage and partition.
func (m *Meter) Partitions(now time.Time) []PartitionStatus {
	var statuses []PartitionStatus
	for _, p := range m.followed() {
		statuses = append(statuses, p.at(now))
	}
	slices.SortFunc(statuses, func(a, b PartitionStatus) int {
		return cmp.Or(cmp.Compare(a.Stage, b.Stage), a.Partition-b.Partition)
	})
	return statuses
}

func (m *Meter) followed() []*Position {
	m.mu.Lock()
	defer m.mu.Unlock()
	return slices.Collect(maps.Values(m.positions))
}

// Fetched records the result of a fetch.
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
		p.waiting = nil // frees the backing array
	}
}

// Count adds processed messages and rows.
func (p *Position) Count(messages, rows int64) {
	if p == nil {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.status.Messages += messages
	p.status.Rows += rows
}

// Saved records the newest checkpoint and the number of rows missing from it.
func (p *Position) Saved(checkpointAt time.Time, unsavedRows int64) {
	if p == nil {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.status.CheckpointAt, p.status.UnsavedRows = checkpointAt, unsavedRows
}

// at returns the status at a time.
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
	case p.caughtUp.After(since): // unfetched records arrived after that
		since = p.caughtUp
	}
	if knownTime(since) {
		status.Lag = max(0, now.Sub(since))
	}
	return status
}

// endsEvery is the approximate maximum age of a partition's known end. It usually arrives with
// every fetch, but a stage does not fetch while it waits for the broker to take its output.
const endsEvery = 2 * time.Second

// FollowEnds looks up the ends of partitions that stages have not fetched from recently, until ctx
// ends. Without it, the lag of a stalled stage would stop growing.
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
			if err != nil { // stages report an unavailable broker themselves
				logger.Debug("looking up the end of a partition failed", zap.Int("partition", p.status.Partition), zap.Error(err))
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

// Ends records the current end of the partition.
func (p *Position) Ends(end int64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.status.EndOffset = max(p.status.EndOffset, end)
}
