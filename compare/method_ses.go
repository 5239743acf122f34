package compare

import (
	"context"
	"fmt"

	"github.com/eerf-stream/eerf/compare/methods"
)

// steinRows is the number of sample rows on which SES approximates the kernel.
const steinRows = 1000

var sesMethod = &Method{
	Name: "ses", Title: "Stein effect shrinkage (SES)", Pool: true,
	Source: "Chang, Li, Yang, Póczos, IJCAI 2017",
	Summary: "Plain features with non-negative weights that bring their kernel nearest to the exact one on a thousand rows, " +
		"the penalty on the weights chosen by the kernel's error on rows left out; labels are not looked at.",
	Refuses: func(o Options) string {
		c := o.describe(2, 1, 0)
		if c.Count, c.Mix = 1, nil; c.Validate() != nil {
			return "" // a fault of the options, not of the method
		}
		if _, err := methods.KernelOf(c); err != nil {
			return err.Error()
		}
		return ""
	},
	Select: selectStein,
}

func selectStein(_ context.Context, t *Trial) (*Selected, error) {
	x, rows, _ := t.Sample()
	c := t.OneBandwidth()
	some, kept := spread(x, rows, c.Dim, steinRows)
	w, _, err := methods.SteinWeights(c, t.M, some, kept)
	if err != nil {
		return nil, err
	}
	selected := only(w.FeatureSet(c))
	if kept < rows {
		selected.Choices[0].Note = fmt.Sprintf("weights from %d of the %d sampled rows", kept, rows)
	}
	return selected, nil
}

// spread returns at most count of the rows, evenly spaced.
func spread(x []float32, rows, dim, count int) (some []float32, kept int) {
	if rows <= count {
		return x, rows
	}
	for i := range count {
		at := i * rows / count
		some = append(some, x[at*dim:(at+1)*dim]...)
	}
	return some, count
}
