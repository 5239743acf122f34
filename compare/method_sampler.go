package compare

import (
	"context"

	"github.com/eerf-stream/eerf/scoring"
)

var orfMethod = bySampler(scoring.Orthogonal, &Method{
	Name: "orf", Title: "orthogonal random features (ORF)",
	Source:  "Yu, Suresh, Choromanski, Holtmann-Rice, Kumar, NeurIPS 2016",
	Summary: "M features drawn in blocks of d orthogonal directions with the lengths of Gaussian vectors.",
})

var sorfMethod = bySampler(scoring.Structured, &Method{
	Name: "sorf", Title: "structured orthogonal random features (SORF)",
	Source:  "Yu, Suresh, Choromanski, Holtmann-Rice, Kumar, NeurIPS 2016",
	Summary: "As orf, with directions from sign changes and Hadamard transforms, which multiply rows in O(d log d).",
})

var quasiMethod = bySampler(scoring.Quasi, &Method{
	Name: "qmc", Title: "quasi-Monte Carlo features",
	Source:  "Avron, Sindhwani, Yang, Mahoney, JMLR 17, 2016",
	Summary: "The first M points of a randomly shifted Halton sequence through the quantile function of the distribution.",
})

// bySampler completes a method that takes the first M candidates of its own sampler.
func bySampler(sampler scoring.Sampler, m *Method) *Method {
	m.Refuses = func(o Options) string {
		c := o.describe(2, 1, 0)
		if c.Count, c.Mix = 1, nil; c.Validate() != nil {
			return "" // a fault of the options, not of the sampler
		}
		c.Sampler = sampler
		if err := c.Validate(); err != nil {
			return err.Error()
		}
		return ""
	}
	m.Select = func(_ context.Context, t *Trial) (*Selected, error) {
		c := t.OneBandwidth()
		c.Sampler, c.Count = sampler, t.M
		if err := c.Validate(); err != nil {
			return nil, err
		}
		return only(firstCandidates(c, t.M)), nil
	}
	return m
}
