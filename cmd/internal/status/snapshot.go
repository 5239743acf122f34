package status

import (
	"time"

	"github.com/eerf-stream/eerf/arrowio/encoder"
	"github.com/eerf-stream/eerf/arrowio/wire"
	"github.com/eerf-stream/eerf/cmd/internal/admin"
	"github.com/eerf-stream/eerf/cmd/internal/cli"
	"github.com/eerf-stream/eerf/scoring"
	"github.com/eerf-stream/eerf/scoring/adaptive"
	"github.com/eerf-stream/eerf/stages/live"
	"github.com/eerf-stream/eerf/stages/meter"
	"github.com/eerf-stream/eerf/training"
)

// Snapshot is the content of the page, in the sections in which changes are sent. Times are the
// server's; rates are means over some seconds.
type Snapshot struct {
	Process     Process     `json:"process"`
	Live        live.Report `json:"live"`
	Flow        Flow        `json:"flow"`
	Exploration Exploration `json:"exploration"`
	History     History     `json:"history"`
	Letters     Letters     `json:"letters"`
	Series      Series      `json:"series"`
}

// Process is the process that serves the page.
type Process struct {
	Time     time.Time     `json:"time"`
	Since    time.Time     `json:"since"` // start of the page
	Pipeline string        `json:"pipeline"`
	Stages   []meter.Stage `json:"stages"`
	Build    cli.Build     `json:"build"`
	// Ready and Conditions are the answer of /readyz at the last poll.
	Ready      bool              `json:"ready"`
	Conditions []admin.Condition `json:"conditions"`
	// LookedAt is the time of the last successful poll of the topics; zero = none yet.
	LookedAt time.Time `json:"looked_at,omitzero"`
	// BrokerError is the error of the last poll.
	BrokerError string `json:"broker_error,omitempty"`
}

// Flow describes the stages, topics and partitions.
type Flow struct {
	Stages     []Stage     `json:"stages"`
	Topics     []Topic     `json:"topics"`
	Partitions []Partition `json:"partitions"`
	// Waiting is the number of messages of events that are not featurized yet, over all partitions;
	// nil if unknown for some.
	Waiting *int64 `json:"waiting"`
}

// Stage describes a stage in this process.
type Stage struct {
	Name   meter.Stage `json:"name"`
	Here   bool        `json:"here"` // runs in this process
	Joined bool        `json:"joined"`
	Detail string      `json:"detail,omitempty"` // reason for not being joined
	Owned  []int       `json:"owned,omitempty"`  // partitions
	// Work of this process in the stage, per second.
	RowsPerSecond     float64 `json:"rows_per_second"`
	MessagesPerSecond float64 `json:"messages_per_second"`
	BytesPerSecond    float64 `json:"bytes_per_second"`
	RefusedPerSecond  float64 `json:"refused_per_second"` // rows rejected and messages undecodable
	Cores             float64 `json:"cores"`              // busy seconds per second, summed over partitions
	// LagSeconds is the greatest lag of the partitions that this process reads; nil if it reads
	// none.
	LagSeconds *float64 `json:"lag_seconds"`
	LagRows    *float64 `json:"lag_rows"`
}

// Topic is a topic of the pipeline, over all its partitions.
type Topic struct {
	// events, explorations, scores, samples, feature-sets, features, models, live, dead-letters
	Role       string  `json:"role"`
	Name       string  `json:"name"`
	Partitions int     `json:"partitions"`
	Next       int64   `json:"next"` // sum of the next offsets: records written since the topic was created
	Kept       int64   `json:"kept"` // offsets that the log still spans
	PerSecond  float64 `json:"per_second"`
	Error      string  `json:"error,omitempty"`
	// Recreated and Truncated count how often this process found the topic recreated or truncated.
	Recreated int64 `json:"recreated,omitempty"`
	Truncated int64 `json:"truncated,omitempty"`
}

// Partition is a partition of events, with the progress of the stages in it, whichever process runs
// them.
type Partition struct {
	Partition int       `json:"partition"`
	Next      int64     `json:"next"` // offset of events
	PerSecond float64   `json:"per_second"`
	Featurize *Progress `json:"featurize,omitempty"` // nil = unknown
	Subsample *Scoring  `json:"subsample,omitempty"` // nil = no exploration, or no checkpoint of it yet
	Train     *Progress `json:"train,omitempty"`     // position that the current model was fitted up to
}

