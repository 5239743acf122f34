package calibrate

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/apache/arrow/go/v15/arrow"
	"go.uber.org/zap"

	"github.com/eerf-stream/eerf/arrowio/encoder"
	"github.com/eerf-stream/eerf/arrowio/formats"
	"github.com/eerf-stream/eerf/arrowio/rowid"
	"github.com/eerf-stream/eerf/arrowio/wire"
	"github.com/eerf-stream/eerf/pipeline"
	"github.com/eerf-stream/eerf/scoring"
	"github.com/eerf-stream/eerf/stages/env"
	"github.com/eerf-stream/eerf/stages/events"
	"github.com/eerf-stream/eerf/stages/meter"
	"github.com/eerf-stream/eerf/stages/state"
)

// Settings holds the inputs of a plan other than the log.
type Settings struct {
	Pipeline        string
	AcceptChange    string // hash of the accepted change of the pipeline's target, see [TakeoverError]
	Events          events.Config
	Exploration     Config
	Limits          events.Limits
	Schema          string // text of the schema named by events.schema
	EventsTopic     string
	BatchBudget     int64  // batch budget of the broker; 0 = reading a file
	EventsLog       string // identity of the log; empty = a file, or the broker reports none
	MaxMessageBytes int64  // limit of the topics

	// HeldOutSeed and HeldOutFraction select the rows by which models will be judged. Samples
	// exclude them, unless rows are identified by their place. The fraction is 0 if these rows were
	// already removed.
	HeldOutSeed     uint64
	HeldOutFraction float64
	// Identity is the identity of rows; if it is empty, events.group or the calibration rows
	// decide.
	Identity rowid.Rule

	seen []wire.SeenSchema // schemas seen by the scan
}

// hash returns the configuration hash.
func (s Settings) hash() string { return Hash(s.Exploration, s.Events, s.EventsTopic) }

// messages returns how to read messages.
func (s Settings) messages() wire.Messages {
	m := wire.Messages{Format: string(s.Events.Format), Schema: s.Schema}
	if s.Events.Format == formats.Auto {
		m.Format = ""
	}
	return m
}

// Request describes the wanted plan.
type Request struct {
	From wire.From  // empty = as configured
	Last *wire.Spec // the previous exploration; nil = none
	// Unfinished means that Last yielded no feature set: the next exploration reads the ranges of
	// Last and all rows after them.
	Unfinished bool
	Sequence   int64
	// Classes lists the classes that featurizers request. ClassesOnly means that they are the only
	// reason to plan: without rows of at least one of them, planning fails.
	Classes     []string
	ClassesOnly bool
	Reason      string
	// Excluded lists the partitions to leave out.
	Excluded []wire.Exclusion
	// Reported holds, by partition, the offsets for which dead letters were already sent, by
	// earlier explorations or, before the first one, by the planner.
	Reported map[int32]interval
	// Force allows an exploration of the same rows as the last exploration.
	Force bool
	Now   time.Time
}

// Next requests the exploration that follows the newest one in a snapshot.
func Next(now state.Snapshot, at time.Time) Request {
	return Request{
		Last: now.Spec,
		Unfinished: now.Spec != nil &&
			(now.Current == nil || wire.CompareSequences(now.Current.Sequence, now.Spec.Sequence) < 0),
		Sequence: wire.NextSequence(now.Sequence()),
		Reported: reported(now),
		Now:      at,
	}
}

// Planned is a plan with the findings of planning.
type Planned struct {
	Spec    *wire.Spec
	Report  encoder.Report
	Warning string                // about the bandwidth
	Counts  meter.CalibrateCounts // rows and messages read
	Read    meter.Traffic
	Memory  int64 // maximum for the sample and the selection; 0 under criteria that need no rows
	Seconds float64
}

// TooFewRowsError reports that the log does not yet hold the labelled rows that a plan needs.
type TooFewRowsError struct {
	Have, Want int64 // labelled rows
	Rows       int64 // in the ranges, labelled or not
	// Unusable describes unreadable messages and rows without a usable label; empty = none.
	Unusable string

	unreadable []*unreadable // by partition
}

func (e *TooFewRowsError) Error() string {
	text := fmt.Sprintf("%d of %d rows are labelled but exploration.min_rows is %d: %d are missing",
		e.Have, e.Rows, e.Want, e.Want-e.Have)
	if e.Unusable != "" {
		text += "; " + e.Unusable
	}
	return text
}

// ErrSameRows reports that an exploration would read the same rows as the last one.
var ErrSameRows = errors.New("nothing new: the exploration would read the same rows as the last one")

// errNoSuchClass reports that the ranges hold too few rows of the requested classes.
var errNoSuchClass = errors.New("the ranges hold too few rows of the requested classes")

