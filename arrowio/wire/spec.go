package wire

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/go-json-experiment/json"

	"github.com/eerf-stream/eerf/arrowio"
	"github.com/eerf-stream/eerf/arrowio/encoder"
	"github.com/eerf-stream/eerf/arrowio/rowid"
	"github.com/eerf-stream/eerf/scoring"
)

// Status is the state of an exploration as its planner last wrote it.
type Status string

// An exploration runs until the selection has used it, a request cancels it, or it is abandoned
// because it cannot produce a feature set.
const (
	StatusRunning   Status = "running"
	StatusCancelled Status = "cancelled"
	StatusAbandoned Status = "abandoned"
)

// From is the part of the log that an exploration reads.
type From string

// The ranges of an exploration end at the last stable offsets of the partitions when it was
// planned. They begin a number of rows before that ([FromRecent]), at the first offsets
// ([FromEarliest]), or at the ends of the last exploration's ranges ([FromNext]).
const (
	FromRecent   From = "recent"
	FromEarliest From = "earliest"
	FromNext     From = "next"
)

// Froms lists them.
func Froms() []From { return []From{FromRecent, FromEarliest, FromNext} }

// MaxPartitions is the greatest number of partitions of events that an exploration reads. A plan of
// all of them fits into a document.
const MaxPartitions = 4096

// Partition is one partition's share of an exploration: its offset range, fixed by the plan.
type Partition struct {
	Partition   int32 `json:"partition"`
	StartOffset int64 `json:"start_offset"` // first offset to read
	EndOffset   int64 `json:"end_offset"`   // first offset not to read
	// LabelledRows is the number of rows with a label in the range, as counted by the planner.
	LabelledRows int64 `json:"labelled_rows"`
	// Quota is the number of scored rows after which the partition closes, a bound on memory; 0 =
	// none.
	Quota int64 `json:"quota"`
	// CalibrationRows is the number of its rows, the ones with the lowest hashes, from which
	// encoder and bandwidth were learned.
	CalibrationRows int64 `json:"calibration_rows"`
}

// PartitionNote holds facts about a partition that do not change the sums.
type PartitionNote struct {
	Partition int32 `json:"partition"`
	// ReportedFrom and ReportedTo bound the offsets whose unusable messages and rows an earlier
	// exploration with the same configuration has reported as dead letters: they are counted, but
	// not reported again.
	ReportedFrom int64 `json:"reported_from,omitempty"`
	ReportedTo   int64 `json:"reported_to,omitempty"`
	// ReportedWhole is set if only whole messages were reported: before the first exploration, the
	// planner looks at no single row.
	ReportedWhole bool `json:"reported_whole,omitempty"`
	// LastBatch is the last batch that the planner read, zero if unknown. A truncated log has other
	// batches in its place.
	LastBatch BatchMark `json:"last_batch,omitzero"`
}

// Reported reports whether the dead letter of an offset was sent, of the whole message or of its
// unusable rows.
func (n PartitionNote) Reported(offset int64, whole bool) bool {
	return offset >= n.ReportedFrom && offset < n.ReportedTo && (whole || !n.ReportedWhole)
}

// AddReported adds offsets of messages and rows to the reported ones. They replace these if a gap
// is between them.
func (n *PartitionNote) AddReported(from, to int64) {
	if !n.ReportedWhole && n.ReportedFrom < n.ReportedTo && n.ReportedFrom <= to && from <= n.ReportedTo {
		from, to = min(from, n.ReportedFrom), max(to, n.ReportedTo)
	}
	n.ReportedFrom, n.ReportedTo = from, to
	n.ReportedWhole = false
}

// Messages is how messages of events are read, in addition to the limits.
type Messages struct {
	Format string `json:"format,omitempty"`                 // empty = detected from the first bytes of each
	Schema string `json:"schema,omitempty" bound:"1048576"` // text of the schema for messages that name none
}

// SeenSchema is the registry's answer for a schema id when an exploration was planned.
type SeenSchema struct {
	ID   uint32 `json:"id"`
	GUID string `json:"guid,omitempty"` // if messages named it in their headers; the id is then 0
	Hash string `json:"hash,omitempty"` // of the schema with everything that it refers to; empty = the registry had none
}

// Bounds on the schemas of a spec: existing ones, and ids without a schema. Messages with other ids
// do not count.
const (
	MaxSeenSchemas    = 1024
	MaxRefusedSchemas = 64
)

