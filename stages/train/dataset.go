package train

import "github.com/eerf-stream/eerf/training"

// bucket holds rows in the form that the loss needs, for each member of the feature set: sums for
// the squared loss, the rows themselves for the logistic loss. All members hold the same rows.
type bucket []part

// part is the rows of a bucket with the features of one member: sums or rows, the other is nil.
type part struct {
	features []int32 // of the member; nil = all
	sums     *training.Sums
	rows     *keptRows
}

func (t *Trainer) newBucket() bucket {
	b := make(bucket, len(t.members))
	for j, features := range t.members {
		m := len(features)
		if len(t.members) > 1 {
			b[j].features = features
		}
		if t.share != nil {
			b[j].rows = &keptRows{Rows: training.NewRows(m, max(2, t.outputs))}
		} else {
			b[j].sums = training.NewSums(m, t.outputs)
		}
	}
	return b
}

// add adds rows. Of the rows of the logistic loss it only keeps those at or above a level of the
// [rowShare].
func (b bucket) add(rows *rowBuffer, level uint8) {
	for _, p := range b {
		if p.rows != nil {
			p.rows.add(rows, p.features, level)
			continue
		}
		p.sums.Add(rows.of(p.features), rows.rows, rows.y)
	}
}

// merge adds the rows of other, each counting weight times, for reading. Rows of the logistic loss
// are not copied.
func (b bucket) merge(other bucket, weight float64) {
	for j, p := range b {
		if p.rows != nil {
			p.rows.Append(other[j].rows.Rows, weight)
			continue
		}
		p.sums.MergeWeighted(other[j].sums, weight)
	}
}

// settle releases memory that is needed only while rows are added.
func (b bucket) settle() {
	for _, p := range b {
		if p.sums != nil {
			p.sums.Settle()
		}
	}
}

// absorb takes over the rows of other, which becomes invalid.
func (b bucket) absorb(other bucket) {
	for j, p := range b {
		if p.rows != nil {
			p.rows.AddAll(other[j].rows.Rows)
			p.rows.levels = append(p.rows.levels, other[j].rows.levels...)
			continue
		}
		p.sums.Merge(other[j].sums)
	}
}

// len returns the number of rows.
func (b bucket) len() int64 {
	switch {
	case len(b) == 0:
		return 0
	case b[0].rows != nil:
		return int64(b[0].rows.Len())
	}
	return b[0].sums.Rows
}

// thin drops the rows below a level.
func (b bucket) thin(level uint8) {
	for _, p := range b {
		if p.rows != nil {
			p.rows.thin(level)
		}
	}
}

// levels returns the levels of the rows of the logistic loss.
func (b bucket) levels() []uint8 {
	if len(b) == 0 || b[0].rows == nil {
		return nil
	}
	return b[0].rows.levels
}

// dataset holds the rows to fit on and the held-out rows. Rows that the hash holds out, but that
// taught the features, are kept separately as seen. [dataset.settle] moves them to either side,
// depending on the number of other held-out rows.
type dataset struct {
	fit, heldOut bucket
	seen         bucket // nil if no rows taught the features
}

func (t *Trainer) newDataset() dataset {
	d := dataset{fit: t.newBucket(), heldOut: t.newBucket()}
	if len(t.learnedFrom) > 0 {
		d.seen = t.newBucket()
	}
	return d
}

func (d dataset) add(b *rowBuffers, level uint8) {
	d.fit.add(&b.fit, level)
	d.heldOut.add(&b.heldOut, level)
	if d.seen != nil {
		d.seen.add(&b.seen, level)
	}
}

// buckets returns the buckets that exist.
func (d dataset) buckets() []bucket { return []bucket{d.fit, d.heldOut, d.seen} }

// merge adds the rows of a cell: the rows to fit on, which count weight times, and the held-out
// rows if they judge.
func (d dataset) merge(c *cell, weight float64, judges bool) {
	d.fit.merge(c.data.fit, weight)
	if !judges {
		return
	}
	d.heldOut.merge(c.data.heldOut, 1)
	if d.seen != nil {
		d.seen.merge(c.data.seen, 1)
	}
}

// enoughUnseen is the number of unseen held-out rows from which on rows that the exploration has
// seen are no longer held out. An error of 10 % then has a standard error of 2 %.
const enoughUnseen = 200

// settle moves the rows that the exploration may have seen to the rows to fit on if enough others
// are held out, otherwise to the held-out rows. It returns the number of seen rows that are held
// out.
func (d dataset) settle() (heldOut int64) {
	switch {
	case d.seen == nil:
		return 0
	case d.heldOut.len() >= enoughUnseen:
		d.fit.merge(d.seen, 1)
		return 0
	}
	d.heldOut.merge(d.seen, 1)
	return d.seen.len()
}

// majority returns the commonest class of the rows to fit on.
func (d dataset) majority() int32 {
	if first := d.fit[0]; first.rows == nil {
		return first.sums.MajorityClass()
	}
	return d.fit[0].rows.MajorityClass()
}
