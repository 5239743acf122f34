package telemetry

import (
	"strconv"

	"github.com/eerf-stream/eerf/stages/live"
)

// liveMetrics cover predictions of live rows that were compared with their labels. Every process
// that runs stages has them, from the topic of blocks.
var liveMetrics = []metric{
	{
		"live_rows",
		gauge,
		"",
		"rows",
		"Rows with a label among the newest `1000` or `10000`, in whole blocks, whose prediction was compared. Every process serves this and the other live metrics, for the whole pipeline.",
		ofNewest(func(f *live.Figures) float64 { return float64(f.Rows) }),
	},
	{
		"live_error_ratio",
		gauge,
		"ratio",
		"rows",
		"Live error of these rows, predicted before any model learned from them, 1 being 100 %: misclassification or unexplained variance.",
		ofNewest(func(f *live.Figures) float64 { return f.Error / 100 }),
	},
	{
		"live_promised_error_ratio",
		gauge,
		"ratio",
		"rows",
		"Error that the models had on held-out rows when they were trained, averaged over these rows.",
		ofNewest(func(f *live.Figures) float64 { return ratio(f.PromisedError) }),
	},
	{"live_constant_error_ratio", gauge, "ratio", "rows", "Lowest error of a constant prediction on these rows.",
		ofNewest(func(f *live.Figures) float64 { return f.ConstantError / 100 })},
	{
		"live_loss",
		gauge,
		"",
		"rows measure",
		"Mean live loss of these rows: `squared_error` in units of the label, `log_loss` in nats, or `misclassification`.",
		ofLoss(func(f *live.Figures) float64 { return f.Loss }),
	},
	{"live_promised_loss", gauge, "", "rows measure", "Mean promised loss of these rows.",
		ofLoss(func(f *live.Figures) float64 { return figure(f.Promised) })},
	{
		"live_auc_ratio",
		gauge,
		"ratio",
		"rows",
		"With two classes, how often a row of the second had a larger score than one of the first.",
		ofNewest(func(f *live.Figures) float64 { return figure(f.AUC) }),
	},
	{
		"live_excess_standard_errors",
		gauge,
		"",
		"",
		"Excess of the loss of the newest 1,000 rows over the promised loss, in standard errors; above 3 the current model is wrong. Absent while unknown.",
		one(func(r *reading) float64 { return figure(r.Live.Excess) }),
	},
	{"live_timestamp_seconds", gauge, "seconds", "", "Time of the newest row whose prediction was compared.",
		one(func(r *reading) float64 {
			if r.Live.Short == nil {
				return unknown
			}
			return timestamp(r.Live.Short.To)
		})},
}

// ofNewest makes a metric of the figures of the newest rows.
func ofNewest(value func(*live.Figures) float64) func(*reading, output) {
	return eachOfNewest(func(out output, rows string, f *live.Figures) { out.value(value(f), rows) })
}

// ofLoss is ofNewest with the measure of the loss as a label.
func ofLoss(value func(*live.Figures) float64) func(*reading, output) {
	return eachOfNewest(func(out output, rows string, f *live.Figures) { out.value(value(f), rows, f.Measure) })
}

func eachOfNewest(send func(out output, rows string, f *live.Figures)) func(*reading, output) {
	return func(r *reading, out output) {
		if r.Live.Short != nil {
			send(out, strconv.Itoa(live.ShortRows), r.Live.Short)
			send(out, strconv.Itoa(live.LongRows), r.Live.Long)
		}
	}
}
