package telemetry_test

import (
	"strings"
	"testing"

	"github.com/eerf-stream/eerf/arrowio/wire"
	"github.com/eerf-stream/eerf/pipeline"
	"github.com/eerf-stream/eerf/stages"
	"github.com/eerf-stream/eerf/stages/meter"
)

// The metrics of a process agree with its counters: every row and every byte has one outcome.
func TestMetricsReconcileWithTheTotals(t *testing.T) {
	b := newBench(t)
	const messages = 20
	bytes := b.fill(messages)
	bytes += b.send(0, pipeline.Record{Value: []byte("no Arrow")})
	damaged := []pipeline.Record{{Key: wire.SpecKey(b.settings.Pipeline.Name), Value: []byte("no spec")}}
	if _, err := b.broker.Produce(b.ctx, b.settings.Topics.Explorations, 0, damaged); err != nil {
		t.Fatal(err)
	}
	p := b.run(nil, stages.Names()...)
	const rows = partitions * messages * 50
	p.until("everything is featurized", is(rows, "eerf_rows_total", "stage=featurize"))
	p.until("the refused message too", is(1, "eerf_messages_total", "stage=featurize", "outcome=undecodable"))
	p.until("everything is trained on or without a label", func(m families) bool {
		total, _ := sum(m, "eerf_rows_total", "stage=train")
		rejected, _ := sum(m, "eerf_rows_total", "stage=featurize", "outcome=rejected")
		return total == rows-rejected
	})
	p.until("its model is out", func(m families) bool { _, found := sum(m, "eerf_model_info"); return found })
	m := p.until("no lag", is(0, "eerf_lag_messages"))
	totals := p.Env.Meter.Totals()

	for name, want := range map[string]int64{
		"eerf_rows_total stage=subsample":                              totals.Scoring.Rows,
		"eerf_rows_total stage=subsample outcome=scored":               totals.Scoring.Scored,
		"eerf_rows_total stage=featurize outcome=featurized":           totals.Featurize.Featurized,
		"eerf_rows_total stage=train outcome=trained":                  totals.Train.Rows,
		"eerf_messages_total stage=calibrate":                          totals.Calibrate.Messages,
		"eerf_messages_total stage=subsample":                          totals.Scoring.Messages,
		"eerf_messages_total stage=featurize":                          totals.Featurize.Messages,
		"eerf_messages_total stage=train":                              totals.Train.Messages,
		"eerf_message_bytes_total stage=featurize":                     bytes,
		"eerf_message_bytes_total stage=featurize outcome=undecodable": int64(len("no Arrow")),
		"eerf_message_handling_seconds stage=featurize":                totals.Featurize.Messages,
		// one output for each message here
		"eerf_feature_delay_seconds":                                             totals.Train.Messages,
		"eerf_output_messages_total stage=featurize":                             totals.Train.Messages,
		"eerf_dead_letters_total stage=featurize reason=unknown_format":          1,
		"eerf_owned_partitions stage=featurize":                                  partitions,
		"eerf_group_joins_total stage=train":                                     1,
		"eerf_exploration_missing_rows pipeline=bench":                           0,
		"eerf_unsaved_rows":                                                      0,
		"eerf_output_messages_total stage=subsample":                             p.Env.Meter.Activity().Traffic[meter.StageSubsample].OutputMessages,
		"eerf_undecodable_records_total topic=" + b.settings.Topics.Explorations: 1,
		"eerf_undecodable_records_total":                                         1,
		"eerf_memory_budget_bytes setting=exploration.sample_memory":             b.settings.Exploration.SampleMemory,
		"eerf_unseen_class_rows_total stage=featurize":                           0,
	} {
		words := strings.Fields(name)
		have, _ := sum(m, words[0], words[1:]...)
		if have != float64(want) {
			t.Errorf("%s: %v, want %d", name, have, want)
		}
	}
	if n, _ := sum(m, "eerf_output_bytes_total", "stage=subsample"); n < float64(8*totals.Scoring.Scored) { // two columns
		t.Errorf("%d sampled rows take %v bytes", totals.Scoring.Scored, n)
	}
	if s := totals.Scoring; s.Rows != s.Scored+s.NotSampled+s.Unlabelled+s.Rejected || s.Rows == 0 {
		t.Errorf("%+v", s)
	}
	if errors, found := sum(m, "eerf_model_error_ratio", "measure=unexplained_variance"); !found || errors <= 0 ||
		errors > 1.5 {
		t.Errorf("unexplained variance %v", errors)
	}
}

// The reason for the missing plan is shown until a plan exists.
func TestPlanningSaysWhatIsMissing(t *testing.T) {
	b := newBench(t)
	b.fill(1)
	p := b.run(nil, meter.StageCalibrate)
	m := p.until(
		"rows are missing",
		func(m families) bool { n, _ := sum(m, "eerf_exploration_planning_missing_rows"); return n > 0 },
	)
	if n, _ := sum(m, "eerf_exploration_planning_missing_rows"); n != 300-2*45 {
		t.Errorf("%v rows are missing", n)
	}
	b.fill(19)
	p.until("a plan", is(1, "eerf_exploration_running"))
	p.until("none are missing", is(0, "eerf_exploration_planning_missing_rows"))
	p.stop()
	b.settings.Exploration.Seed, b.settings.Exploration.SampleMemory = 2, 1
	p = b.run(nil, meter.StageCalibrate)
	p.until("the plan fails", is(1, "eerf_exploration_planning_failed"))
}
