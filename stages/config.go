package stages

import (
	"time"

	"github.com/eerf-stream/eerf/arrowio/encoder"
	"github.com/eerf-stream/eerf/scoring"
	"github.com/eerf-stream/eerf/training"
)

// The structs below are what a configuration says about the stages; package config loads and checks them.
// The tags carry the reference text: key is the key, doc the meaning, unit the unit (where there is one).

// PipelineConfig names a pipeline.
type PipelineConfig struct {
	Name string `key:"name" doc:"name of the pipeline: key of its records on shared topics and prefix of its consumer groups; a-z, 0-9 and -, at most 64"`
}

// TopicsConfig names the topics and what they are created with.
type TopicsConfig struct {
	Events       string `key:"events" doc:"topic that the events are read from"`
	Explorations string `key:"explorations" doc:"topic of specs and requests (one partition, compacted)"`
	Scores       string `key:"scores" doc:"topic of checkpoints (co-partitioned with events, compacted)"`
	FeatureSets  string `key:"feature_sets" doc:"topic of feature sets (one partition, compacted)"`
	Features     string `key:"features" doc:"topic of feature vectors (co-partitioned with events); one per pipeline"`
	Models       string `key:"models" doc:"topic of models (one partition, compacted)"`
	DeadLetters  string `key:"dead_letters" doc:"topic of inputs that could not be used (co-partitioned with events)"`

	Partitions        int           `key:"partitions" doc:"partitions of events where topics create has to make it"`
	Replication       int           `key:"replication" doc:"replicas of created topics; 0 = the broker's default"`
	MaxMessageBytes   int64         `key:"max_message_bytes" unit:"bytes" doc:"max.message.bytes of created topics; checkpoints, feature sets and models must fit"`
	FeaturesRetention time.Duration `key:"features_retention" unit:"duration" doc:"retention.ms of the features topic; no feature set or model younger than this is tombstoned"`
	KeepFeatureSets   int           `key:"keep_feature_sets" doc:"newest feature sets that are kept; older ones are tombstoned once features_retention has passed"`
	KeepModels        int           `key:"keep_models" doc:"newest models that were in use that are kept, and as many of those that were not; older ones are tombstoned once features_retention has passed. How far back a rollback can go"`
}

// EventsConfig says what the columns of an event are used for.
type EventsConfig struct {
	Features      []string `key:"features" doc:"feature columns; empty = every numeric, boolean and string column but label and passthrough"`
	Exclude       []string `key:"exclude" doc:"columns that are never features"`
	Passthrough   []string `key:"passthrough" doc:"columns copied to the features topic, not used as features"`
	Label         []string `key:"label" doc:"label column; several for a regression with several outputs"`
	Task          string   `key:"task" doc:"auto (string and boolean labels are classes, numbers a regression), regression or classification"`
	Classes       []string `key:"classes" doc:"class names; empty = those seen in calibration"`
	Clip          float64  `key:"clip" unit:"standard deviations" doc:"bound on standardized values; 0 = off (the paper's setting)"`
	Standardize   string   `key:"standardize" doc:"numeric = numeric columns, all = one-hot and boolean columns too (the paper's setting), none"`
	MaxCategories int      `key:"max_categories" doc:"a string column with more distinct values is left out of the default features"`
	LabelMin      *float64 `key:"label_min" doc:"rows with a smaller label are rejected; unset = no bound"`
	LabelMax      *float64 `key:"label_max" doc:"rows with a larger label are rejected; unset = no bound"`
}

