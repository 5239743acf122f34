package status

import (
	"slices"

	"github.com/eerf-stream/eerf/arrowio/wire"
	"github.com/eerf-stream/eerf/pipeline"
	"github.com/eerf-stream/eerf/stages"
	"github.com/eerf-stream/eerf/stages/meter"
	"github.com/eerf-stream/eerf/stages/state"
)

// compose makes a snapshot, which shares no memory that changes later.
func (p *page) compose(s stages.Snapshot, c *cluster) Snapshot {
	return Snapshot{
		Process:     p.process(s, c),
		Live:        liveOf(s.Live),
		Flow:        p.flow(s, c),
		Exploration: exploration(s, c),
		History:     p.history(s, c),
		Letters:     lettersOf(c), Series: p.past.series(),
	}
}

func (p *page) process(s stages.Snapshot, c *cluster) Process {
	return Process{
		Time: s.Time, Since: p.since, Pipeline: p.service.Process.Settings.Pipeline.Name, Stages: p.service.Stages,
		Build: p.service.Build, Ready: ready(c.conditions), Conditions: c.conditions, LookedAt: c.at, BrokerError: c.err,
	}
}

func (p *page) flow(s stages.Snapshot, c *cluster) Flow {
	f := Flow{Topics: topicsOf(p.service.Process.Settings.Topics)}
	for i := range f.Topics {
		topic := &f.Topics[i]
		topic.Partitions = len(c.positions.spans[topic.Role])
		topic.Next, topic.Kept = c.positions.sum(topic.Role)
		topic.PerSecond = c.perSecond(topic.Role)
		if topic.Role == roleDeadLetters {
			topic.PerSecond = c.letters.PerSecond // without transaction markers
		}
		topic.Recreated = s.Activity.LogChanges[meter.LogChange{Topic: topic.Name, Kind: string(pipeline.GapRecreated)}]
		topic.Truncated = s.Activity.LogChanges[meter.LogChange{Topic: topic.Name, Kind: string(pipeline.GapTruncated)}]
		for t := range s.State.Recreated {
			if p.service.Process.Settings.State().Name(state.Topic(t)) == topic.Name {
				topic.Recreated, topic.Truncated = topic.Recreated+s.State.Recreated[t], topic.Truncated+s.State.Truncated[t]
			}
		}
		if err := c.positions.errs[topic.Role]; err != nil {
			topic.Error = err.Error()
		} else {
			topic.Error = c.contents[topic.Role]
		}
		if topic.Name == "" {
			topic.Error = "not used: pipeline " + p.service.Process.Settings.SetsOf() + " explores (featurize.sets_from)"
		}
	}
	for _, name := range stages.Names() {
		f.Stages = append(f.Stages, p.stage(name, s))
	}
	for partition := range c.positions.spans[roleEvents] {
		part := partitionOf(partition, s, c)
		if p.service.Process.Settings.Featurize.SetsFrom != "" { // explorations and models belong to other events
			part.Subsample, part.Train = nil, nil
		}
		f.Partitions = append(f.Partitions, part)
	}
	if f.Partitions == nil {
		f.Partitions = []Partition{}
	}
	f.Waiting = waiting(f.Partitions)
	return f
}

// waiting returns the number of messages of events that are not featurized yet; nil if unknown for
// some partition.
func waiting(partitions []Partition) *int64 {
	var sum int64
	for _, part := range partitions {
		if part.Featurize == nil {
			return nil
		}
		sum += part.Featurize.Lag
	}
	if len(partitions) == 0 {
		return nil
	}
	return &sum
}

