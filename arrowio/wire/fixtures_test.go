package wire

import (
	"fmt"
	"math"
	"math/rand/v2"
	"time"

	"github.com/apache/arrow/go/v15/arrow"

	"github.com/eerf-stream/eerf/arrowio"
	"github.com/eerf-stream/eerf/arrowio/encoder"
	"github.com/eerf-stream/eerf/scoring"
	"github.com/eerf-stream/eerf/training"
)

// noon is a time with a location, which must not reach the bytes, and nanoseconds, which must.
var noon = time.Date(2026, 11, 3, 13, 30, 0, 250, time.FixedZone("CET", 3600))

// newDecoder returns a decoder with default limits.
func newDecoder() *arrowio.Decoder { return arrowio.NewDecoder(arrowio.DefaultLimits()) }

// exampleEncoder has every kind of column and gives 7 dimensions.
func exampleEncoder() *encoder.Encoder {
	return &encoder.Encoder{
		Columns: []encoder.Column{
			{Name: "age", Kind: encoder.Numeric, Width: 1, Mean: []float64{41.3}, Scale: []float64{0.1 + 0.2}},
			{Name: "vip", Kind: encoder.Bool, Width: 1, Mean: []float64{0.25}},
			{Name: "city", Kind: encoder.Category, Width: 3, Categories: []string{"<Köln>", "Oslo", "São Paulo & co"}},
			{Name: "pixels", Kind: encoder.Vector, Width: 2, Mean: []float64{-1e-7, 3}, Scale: []float64{1, 1e21}},
		},
		Clip:        5,
		Standardize: encoder.StandardizeNumeric,
		Label: &encoder.Label{
			Columns: []string{"income"}, Kind: encoder.Category, Task: scoring.MultiClass,
			Classes: []string{"high", "low", "mid"},
		},
		Passthrough: []string{"customer"},
		Dim:         7,
	}
}

// exampleCandidates are 16 candidates over the example encoder.
func exampleCandidates() scoring.Candidates {
	return scoring.Candidates{
		Map: scoring.MapCosine, Distribution: scoring.Gaussian,
		Sigma: 2.5, Seed: math.MaxUint64, Dim: 7, Count: 16,
	}
}

func exampleSpec() *Spec {
	return &Spec{
		Exploration: "ex-7", Status: StatusRunning, ConfigHash: "c0ffee",
		HandledOffset: 12, Reason: "1h0m0s since the last plan", PlannedAt: noon,
		Plan: Plan{
			Pipeline:        "income",
			Sequence:        7,
			Encoder:         exampleEncoder(),
			Candidates:      exampleCandidates(),
			Features:        4,
			Criterion:       scoring.Correlation,
			From:            FromRecent,
			SampleRate:      0.1,
			SampleSeed:      1 << 63,
			SampleRows:      1000,
			CalibrationRows: 500,
			BandwidthRule:   "neighbour-50",
			Arithmetic:      "fma1",
			Limits:          arrowio.DefaultLimits(),
			EventsTopic:     "events",
			Partitions: []Partition{
				{Partition: 0, StartOffset: 5, EndOffset: 80, LabelledRows: 6000, Quota: 1200, CalibrationRows: 500},
				{Partition: 2, StartOffset: 0, EndOffset: 1 << 40, LabelledRows: 4000, Quota: 800},
			},
		},
		Notes: []PartitionNote{{Partition: 0, ReportedFrom: 5, ReportedTo: 40, LastBatch: BatchMark{79, 3735928559}}},
	}
}

func exampleCheckpoint() *Checkpoint {
	spec := exampleSpec()
	return &Checkpoint{
		Exploration: spec.Exploration, Sequence: spec.Sequence, SpecHash: spec.Hash(), Partition: 2,
		NextOffset: 77, NextOrdinal: 1000, Closed: true, CloseReason: CloseQuota,
		Counts: Counts{Messages: 11, Undecodable: 1, Rows: 1000, Scored: 90, NotSampled: 880, Unlabelled: 20, Rejected: 10,
			Imputed: 3, UnseenCategory: 2, Clipped: 1, UnseenClass: 4},
		Sums: exampleSums(spec.Candidates.Count, 3, 90, rand.New(rand.NewPCG(1, 2))), Attempt: 1,
		Samples: SampleMark{FirstOffset: 12, Rows: 90, Checksum: 0xfedcba9876543210}, Arithmetic: "fma1", WrittenAt: noon,
	}
}

