package live

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"go.uber.org/zap"

	"github.com/eerf-stream/eerf/arrowio/wire"
	"github.com/eerf-stream/eerf/pipeline"
)

// fault is the kind of a record that is no block of its partition.
type fault string

const (
	faultUndecodable fault = "undecodable"
	faultFuture      fault = "record is from the future"
	faultBeyondEnd   fault = "rows beyond the end of events"
	faultOtherLog    fault = "rows of another log of events"
)

// eventsLog is the current log of the events topic.
type eventsLog struct {
	known      bool           // false = this process may not describe the topic, or it does not exist
	id         pipeline.LogID // empty = the broker has no ids
	partitions int
}

// lookUpEvents returns the current log of events.
func (f *Follower) lookUpEvents(ctx context.Context) (found eventsLog, err error) {
	if f.Events == "" {
		return found, nil
	}
	found.partitions, err = f.Log.Partitions(ctx, f.Events)
	if err == nil {
		found.id, err = f.Log.Identity(ctx, f.Events, pipeline.AnyPartition, time.Now())
	}
	if errors.Is(err, pipeline.ErrDenied) || errors.Is(err, pipeline.ErrUnknownTopic) {
		return eventsLog{}, nil
	}
	if err != nil {
		return found, fmt.Errorf("look up topic %s: %w", f.Events, err)
	}
	found.known = true
	return found, nil
}

// endOfEvents returns the end of a partition of events, which it looks up once in each look.
func (s *source) endOfEvents(ctx context.Context, partitions int) (int64, error) {
	if s.eventsEnd < 0 && s.number >= partitions {
		s.eventsEnd = 0
	}
	if s.eventsEnd < 0 {
		_, end, err := s.follower.Log.Offsets(ctx, s.follower.Events, s.number)
		if err != nil {
			return 0, fmt.Errorf("look up offsets of %s/%d: %w", s.follower.Events, s.number, err)
		}
		s.eventsEnd = end
	}
	return s.eventsEnd, nil
}

// verify compares a block with the log of events, so that a forged one hides no later blocks: the
// end of a block decides which blocks count as repeated. It returns an empty fault for a valid
// block. Blocks of an earlier log are valid until the first one of the current log.
func (s *source) verify(ctx context.Context, b *wire.Block) (fault, error) {
	log, err := s.events()
	if err != nil || !log.known {
		return "", err
	}
	f := s.follower
	source, _, _ := strings.Cut(b.SourceLog, ".") // without the number of truncations
	if log.id != "" && source != string(log.id) {
		if f.verified[s.number] == log.id {
			return faultOtherLog, nil
		}
		return "", nil
	}
	end, err := s.endOfEvents(ctx, log.partitions)
	switch {
	case err != nil:
		return "", err
	case b.NextOffset > end, b.NextOffset == end && b.NextRow > 0:
		return faultBeyondEnd, nil
	}
	f.verified[s.number] = log.id
	return "", nil
}

// ignore counts a record that is no block, and logs the first one of each kind.
func (f *Follower) ignore(rec *pipeline.Record, kind fault, err error) {
	f.mu.Lock()
	f.ignored[kind]++
	first := f.ignored[kind] == 1
	f.mu.Unlock()
	if f.OnIgnored != nil {
		f.OnIgnored()
	}
	if first {
		f.Logger.Warn("ignoring invalid record of live errors; further ones of this kind are only counted",
			zap.String("kind", string(kind)), zap.String("topic", f.Topic), zap.Int("partition", rec.Partition),
			zap.Int64("offset", rec.Offset), zap.Error(err))
	}
}
