package status

import (
	"math"
	"slices"

	"github.com/eerf-stream/eerf/arrowio/wire"
	"github.com/eerf-stream/eerf/stages"
	"github.com/eerf-stream/eerf/stages/meter"
	"github.com/eerf-stream/eerf/stages/state"
)

// compose makes the snapshot of a moment. It shares nothing that changes later.
func (p *page) compose(s stages.Snapshot, c *cluster) Snapshot {
	return Snapshot{
		Process: p.process(s, c), Flow: p.flow(s, c), Exploration: exploration(s, c), History: p.history(s, c),
		Letters: lettersOf(c), Series: p.series.series(),
	}
}

func (p *page) process(s stages.Snapshot, c *cluster) Process {
	return Process{
		Time: s.Time, Since: p.since, Pipeline: p.service.Process.Settings.Pipeline.Name, Stages: p.service.Stages,
		Build: p.service.Build, Ready: ready(c.conditions), Conditions: c.conditions, LookedAt: c.at, BrokerError: c.err,
		Start: p.canStart(s.State),
	}
}

func (p *page) flow(s stages.Snapshot, c *cluster) Flow {
	f := Flow{Topics: topicsOf(p.service.Process.Settings.Topics)}
	for i := range f.Topics {
		topic := &f.Topics[i]
		topic.Partitions = len(c.positions.spans[topic.Role])
		topic.Next, topic.Kept = c.positions.sum(topic.Role)
		topic.PerSecond = c.perSecond(topic.Role)
		if err := c.positions.errs[topic.Role]; err != nil {
			topic.Error = err.Error()
		} else {
			topic.Error = c.contents[topic.Role]
		}
		if topic.Name == "" {
			topic.Error = "there is none: pipeline " + p.service.Process.Settings.SetsOf() + " explores (featurize.sets_from)"
		}
	}
	for _, name := range meter.Stages() {
		f.Stages = append(f.Stages, p.stage(name, s))
	}
	for partition := range c.positions.spans[roleEvents] {
		part := partitionOf(partition, s, c)
		if p.service.Process.Settings.Featurize.SetsFrom != "" { // explorations and models are of other events
			part.Subsample, part.Train = nil, nil
		}
		f.Partitions = append(f.Partitions, part)
	}
	if f.Partitions == nil {
		f.Partitions = []Partition{}
	}
	return f
}

