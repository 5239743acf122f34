package wire

import (
	"time"

	"github.com/eerf-stream/eerf/arrowio/encoder"
	"github.com/eerf-stream/eerf/arrowio/rowid"
	"github.com/eerf-stream/eerf/scoring"
	"github.com/eerf-stream/eerf/scoring/adaptive"
)

// Lineage says how a feature set was made: together with the log, it is enough to compute the set
// again. It is not part of the set's ID.
type Lineage struct {
	Pipeline    string    `json:"pipeline"`
	Exploration string    `json:"exploration"` // id
	Sequence    int64     `json:"sequence" bound:"0..1e12"`
	SpecHash    string    `json:"spec_hash"`
	ConfigHash  string    `json:"config_hash"`
	EventsTopic string    `json:"events_topic"`         // or the file explored
	EventsLog   string    `json:"events_log,omitempty"` // identity of the log that was explored, see [Spec.EventsLog]
	Arithmetic  string    `json:"kernel"`               // numeric kernel of the sums
	SelectedAt  time.Time `json:"selected_at,omitzero"`

	Partitions []LineagePartition `json:"partitions" bound:"list 4096"`
	// Excluded are the partitions that the exploration was planned without, with the reasons.
	Excluded []Exclusion `json:"without,omitempty" bound:"list 4096"`
	Counts   Counts      `json:"counts"` // over all partitions
	Rows     int64       `json:"rows"`   // rows scored, with those held out of the sums

	SampleRate      float64 `json:"sample_rate"`
	SampleSeed      uint64  `json:"sample_seed,string"`
	SampleRows      int64   `json:"sample_rows"` // requested N0; 0 = the rate was given
	From            From    `json:"from,omitempty"`
	LabelledRows    int64   `json:"labelled_rows,omitempty"` // of the ranges, as the planner counted them
	CalibrationRows int64   `json:"calibration_rows"`
	// Identity says which rows were on the same side when rows were held out.
	Identity rowid.Rule `json:"identity,omitzero"`
	// Copies is the share of rows that equal an earlier row, see [Spec].
	Copies float64 `json:"copies,omitempty" bound:"0..1"`
	// of a file: the rows that were held out of everything above; nil = none
	Split         *Split `json:"split,omitempty"`
	BandwidthRule string `json:"bandwidth_rule"`

	Columns []encoder.ColumnUse `json:"columns,omitempty" bound:"list 65536"` // how the columns of the events are used

	Criterion  scoring.Criterion `json:"criterion"`
	Candidates int               `json:"candidates"` // M0
	Best       float64           `json:"best"`       // greatest criterion value
	Cutoff     float64           `json:"cutoff"`     // criterion value of the last feature kept
	Radius     float64           `json:"radius"`     // Hoeffding confidence radius of one score, for maps bounded by 1
	// LargeSampleRadius is the greatest large-sample radius among the kept features: the
	// approximate one that holds for unbounded maps.
	LargeSampleRadius float64 `json:"large_sample_radius"`
	AboveNoise        int     `json:"above_noise"`
	// Under a criterion that needs rows: Rounds is R, and under residual ByResidual is how many of
	// the features, the first ones, were chosen against residuals: all of them, except in sets of
	// earlier versions.
	Rounds     int `json:"rounds,omitempty"`
	ByResidual int `json:"by_residual,omitempty"`
	// Members is the number of members that were asked for, under the adaptive criterion; 0 = 1.
	Members int `json:"members,omitempty"`
	// RefineSteps and Learning say, under the adaptive criterion, how many steps the refinement
	// could take, and how the features were learned.
	RefineSteps int `json:"refine_steps,omitempty"`
	// RefineRounds is how many rounds the refinement could have.
	RefineRounds int              `json:"refine_rounds,omitempty"`
	Learning     *adaptive.Report `json:"learning,omitempty"`
}

// LineagePartition is the part of one partition that a feature set was computed from: the rows with
// ordinals below ClosingOrdinal, counted from StartOffset.
type LineagePartition struct {
	Partition      int32       `json:"partition"`
	StartOffset    int64       `json:"start_offset"`
	NextOffset     int64       `json:"next_offset"`          // after the last message that was read
	EndOffset      int64       `json:"end_offset,omitempty"` // of the range
	ClosingOrdinal int64       `json:"closing_ordinal"`
	CloseReason    CloseReason `json:"close_reason"`
	// CalibrationRows is the number of its rows, the ones with the lowest hashes, from which
	// encoder and bandwidth were learned.
	CalibrationRows int64 `json:"calibration_rows"`
}