// Spec is one exploration: its plan, and everything about it that does not change the sums. It is
// the newest value under the pipeline's name in the explorations topic.
type Spec struct {
	Exploration string `json:"exploration"` // id, see [ExplorationID]
	Status      Status `json:"status"`
	Reason      string `json:"reason,omitempty"` // why it was planned, and then why it was cancelled or abandoned
	ConfigHash  string `json:"config_hash"`      // of the configuration that asked for this exploration
	// HandledOffset is the offset of explorations below which requests are answered.
	HandledOffset int64     `json:"handled_offset"`
	PlannedAt     time.Time `json:"planned_at,omitzero"`

	// DeclinedClasses are classes that featurizers have asked for and that have no row in the
	// ranges.
	DeclinedClasses []string `json:"declined_classes,omitempty" bound:"list 64 of 256"`
	// Excluded are the partitions that it was planned without, ascending, with the reasons.
	Excluded []Exclusion `json:"without,omitempty" bound:"list 4096"`
	// Notes ascend by partition; a partition without facts has none.
	Notes []PartitionNote `json:"notes,omitempty" bound:"list 4096"`

	// Plan is hashed. With the log it determines the feature set.
	Plan `json:"plan"`

	// Copies is the share of rows that equal an earlier row, as estimated from the calibration
	// rows.
	Copies float64 `json:"copies,omitempty" bound:"0..1"`
	// Columns is the use of the event columns, for people.
	Columns []encoder.ColumnUse `json:"columns,omitempty" bound:"list 65536"`
}

// Plan is everything that gives the sums of an exploration meaning. Every field is part of the
// hash.
type Plan struct {
	Pipeline string `json:"pipeline"`
	// grows with every exploration of the pipeline; lower ones are ignored
	Sequence int64 `json:"sequence" bound:"0..1e12"`

	Encoder    *encoder.Encoder   `json:"encoder,omitempty"`
	Candidates scoring.Candidates `json:"candidates,omitzero"`
	Features   int                `json:"features"` // M, the number to keep
	Criterion  scoring.Criterion  `json:"criterion"`
	// R of each choice by residual; 0 under criteria that use only sums
	Rounds int `json:"rounds,omitempty"`
	// Members is the number of sets that the adaptive criterion learns independently and publishes
	// as one; 0 = 1.
	Members int `json:"members,omitempty"`
	// RefineSteps bounds the steps of the refinement, under the adaptive criterion; 0 = none.
	RefineSteps int `json:"refine_steps,omitempty"`
	// RefineRounds is the number of rounds whose candidates are drawn from the result of the
	// refinement, each followed by as many steps; 0 = none.
	RefineRounds int `json:"refine_rounds,omitempty"`

	From            From    `json:"from"`        // the part of the log that was asked for
	SampleRate      float64 `json:"sample_rate"` // (0, 1]
	SampleSeed      uint64  `json:"sample_seed,string"`
	SampleRows      int64   `json:"sample_rows"` // N0, if the rate follows from it; 0 = the rate was given
	CalibrationRows int64   `json:"calibration_rows"`
	BandwidthRule   string  `json:"bandwidth_rule"`

	// Identity says which rows must be on the same side when rows are held out.
	Identity rowid.Rule `json:"identity,omitzero"`

	Arithmetic string         `json:"kernel"`            // numeric kernel of the planner, see [scoring.Arithmetic]
	Limits     arrowio.Limits `json:"limits"`            // decode limits: they decide which messages count
	Messages   Messages       `json:"messages,omitzero"` // how messages are read, which decides it too
	// Schemas are the schemas that messages named, by ascending ids; nil = the plan was made
	// without a registry.
	Schemas []SeenSchema `json:"schemas,omitzero" bound:"list 1088"`
	// BatchBudget bounds the bytes of a Kafka batch of events: a larger one does not count. 0 in
	// specs of files.
	BatchBudget int64  `json:"batch_budget_bytes,omitempty"`
	EventsTopic string `json:"events_topic"`
	// EventsLog is the identity of the log that the ranges refer to: the topic ID. Empty if the
	// broker has none, and in specs of files.
	EventsLog string `json:"events_log,omitempty"`

	Partitions []Partition `json:"partitions,omitempty" bound:"list 4096"` // ascending
}

// Hash identifies the plan: hex SHA-256 of its JSON. It is stored in checkpoints. It panics if the
// plan holds a number that JSON cannot (NaN, Inf), which [Spec.Validate] reports as an error.
func (p *Plan) Hash() string {
	text, err := json.Marshal(p, jsonOptions)
	if err != nil {
		panic(fmt.Sprintf("wire: hash of plan %d of %q: %v", p.Sequence, p.Pipeline, err))
	}
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:])
}

