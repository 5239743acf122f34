package main

import (
	"fmt"
	"io"
	"strings"

	"github.com/eerf-stream/eerf/arrowio/encoder"
	"github.com/eerf-stream/eerf/arrowio/wire"
	"github.com/eerf-stream/eerf/cmd/internal/cli"
	"github.com/eerf-stream/eerf/scoring"
	"github.com/eerf-stream/eerf/stages/meter"
)

// setSummary is the JSON description of a feature set.
type setSummary struct {
	FeatureSet  setIdentity    `json:"feature_set"`
	Exploration setExploration `json:"exploration"`
	Rows        wire.Counts    `json:"rows"`
	Lineage     wire.Lineage   `json:"lineage"`
	// Importance is each column's share of the squared gradient of the model that the features were
	// learned with.
	Importance []wire.ColumnImportance `json:"column_importance,omitempty"`
	// Features of the set; only inspect lists them.
	Features []featureInWords `json:"features,omitempty"`
	Warnings []string         `json:"warnings,omitempty"`
	// Telltales are columns that predict the label nearly alone.
	Telltales []encoder.Telltale      `json:"telltales,omitempty"`
	Seconds   map[meter.Stage]float64 `json:"seconds,omitempty"`
}

type setIdentity struct {
	ID   string `json:"id"`
	Task string `json:"task"`
	Dim  int    `json:"dim"`
	File string `json:"file,omitempty"`
}

type setExploration struct {
	ID               string  `json:"id"`
	Map              string  `json:"map"`
	Distribution     string  `json:"distribution"`
	Candidates       int     `json:"candidates"`
	Features         int     `json:"features"`
	SampleRows       int64   `json:"sample_rows"`
	Criterion        string  `json:"criterion"`
	Sigma            float64 `json:"sigma"`
	ConfidenceRadius float64 `json:"confidence_radius"`
	// LargeSampleRadius is the radius that is valid for unbounded maps (arc-cosine 1 and 2,
	// linear).
	LargeSampleRadius float64 `json:"large_sample_radius"`
	Best              float64 `json:"best_score"`
	Cutoff            float64 `json:"cutoff_score"`
	AboveNoise        int     `json:"above_noise"`
	// Rounds and ByResidual are set under the residual criterion: R, and the number of features
	// chosen by residual. The other features were chosen by correlation.
	Rounds     int  `json:"rounds,omitempty"`
	ByResidual *int `json:"by_residual,omitempty"`
}

func describeSet(set *wire.FeatureSet) setSummary {
	l := set.Lineage
	summary := setSummary{
		FeatureSet: setIdentity{ID: set.ID(), Task: set.Task.String(), Dim: set.Encoder.Dim},
		Exploration: setExploration{
			ID: l.Exploration, Map: set.Candidates.Map.String(), Distribution: set.Candidates.Distribution.String(),
			Candidates: l.Candidates, Features: set.Set.Features.Len(), SampleRows: l.Rows,
			Criterion: l.Criterion.String(), Sigma: set.Candidates.Sigma, ConfidenceRadius: l.Radius,
			LargeSampleRadius: l.LargeSampleRadius,
			Best:              l.Best, Cutoff: l.Cutoff, AboveNoise: l.AboveNoise,
		},
		Rows: l.Counts, Lineage: l, Importance: set.Importance(),
	}
	if byResidual(l) {
		summary.Exploration.Rounds, summary.Exploration.ByResidual = l.Rounds, &l.ByResidual
	}
	return summary
}

// byResidual reports whether features were chosen by residual.
func byResidual(l wire.Lineage) bool { return l.Criterion.NeedsRows() && !l.Learned() }

// explored adds the timings of an exploration, its warnings, and advice.
func (s *setSummary) explored(seconds map[meter.Stage]float64, warnings []string) {
	s.Seconds = seconds
	s.Warnings = append(s.Warnings, warnings...)
	if e := s.Exploration; !s.growing() {
		s.Warnings = append(s.Warnings, fmt.Sprintf(
			"%d of the %d features are not above the noise level of %d rows; "+
				"score more rows (--sample) or keep fewer features (--features)",
			e.Features-e.AboveNoise, e.Features, e.SampleRows))
	}
}