// exampleSums are sums as rows might leave them, with numbers that decimal text does not represent
// exactly.
func exampleSums(m0, k int, rows int64, r *rand.Rand) *scoring.Sums {
	s := scoring.NewSums(m0, k)
	s.Rows = rows
	if rows == 0 {
		return s
	}
	for i := range s.Phi {
		s.Phi[i], s.PhiSq[i] = r.NormFloat64(), r.ExpFloat64()/3
	}
	for i := range s.YPhi {
		s.YPhi[i] = r.NormFloat64() * math.Pow(10, float64(r.IntN(600)-300))
	}
	for i := range s.Y {
		s.Y[i], s.YSq[i], s.YMin[i], s.YMax[i] = r.NormFloat64(), r.ExpFloat64(), -r.Float64()/3, r.Float64()/3
	}
	return s
}

func exampleFeatureSet() *FeatureSet {
	r := rand.New(rand.NewPCG(3, 4))
	const m, k = 4, 3
	f := &FeatureSet{
		Encoder: exampleEncoder(), Task: scoring.MultiClass, Candidates: exampleCandidates(),
		Set: scoring.FeatureSet{
			Features: &scoring.Features{Map: scoring.MapCosine, Dim: 7, Omega: make([]float32, m*7), Phase: make([]float32, m)},
			Index:    []int32{3, 15, 0, 8}, Scale: float32(1 / math.Sqrt(m)),
			Score: []float64{0.5, 0.25, 0.125, 1. / 3}, S: make([]float64, m*k),
		},
		Coding: scoring.Coding{Gain: []float64{1, 1, 1}, Offset: []float64{-1. / 3, -1. / 3, -1. / 3}},
		Lineage: Lineage{
			Pipeline:    "income",
			Exploration: "ex-7",
			Sequence:    7,
			SpecHash:    "abc",
			ConfigHash:  "c0ffee",
			EventsTopic: "events",
			Arithmetic:  "fma1",
			SelectedAt:  noon,
			Partitions: []LineagePartition{
				{Partition: 0, StartOffset: 5, NextOffset: 99, ClosingOrdinal: 4000, CloseReason: CloseQuota},
			},
			Counts:          Counts{Messages: 94, Rows: 4000, Scored: 400, NotSampled: 3600},
			Rows:            400,
			From:            FromRecent,
			SampleRate:      0.1,
			SampleSeed:      1 << 63,
			SampleRows:      400,
			CalibrationRows: 500,
			BandwidthRule:   "neighbour-50",
			Criterion:       scoring.Correlation,
			Candidates:      16,
			Best:            0.5,
			Cutoff:          0.125,
			Radius:          0.2,
			AboveNoise:      3,
		},
	}
	for i := range f.Set.Features.Omega {
		f.Set.Features.Omega[i] = float32(r.NormFloat64() / 2.5)
	}
	for i := range f.Set.Features.Phase {
		f.Set.Features.Phase[i] = r.Float32() * 6
	}
	for i := range f.Set.S {
		f.Set.S[i] = r.NormFloat64() / 10
	}
	return f
}

// linearFeatureSet selects two coordinates, with weights.
func linearFeatureSet() *FeatureSet {
	f := exampleFeatureSet()
	f.Candidates.Map, f.Candidates.Count = scoring.MapLinear, 7
	f.Set = scoring.FeatureSet{
		Features: &scoring.Features{Map: scoring.MapLinear, Dim: 7, Omega: []float32{6, 0}},
		Index:    []int32{2, 0}, Weight: []float32{0.5, 2}, Scale: 0.70710677,
		Score: []float64{2, 1}, S: make([]float64, 6),
	}
	return f
}

