package wire

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"time"

	"github.com/eerf-stream/eerf/arrowio"
	"github.com/eerf-stream/eerf/arrowio/encoder"
	"github.com/eerf-stream/eerf/scoring"
)

// Status is the state of an exploration as its planner last wrote it.
type Status string

// An exploration runs until it is selected from, cancelled by a request, or abandoned because the log no
// longer holds its offsets.
const (
	StatusRunning   Status = "running"
	StatusCancelled Status = "cancelled"
	StatusAbandoned Status = "abandoned"
)

// Partition is one partition's share of an exploration.
type Partition struct {
	Partition   int32 `json:"partition"`
	StartOffset int64 `json:"start_offset"` // first offset to read
	EndOffset   int64 `json:"end_offset"`   // first offset not to read; -1 = no end
	Quota       int64 `json:"quota"`        // scored rows after which the partition closes; 0 = none
	// CalibrationRows is how many rows from StartOffset on the encoder and the bandwidth were learned from.
	CalibrationRows int64 `json:"calibration_rows"`
}

// Spec is the plan of one exploration: with the log it determines the feature set. It is the newest value
// under the pipeline's name in the explorations topic.
type Spec struct {
	FormatVersion int    `json:"format_version"` // written as [FormatVersion]; zero means that
	Pipeline      string `json:"pipeline"`
	Exploration   string `json:"exploration"` // id
	Sequence      int64  `json:"sequence"`    // grows with every exploration of the pipeline; lower ones are ignored
	Status        Status `json:"status"`
	ConfigHash    string `json:"config_hash"`    // of the configuration that asked for this exploration
	HandledOffset int64  `json:"handled_offset"` // requests at offsets of explorations below this one are answered

	PlannedAt time.Time `json:"planned_at,omitzero"`
	Deadline  time.Time `json:"deadline,omitzero"` // zero = none

	Encoder    *encoder.Encoder   `json:"encoder,omitempty"`
	Candidates scoring.Candidates `json:"candidates,omitzero"`
	Features   int                `json:"features"` // M, the number to keep
	Criterion  scoring.Criterion  `json:"criterion"`
	Rounds     int                `json:"rounds,omitempty"` // R of the residual criterion; 0 under the others

	// Pass counts the passes over the rows that are behind: 0 for every exploration's first one, which is the only one
	// but for the residual criterion. Residual and FirstPass are set from pass 1 on, and the partitions then have the ranges
	// that the first pass took.
	Pass      int                   `json:"pass,omitempty"`
	Residual  *scoring.ResidualPlan `json:"residual,omitempty"`   // what the passes found and what this one is to sum
	FirstPass *Lineage              `json:"first_pass,omitempty"` // what rows the first pass took

	SampleRate      float64 `json:"sample_rate"` // (0, 1]
	SampleSeed      uint64  `json:"sample_seed"`
	SampleRows      int64   `json:"sample_rows"` // N0 over all partitions; 0 = the end offsets bound the sample
	CalibrationRows int64   `json:"calibration_rows"`
	BandwidthRule   string  `json:"bandwidth_rule"`

	Kernel      string         `json:"kernel"` // numeric kernel the planner runs, see [scoring.Kernel]
	Limits      arrowio.Limits `json:"limits"` // decode limits: they decide which messages count
	EventsTopic string         `json:"events_topic"`
	Partitions  []Partition    `json:"partitions,omitempty"` // ascending; columns on the wire
}

// Hash names everything that gives the sums meaning: hex SHA-256 of the spec's JSON, partitions
// included, without status, handled offset, config hash and times. Checkpoints carry it. It panics if
// the spec holds a number that JSON cannot (NaN, Inf), which [Spec.Validate] reports as an error.
func (s *Spec) Hash() string {
	c := *s
	c.FormatVersion = FormatVersion
	c.Status, c.ConfigHash, c.HandledOffset = "", "", 0
	c.PlannedAt, c.Deadline = time.Time{}, time.Time{}
	doc, err := json.Marshal(&c)
	if err != nil {
		panic(fmt.Sprintf("wire: hash of exploration %q: %v", s.Exploration, err))
	}
	sum := sha256.Sum256(doc)
	return hex.EncodeToString(sum[:])
}

