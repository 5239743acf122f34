package report

import (
	"strconv"

	"github.com/eerf-stream/eerf/compare"
	"github.com/eerf-stream/eerf/training"
)

// beside is a column of a measure that methods are not compared by.
type beside struct{ name, title string }

// besideColumns are in the order in which they are chosen: what says most first.
var besideColumns = []beside{
	{training.MeasureUnexplainedVariance, "unexplained %"}, {"average_precision", "avg. precision"}, {"auc", "AUC"}, {"rmse", "RMSE"},
	{"log_loss", "log loss"}, {"mae", "MAE"}, {"r2", "R²"}, {"calibration_error", "calibration"},
}

// besidesOf are the columns that a table has beside the error, its differences and the seconds.
func besidesOf(r *compare.Result, table compare.Table) []beside {
	var columns []beside
	for _, b := range besideColumns {
		if b.name == training.MeasureUnexplainedVariance && r.Metric == "unexplained variance" {
			continue
		}
		for _, l := range table.Lines {
			if _, ok := l.Measures[b.name]; ok {
				columns = append(columns, b)
				break
			}
		}
	}
	return columns
}

// cell writes the mean of the measure with its standard error.
func (b beside) cell(l compare.Line) string {
	mean, ok := l.Measures[b.name]
	if !ok {
		return none
	}
	text := strconv.FormatFloat(mean.Mean, 'g', 4, 64)
	if mean.Error != nil {
		text += " ± " + strconv.FormatFloat(*mean.Error, 'g', 2, 64)
	}
	return text
}
