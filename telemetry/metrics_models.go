package telemetry

import (
	"github.com/eerf-stream/eerf/arrowio/wire"
	"github.com/eerf-stream/eerf/training"
)

// modelMetrics cover models and the answers of `featurizer serve`.
var modelMetrics = []metric{
	// Requests to `featurizer serve`.
	{
		"serve_requests_total",
		counter,
		"",
		"endpoint outcome",
		"Requests to `featurizer serve`, by endpoint (`predict`, `features`, `infer`) and outcome: `answered`; `invalid`, not rows of the feature set; `too_large`, over a limit; `unauthorized`; `busy`, no room or no slot in time; `unavailable`, nothing to serve yet; `failed`, an internal error or a disconnected client.",
		func(r *reading, out output) {
			for endpoint, outcomes := range r.Activity.Serving.Requests {
				for outcome, n := range outcomes {
					out.count(n, endpoint, outcome)
				}
			}
		},
	},
	{"serve_rows_total", counter, "", "endpoint outcome", "Rows in answered requests: `used` or `rejected`.",
		func(r *reading, out output) {
			for endpoint, rows := range r.Activity.Serving.Rows {
				rejected := r.Activity.Serving.Rejected[endpoint]
				out.count(rows-rejected, endpoint, "used")
				out.count(rejected, endpoint, "rejected")
			}
		}},
	{
		"serve_request_seconds",
		histograms,
		"seconds",
		"endpoint",
		"Time of answered requests, from their headers to their last byte.",
		func(r *reading, out output) {
			for endpoint, times := range r.Activity.Serving.Seconds {
				out.times(times, endpoint)
			}
		},
	},
	{"serve_requests_in_flight", gauge, "", "", "Requests for rows that `featurizer serve` is answering.",
		one(func(r *reading) float64 { return float64(r.Activity.Serving.InFlight) })},
	{
		"serve_swaps_total",
		counter,
		"",
		"",
		"Times that `featurizer serve` changed to another pair of feature set and model.",
		func(r *reading, out output) { out.count(r.Activity.Serving.Swaps) },
	},
	{
		"serve_waiting",
		gauge,
		"",
		"",
		"1 while `featurizer serve` does not serve the current feature set and model, for example because the set has no model yet; its `/readyz` names the reason.",
		one(func(r *reading) float64 { return truth(r.Activity.Serving.Waiting != "") }),
	},

	// Models, from the process that trains.
	{"model_info", gauge, "", "model feature_set loss",
		"1, with the id of the current model. The process that trains serves this and the other model metrics.",
		func(r *reading, out output) {
			if m := r.Activity.Model; m != nil {
				out.value(1, m.ID, m.FeatureSetID, m.Model.Loss)
			}
		}},
	{"model_timestamp_seconds", gauge, "seconds", "", "When the current model was trained.",
		of(model, func(m *wire.Model) float64 { return timestamp(m.TrainedAt) })},
	{"model_training_rows", gauge, "", "", "Rows on which the current model was fitted.",
		of(model, func(m *wire.Model) float64 { return float64(m.TrainRows) })},
	{"model_measured_rows", gauge, "", "", "Held-out rows on which the errors of the current model were measured.",
		of(model, func(m *wire.Model) float64 { return float64(m.Metrics.MeasuredRows) })},
	{
		"model_error_ratio",
		gauge,
		"ratio",
		"measure",
		"Held-out error of the current model when it was trained, 1 being 100 %: `misclassification`; or `unexplained_variance` and the paper's `relative_squared_error`.",
		func(r *reading, out output) {
			if m := r.Activity.Model; m != nil {
				out.value(ratio(m.Metrics.Misclassification), "misclassification")
				out.value(ratio(m.Metrics.RelativeSquaredError), "relative_squared_error")
				out.value(ratio(m.Metrics.UnexplainedVariance), "unexplained_variance")
			}
		},
	},
	{
		"model_constant_error_ratio",
		gauge,
		"ratio",
		"",
		"Held-out error of a constant prediction, in the main measure of the current model: the misclassification of the most common class, or the unexplained variance of the mean, which is 1.",
		of(model, func(m *wire.Model) float64 {
			_, constant := m.Metrics.Percent()
			return ratio(constant)
		}),
	},
	{
		"model_log_loss",
		gauge,
		"",
		"predictor",
		"Mean of -log p of the class on the held-out rows, in nats, of the current `model` when it was trained and of a `constant`; with the logistic loss.",
		func(r *reading, out output) {
			if m := r.Activity.Model; m != nil {
				out.value(figure(m.Metrics.LogLoss), "model")
				out.value(figure(m.Metrics.ConstantLogLoss), "constant")
			}
		},
	},
	{
		"model_auc_ratio",
		gauge,
		"ratio",
		"",
		"With two classes, how often the current model gave a held-out row of the second a larger output than one of the first, ties counting half.",
		of(model, func(m *wire.Model) float64 { return figure(m.Metrics.AUC) }),
	},
	{
		"model_average_precision_ratio",
		gauge,
		"ratio",
		"class",
		"Average precision of the current model on held-out rows, if one of two classes has less than a tenth of them, for that class.",
		func(r *reading, out output) {
			if m := r.Activity.Model; m != nil {
				out.value(figure(m.Metrics.AveragePrecision), m.Metrics.RareClass)
			}
		},
	},
	{
		"model_recall_ratio",
		gauge,
		"ratio",
		"class",
		"Share of a class's held-out rows that the current model assigned to it when it was trained, for the first 50 classes.",
		func(r *reading, out output) {
			if m := r.Activity.Model; m != nil {
				for _, class := range m.Metrics.Recall[:min(len(m.Metrics.Recall), recallClasses)] {
					if class.Rows > 0 {
						out.value(class.Share(), class.Class)
					}
				}
			}
		},
	},
	{
		"model_calibration_error_ratio",
		gauge,
		"ratio",
		"",
		"How far the probabilities of the current model were from the observed shares on held-out rows: the mean over ten bins, weighted by rows.",
		of(model, func(m *wire.Model) float64 { return figure(m.Metrics.CalibrationError()) }),
	},
	{
		"model_rmse",
		gauge,
		"",
		"output",
		"Root mean squared error of the current model on held-out rows when it was trained, in units of the label, by number of the output.",
		byOutput(func(m *wire.Model) []float64 { return m.Metrics.RMSE }),
	},
	{
		"model_mae",
		gauge,
		"",
		"output",
		"Mean absolute error of the current model on held-out rows when it was trained, in units of the label, by number of the output.",
		byOutput(func(m *wire.Model) []float64 { return m.Metrics.MAE }),
	},
	{
		"model_row_share_ratio",
		gauge,
		"ratio",
		"",
		"Share of the training rows, by their hash, from which the current model was made: below 1 if the rows of the logistic loss did not fit into `train.row_memory`.",
		of(model, func(m *wire.Model) float64 {
			if m.Metrics.RowShare == 0 {
				return 1
			}
			return m.Metrics.RowShare
		}),
	},
	{
		"model_held_out_seen_ratio",
		gauge,
		"ratio",
		"",
		"Approximate share of the model's held-out rows from which its feature set was learned; its error may be too low because of it. 0 if held-out rows come from other events.",
		of(model, func(m *wire.Model) float64 {
			if m.Metrics.Seen == nil {
				return 0
			}
			return m.Metrics.Seen.Share
		}),
	},
	{
		"model_challenger_timestamp_seconds",
		gauge,
		"seconds",
		"",
		"When the newest model was trained, whether or not it is the current one.",
		one(func(r *reading) float64 { return timestamp(r.Activity.Challenges.At) }),
	},
	{"model_challengers_total", counter, "", "verdict",
		"Models trained, by verdict: whether they replaced the current model.",
		func(r *reading, out output) {
			for _, verdict := range wire.Verdicts() {
				out.count(r.Activity.Challenges.Verdicts[verdict], string(verdict))
			}
		}},
	{"model_compared_error_ratio", gauge, "ratio", "model measure",
		"Error of the newest model (`challenger`) and of the then current one (`incumbent`) on the same held-out rows: the log loss in nats, or a ratio.",
		func(r *reading, out output) {
			if last := compared(r); last != nil {
				value := ratio
				if last.Measure == training.MeasureLogLoss {
					value = figure
				}
				out.value(value(last.ChallengerError), "challenger", last.Measure)
				out.value(value(last.IncumbentError), "incumbent", last.Measure)
			}
		}},
	{
		"model_compared_rows",
		gauge,
		"",
		"",
		"Held-out rows on which the newest model and the then current one were compared.",
		of(compared, func(j *wire.Judgement) float64 { return float64(j.Rows) }),
	},
	{"model_pinned", gauge, "", "", "1 while the current model is pinned by a rollback.",
		one(func(r *reading) float64 { return truth(r.Activity.Challenges.Pin != "") })},
}