// stage says what this process does in a stage.
func (p *page) stage(name string, s stages.Snapshot) Stage {
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

// partitionOf says how far the stages have come in a partition of events.
func partitionOf(partition int, s stages.Snapshot, c *cluster) Partition {
	end := c.positions.next(roleEvents, partition)
	out := Partition{Partition: partition, Next: end, Subsample: scoringOf(partition, s, c)}
	if rates := c.rates[roleEvents]; partition < len(rates) {
		out.PerSecond = rates[partition]
	}
	if at := here(s, meter.StageFeaturize, partition); at != nil {
		lag := at.Lag.Seconds()
		out.Featurize = &Progress{Here: true, Next: at.NextOffset, Lag: at.LagMessages(), LagSeconds: &lag}
		out.Next = max(end, at.EndOffset)
	} else if partition < len(c.positions.committed) && c.positions.committed[partition] >= 0 {
		next := c.positions.committed[partition]
		out.Featurize = &Progress{Next: next, Lag: max(0, end-next)}
	}
	for _, m := range c.models {
		if next, ok := m.through[partition]; ok && m.Current {
			out.Train = &Progress{Next: next, Lag: max(0, end-next)}
		}
	}
	return out
}

// here is where this process stands in a partition, nil where it does not read it.
func here(s stages.Snapshot, stage string, partition int) *meter.PartitionStatus {
	for i := range s.Partitions {
		if at := &s.Partitions[i]; at.Stage == stage && at.Partition == partition && !at.FetchedAt.IsZero() {
			return at
		}
	}
	return nil
}

// scoringOf says how far a partition is scored.
func scoringOf(partition int, s stages.Snapshot, c *cluster) *Scoring {
	spec := s.State.Spec
	if spec == nil {
		return nil
	}
	part, ok := spec.Partition(int32(partition))
	if !ok {
		return nil
	}
	out := &Scoring{Start: part.StartOffset, Next: part.StartOffset, End: part.EndOffset, Expected: expected(spec, part.LabelledRows)}
	if part.Empty() {
		out.Closed = string(wire.CloseEnd)
		return out
	}
	saved, ok := c.checkpointsOf(spec.Exploration)[int32(partition)]
	if ok {
		out.Next, out.Rows, out.Scored, out.Closed = saved.NextOffset, saved.Counts.Rows, saved.Counts.Scored, string(saved.CloseReason)
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

// expected is how many rows a sample of so many labelled ones has, about.
func expected(spec *wire.Spec, labelled int64) int64 {
	return int64(math.Round(spec.SampleRate * float64(labelled)))
}

// closingOf is how the partition was closed for the newest exploration, nil while its set is not published.
func closingOf(now state.Snapshot, partition int) *wire.LineagePartition {
	set := now.CurrentSet()
	if set == nil || set.Set.Lineage.Exploration != now.Spec.Exploration {
		return nil
	}
	parts := set.Set.Lineage.Partitions
	if i := slices.IndexFunc(parts, func(p wire.LineagePartition) bool { return p.Partition == int32(partition) }); i >= 0 {
		return &parts[i]
	}
	return nil
}

// exploration describes the newest one, and what is missing for the next.
func exploration(s stages.Snapshot, c *cluster) Exploration {
	out := Exploration{Status: s.State.Status(), Requests: []Request{}, MissingRows: s.Activity.Planning.MissingRows, Fault: s.Activity.Planning.Fault, UnseenClasses: s.Activity.UnseenClasses}
	for _, r := range s.State.Requests {
		out.Requests = append(out.Requests, Request{string(r.Action), r.Reason, r.Time})
	}
	spec := s.State.Spec
	if spec == nil {
		return out
	}
	out.ID, out.Sequence, out.PlannedAt, out.Reason = spec.Exploration, spec.Sequence, spec.PlannedAt, spec.Reason
	out.DeclinedClasses = spec.DeclinedClasses
	if spec.Encoder == nil { // of an earlier version
		return out
	}
	out.Criterion, out.Features, out.Candidates = spec.Criterion.String(), spec.Features, spec.Candidates.Count
	out.Map, out.Sigma, out.Dim = spec.Candidates.Map.String(), spec.Candidates.Sigma, spec.Candidates.Dim
	out.From, out.LabelledRows, out.SampleRate = string(spec.From), spec.LabelledRows(), spec.SampleRate
	out.SampleRows, out.Rounds = expected(spec, out.LabelledRows), spec.Rounds
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
	if c.spectrum != nil && c.spectrum.Exploration == spec.Exploration {
		out.Spectrum = c.spectrum
	}
	set := s.State.CurrentSet()
	out.Learning, out.Columns = learningOf(s.State, set), columnTableOf(set)
	if set != nil && out.Status != string(wire.StatusRunning) && out.Spectrum == nil {
		out.Spectrum = publishedSpectrum(set)
	}
	if set != nil && set.Set.Lineage.Exploration == spec.Exploration {
		out.ScoredRows, out.Closed = set.Set.Lineage.Rows, out.Partitions
	}
	return out
}

// lettersOf are the dead letters of the last look.
func lettersOf(c *cluster) Letters {
	out := c.letters
	out.PerSecond = c.perSecond(roleDeadLetters)
	if out.Reasons == nil {
		out.Reasons, out.Newest = []LetterCount{}, []Letter{}
	}
	return out
}

// point is the newest of the series.
func (p *page) point(s stages.Snapshot, c *cluster) Point {
	point := Point{Time: float64(s.Time.UnixMilli()) / 1000}
	if before, now, seconds, ok := p.work.ends(); ok {
		rows := func(stage string) *float64 {
			if !slices.Contains(p.service.Stages, stage) {
				return nil
			}
			r := rate(before[stage].rows, now[stage].rows, seconds)
			return &r
		}
		point.Scored, point.Featurized, point.Trained = rows(meter.StageSubsample), rows(meter.StageFeaturize), rows(meter.StageTrain)
	}
	if !c.fresh(s.Time) {
		return point
	}
	if c.rates[roleEvents] != nil {
		in, out := c.perSecond(roleEvents), c.perSecond(roleFeatures)
		point.In, point.Out = &in, &out
	}
	if waiting, known := c.waiting(); known {
		w := float64(waiting)
		point.Waiting = &w
	}
	return point
}
