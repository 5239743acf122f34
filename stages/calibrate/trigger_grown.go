package calibrate

import (
	"context"
	"errors"
	"fmt"
	"time"

	"go.uber.org/zap"

	"github.com/eerf-stream/eerf/arrowio/wire"
	"github.com/eerf-stream/eerf/stages/state"
)

// growth is the factor by which the labelled rows of the log must grow before a set made from fewer
// than N0 rows is replaced.
const growth = 4

// leftOutFor is the time during which rows of a partition that the last exploration excluded are no
// reason for another exploration, which would retry that partition.
const leftOutFor = 10 * time.Minute

// errNotGrown reports that the labelled rows have not grown by the factor, contrary to the
// estimate.
var errNotGrown = errors.New("the labelled rows have not grown fourfold yet")

// logGrown holds if the log has grown far enough since the last exploration.
type logGrown struct {
	lookedAt time.Time // time of the last lookup, on this process's clock
	offsets  int64     // size of the log at that time
	tooEarly int64     // size of the log when its labelled rows had not grown enough; 0 = never
}

func (g *logGrown) check(ctx context.Context, p *Planner, now state.Snapshot) *trigger {
	if errors.Is(p.refusedFor, errNotGrown) { // the last estimate was wrong
		g.tooEarly, p.refusedFor = g.offsets, nil
	}
	if now.Spec == nil || now.Running() != nil || time.Since(g.lookedAt) < offsetsEvery {
		return nil
	}
	g.lookedAt = time.Now()
	partitions, err := p.log().extents(ctx, p.leaders.Away())
	if err != nil {
		p.Env.Logger.Warn("cannot look up the offsets of events", zap.Error(err))
		return nil
	}
	g.offsets = 0
	for _, part := range partitions {
		g.offsets += part.end - part.first
	}
	log, err := p.log().identity(ctx)
	if err != nil {
		p.Env.Logger.Warn("cannot look up the identity of events", zap.Error(err))
		return nil
	}
	start := grown(p.Settings.Exploration, now, partitions, sameLog(now.Spec, log), p.Env.Clock())
	if start != nil && start.atLeast > 0 && g.offsets < 2*g.tooEarly {
		return nil
	}
	return start
}

// grown starts an exploration if the log has grown far enough since the last one. If the last
// exploration read another log, all rows are new.
func grown(e Config, now state.Snapshot, partitions []extent, same bool, at time.Time) *trigger {
	set := now.CurrentSet()
	var advanced int64
	for i, p := range partitions {
		if p.out || now.Spec.Excludes(int32(i)) && !hasPassed(leftOutFor, now.Spec.PlannedAt, at) {
			continue
		}
		before, ok := now.Spec.Partition(int32(i))
		if !ok || !same {
			before.EndOffset = p.first
		}
		advanced += max(0, p.end-before.EndOffset) // includes offsets that retention has removed meanwhile
	}
	if e.EveryOffsets > 0 && advanced >= e.EveryOffsets {
		return &trigger{reason: fmt.Sprintf("events advanced by %d offsets", advanced)}
	}
	if e.SampleRate != RateAuto || set == nil || set.Set.Lineage.Rows >= e.SampleRows || set.Set.Lineage.SampleRate < 1 {
		return nil
	}
	start := trigger{}
	if now.Spec.From == wire.FromNext { // rows that it skipped on purpose stay skipped
		start = trigger{from: wire.FromNext, extends: true}
		for i, p := range partitions {
			if before, ok := now.Spec.Partition(int32(i)); ok && same {
				partitions[i].first = max(p.first, before.StartOffset)
			}
		}
	}
	labelled := now.Spec.LabelledRows()
	if estimateLabelled(now.Spec, partitions) < growth*labelled {
		return nil
	}
	start.reason = fmt.Sprintf("the feature set was made from %d rows, and the labelled rows have grown fourfold",
		set.Set.Lineage.Rows)
	start.atLeast = growth * labelled
	return &start
}

// estimateLabelled estimates the labelled rows of the log from the last plan's count.
func estimateLabelled(last *wire.Spec, partitions []extent) int64 {
	var labelled, offsets, all float64
	for _, part := range last.Partitions {
		labelled += float64(part.LabelledRows)
		offsets += float64(part.EndOffset - part.StartOffset)
	}
	for i, p := range partitions {
		if !last.Excludes(int32(i)) {
			all += float64(p.end - p.first)
		}
	}
	return int64(all * labelled / max(1, offsets))
}
