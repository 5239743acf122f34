package compare

import (
	"context"

	"github.com/eerf-stream/eerf/scoring"
)

var residualMethod = &Method{
	Name: "residual", Title: "EERF, criterion residual", Pool: true,
	Source: "this project, after Shahrampour, Tarokh, NeurIPS 2018",
	Summary: "In three rounds, the candidates that correlate best with the residual of a model on those chosen before, " +
		"taken one by one with projection.",
	Select: func(_ context.Context, t *Trial) (*Selected, error) {
		x, rows, y := t.BankSample()
		selection, err := scoring.SelectResidual(t.Bank(), x, rows, y, t.Task, t.M, 0)
		if err != nil {
			return nil, err
		}
		return ranked(t, selection), nil
	},
}