// Note returns the note on a partition; a partition without facts has an empty one.
func (s *Spec) Note(partition int32) PartitionNote {
	at, found := s.findNote(partition)
	if !found {
		return PartitionNote{Partition: partition}
	}
	return s.Notes[at]
}

// EditNote returns the note on a partition to be changed, and adds one if the partition has none.
func (s *Spec) EditNote(partition int32) *PartitionNote {
	at, found := s.findNote(partition)
	if !found {
		s.Notes = slices.Insert(s.Notes, at, PartitionNote{Partition: partition})
	}
	return &s.Notes[at]
}

func (s *Spec) findNote(partition int32) (at int, found bool) {
	return slices.BinarySearchFunc(
		s.Notes,
		partition,
		func(n PartitionNote, p int32) int { return cmp.Compare(n.Partition, p) },
	)
}

// maxDeclined bounds the declined classes kept in a spec: the last ones.
const maxDeclined = 64

// KnowsClass reports whether another exploration for the class would be pointless: the spec has it,
// or knows that its ranges do not hold it.
func (s *Spec) KnowsClass(class string) bool {
	return slices.Contains(s.classes(), class) || slices.Contains(s.DeclinedClasses, class)
}

// Decline records the classes that the spec does not have.
func (s *Spec) Decline(classes []string) {
	for _, class := range classes {
		if !s.KnowsClass(class) {
			s.DeclinedClasses = append(slices.Clone(s.DeclinedClasses), class)
		}
	}
	s.DeclinedClasses = s.DeclinedClasses[max(0, len(s.DeclinedClasses)-maxDeclined):]
}

func (s *Spec) classes() []string {
	if s.Encoder == nil || s.Encoder.Label == nil {
		return nil
	}
	return s.Encoder.Label.Classes
}

// Validate returns every fault. A cancelled or abandoned spec may come without encoder and
// candidates (it then only keeps the sequence number and the handled requests); a running one must
// be complete.
func (s *Spec) Validate() error {
	var faults []error
	fault := func(format string, args ...any) { faults = append(faults, fmt.Errorf(format, args...)) }
	if err := checkName("pipeline", s.Pipeline); err != nil {
		faults = append(faults, err)
	}
	if !validSequence(s.Sequence) || s.HandledOffset < 0 {
		fault("sequence %d is not one of 0 to %d, or handled_offset %d is negative",
			s.Sequence, int64(MaxSequence), s.HandledOffset)
	}
	switch s.Status {
	case StatusRunning, StatusCancelled, StatusAbandoned:
	default:
		fault("status %q is not one of running, cancelled, abandoned", s.Status)
	}
	if s.Status == StatusRunning || s.Encoder != nil {
		faults = append(faults, s.validatePlan(), s.validatePartitions(), s.validateExcluded(), s.validateNotes())
	}
	return errors.Join(faults...)
}

// validatePlan checks the settings of the computation.
func (s *Spec) validatePlan() error {
	var faults []error
	fault := func(format string, args ...any) { faults = append(faults, fmt.Errorf(format, args...)) }
	if err := checkName("exploration", s.Exploration); err != nil {
		faults = append(faults, err)
	}
	if err := checkEncoder(s.Encoder); err != nil {
		faults = append(faults, err)
	} else if s.Encoder.Dim != s.Candidates.Dim {
		fault("encoder gives %d dimensions, candidates take %d", s.Encoder.Dim, s.Candidates.Dim)
	} else if s.Encoder.Label == nil {
		fault("encoder has no label to score against")
	}
	if err := s.Candidates.Validate(); err != nil {
		faults = append(faults, fmt.Errorf("candidates: %w", err))
	}
	faults = append(faults, s.validateCriterion())
	if !slices.Contains(Froms(), s.From) {
		fault("from %q is not one of %v", s.From, Froms())
	}
	if s.Features < 1 || s.Features > s.Candidates.Count {
		fault("features %d is not within 1..%d (candidates)", s.Features, s.Candidates.Count)
	}
	if !(s.SampleRate > 0 && s.SampleRate <= 1) {
		fault("sample_rate %v is not within (0, 1]", s.SampleRate)
	}
	if s.SampleRows < 0 || s.CalibrationRows < 0 {
		fault("sample_rows %d and calibration_rows %d must not be negative", s.SampleRows, s.CalibrationRows)
	}
	if !(s.Copies >= 0 && s.Copies <= 1) {
		fault("copies %v is not within [0, 1]", s.Copies)
	}
	if s.BatchBudget < 0 {
		fault("batch_budget_bytes %d must not be negative", s.BatchBudget)
	}
	if err := s.Limits.Validate(); err != nil {
		fault("limits: %w", err)
	}
	if err := s.Identity.Validate(); err != nil {
		faults = append(faults, err)
	}
	return errors.Join(faults...)
}