// planTries is the number of attempts at a plan if the log changes meanwhile.
const planTries = 5

// Plan reads the ranges of the log of events for an exploration, and returns its spec.
func Plan(ctx context.Context, e env.Env, s Settings, r Request) (*Planned, error) {
	events := &log{e}
	began := time.Now()
	for try := 1; ; try++ {
		planned, err := events.plan(ctx, s, r)
		switch {
		case errors.Is(err, errPlanAgain) && try < planTries:
			e.Logger.Info("log changed during planning; planning again with new ranges", zap.Error(err))
		case err != nil:
			return nil, err
		default:
			planned.Seconds = time.Since(began).Seconds()
			return planned, nil
		}
	}
}

func (l *log) plan(ctx context.Context, s Settings, r Request) (*Planned, error) {
	s.BatchBudget = l.env.Broker.BatchBudget()
	var err error
	if s.EventsLog, err = l.identity(ctx); err != nil {
		return nil, err
	}
	from := cmp.Or(r.From, s.Exploration.From)
	ranges, err := pipeline.Retry(ctx, l.env.Logger, "look up offsets", func() ([]wire.Partition, error) {
		return l.ranges(ctx, s, from, r)
	})
	if err != nil {
		return nil, err
	}
	if !r.Force && sameRows(ranges, s, r.Last) {
		return nil, ErrSameRows
	}
	scans := newScans(s, ranges)
	defer releaseScans(scans)
	for _, one := range scans {
		one.unreadable = newUnreadable(one.part, r.Reported[one.part.Partition], r.Now)
	}
	if s.seen, err = l.scanAll(ctx, s, scans); err != nil {
		return nil, err
	}
	if now, err := l.identity(ctx); err != nil || now != s.EventsLog {
		return nil, cmp.Or(err, fmt.Errorf("%w: the identity is now %s instead of %s", errPlanAgain, now, s.EventsLog))
	}
	if err := l.forgetLost(ctx, scans, r); err != nil {
		return nil, err
	}
	planned, err := plan(s, scans, from, r)
	if err != nil {
		return nil, err
	}
	noteLastBatches(planned.Spec, scans)
	if other := otherShapes(scans); other > 0 {
		l.env.Logger.Warn("calibration skipped rows whose columns differ from the majority", zap.Int64("rows", other))
	}
	return planned, nil
}

// PlanRows is Plan for the rows of a file, read as the messages of partition 0.
func PlanRows(s Settings, each func(func(batch arrow.Record) error) error) (*Planned, error) {
	scans := newScans(s, []wire.Partition{{EndOffset: 1}})
	defer releaseScans(scans)
	batches := int64(0)
	err := each(func(batch arrow.Record) error {
		batches++
		return scans[0].add(message{batches: []arrow.Record{batch}, rows: batch.NumRows()})
	})
	if err != nil {
		return nil, fmt.Errorf("calibrate: %w", err)
	}
	scans[0].part.EndOffset = batches
	s.Exploration.MinRows = 0
	return plan(s, scans, wire.FromEarliest, Request{Sequence: 1, Now: time.Now()})
}

// planError reports that the resulting plan cannot be carried out.
type planError struct {
	exploration string
	err         error
}

func (e *planError) Error() string {
	return fmt.Sprintf("plan of exploration %s: %v", e.exploration, e.err)
}

func (e *planError) Unwrap() error { return e.err }

// plan makes the plan from the scans of all ranges.
func plan(s Settings, scans []*scan, from wire.From, r Request) (*Planned, error) {
	if len(s.Events.Label) == 0 {
		return nil, errors.New("events.label is not configured: an exploration needs a label")
	}
	if err := s.Exploration.CheckCandidates(); err != nil {
		return nil, fmt.Errorf("exploration: %w", err)
	}
	labels := encoder.NewLabelCounter(s.Events.Options())
	planned := &Planned{}
	for _, one := range scans {
		labels.Merge(one.labels)
		planned.Counts.Messages += one.counts.Messages
		planned.Counts.Tombstones += one.counts.Tombstones
		planned.Counts.Undecodable += one.counts.Undecodable
		planned.Counts.Rows += one.counts.Rows
		planned.Read.UsedBytes += one.read.UsedBytes
		planned.Read.UndecodableBytes += one.read.UndecodableBytes
	}
	if err := labels.Unusable(); err != nil {
		return nil, err
	}
	if labels.MostRows() < s.Exploration.MinRows {
		return nil, tooFewRows(s, scans, labels, planned.Counts)
	}
	found, calibrated, err := learn(s, scans, labels, r)
	if err != nil {
		return nil, err
	}
	partitions := make([]wire.Partition, len(scans))
	for i, one := range scans {
		partitions[i] = one.part
		partitions[i].LabelledRows = one.labels.RowsOf(found.encoder.Label)
	}
	planned.Report, planned.Warning = found.report, found.warning
	planned.Spec = newSpec(s, found, calibrated, from, r, partitions)
	planned.Memory, _ = s.Exploration.SampleCost(
		planned.Spec.Candidates,
		planned.Spec.Encoder.Outputs(),
		sampledRows(planned.Spec),
	)
	planned.Spec.Columns = columnsThatFit(planned.Spec, found.report.Columns, s.MaxMessageBytes)
	if err := errors.Join(planned.Spec.Validate(), checkFits(planned.Spec, s, planned.Memory)); err != nil {
		return nil, &planError{planned.Spec.Exploration, err}
	}
	return planned, nil
}

