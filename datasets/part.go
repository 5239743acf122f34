package datasets

import (
	"github.com/apache/arrow/go/v15/arrow"

	"github.com/eerf-stream/eerf/arrowio/encoder"
	"github.com/eerf-stream/eerf/scoring"
)

// part collects the encoded rows of one part.
type part struct {
	encoder *encoder.Encoder
	rows    encoder.Rows
	data    *Data
	out     LeftOut
	unknown encoder.ClassTally // classes that are not learned
}

// tallies returns the use of the values of the columns. Unknown classes are counted elsewhere.
func (p *part) tallies() []encoder.Tally {
	_, all := p.rows.Tallies()
	for i := range all {
		if all[i].Label {
			all[i].Unseen = encoder.Finding{}
		}
	}
	return all
}

// newPart allocates room for n rows. The encoder must have a label.
func newPart(name string, enc *encoder.Encoder, n int) *part {
	d := &Data{
		Name:     name,
		Dim:      enc.Dim,
		Task:     enc.Label.Task,
		Identity: make([]uint64, 0, n),
		X:        make([]float32, 0, n*enc.Dim),
	}
	if d.Task == scoring.Regression {
		d.Outputs = enc.Outputs()
		d.Y = make([]float32, 0, n*d.Outputs)
	} else {
		d.Classes = len(enc.Label.Classes)
		d.Class = make([]int32, 0, n)
	}
	return &part{encoder: enc, data: d}
}

// add encodes some rows of a record and appends the usable ones. ids are the identities of all rows
// of the record.
func (p *part) add(rec arrow.Record, take []int32, ids []uint64) error {
	if err := p.encoder.Encode(&p.rows, rec, take); err != nil {
		return err
	}
	p.rows.KeepLabelled()
	p.out.Unlabelled += int(p.rows.Counts.Unlabelled - p.rows.Counts.UnseenClass)
	for _, c := range p.rows.UnseenClasses.List() {
		p.unknown.Add(c.Class, c.Rows)
	}
	p.out.UnknownClass += int(p.rows.Counts.UnseenClass)
	for _, r := range p.rows.Rejected {
		if r.Labelled {
			p.out.Rejected++
		}
	}
	d, targets := p.data, p.rows.Targets
	d.N += p.rows.N
	for _, row := range p.rows.Row[:p.rows.N] {
		d.Identity = append(d.Identity, ids[row])
	}
	d.X = append(d.X, p.rows.X...)
	switch d.Task {
	case scoring.Regression:
		d.Y = append(d.Y, targets.Values...)
	case scoring.Binary:
		for _, v := range targets.Values {
			k := int32(0)
			if v > 0 {
				k = 1
			}
			d.Class = append(d.Class, k)
		}
	case scoring.MultiClass:
		d.Class = append(d.Class, targets.Class...)
	}
	return nil
}