// Progress is the position of a stage.
type Progress struct {
	Here       bool     `json:"here"` // from this process, as of now; else committed or published
	Next       int64    `json:"next"`
	Lag        int64    `json:"lag"` // offsets to the end
	LagSeconds *float64 `json:"lag_seconds,omitempty"`
}

// Scoring is the progress of a partition in the exploration.
type Scoring struct {
	Here     bool      `json:"here"` // this process scores it
	Start    int64     `json:"start_offset"`
	Next     int64     `json:"next"`
	End      int64     `json:"end_offset"` // reading ends before this offset
	Rows     int64     `json:"rows"`       // read
	Scored   int64     `json:"scored"`
	Expected int64     `json:"expected"` // rows in the sample, approximately
	Closed   string    `json:"closed,omitempty"`
	At       time.Time `json:"at,omitzero"` // of the checkpoint
}

// Exploration describes the newest exploration.
type Exploration struct {
	// Status is none, running, published, cancelled, abandoned, or replaced: planned by an earlier
	// version, to be planned again.
	Status       string    `json:"status"`
	ID           string    `json:"id,omitempty"`
	Sequence     int64     `json:"sequence,omitempty"`
	PlannedAt    time.Time `json:"planned_at,omitzero"`
	Reason       string    `json:"reason,omitempty"` // why it was planned, cancelled or abandoned
	Criterion    string    `json:"criterion,omitempty"`
	Map          string    `json:"map,omitempty"`
	Sigma        float64   `json:"sigma,omitempty"`
	Dim          int       `json:"dim,omitempty"`
	Candidates   int       `json:"candidates,omitempty"` // M0
	Features     int       `json:"features,omitempty"`   // M
	From         string    `json:"from,omitempty"`       // part of the log: recent, earliest, next
	LabelledRows int64     `json:"labelled_rows"`        // in the ranges
	SampleRate   float64   `json:"sample_rate,omitempty"`
	SampleRows   int64     `json:"sample_rows"`     // in the sample, approximately
	ScoredRows   int64     `json:"scored_rows"`     // by checkpoints, or by the lineage of the set
	Closed       int       `json:"closed"`          // partitions read to the end of their range
	Partitions   int       `json:"partitions"`      // partitions with anything to read
	Round        int       `json:"round,omitempty"` // current round of the selection, from 1; 0 = not selecting yet
	Rounds       int       `json:"rounds,omitempty"`
	// MissingRows is how many labelled rows a plan needs in addition to the PresentRows. Fault is
	// the error of the last attempt to plan, at FaultAt; the next one is at RetryAt. Known only if
	// this process plans.
	MissingRows int64     `json:"missing_rows,omitempty"`
	PresentRows int64     `json:"present_rows,omitempty"`
	Unusable    string    `json:"unusable,omitempty"` // unreadable messages and rows without a usable label
	Fault       string    `json:"fault,omitempty"`
	FaultAt     time.Time `json:"fault_at,omitzero"`
	RetryAt     time.Time `json:"retry_at,omitzero"`
	Requests    []Request `json:"requests"` // open
	// UnseenClasses lists the classes unknown to the feature set with the most rows featurized by
	// this process.
	UnseenClasses []encoder.ClassRows `json:"unseen_classes,omitempty"`
	// Without lists the partitions that the plan left out, with reasons.
	Excluded []wire.Exclusion `json:"without,omitempty"`
	// DeclinedClasses lists classes that featurizers asked for but that no row read by the
	// exploration has.
	DeclinedClasses []string  `json:"declined_classes,omitempty"`
	Spectrum        *Spectrum `json:"spectrum"` // of the current set; nil without one
	// Learning describes how features are being learned, or how the current ones were; nil under
	// other criteria.
	Learning *Learning `json:"learning,omitempty"`
	// Columns describes the use of the columns of events in the current set; nil without a set.
	Columns *ColumnTable `json:"columns,omitempty"`
}