// ExplorationConfig says what an exploration draws, scores and keeps, and when one starts.
type ExplorationConfig struct {
	Map          scoring.Map          `key:"map" doc:"feature map: cosine, arccos0, arccos1, arccos2, linear"`
	Distribution scoring.Distribution `key:"distribution" doc:"sampling distribution: gaussian, cauchy, laplace, matern for cosine; gaussian for arccos; uniform for linear"`
	Nu           float64              `key:"nu" doc:"smoothness of the Matern kernel"`
	Sampler      scoring.Sampler      `key:"sampler" doc:"how candidates are drawn: iid; structured (SORF: orthogonal blocks that are multiplied by a fast transform; gaussian alone); orthogonal (ORF; gaussian and matern); quasi (a randomized Halton sequence; gaussian, cauchy, laplace)"`
	Sigma        float64              `key:"sigma" doc:"bandwidth; 0 = mean distance to the 50th nearest neighbour among calibration rows"`
	BandwidthMix []float64            `key:"bandwidth_mix" json:",omitempty" doc:"scales of the bandwidth, such as [1, 2, 4]: each candidate is drawn with sigma times one of them, chosen by the hash of seed and number (cosine; not with structured draws); empty = sigma for all"`
	Seed         uint64               `key:"seed" doc:"seed of candidates and of row sampling"`
	Candidates   int                  `key:"candidates" doc:"M0, number of candidates; 0 = 10 x features"`
	Features     int                  `key:"features" doc:"M, number of features kept"`
	Criterion    scoring.Criterion    `key:"criterion" doc:"what features are chosen by: correlation, energy (the paper), or residual (in rounds, each against what the ones before leave unexplained; reads the scored rows twice a round)"`
	Rounds       int                  `key:"rounds" json:",omitempty" doc:"R, rounds of the residual criterion; the others do not read it"`

	RowMemory       int64 `key:"row_memory" json:",omitempty" unit:"bytes" doc:"memory for the scored rows of an exploration by residual, which later passes take; partitions whose share they exceed are read again"`
	CandidateMemory int64 `key:"candidate_memory" unit:"bytes" doc:"memory for the candidates that an exploration scores; those that do not fit are drawn again for every block of rows, which changes no result but takes longer"`

	SampleRate         float64       `key:"sample_rate" doc:"share of rows that is scored, in (0, 1]"`
	SampleRows         int64         `key:"sample_rows" unit:"rows" doc:"N0, scored rows an exploration asks for, shared out evenly over the partitions; 0 = no quota (only with until: end)"`
	Until              string        `key:"until" doc:"quota = an exploration ends when its quotas are filled; end = at the offsets that were the end of the log when it was planned"`
	Start              string        `key:"start" doc:"where an exploration starts to read events: earliest or latest"`
	CalibrationRows    int64         `key:"calibration_rows" unit:"rows per partition" doc:"rows from which encoder and bandwidth are learned"`
	CalibrationTimeout time.Duration `key:"calibration_timeout" unit:"duration" doc:"how long calibration waits for its rows before it goes on with what there is"`
	Every              time.Duration `key:"every" unit:"duration" doc:"start a new exploration this long after the last plan; 0 = never by time"`
	EveryOffsets       int64         `key:"every_offsets" unit:"offsets" doc:"start a new exploration when events have advanced this far beyond where the last one stopped to read; 0 = never by offsets"`
	Deadline           time.Duration `key:"deadline" unit:"duration" doc:"an exploration this old is closed with the rows it has, so that one idle partition does not keep it open for ever; 0 = none"`
}

// SubsampleConfig says when score sums are saved.
type SubsampleConfig struct {
	CheckpointRows     int64         `key:"checkpoint_rows" unit:"rows" doc:"rows read from a partition between two checkpoints, at most"`
	CheckpointInterval time.Duration `key:"checkpoint_interval" unit:"duration" doc:"time between two checkpoints of a partition, at most"`
}

// FeaturizeConfig says where featurizing starts and how its output is cut.
type FeaturizeConfig struct {
	Start          string        `key:"start" doc:"where a partition without output and without committed offset starts: earliest or latest"`
	MaxOutputBytes int64         `key:"max_output_bytes" unit:"bytes" doc:"size of one output message; a larger input message becomes several output messages"`
	CommitInterval time.Duration `key:"commit_interval" unit:"duration" doc:"time between two commits of the consumer group's offset"`
	Predictions    bool          `key:"predictions" doc:"attach what the model in use predicts to the output, as columns prediction and, for classes, probabilities; they are null where the model is of another feature set than the output. Then the output also depends on when the model changed"`
}

// TrainConfig says when and how models are made.
type TrainConfig struct {
	Interval        time.Duration `key:"interval" unit:"duration" doc:"time between two models of trainer run"`
	MinRows         int64         `key:"min_rows" unit:"rows" doc:"a model is published from this many training rows on"`
	HeldOutFraction float64       `key:"held_out_fraction" doc:"share of rows, by row hash, on which lambda is chosen"`
	HeldOutSeed     uint64        `key:"held_out_seed" doc:"seed of the held-out row hash"`
	EvaluationRows  int           `key:"evaluation_rows" unit:"rows per partition" doc:"held-out rows kept in memory to measure the error: so many of each partition of features, and as many in the sample merged from them"`
	Intercept       bool          `key:"intercept" doc:"fit an intercept; false is the paper's setting"`
	LambdaGrid      string        `key:"lambda_grid" doc:"relative (powers of ten times the mean diagonal of the Gram), paper (1e-5 to 1e5 absolute), or numbers separated by commas"`
	Loss            string        `key:"loss" doc:"squared, from sums of one pass over the rows, or logistic, for classes, from rows kept in memory"`
	RowMemory       int64         `key:"row_memory" unit:"bytes" doc:"with the logistic loss: the features that may be kept, 4 bytes for each of a row; where they do not fit no model is made"`
	Promote         PromoteConfig `key:"promote"`
}