// Validate reports every fault. A cancelled or abandoned spec may come without encoder and candidates
// (it then only remembers the sequence number and the handled requests); a running one must be whole.
func (s *Spec) Validate() error {
	var faults []error
	fault := func(format string, args ...any) { faults = append(faults, fmt.Errorf(format, args...)) }
	if err := checkName("pipeline", s.Pipeline); err != nil {
		faults = append(faults, err)
	}
	if s.Sequence < 0 || s.HandledOffset < 0 {
		fault("sequence %d and handled_offset %d must not be negative", s.Sequence, s.HandledOffset)
	}
	switch s.Status {
	case StatusRunning, StatusCancelled, StatusAbandoned:
	default:
		fault("status %q is not one of running, cancelled, abandoned", s.Status)
	}
	if s.Status == StatusRunning || s.Encoder != nil {
		faults = append(faults, s.validatePlan(), s.validatePartitions())
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
	faults = append(faults, s.validatePass())
	if s.Features < 1 || s.Features > s.Candidates.Count {
		fault("features %d is not within 1..%d (candidates)", s.Features, s.Candidates.Count)
	}
	if !(s.SampleRate > 0 && s.SampleRate <= 1) {
		fault("sample_rate %v is not within (0, 1]", s.SampleRate)
	}
	if s.SampleRows < 0 || s.CalibrationRows < 0 {
		fault("sample_rows %d and calibration_rows %d must not be negative", s.SampleRows, s.CalibrationRows)
	}
	if err := s.Limits.Validate(); err != nil {
		fault("limits: %w", err)
	}
	return errors.Join(faults...)
}

// validatePass checks that what a later pass needs is there, and with no other pass.
func (s *Spec) validatePass() error {
	if (s.Criterion == scoring.Residual) != (s.Rounds > 0) {
		return fmt.Errorf("%d rounds for criterion %v", s.Rounds, s.Criterion)
	}
	if s.Pass == 0 {
		if s.Residual != nil || s.FirstPass != nil {
			return errors.New("the first pass has outcomes of passes")
		}
		return nil
	}
	if s.Pass < 0 || s.Criterion != scoring.Residual || s.Residual == nil || s.FirstPass == nil {
		return fmt.Errorf("pass %d of criterion %v without what the first one found", s.Pass, s.Criterion)
	}
	r := s.Residual
	if r.Done || r.Features != s.Features || r.Candidates != s.Candidates.Count {
		return fmt.Errorf("residual plan for %d of %d candidates, done: %v", r.Features, r.Candidates, r.Done)
	}
	if err := r.Validate(); err != nil {
		return fmt.Errorf("residual plan: %w", err)
	}
	if len(s.FirstPass.Partitions) != len(s.Partitions) {
		return fmt.Errorf("%d partitions, but the first pass took rows of %d", len(s.Partitions), len(s.FirstPass.Partitions))
	}
	return s.FirstPass.Counts.Validate()
}

// ResidualPlan returns what the pass is to sum under the residual criterion, nil under the others.
func (s *Spec) ResidualPlan() *scoring.ResidualPlan {
	if s.Criterion != scoring.Residual || s.Residual != nil {
		return s.Residual
	}
	return scoring.NewResidualPlan(s.Features, s.Rounds)
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
			return fmt.Errorf("partition %d: start_offset %d is no offset", p.Partition, p.StartOffset)
		}
		if p.EndOffset != -1 && p.EndOffset < p.StartOffset {
			return fmt.Errorf("partition %d: end_offset %d is before start_offset %d", p.Partition, p.EndOffset, p.StartOffset)
		}
		if p.Quota < 0 || p.CalibrationRows < 0 {
			return fmt.Errorf("partition %d: quota %d and calibration_rows %d must not be negative", p.Partition, p.Quota, p.CalibrationRows)
		}
	}
	return nil
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
