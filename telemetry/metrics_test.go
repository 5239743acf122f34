package telemetry_test

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus/testutil/promlint"

	"github.com/eerf-stream/eerf/arrowio/wire"
	"github.com/eerf-stream/eerf/pipeline"
	"github.com/eerf-stream/eerf/scoring"
	"github.com/eerf-stream/eerf/scoring/adaptive"
	"github.com/eerf-stream/eerf/stages"
	"github.com/eerf-stream/eerf/stages/meter"
	"github.com/eerf-stream/eerf/stages/stagestest"
	"github.com/eerf-stream/eerf/training"
)

// everything runs processes until one shows every existing metric, except the metrics of drawn
// features: with an exploration running after two sets, a model, and dead letters. drawn holds the
// metrics of the process while its set had drawn features, classes the metrics of a classification
// model.
func everything(t *testing.T) (p *process, drawn, classes families) {
	t.Helper()
	b := newBench(t)
	b.fill(20)
	b.send(0, pipeline.Record{Value: []byte("no Arrow")})
	for seed, criterion := range []scoring.Criterion{scoring.Residual, scoring.Adaptive} {
		b.settings.Exploration.Seed, b.settings.Exploration.Criterion = uint64(seed+1), criterion
		p := b.run(nil, stages.Names()...)
		p.until("a feature set", is(float64(seed+1), "eerf_feature_set_sequence"))
		// For the first set: it may map all rows before the second set exists.
		p.until("a model", func(m families) bool { _, found := sum(m, "eerf_model_info"); return found })
		if criterion == scoring.Residual {
			drawn, classes = p.scrape(), p.ofClasses()
		}
		p.stop()
	}
	b.settings.Exploration.Seed, b.fetchBytes = 3, 1 // a message at a time
	open := make(chan struct{})
	p = b.run(gate(b.settings.Topics.Scores, open), stages.Names()...)
	t.Cleanup(func() { close(open) }) // before the process ends
	p.until("the third exploration", is(1, "eerf_exploration_running"))
	b.fill(4) // mapped by the second set
	p.until(
		"a model of the second set",
		func(m families) bool { n, _ := sum(m, "eerf_model_challengers_total"); return n > 0 },
	)
	b.fill(4) // for another model, which is compared with it
	p.until(
		"a comparison of models",
		func(m families) bool { _, found := sum(m, "eerf_model_compared_rows"); return found },
	)
	p.until("checkpoints", func(m families) bool { return len(m["eerf_checkpoint_timestamp_seconds"]) == partitions })
	p.until("a dead letter", func(m families) bool { _, found := sum(m, "eerf_dead_letters_total"); return found })
	p.until(
		"rows that are missing",
		func(m families) bool { n, _ := sum(m, "eerf_exploration_missing_rows"); return n > 0 },
	)
	b.send(0, pipeline.Record{Value: []byte(`{"a": 1, "c": 2}`)})
	p.until("a new field", func(m families) bool { _, found := sum(m, "eerf_unknown_field_rows_total"); return found })
	b.compareClasses()
	p.until("live errors", func(m families) bool { _, found := sum(m, "eerf_live_auc_ratio"); return found })
	p.until("their noise", func(m families) bool { _, found := sum(m, "eerf_live_excess_standard_errors"); return found })
	// This imitates the selection, which is waiting for the withheld checkpoints.
	p.Env.Meter.SetChoosing(
		meter.Choosing{Round: 4, Rounds: 4, Point: &adaptive.Point{Kind: adaptive.ByStep, Round: 3, Step: 12, Loss: 0.25}},
	)
	return p, drawn, classes
}