// mixedFeatureSet has two cosines, a ramp, two hinges and two boxes.
func mixedFeatureSet() *FeatureSet {
	f := learnedFeatureSet()
	r := rand.New(rand.NewPCG(11, 12))
	product := func(box bool, coordinates ...uint16) scoring.Product {
		p := scoring.Product{Box: box, Order: uint8(len(coordinates))}
		for a, j := range coordinates {
			p.Coordinate[a], p.Sign[a], p.Threshold[a] = j, float32(1-2*(a%2)), float32(r.NormFloat64()/2)
		}
		return p
	}
	const m, k = 7, 3
	f.Set = scoring.FeatureSet{
		Features: &scoring.Features{
			Map: scoring.MapCosine, Dim: 7, Omega: make([]float32, 3*7), Phase: []float32{1, 2, -3}, Ramps: 1,
			Products: []scoring.Product{product(false, 2), product(false, 6, 0), product(true, 1), product(true, 4, 5, 0)},
		},
		Index: []int32{3, 15, 3, 8, 9, 10, 11}, Round: []int32{2, 2, 1, 2, 2, 2, 2}, Scale: float32(1 / math.Sqrt(m)),
		Score: []float64{0.5, 0.25, 0.125, 1. / 3, 0.1, 0.3, 0.2}, S: make([]float64, m*k),
	}
	for i := range f.Set.Features.Omega {
		f.Set.Features.Omega[i] = float32(r.NormFloat64() / 2.5)
	}
	for i := range f.Set.S {
		f.Set.S[i] = r.NormFloat64() / 10
	}
	return f
}

func exampleModel() *Model {
	r := rand.New(rand.NewPCG(5, 6))
	const m, k = 4, 3
	w := &training.Model{Features: m, Outputs: k, Theta: make([]float64, m*k),
		Intercept: []float64{0.1, -2e-300, math.Pi}, Lambda: 1e-7 / 3, Loss: training.LossSquared}
	for i := range w.Theta {
		w.Theta[i] = r.NormFloat64()
	}
	return &Model{
		Pipeline: "income", FeatureSetID: exampleFeatureSet().ID(), Sequence: 7, Model: w, Label: exampleEncoder().Label,
		Metrics: Metrics{
			Measures: training.Measures{
				Misclassification: Measured(16.1), ConstantError: Measured(24.5), UnexplainedVariance: Measured(math.NaN()),
			},
			LambdaPath: []LambdaPoint{
				{Lambda: 1e-8, HeldOutLoss: Measured(0.5)},
				{Lambda: 1e-7 / 3, HeldOutLoss: Measured(0.25)},
			},
			LambdaRule: "held_out",
		},
		TrainRows: 900, HeldOutRows: 100, HeldOutSeed: 9, HeldOutFraction: 0.1,
		Ranges: []Range{
			{Partition: 0, FirstOffset: 5, NextOffset: 99, Rows: 500},
			{Partition: 2, FirstOffset: 0, FirstRow: 7, NextOffset: 3, NextRow: 12, Rows: 400},
		},
		TrainedAt: noon,
	}
}

// exampleChallenger is a model that did not beat the one in use, with the weights by which it was
// judged.
func exampleChallenger() *Model {
	r := rand.New(rand.NewPCG(7, 8))
	m := exampleModel()
	judged := *m.Model
	judged.Theta = make([]float64, len(m.Model.Theta))
	for i := range judged.Theta {
		judged.Theta[i] = r.NormFloat64()
	}
	judged.Intercept = []float64{0.2, -1. / 3, 3}
	m.Judged, m.ConfigHash = &judged, "c0ffee"
	m.Metrics.RowShare = 0.25
	m.Metrics.Recall = []training.ClassRecall{
		{Class: "high", Rows: 40, Right: 30},
		{Class: "low", Rows: 50, Right: 49},
		{Class: "mid", Rows: 10},
	}
	m.Metrics.LogLoss, m.Metrics.ConstantLogLoss = Measured(0.4), Measured(0.9)
	m.Metrics.Calibration = []training.CalibrationBin{{Rows: 0}, {Rows: 100, Predicted: 0.75, Observed: 0.8125}}
	m.Judgement = &Judgement{
		Verdict:         VerdictNotBetter,
		Incumbent:       "m-0123456789abcdef0123456789abcdef",
		Rule:            "better",
		Margin:          0.01,
		Measure:         "misclassification",
		Rows:            100,
		ChallengerError: Measured(16.1),
		IncumbentError:  Measured(15.9),
		StandardError:   Measured(0.25),
	}
	return m
}