// ColumnTable describes the use of the columns of events.
type ColumnTable struct {
	FeatureSet string              `json:"feature_set"`
	Features   int                 `json:"features"` // columns that are features
	LeftOut    int                 `json:"left_out"` // columns that could have been features but are not
	Listed     []encoder.ColumnUse `json:"listed"`
	Others     int                 `json:"others,omitempty"` // columns that are not listed
	// Watched is set if this process featurizes with the set. Imputed columns and new fields are
	// known only then.
	Watched   bool             `json:"watched,omitempty"`
	Imputed   []meter.Imputed  `json:"imputed,omitempty"`
	NewFields []meter.NewField `json:"new_fields,omitempty"`
}

// Learning holds measurements on held-out rows on the way to a feature set.
type Learning struct {
	Exploration string           `json:"exploration"`
	Points      []adaptive.Point `json:"points"` // in the order of measurement
	// index of the point that became the set; nil while features are learned
	Winner      *int  `json:"winner,omitempty"`
	Rows        int64 `json:"rows,omitempty"` // rows learned from
	HeldOutRows int64 `json:"held_out_rows,omitempty"`
	// Columns lists the most important columns, by falling share of the model's squared gradient;
	// OtherShare is the share of the OtherColumns that are not listed.
	Columns      []wire.ColumnImportance `json:"columns,omitempty"`
	OtherColumns int                     `json:"other_columns,omitempty"`
	OtherShare   float64                 `json:"other_share,omitempty"`
}

// Request is a request that waits for the planner.
type Request struct {
	Action string    `json:"action"`
	Reason string    `json:"reason,omitempty"`
	Time   time.Time `json:"time"`
}

// Spectrum holds the values of enough features of the current set to draw them, in the order of
// choice or, if kinds are mixed, falling.
type Spectrum struct {
	// Unit names Value: norm (√energy), criterion, or contribution for learned features, to which
	// the noise level does not apply.
	Unit     string `json:"unit"`
	Rows     int64  `json:"rows"`
	Features int    `json:"features"`
	// Kinds counts the features by kind; nil for maps other than the cosine.
	Kinds *scoring.KindCounts `json:"kinds,omitempty"`
	Rank  []float64           `json:"rank"`
	Value []float64           `json:"value"`
	Low   []float64           `json:"low,omitempty"` // confidence band, only for norm
	High  []float64           `json:"high,omitempty"`
	Above int                 `json:"above"` // features above the noise level
}

// History lists the results of explorations and training.
type History struct {
	Sets   []FeatureSet `json:"sets"`   // newest first
	Models []Model      `json:"models"` // oldest first
	// ModelsError is the reason why the models are unknown.
	ModelsError string `json:"models_error,omitempty"`
}

// FeatureSet is a feature set on its topic.
type FeatureSet struct {
	ID          string    `json:"id"`
	Exploration string    `json:"exploration"`
	Sequence    int64     `json:"sequence"`
	Published   time.Time `json:"published"`
	Current     bool      `json:"current"`
	Features    int       `json:"features"`
	Candidates  int       `json:"candidates"`
	Rows        int64     `json:"rows"`
	Criterion   string    `json:"criterion"`
	Copies      float64   `json:"copies,omitempty"` // estimated share of rows that equal an earlier row
	AboveNoise  int       `json:"above_noise"`
	ByResidual  int       `json:"by_residual"`
	Radius      float64   `json:"radius"`
	// Learned is set if noise and radius do not apply to the features; Best was measured on
	// HeldOutRows.
	Learned     bool            `json:"learned,omitempty"`
	Best        *adaptive.Point `json:"best,omitempty"`
	HeldOutRows int64           `json:"held_out_rows,omitempty"`
	Models      int             `json:"models"`
	// trained on the set: the current model, else the newest promoted one; nil = none known
	Model *Model `json:"model"`
}