// learn calibrates on the rows of the chosen shape and records the number of rows from each
// partition.
func learn(s Settings, scans []*scan, labels *encoder.LabelCounter, r Request) (*calibrated, int64, error) {
	shape := chooseShape(scans)
	options, hint, leftOut := s.Events.Options(), "", false
	rows, err := openRows(s, scans, shape)
	if err != nil {
		return nil, 0, err
	}
	if kind, ok := encoder.LabelKind(options, rows.schema); ok {
		if err := labels.Fault(kind); err != nil {
			return nil, 0, err
		}
		if r.ClassesOnly &&
			!slices.ContainsFunc(r.Classes, func(class string) bool { return slices.Contains(labels.Classes(kind), class) }) {
			return nil, 0, errNoSuchClass
		}
		hint, leftOut = labels.Hint(kind), labels.LeavesOut(kind)
		if len(options.Classes) == 0 {
			options.FindClasses(labels, kind)
		}
	}
	calibration := newCalibration(options)
	var rowsOfShape int64
	for _, one := range scans {
		if kept := one.kept.byKey[shape]; kept != nil {
			rowsOfShape += kept.rows
		}
	}
	calibration.learn.SampledFrom(rowsOfShape)
	for i, one := range scans {
		for _, batch := range rows.of[i] {
			if err := calibration.add(batch); err != nil {
				return nil, 0, fmt.Errorf("calibrate on the rows of partition %d: %w", one.part.Partition, err)
			}
			one.part.CalibrationRows += int64(len(batch.hashes))
		}
		if one.kept.over {
			calibration.cut++
		}
	}
	found, err := calibration.finish(s.Exploration)
	if err != nil {
		return nil, 0, err
	}
	found.identity = s.identity(calibration.contents)
	copies := calibration.contents.Copies(float64(calibration.Rows()) / float64(rowsOfShape))
	if s.Identity.By == "" && found.identity.By == rowid.Content {
		found.copies = copies
	}
	if leftOut {
		found.report.ClassNote = hint
	}
	warnings := []string{hint, rows.warning, rowid.CopiesNote(found.copies, found.identity)}
	if found.identity.By != rowid.Group {
		warnings = append(warnings, found.report.GroupNote(copies))
	}
	found.report.Warnings = append(found.report.Warnings,
		slices.DeleteFunc(warnings, func(warning string) bool { return warning == "" })...)
	return found, calibration.Rows(), nil
}

// identity returns the rule that identifies rows, with the selection of the rows that judge models.
func (s Settings) identity(contents *rowid.Counter) rowid.Rule {
	if s.Identity.By != "" {
		return s.Identity
	}
	r := contents.Decide(s.Events.Group)
	if !r.ByPlace() && s.HeldOutFraction > 0 {
		r.HeldOutSeed, r.HeldOutFraction = s.HeldOutSeed, s.HeldOutFraction
	}
	return r
}

// shapeOpened holds the rows of a shape so that they can be read more than once.
type shapeOpened struct {
	schema  *arrow.Schema        // determines the kind of the label
	of      [][]calibrationBatch // by scan
	warning string
}

// openRows opens the kept rows of a shape.
func openRows(s Settings, scans []*scan, shape string) (shapeOpened, error) {
	for _, one := range scans {
		if err := one.kept.settle(); err != nil {
			return shapeOpened{}, err
		}
	}
	bound := commonBound(scans, shape)
	if shape == textShape {
		return openText(s, scans, bound), nil
	}
	opened := shapeOpened{schema: arrow.NewSchema(nil, nil), of: make([][]calibrationBatch, len(scans))}
	var head *arrow.Schema // head of the first rows
	for i, one := range scans {
		rows := one.kept.byKey[shape]
		if rows == nil {
			continue
		}
		for _, v := range rows.variants {
			if err := v.drop(bound); err != nil {
				return opened, err
			}
			entries := v.entries
			for _, piece := range v.pieces {
				if piece.NumRows() == 0 {
					continue
				}
				batch := calibrationBatch{open: again(piece)}
				for _, row := range entries[:piece.NumRows()] {
					batch.hashes = append(batch.hashes, row.hash)
				}
				entries = entries[piece.NumRows():]
				if head == nil {
					head, opened.schema = rows.head, piece.Schema()
					batch.open = func() (arrow.Record, error) { return one.kept.keeper.headed(piece, head), nil }
				}
				opened.of[i] = append(opened.of[i], batch)
			}
		}
	}
	return opened, nil
}

