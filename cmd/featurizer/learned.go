package main

import (
	"fmt"
	"io"

	"github.com/eerf-stream/eerf/arrowio/wire"
	"github.com/eerf-stream/eerf/cmd/internal/cli"
	"github.com/eerf-stream/eerf/scoring/adaptive"
)

// columnsShown is the number of columns listed by importance.
const columnsShown = 20

// pointName describes the features of a point.
func pointName(p adaptive.Point) string {
	name := stepName(p)
	if p.Member > 0 {
		return fmt.Sprintf("member %d, %s", p.Member, name)
	}
	return name
}

func stepName(p adaptive.Point) string {
	switch p.Kind {
	case adaptive.ByMean:
		return "mean of the members"
	case adaptive.ByResidual:
		return "first choice by residual"
	case adaptive.ByRound:
		return fmt.Sprintf("round %d%s", p.Round, trackName(p))
	case adaptive.ByStep:
		return fmt.Sprintf("step %d from round %d%s", p.Step, p.Round, trackName(p))
	}
	return string(p.Kind) // an unpublished set has no other kind
}

// trackName describes the kinds of features in the pools of a round.
func trackName(p adaptive.Point) string {
	switch p.Track {
	case adaptive.Mixed:
		return ", of all kinds"
	case adaptive.Cosines:
		return ", of cosines"
	case adaptive.Both:
		return ", of both together"
	}
	return "" // written by an earlier version
}

// addLearning describes the features that became the set and their held-out loss. Drawn features
// are also judged by the noise level, learned features are not.
func addLearning(t cli.Facts, l *adaptive.Report) {
	if l == nil {
		return
	}
	best := l.Best()
	t.Add("learned from", "%d rows, judged on %d held-out rows", l.Rows, l.HeldOutRows)
	t.Add("  best", "%s", pointName(best))
	if best.Kind == adaptive.ByMean {
		t.Add("  its held-out loss", "%.4g %% ± %.2g of the variance; of each member, the least of about %d",
			100*best.Loss, 100*best.StdErr, len(l.Points)/l.Points[len(l.Points)-2].Member)
		t.Add("", lossMeaning)
		return
	}
	t.Add("  its held-out loss", "%.4g %% ± %.2g of the variance, the least of %d",
		100*best.Loss, 100*best.StdErr, len(l.Points))
	t.Add("", lossMeaning)
}

// lossMeaning tells the loss of an exploration from the errors of a model.
const lossMeaning = "squared error, of classes too: it chooses features; errors of a model come from trainer fit"

// printLearning lists the losses of the rounds and of the set, and the importance of the columns.
// It omits the steps of a refinement, which are many and alike.
func printLearning(w io.Writer, l *adaptive.Report, columns []wire.ColumnImportance) {
	if l == nil {
		return
	}
	title := fmt.Sprintf("loss on %d held-out rows, %% of the variance", l.HeldOutRows)
	t := cli.NewTable(w, title, "point", "features", "loss", "± standard error", "")
	for i, p := range l.Points {
		mark := ""
		if i == l.Winner {
			mark = "the set"
		} else if p.Kind == adaptive.ByStep {
			continue
		}
		t.AppendRow([]any{pointName(p), p.Features, fmt.Sprintf("%.4g", 100*p.Loss), fmt.Sprintf("%.2g", 100*p.StdErr), mark})
	}
	t.Render()
	fmt.Fprintln(w, "The least loss, refinement steps included, is a minimum, not an estimate of the error on new rows.")
	printImportance(w, columns)
}

// printImportance lists each column's share of the model's variation.
func printImportance(w io.Writer, columns []wire.ColumnImportance) {
	if len(columns) == 0 {
		return
	}
	t := cli.NewTable(w, "importance", "column", "share")
	for _, c := range columns[:min(columnsShown, len(columns))] {
		t.AppendRow([]any{c.Column, fmt.Sprintf("%.2f %%", 100*c.Share)})
	}
	t.Render()
	fmt.Fprintln(w, "A column's share is its part of the variation of the model that the features were learned with.")
	if more := len(columns) - columnsShown; more > 0 {
		rest := 0.0
		for _, c := range columns[columnsShown:] {
			rest += c.Share
		}
		fmt.Fprintf(w, "and %d more columns with %.2f %% together; use --json for all\n", more, 100*rest)
	}
}