// Model is a model on its topic.
type Model struct {
	ID         string    `json:"id"`
	FeatureSet string    `json:"feature_set"`
	Sequence   int64     `json:"sequence"`
	TrainedAt  time.Time `json:"trained_at"`
	Current    bool      `json:"current"`
	Promoted   bool      `json:"promoted"`          // training decided to make it current
	Verdict    string    `json:"verdict,omitempty"` // comparison with the model that was current then
	Rows       int64     `json:"rows"`
	HeldOut    int64     `json:"held_out_rows"` // rows that its errors were measured on
	// SeenShare is approximately the share of the held-out rows that the features of the set were
	// learned from.
	SeenShare float64 `json:"seen_share,omitempty"`
	Loss      string  `json:"loss"`
	// Measure names Error, the measure by which models are judged, on held-out rows. Constant is
	// the error of the best constant. Percent reports whether both are in percent.
	Measure  string   `json:"measure"`
	Percent  bool     `json:"percent"`
	Error    *float64 `json:"error"`
	Constant *float64 `json:"constant"`
	// Measures are on held-out rows. Recall and calibration, which may be long, are only set for
	// the current model.
	Measures training.Measures `json:"measures"`
	// Useless is set if no measure beats a constant's.
	Useless bool `json:"useless,omitempty"`
	// RowShare is the share of the training rows that fitted into memory, if not all did.
	RowShare float64 `json:"row_share,omitempty"`
	// HalfLife is the number of newer rows after which a row counted half; 0 = none was forgotten.
	HalfLife float64 `json:"half_life,omitempty"`

	through map[int]int64 // by partition of events: the offset that it was fitted up to
}

// Letters describes the dead letters, with the newest of each partition.
type Letters struct {
	Kept      int64         `json:"kept"`   // offsets that the topic still spans, including transaction markers
	Read      int64         `json:"read"`   // dead letters that were read
	Unread    int64         `json:"unread"` // dead letters skipped because there were too many
	From      time.Time     `json:"from,omitzero"`
	PerSecond float64       `json:"per_second"`
	Reasons   []LetterCount `json:"reasons"` // most frequent first
	Newest    []Letter      `json:"newest"`  // newest first
	Error     string        `json:"error,omitempty"`
}

// LetterCount is the number of letters of a stage for a reason.
type LetterCount struct {
	Stage   meter.Stage `json:"stage"`
	Reason  string      `json:"reason"`
	Letters int64       `json:"letters"` // among those that were read
	Rows    int64       `json:"rows"`    // rejected rows in them
	Here    int64       `json:"here"`    // dead letters sent by this process since its start
	Last    time.Time   `json:"last,omitzero"`
}

// Letter is a dead letter.
type Letter struct {
	Time      time.Time `json:"time"`
	Stage     string    `json:"stage"`
	Reason    string    `json:"reason"`
	Detail    string    `json:"detail"`
	Topic     string    `json:"topic"` // of the refused message
	Partition int32     `json:"partition"`
	Offset    int64     `json:"offset"`
	Rows      int32     `json:"rows"` // rejected rows; 0 = the whole message
}

// Series is the recent past, one list per line; nil where unknown.
type Series struct {
	Keep         int        `json:"keep"`          // points at most
	Time         []float64  `json:"time"`          // seconds since 1970
	Scored       []*float64 `json:"scored"`        // rows a second that this process scored
	Featurized   []*float64 `json:"featurized"`    // rows a second, this process
	Trained      []*float64 `json:"trained"`       // rows a second, this process
	In           []*float64 `json:"in"`            // messages a second, all partitions of events
	Out          []*float64 `json:"out"`           // messages a second, all partitions of features
	Waiting      []*float64 `json:"waiting"`       // messages of events that are not featurized yet, whole pipeline
	LiveError    []*float64 `json:"live_error"`    // of the newest 1,000 rows, in percent
	LivePromised []*float64 `json:"live_promised"` // for these rows
	Letters      []*float64 `json:"letters"`       // dead letters counted since the start of the process, whole pipeline
}

// Point is the newest point of the series.
type Point struct {
	Time         float64  `json:"time"`
	Scored       *float64 `json:"scored"`
	Featurized   *float64 `json:"featurized"`
	Trained      *float64 `json:"trained"`
	In           *float64 `json:"in"`
	Out          *float64 `json:"out"`
	Waiting      *float64 `json:"waiting"`
	LiveError    *float64 `json:"live_error"`
	LivePromised *float64 `json:"live_promised"`
	Letters      *float64 `json:"letters"`
}