// openText opens the kept rows of JSON with hashes below a bound.
func openText(s Settings, scans []*scan, bound uint64) shapeOpened {
	for _, one := range scans {
		one.kept.text.drop(bound)
	}
	limits := s.Limits.Decoder()
	columns, pieces, others := textColumns(scans, s.Events, limits)
	opened := shapeOpened{schema: schemaOfText(columns), of: make([][]calibrationBatch, len(scans))}
	reader := formats.NewColumnReader(limits, columns)
	for i, one := range scans {
		for _, p := range pieces[i] {
			opened.of[i] = append(opened.of[i], one.kept.text.reading(reader, p))
		}
	}
	if others.Count > 0 {
		opened.warning = fmt.Sprintf("left out %d columns that have a value in at most one of %d calibration rows "+
			"or are less common than limits.max_columns others, such as %q; list columns in events.features to keep them",
			others.Count, commonest, others.Example)
	}
	return opened
}

// otherShapes counts the rows whose columns differ from the calibrated ones.
func otherShapes(scans []*scan) (rows int64) {
	chosen := chooseShape(scans)
	for _, one := range scans {
		for _, shape := range one.kept.shapes {
			if shape.key != chosen {
				rows += shape.rows
			}
		}
	}
	return rows
}

// newSpec makes the spec for the partitions from the result of calibration.
func newSpec(
	s Settings,
	found *calibrated,
	calibrationRows int64,
	from wire.From,
	r Request,
	partitions []wire.Partition,
) *wire.Spec {
	e := s.Exploration
	spec := &wire.Spec{
		Status:     wire.StatusRunning,
		Reason:     r.Reason,
		ConfigHash: s.hash(),
		PlannedAt:  r.Now,
		Copies:     found.copies,
		Plan: wire.Plan{
			Pipeline: s.Pipeline,
			Sequence: r.Sequence,
			Encoder:  found.encoder,
			Candidates: scoring.Candidates{
				Map: e.Map, Distribution: e.Distribution, Sigma: found.sigma, Seed: e.Seed,
				Dim: found.encoder.Dim, Count: e.CandidateCount(),
			},
			Features:        e.Features,
			Criterion:       e.Criterion,
			Rounds:          e.ActiveRounds(),
			Members:         e.ActiveMembers(),
			RefineSteps:     e.ActiveRefineSteps(),
			RefineRounds:    e.refineRounds(),
			From:            from,
			SampleRate:      float64(e.SampleRate),
			SampleSeed:      e.Seed,
			CalibrationRows: calibrationRows,
			BandwidthRule:   found.rule,
			Identity:        found.identity,
			Arithmetic:      scoring.Arithmetic(),
			Limits:          s.Limits.Decoder(),
			Messages:        s.messages(),
			Schemas:         s.seen,
			BatchBudget:     s.BatchBudget,
			EventsTopic:     s.EventsTopic,
			EventsLog:       s.EventsLog,
			Partitions:      partitions,
		},
	}
	spec.Candidates.Varied = e.Criterion.Learns()
	if e.Map.Coordinates() { // one candidate per dimension, and only calibration counts dimensions
		spec.Candidates.Count, spec.Features = min(
			spec.Candidates.Count,
			found.encoder.Dim,
		), min(
			spec.Features,
			found.encoder.Dim,
		)
	}
	if e.SampleRate == RateAuto {
		spec.SampleRows, _, _ = e.FittingRows(spec.Candidates, spec.Encoder.Outputs(), len(partitions))
		usable := float64(max(1, spec.LabelledRows())) * (1 - found.identity.HeldOutFraction)
		spec.SampleRate = min(1, float64(spec.SampleRows)/usable)
	}
	setQuotas(spec)
	for _, w := range r.Excluded {
		if int(w.Partition) < len(partitions) {
			spec.Excluded = append(spec.Excluded, w)
		}
	}
	r.carry(spec)
	spec.Exploration = wire.ExplorationID(&spec.Plan)
	spec.Decline(r.Classes)
	return spec
}