// exampleRollback is a pointer back to a model.
func exampleRollback() *Current {
	return &Current{ID: ModelID(exampleModel()), Sequence: 7, Time: noon, Pin: PinHold,
		Replaced: "m-0123456789abcdef0123456789abcdef", Reason: "too many false alarms"}
}

func exampleRequest() *Request {
	return &Request{Action: ActionStart, ID: "rq-1", Reason: "new labels", Time: noon, From: FromNext}
}

// exampleSamples are of a label with classes, or of two outputs.
func exampleSamples(classes bool) *Samples {
	s := &Samples{
		SpecHash:  exampleSpec().Hash(),
		Partition: 2,
		Dim:       2,
		Ordinal:   []int64{3, 17, 40},
		X:         []float32{0.5, -1, 0, 5, 1, 0.25},
	}
	if classes {
		s.Targets = scoring.Targets{Outputs: 3, Class: []int32{2, 0, 1}}
	} else {
		s.Targets = scoring.Targets{Outputs: 2, Values: []float32{1, -2, 0.5, 0, 3, 4}}
	}
	return s
}

// samplesValue is the message without its headers.
func samplesValue(s *Samples) []byte {
	value, _, err := EncodeSamples(s)
	return must(value, err)
}

// decodeSamples decodes a message with the headers of the example.
func decodeSamples(dec *arrowio.Decoder, value []byte) (*Samples, error) {
	_, headers, err := EncodeSamples(exampleSamples(true))
	if err != nil {
		return nil, err
	}
	return DecodeSamples(dec, value, headers)
}

func exampleRefusal() *Refusal {
	return &Refusal{
		Exploration: "ex-7",
		SpecHash:    exampleSpec().Hash(),
		Partition:   2,
		Attempt:     1,
		Reason:      "89 of 90 rows",
		Time:        noon,
	}
}

func exampleProgress() *Progress {
	return &Progress{Exploration: "ex-7", Sequence: 7, Rows: 90, Round: 2, Rounds: 3, Time: noon}
}

// exampleLive has the sums of three rows of two classes.
func exampleLive() *LiveSums {
	promised, percent := 0.25, 12.5
	return &LiveSums{
		Model:         "m-1",
		Measure:       LiveLogLoss,
		Promised:      &promised,
		PromisedError: &percent,
		PromisedRows:  2000,
		Rows:          3,
		Loss:          1.5,
		Squares:       1.25,
		Wrong:         1,
		Classes:       []int64{1, 2},
		Scores:        [2][]ScoreBin{{{100, 1}}, {{512, 1}, {1023, 1}}},
	}
}

// exampleBlock has rows of a regression, predicted by two models.
func exampleBlock() *Block {
	sums := LiveSums{
		Model: "m-1", Measure: LiveSquaredError, Rows: 2, Loss: 2.5, Squares: 4.25,
		Outputs: []OutputSums{{
			Residual: 1, SquaredResidual: 2.5, AbsoluteResidual: 2, Label: 7, SquaredLabel: 25, Origin: 3,
		}},
	}
	later := sums.Clone()
	later.Model = "m-2"
	return &Block{
		Pipeline:    "shop",
		Partition:   2,
		SourceLog:   "log-1",
		FirstOffset: 40,
		FirstRow:    3,
		NextOffset:  45,
		From:        noon,
		To:          noon.Add(time.Second),
		Models:      []LiveSums{sums, later},
	}
}

func exampleCurrent() *Current {
	return &Current{ID: exampleFeatureSet().ID(), Sequence: 7, Exploration: "ex-7", Time: noon}
}

// must panics on an error; for fixtures that cannot fail.
func must[T any](v T, err error) T {
	if err != nil {
		panic(fmt.Sprintf("fixture: %v", err))
	}
	return v
}

// encodeFeatures returns a features message with the given features.
func encodeFeatures(rec arrow.Record, rows []int32, z []float32, m int, setID string, label []string) ([]byte, error) {
	body, err := ReserveFeatures(nil, rec, rows, FeaturesLayout{FeatureSet: setID, Features: m, LabelColumns: label})
	copy(body.Features, z)
	return body.Value, err
}
