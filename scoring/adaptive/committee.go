package adaptive

import (
	"github.com/eerf-stream/eerf/scoring"
)

// share is the part of a member in the candidates, first..next-1, and in the features, with the
// number of candidates in its pools.
type share struct{ member, first, next, features, pool int }

// pooled is the number of candidates for each feature in the pools of a member, if M0 is not less.
// With half of it, the error on parkinsons was a quarter larger.
const pooled = 20

// members returns the number of members.
func (o Options) members() int { return max(o.Members, 1) }

// shares divides candidates and features evenly. The first members get one more each if they do
// not divide.
func (o Options) shares(candidates int) []share {
	n := o.members()
	all := make([]share, n)
	for j := range all {
		all[j] = share{
			member:   j,
			first:    evenly(candidates, j, n),
			next:     evenly(candidates, j+1, n),
			features: evenly(o.Features, j+1, n) - evenly(o.Features, j, n),
		}
		all[j].pool = max(all[j].next-all[j].first, min(candidates, pooled*all[j].features))
	}
	return all
}

// evenly returns the sum of the first j of n even parts of a total.
func evenly(total, j, n int) int { return j*(total/n) + min(j, total%n) }

// committee collects the members of a set.
type committee struct {
	heldOut *rows
	members []*Learned
	points  []Point
	sum     []float64 // predictions of the members for the held-out rows, added up, [n·K]
	weights []float64 // factors of the squared errors of the outputs
}

// add adds the result of a learner.
func (c *committee) add(l *learner) error {
	m, err := l.learned()
	if err != nil {
		return err
	}
	c.members = append(c.members, m)
	c.points = append(c.points, m.Report.Points...)
	if l.o.members() == 1 {
		return nil
	}
	t := scoring.NewFeatureTransformer(m.Features)
	fit := l.fitMoments(m.Features)
	predicted, err := l.predict(t, fit, l.heldOut.moments(t, l.o.Workers))
	if err != nil {
		return err
	}
	if c.weights, err = l.shares(fit, t.Len()); err != nil {
		return err
	}
	if c.sum == nil {
		c.sum = make([]float64, len(predicted))
	}
	for i, v := range predicted {
		c.sum[i] += float64(v)
	}
	return nil
}

// learned joins the members. A feature of several members is kept once, where its first member has
// it; its score is the greatest of them.
func (c *committee) learned(o Options) (*Learned, error) {
	if len(c.members) == 1 {
		return c.members[0], nil
	}
	all := c.join()
	n := float64(len(c.members))
	v := c.heldOut.verdict(all.Features.Len(), c.weights, func(at int) float64 { return c.sum[at] / n })
	mean := Point{Kind: ByMean, Features: v.kept, Loss: v.loss, StdErr: v.standardError}
	all.Report = c.members[0].Report
	all.Report.Points = append(c.points, mean)
	all.Report.Winner = len(c.points)
	all.Report.Importance = c.importance()
	if o.Progress != nil {
		o.Progress(mean)
	}
	return all, nil
}

// importance returns the mean of the members' importance, nil if no member has any.
func (c *committee) importance() []float64 {
	var mean []float64
	for _, m := range c.members {
		for j, share := range m.Report.Importance {
			if mean == nil {
				mean = make([]float64, len(m.Report.Importance))
			}
			mean[j] += share / float64(len(c.members))
		}
	}
	return mean
}

// place is a feature of a member.
type place struct{ member, feature int }

// join concatenates the features of the members within each kind. Only hinges and boxes can be the
// same in two members, because all others are drawn from continuous distributions.
func (c *committee) join() *Learned {
	all := &Learned{Selection: scoring.Selection{Coding: c.members[0].Selection.Coding}}
	var joined *scoring.Features
	var places []place
	for j, m := range c.members {
		own := make([]place, m.Features.Len())
		for i := range own {
			own[i] = place{j, i}
		}
		if joined == nil {
			joined, places = m.Features, own
			continue
		}
		joined, places = merge(joined, m.Features, places, own)
	}
	known := map[scoring.Product]int{} // the place of each product in all
	var kept []int32
	for at, p := range places {
		s := c.members[p.member].Selection
		if i := at - joined.Projections(); i >= 0 {
			if same, ok := known[joined.Products[i]]; ok {
				all.Members[same] |= 1 << p.member
				all.Selection.Score[same] = max(all.Selection.Score[same], s.Score[p.feature])
				continue
			}
			known[joined.Products[i]] = len(kept)
		}
		kept = append(kept, int32(at))
		outputs := len(s.S) / len(s.Index)
		all.Members = append(all.Members, 1<<p.member)
		all.Selection.Index = append(all.Selection.Index, s.Index[p.feature])
		all.Selection.Round = append(all.Selection.Round, s.Round[p.feature])
		all.Selection.Score = append(all.Selection.Score, s.Score[p.feature])
		all.Selection.S = append(all.Selection.S, s.S[p.feature*outputs:(p.feature+1)*outputs]...)
	}
	all.Features = joined.Pick(kept)
	return all
}