// stage describes what this process does in a stage.
func (p *page) stage(name meter.Stage, s stages.Snapshot) Stage {
	stage := Stage{Name: name, Here: slices.Contains(p.service.Stages, name)}
	if group, ok := s.Groups[name]; ok {
		stage.Joined, stage.Owned = group.Joined, group.Partitions
		if group.Err != nil {
			stage.Detail = group.Err.Error()
		}
	}
	if before, now, seconds, ok := p.work.ends(); ok {
		a, b := before[name], now[name]
		stage.RowsPerSecond, stage.MessagesPerSecond = rate(a.rows, b.rows, seconds), rate(a.messages, b.messages, seconds)
		stage.BytesPerSecond, stage.RefusedPerSecond = rate(a.bytes, b.bytes, seconds), rate(a.refused, b.refused, seconds)
		stage.Cores = rate(a.seconds, b.seconds, seconds)
	}
	for _, at := range s.Partitions {
		if at.Stage != name || at.FetchedAt.IsZero() {
			continue
		}
		lag, rows := at.Lag.Seconds(), at.LagRows
		if stage.LagSeconds != nil {
			lag, rows = max(lag, *stage.LagSeconds), rows+*stage.LagRows
		}
		stage.LagSeconds, stage.LagRows = &lag, &rows
	}
	return stage
}

// partitionOf describes the progress of the stages in a partition of events.
func partitionOf(partition int, s stages.Snapshot, c *cluster) Partition {
	out := Partition{Partition: partition, Subsample: scoringOf(partition, s, c)}
	out.Featurize, out.Next = featurizingOf(partition, s, c)
	if rates := c.rates[roleEvents]; partition < len(rates) {
		out.PerSecond = rates[partition]
	}
	for _, m := range c.models {
		if next, ok := m.through[partition]; ok && m.Current {
			out.Train = &Progress{Next: next, Lag: max(0, out.Next-next)}
		}
	}
	return out
}

// featurizingOf returns how far a partition is featurized, nil if unknown, and its end.
func featurizingOf(partition int, s stages.Snapshot, c *cluster) (at *Progress, end int64) {
	end = c.positions.next(roleEvents, partition)
	if status := here(s, meter.StageFeaturize, partition); status != nil {
		end = max(end, status.EndOffset)
		at = &Progress{Here: true, Next: status.NextOffset, Lag: max(0, end-status.NextOffset)}
		lag := status.Lag.Seconds()
		at.LagSeconds = &lag
		return at, end
	}
	if partition < len(c.positions.committed) && c.positions.committed[partition] >= 0 {
		next := c.positions.committed[partition]
		at = &Progress{Next: next, Lag: max(0, end-next)}
	}
	return at, end
}

// here returns the position of this process in a partition; nil if it does not read it.
func here(s stages.Snapshot, stage meter.Stage, partition int) *meter.PartitionStatus {
	for i := range s.Partitions {
		if at := &s.Partitions[i]; at.Stage == stage && at.Partition == partition && !at.FetchedAt.IsZero() {
			return at
		}
	}
	return nil
}

// scoringOf returns how far a partition is scored.
func scoringOf(partition int, s stages.Snapshot, c *cluster) *Scoring {
	spec := s.State.Spec
	if spec == nil {
		return nil
	}
	part, ok := spec.Partition(int32(partition))
	if !ok {
		return nil
	}
	out := &Scoring{Start: part.StartOffset, Next: part.StartOffset, End: part.EndOffset,
		Expected: spec.Sampled(part.LabelledRows)}
	if part.Empty() {
		out.Closed = string(wire.CloseEnd)
		return out
	}
	saved, ok := c.checkpointsOf(spec.Exploration)[int32(partition)]
	if ok {
		out.Next = saved.NextOffset
		out.Rows = saved.Counts.Rows
		out.Scored = saved.Counts.Scored
		out.Closed = string(saved.CloseReason)
		out.At = saved.WrittenAt
	}
	if closed := closingOf(s.State, partition); closed != nil {
		out.Closed, out.Next = string(closed.CloseReason), closed.NextOffset
		return out
	}
	if at := here(s, meter.StageSubsample, partition); at != nil {
		out.Here, out.Next = true, max(out.Next, at.NextOffset)
	}
	if !ok && !out.Here {
		return nil
	}
	return out
}

// closingOf returns how the partition was closed for the newest exploration; nil until its set is
// published.
func closingOf(now state.Snapshot, partition int) *wire.LineagePartition {
	set := now.CurrentSet()
	if set == nil || set.Set.Lineage.Exploration != now.Spec.Exploration {
		return nil
	}
	parts := set.Set.Lineage.Partitions
	if i := slices.IndexFunc(parts,
		func(p wire.LineagePartition) bool { return p.Partition == int32(partition) }); i >= 0 {
		return &parts[i]
	}
	return nil
}