func TestEveryMetric(t *testing.T) {
	p, drawn, classes := everything(t)
	t.Run("keeps the conventions of Prometheus", func(t *testing.T) {
		body := p.get()
		defer body.Close()
		problems, err := promlint.New(body).Lint()
		if err != nil {
			t.Fatal(err)
		}
		for _, problem := range problems {
			t.Errorf("%s: %s", problem.Metric, problem.Text)
		}
	})
	m := p.scrape()
	t.Run("is in the table", func(t *testing.T) {
		table, err := os.ReadFile("testdata/metrics.txt")
		if err != nil {
			t.Fatal(err)
		}
		want, have := slices.Sorted(
			strings.Lines(string(table)),
		), slices.Concat(
			describe(m, string(table)),
			describe(drawn, string(table)),
			describe(classes, string(table)),
		)
		for _, line := range want {
			if !slices.Contains(have, line) {
				t.Errorf("not served: %s", line)
			}
		}
		for _, line := range have {
			if !slices.Contains(want, line) {
				t.Errorf("served and not in the table: %s", line)
			}
		}
	})
	t.Run("says what is", func(t *testing.T) {
		for name, want := range map[string]float64{
			"eerf_exploration_sequence":            3,
			"eerf_feature_set_sequence":            2,
			"eerf_exploration_planning_failed":     0,
			"eerf_exploration_round":               4,
			"eerf_exploration_step":                12,
			"eerf_exploration_held_out_loss_ratio": 0.25,
			"eerf_feature_set_held_out_loss_ratio": -1,
			"eerf_feature_set_held_out_rows":       -1,
			"eerf_feature_set_winner_info":         1,
			"eerf_undecodable_records_total":       0,
			"eerf_feature_set_info":                1,
			"eerf_feature_set_scored_rows":         -1,
			"eerf_memory_limit_bytes":              1 << 30,
			"eerf_memory_worst_case_bytes":         1 << 29,
			"eerf_build_info":                      1,
			"eerf_memory_budget_used_bytes":        -1, // kept candidates
			"eerf_feature_set_features":            -1,
			"eerf_model_info":                      1,
			"eerf_model_pinned":                    0,
			"eerf_model_challengers_total":         -1,
			"eerf_model_compared_rows":             -1,
			"eerf_model_compared_error_ratio":      -1,
			"eerf_prediction_rows_total":           0,
			"eerf_missing_offsets_total":           0,
			"eerf_unseen_class_rows_total":         0,
			"eerf_exploration_running":             1,
			"eerf_output_messages_total":           -1,
			"eerf_unsaved_rows":                    -1,
			"eerf_feature_set_cutoff_score":        -1,
			"eerf_model_constant_error_ratio":      -1,
			"eerf_model_training_rows":             -1,
			"eerf_model_measured_rows":             -1,
		} {
			if have, found := sum(m, name); !found || want >= 0 && have != want || want < 0 && have <= 0 {
				t.Errorf("%s: %v (found: %v), want %v", name, have, found, want)
			}
		}
		for _, name := range []string{"eerf_feature_set_confidence_radius", "eerf_feature_set_features_above_noise"} {
			_, ofDrawn := sum(drawn, name)
			if _, found := sum(m, name); found || !ofDrawn {
				t.Errorf("%s: of learned features %v, of drawn ones %v", name, found, ofDrawn)
			}
		}
		for _, name := range []string{
			"eerf_feature_set_timestamp_seconds",
			"eerf_model_timestamp_seconds",
			"eerf_model_challenger_timestamp_seconds",
			"eerf_exploration_planned_timestamp_seconds",
			"eerf_checkpoint_timestamp_seconds",
		} {
			for _, one := range m[name] {
				if age := time.Since(time.UnixMilli(int64(one.value * 1000))); age < 0 || age > stagestest.Patience {
					t.Errorf("%s is %v ago", name, age)
				}
			}
		}
	})
}

// ofClasses returns the metrics while the current model has two classes, one of them rare.
func (p *process) ofClasses() families {
	figure := 0.25
	model := &wire.Model{ID: "m-1", Model: &training.Model{Loss: training.LossLogistic}}
	model.Metrics.Measures = training.Measures{
		Misclassification: &figure,
		LogLoss:           &figure,
		ConstantLogLoss:   &figure,
		AUC:               &figure,
		AveragePrecision:  &figure,
		RareClass:         "yes",
		Recall: []training.ClassRecall{
			{Class: "no"},
			{Class: "yes", Rows: 4, Right: 1},
		},
		Calibration: []training.CalibrationBin{{Rows: 4, Predicted: .5, Observed: .25}},
	}
	return p.until("its measures", func(m families) bool { // of a later model if another fit intervenes
		auc, found := sum(m, "eerf_model_auc_ratio")
		if !found {
			p.Env.Meter.SetModel(model)
			return false
		}
		for name, want := range map[string]float64{
			"eerf_model_log_loss":                2 * figure,
			"eerf_model_average_precision_ratio": figure,
			"eerf_model_recall_ratio":            figure,
			"eerf_model_calibration_error_ratio": figure,
			"eerf_model_row_share_ratio":         1,
		} {
			if have, _ := sum(m, name); have != want {
				p.t.Errorf("%s: %v, want %v", name, have, want)
			}
		}
		return auc == figure
	})
}

// describe returns a line for each metric of this module, and for known ones of others: name, type,
// labels.
func describe(m families, known string) (lines []string) {
	for name, metrics := range m {
		if !strings.HasPrefix(name, "eerf_") && !strings.Contains(known, "\n"+name+" ") {
			continue
		}
		var labels []string
		for _, one := range metrics {
			for _, label := range one.labels {
				name, _, _ := strings.Cut(label, "=")
				labels = append(labels, name)
			}
		}
		slices.Sort(labels)
		lines = append(lines, fmt.Sprintf("%s %s %s\n", name, metrics[0].kind, strings.Join(slices.Compact(labels), ",")))
	}
	return lines
}