// The rules by which a challenger takes the place of the incumbent.
const (
	PromoteBetter           = "better"
	PromoteBetterAcrossSets = "better_across_sets"
	PromoteAlways           = "always"
)

// PromoteRules lists them.
func PromoteRules() []string { return []string{PromoteBetter, PromoteBetterAcrossSets, PromoteAlways} }

// PromoteConfig says when a model that was just trained, the challenger, takes the place of the one in use, the incumbent.
type PromoteConfig struct {
	Rule   string  `key:"rule" doc:"when a newly trained model takes the place of the one in use: better = when it beats that on the same held-out rows, or when that is of a feature set which is no longer in use; better_across_sets = then too only when it beats it, on the events behind the rows; always"`
	Margin float64 `key:"margin" doc:"share of the error of the model in use by which the error of the new one has to be lower; 0 = as low is enough; below 0, down to -1, it may be higher by that share"`
}

// LimitsConfig bounds what one message may cost.
type LimitsConfig struct {
	MaxMessageBytes int64 `key:"max_message_bytes" unit:"bytes" doc:"larger event messages are refused"`
	BudgetBytes     int64 `key:"budget_bytes" unit:"bytes" doc:"memory that decoding one message may allocate"`
	MaxRows         int   `key:"max_rows" unit:"rows" doc:"more rows in one message are refused"`
	MaxColumns      int   `key:"max_columns" doc:"more columns in one message are refused"`
}

// Settings is everything the stages are configured with.
type Settings struct {
	Pipeline    PipelineConfig    `key:"pipeline"`
	Topics      TopicsConfig      `key:"topics"`
	Events      EventsConfig      `key:"events"`
	Exploration ExplorationConfig `key:"exploration"`
	Subsample   SubsampleConfig   `key:"subsample"`
	Featurize   FeaturizeConfig   `key:"featurize"`
	Train       TrainConfig       `key:"train"`
	Limits      LimitsConfig      `key:"limits"`
}

// Default returns the settings of an empty configuration. The default map, distribution, sampler and
// criterion are the zero values of their types but for the criterion, which is residual.
func Default() Settings {
	return Settings{
		Pipeline: PipelineConfig{Name: "default"},
		Topics: TopicsConfig{
			Events: "events", Explorations: "explorations", Scores: "scores", FeatureSets: "feature-sets",
			Features: "features", Models: "models", DeadLetters: "dead-letters",
			Partitions: 4, MaxMessageBytes: 8 << 20, FeaturesRetention: 7 * 24 * time.Hour,
			KeepFeatureSets: 10, KeepModels: 10,
		},
		Events: EventsConfig{
			Task: encoder.TaskAuto, Clip: encoder.DefaultClip, Standardize: encoder.StandardizeNumeric,
			MaxCategories: encoder.DefaultMaxCategories,
		},
		Exploration: ExplorationConfig{
			Map: scoring.MapCosine, Distribution: scoring.Gaussian, Nu: 1.5, Sampler: scoring.IID, Seed: 1,
			Features: 500, Criterion: scoring.Residual, Rounds: scoring.DefaultRounds,
			RowMemory: 256 << 20, CandidateMemory: scoring.DefaultMemory,
			SampleRate: 0.1, SampleRows: 10000, Until: "quota", Start: "earliest",
			CalibrationRows: 2000, CalibrationTimeout: time.Minute, Deadline: 24 * time.Hour,
		},
		Subsample: SubsampleConfig{CheckpointRows: 100_000, CheckpointInterval: 10 * time.Second},
		Featurize: FeaturizeConfig{Start: "earliest", MaxOutputBytes: 1 << 20, CommitInterval: 5 * time.Second},
		Train: TrainConfig{
			Interval: time.Minute, MinRows: 1000, HeldOutFraction: 0.2, HeldOutSeed: 1,
			EvaluationRows: 10_000, Intercept: true, LambdaGrid: "relative", Loss: training.LossSquared, RowMemory: 1 << 30,
			Promote: PromoteConfig{Rule: PromoteBetter},
		},
		Limits: LimitsConfig{MaxMessageBytes: 8 << 20, BudgetBytes: 64 << 20, MaxRows: 1 << 20, MaxColumns: 4096},
	}
}

// rounds is what is configured under the residual criterion, else 0.
func (c ExplorationConfig) rounds() int {
	if c.Criterion != scoring.Residual {
		return 0
	}
	return c.Rounds
}

// CandidateCount is M0: what is configured, or ten times M.
func (c ExplorationConfig) CandidateCount() int {
	if c.Candidates > 0 {
		return c.Candidates
	}
	return 10 * c.Features
}