// exploration describes the newest exploration and what the planner still waits for.
func exploration(s stages.Snapshot, c *cluster) Exploration {
	planning := s.Activity.Planning
	out := Exploration{
		Status: s.State.Status(), Requests: []Request{}, UnseenClasses: s.Activity.UnseenClasses,
		MissingRows: planning.MissingRows,
		PresentRows: planning.Rows,
		Unusable:    planning.Unusable,
		Fault:       planning.Fault,
		FaultAt:     planning.At,
		RetryAt:     planning.RetryAt,
	}
	for _, r := range s.State.Requests {
		out.Requests = append(out.Requests, Request{string(r.Action), r.Reason, r.Time})
	}
	spec := s.State.Spec
	if spec == nil {
		return out
	}
	out.ID = spec.Exploration
	out.Sequence = spec.Sequence
	out.PlannedAt = spec.PlannedAt
	out.Reason = spec.Reason
	out.DeclinedClasses, out.Excluded = spec.DeclinedClasses, spec.Excluded
	if spec.Encoder == nil { // planned by an earlier version
		return out
	}
	out.Criterion = spec.Criterion.String()
	out.Features = spec.Features
	out.Candidates = spec.Candidates.Count
	out.Map = spec.Candidates.Map.String()
	out.Sigma = spec.Candidates.Sigma
	out.Dim = spec.Candidates.Dim
	out.From = string(spec.From)
	out.LabelledRows = spec.LabelledRows()
	out.SampleRate = spec.SampleRate
	out.SampleRows, out.Rounds = spec.Sampled(out.LabelledRows), spec.Rounds
	for _, part := range spec.Partitions {
		if !part.Empty() {
			out.Partitions++
		}
	}
	for _, saved := range c.checkpointsOf(spec.Exploration) {
		out.ScoredRows += saved.Counts.Scored
		if saved.Closed {
			out.Closed++
		}
	}
	if progress := s.State.Progress; progress != nil && progress.Exploration == spec.Exploration {
		out.Round, out.Rounds = progress.Round, progress.Rounds
	}
	set := s.State.CurrentSet()
	out.Learning, out.Columns = learningOf(s.State, set), columnTableOf(set, s.Activity.Columns)
	if set != nil {
		out.Spectrum = spectrumOf(set)
	}
	if set != nil && set.Set.Lineage.Exploration == spec.Exploration {
		out.ScoredRows, out.Closed = set.Set.Lineage.Rows, out.Partitions
	}
	return out
}

// lettersOf returns the dead letters found by the last look.
func lettersOf(c *cluster) Letters {
	out := c.letters
	if out.Reasons == nil {
		out.Reasons, out.Newest = []LetterCount{}, []Letter{}
	}
	return out
}

// point returns the newest point of the series.
func (p *page) point(s stages.Snapshot, c *cluster) Point {
	point := Point{Time: seconds(s.Time)}
	point.LiveError, point.LivePromised = liveErrors(s.Live)
	if before, now, seconds, ok := p.work.ends(); ok {
		rows := func(stage meter.Stage) *float64 {
			if !slices.Contains(p.service.Stages, stage) {
				return nil
			}
			r := rate(before[stage].rows, now[stage].rows, seconds)
			return &r
		}
		point.Scored = rows(meter.StageSubsample)
		point.Featurized = rows(meter.StageFeaturize)
		point.Trained = rows(meter.StageTrain)
	}
	if !c.holds(s.Time) {
		return point
	}
	if c.rates[roleEvents] != nil {
		in, out := c.perSecond(roleEvents), c.perSecond(roleFeatures)
		point.In, point.Out = &in, &out
	}
	parts := make([]Partition, len(c.positions.spans[roleEvents]))
	for i := range parts {
		parts[i].Featurize, _ = featurizingOf(i, s, c)
	}
	if sum := waiting(parts); sum != nil {
		w := float64(*sum)
		point.Waiting = &w
	}
	if _, known := c.positions.spans[roleDeadLetters]; known && c.letters.Error == "" {
		n := float64(c.letters.Read + c.letters.Unread)
		point.Letters = &n
	}
	return point
}