// growing reports whether more features may help, because chance explains at most a tenth of the
// current ones.
func (s *setSummary) growing() bool {
	e := s.Exploration
	return s.Lineage.Learned() || 10*(e.Features-e.AboveNoise) <= e.Features
}

func printSet(w io.Writer, set *wire.FeatureSet, s setSummary) {
	e, c := s.Exploration, s.Rows
	t := cli.NewFacts(w)
	t.Add("feature set", "%s", s.FeatureSet.ID)
	t.Add("task", "%s, label %s", s.FeatureSet.Task, strings.Join(set.Encoder.Label.Columns, ", "))
	t.Add("columns, dimensions", "%d, %d", len(set.Encoder.Columns), s.FeatureSet.Dim)
	if s.Lineage.Learned() {
		n := set.Set.Features.Kinds()
		t.Add("features", "%d learned, drawn from pools of %d candidates", e.Features, e.Candidates)
		t.Add("  by kind", "cosines %d, ramps %d, hinges %d, boxes %d", n.Cosine, n.Ramp, n.Hinge, n.Box)
		t.Add("bandwidth σ at first", "%.4g (%s)", e.Sigma, s.Lineage.BandwidthRule)
	} else {
		t.Add("features", "%d of %d candidates, %s map, %s draws", e.Features, e.Candidates, e.Map, e.Distribution)
		t.Add("bandwidth σ", "%.4g (%s)", e.Sigma, s.Lineage.BandwidthRule)
	}
	addLearning(t, s.Lineage.Learning)
	switch {
	case s.Lineage.Learned():
		t.Add("contribution to the model", "%.4g (best) to %.4g (least)", e.Best, e.Cutoff)
	case e.ByResidual == nil:
		t.Add(e.Criterion, "%.4g (best) to %.4g (cut-off)", e.Best, e.Cutoff)
	default:
		addByResidual(t, set, *e.ByResidual, e.Rounds)
	}
	if !s.Lineage.Learned() {
		addRadius(t, set.Candidates.Map, set.Lineage.Criterion, e.ConfidenceRadius, e.LargeSampleRadius,
			fmt.Sprintf("; %d of %d features above it", e.AboveNoise, e.Features))
	}
	t.Add("rows", "%d in, %d scored, %d not sampled, %d unlabelled, %d rejected",
		c.Rows, c.Scored, c.NotSampled, c.Unlabelled, c.Rejected)
	if share := s.Lineage.Copies; share > 0 {
		t.Add("  copies of earlier rows", "%.3g %%", 100*share)
	}
	t.Add("source", "%s, exploration %s", s.Lineage.EventsTopic, e.ID)
	t.Render()
}

// addByResidual adds the number of features chosen by each rule and the range of their scores,
// which are gains for residuals and correlations for the rest.
func addByResidual(t cli.Facts, set *wire.FeatureSet, byResidual, rounds int) {
	scores := set.Set.Score
	value := "none"
	if byResidual > 0 {
		value = fmt.Sprintf("%d features in up to %d rounds, gain %.4g (first) to %.4g (last)",
			byResidual, rounds, scores[0], scores[byResidual-1])
	}
	t.Add("by residual", "%s", value)
	if byResidual < len(scores) {
		t.Add("by correlation", "%d features, %.4g (best) to %.4g (cut-off)",
			len(scores)-byResidual, scores[byResidual], scores[len(scores)-1])
	}
}

// addRadius adds the confidence radius of the scores. It bounds a distance between scores, or a
// correlation, not the squares of the criterion. Hoeffding's radius does not apply to unbounded
// maps.
func addRadius(t cli.Facts, m scoring.Map, c scoring.Criterion, radius, largeSample float64, above string) {
	switch {
	case c.Relative():
		t.Add("noise level of |correlation|", "%.4g%s", radius, above)
	case m.Bounded():
		t.Add("confidence radius of Ŝ", "%.4g%s", radius, above)
	default:
		t.Add("large-sample radius of Ŝ", "%.4g at most among the kept features", largeSample)
	}
}