// validateCriterion checks the needs of a criterion besides candidates.
func (s *Spec) validateCriterion() error {
	var faults []error
	if s.Criterion.NeedsRows() != (s.Rounds > 0) {
		faults = append(faults, fmt.Errorf("%d rounds for criterion %v", s.Rounds, s.Criterion))
	}
	several := s.Members > 1
	if s.Members < 0 || s.Members > scoring.MaxMembers || several && (!s.Criterion.Learns() || s.Members > s.Features) {
		faults = append(faults, fmt.Errorf("%d members of %d features for criterion %v", s.Members, s.Features, s.Criterion))
	}
	if s.RefineSteps < 0 || s.RefineSteps > 0 && !s.Criterion.Learns() {
		faults = append(faults, fmt.Errorf("%d steps of refinement for criterion %v", s.RefineSteps, s.Criterion))
	}
	if s.RefineRounds < 0 || s.RefineRounds > 0 && s.RefineSteps == 0 {
		faults = append(faults, fmt.Errorf("%d rounds in a refinement of %d steps", s.RefineRounds, s.RefineSteps))
	}
	return errors.Join(append(faults, s.Criterion.Check(s.Candidates))...)
}

// validatePartitions checks that the partitions ascend and their ranges make sense.
func (s *Spec) validatePartitions() error {
	if len(s.Partitions) == 0 {
		return errors.New("no partitions")
	}
	last := int32(-1)
	for _, p := range s.Partitions {
		if p.Partition <= last {
			return fmt.Errorf("partition %d after %d: partitions must be distinct and ascend from 0", p.Partition, last)
		}
		last = p.Partition
		if p.StartOffset < 0 || p.StartOffset == math.MaxInt64 {
			return fmt.Errorf("partition %d: start_offset %d is not an offset", p.Partition, p.StartOffset)
		}
		if p.EndOffset < p.StartOffset {
			return fmt.Errorf("partition %d: end_offset %d is before start_offset %d", p.Partition, p.EndOffset, p.StartOffset)
		}
		if p.Quota < 0 || p.CalibrationRows < 0 || p.LabelledRows < 0 {
			return fmt.Errorf("partition %d: quota %d, calibration_rows %d and labelled_rows %d must not be negative",
				p.Partition, p.Quota, p.CalibrationRows, p.LabelledRows)
		}
	}
	return nil
}

// validateNotes checks that notes ascend and make sense.
func (s *Spec) validateNotes() error {
	last := int32(-1)
	for _, n := range s.Notes {
		if n.Partition <= last {
			return fmt.Errorf("note on partition %d after %d: notes must be distinct and ascend from 0", n.Partition, last)
		}
		last = n.Partition
		if n.ReportedFrom < 0 || n.ReportedTo < n.ReportedFrom {
			return fmt.Errorf("partition %d: reported offsets %d to %d", n.Partition, n.ReportedFrom, n.ReportedTo)
		}
	}
	return nil
}

// Empty reports whether the range holds no offset.
func (p Partition) Empty() bool { return p.StartOffset == p.EndOffset }

// LabelledRows is the number of rows with a label in the ranges.
func (p *Plan) LabelledRows() (rows int64) {
	for _, part := range p.Partitions {
		rows += part.LabelledRows
	}
	return rows
}

// ScoredShare returns the expected share of labelled rows that are scored: the sampled ones except
// those that judge models.
func (s *Spec) ScoredShare() float64 { return s.SampleRate * (1 - s.Identity.HeldOutFraction) }

// Sampled is roughly the number of rows sampled from that many labelled rows.
func (s *Spec) Sampled(labelled int64) int64 {
	return int64(math.Round(s.ScoredShare() * float64(labelled)))
}

// Partition returns the plan of one partition, and whether the exploration reads it at all.
func (s *Spec) Partition(partition int32) (Partition, bool) {
	for _, p := range s.Partitions {
		if p.Partition == partition {
			return p, true
		}
	}
	return Partition{}, false
}
