package wire

import (
	"fmt"

	"github.com/eerf-stream/eerf/scoring"
)

// kindColumns replace omegaColumns in a set of mixed kinds. Lists hold only the parts that a
// feature has: cosines and ramps have an ω, hinges and boxes have factors, each with a coordinate,
// a sign and a threshold.
var kindColumns = []featureColumn{
	{
		write: func(f *FeatureSet, doc *featureSetFields) column {
			names := make([]string, doc.Features)
			for i := range names {
				names[i] = f.Set.Features.Kind(i).String()
			}
			return textColumn("kind", names)
		},
		read: (*reader).kinds,
	},
	{
		write: func(f *FeatureSet, doc *featureSetFields) column {
			lengths := make([]int, doc.Features)
			for i := range f.Set.Features.Projections() {
				lengths[i] = doc.Width
			}
			return raggedColumn(numbers("omega", f.Set.Features.Omega), lengths)
		},
		read: func(r *reader, f *FeatureSet, doc *featureSetFields) {
			lengths, omega := ragged[float32](r, "omega")
			for i, n := range lengths {
				if p := doc.projections(); i < p && n != doc.Width || i >= p && n != 0 {
					r.fail("omega of feature %d has %d numbers", i, n)
					return
				}
			}
			f.Set.Features.Omega = append([]float32{}, omega...)
		},
	},
	{
		write: func(f *FeatureSet, doc *featureSetFields) column {
			phase := make([]float32, doc.Features)
			copy(phase, f.Set.Features.Phase)
			return numbers("phase", phase)
		},
		read: func(r *reader, f *FeatureSet, doc *featureSetFields) {
			phase := values[float32](r, "phase")
			for i, b := range phase[min(doc.projections(), len(phase)):] {
				if b != 0 {
					r.fail("feature %d has the phase %v and no omega", doc.projections()+i, b)
				}
			}
			if r.err == nil {
				f.Set.Features.Phase = append([]float32{}, phase[:doc.projections()]...)
			}
		},
	},
	eachFactor("coordinate", func(p *scoring.Product, a int, v *int32, read bool) error {
		if read {
			if *v != int32(uint16(*v)) {
				return fmt.Errorf("coordinate %d", *v)
			}
			p.Coordinate[a] = uint16(*v)
		}
		*v = int32(p.Coordinate[a])
		return nil
	}),
	eachFactor(
		"sign",
		func(p *scoring.Product, a int, v *float32, read bool) error { return exchange(&p.Sign[a], v, read) },
	),
	eachFactor("threshold", func(p *scoring.Product, a int, v *float32, read bool) error {
		return exchange(&p.Threshold[a], v, read)
	}),
}

// exchange sets of to v, or v to of.
func exchange(of, v *float32, read bool) error {
	if read {
		*of = *v
	}
	*v = *of
	return nil
}

// projections is the number of features with an ω.
func (d *featureSetFields) projections() int { return d.Kinds.Cosine + d.Kinds.Ramp }

// kinds reads the column of kinds, which must match the counts of the document, in order, and
// makes room for the products.
func (r *reader) kinds(f *FeatureSet, doc *featureSetFields) {
	names, at := r.texts("kind"), 0
	for i, n := range []int{doc.Kinds.Cosine, doc.Kinds.Ramp, doc.Kinds.Hinge, doc.Kinds.Box} {
		for ; n > 0 && at < len(names) && names[at] == scoring.Kind(i).String(); n-- {
			at++
		}
		if n != 0 {
			r.fail("the kinds of features are not %+v in order", *doc.Kinds)
			return
		}
	}
	if at != doc.Features || len(names) != doc.Features {
		r.fail("%d features are of no counted kind", doc.Features-at)
		return
	}
	set := f.Set.Features
	set.Ramps = doc.Kinds.Ramp
	set.Products = make([]scoring.Product, doc.Kinds.Hinge+doc.Kinds.Box)
	for i := range set.Products {
		set.Products[i].Box = i >= doc.Kinds.Hinge
	}
}

// eachFactor is a column of a list for each feature, with a value for each factor of a product.
// exchange copies the value into the product when reading, and out of it when writing. The first of
// these columns defines the number of factors.
func eachFactor[T numeric](name string, exchange func(p *scoring.Product, a int, v *T, read bool) error) featureColumn {
	return featureColumn{
		write: func(f *FeatureSet, doc *featureSetFields) column {
			set, lengths, all := f.Set.Features, make([]int, doc.Features), []T{}
			for i := range set.Products {
				p := &set.Products[i]
				lengths[set.Projections()+i] = int(p.Order)
				for a := range int(p.Order) {
					var v T
					_ = exchange(p, a, &v, false)
					all = append(all, v)
				}
			}
			return raggedColumn(numbers(name, all), lengths)
		},
		read: func(r *reader, f *FeatureSet, doc *featureSetFields) {
			lengths, all := ragged[T](r, name)
			for i, n := range lengths {
				at := i - doc.projections()
				if at < 0 && n != 0 || n > scoring.MaxOrder {
					r.fail("%s of feature %d has %d numbers", name, i, n)
					return
				}
				if at < 0 {
					continue
				}
				p := &f.Set.Features.Products[at]
				if p.Order == 0 {
					p.Order = uint8(n)
				}
				if int(p.Order) != n {
					r.fail("%s of feature %d has %d numbers for %d factors", name, i, n, p.Order)
					return
				}
				for a, v := range all[:n] {
					if err := exchange(p, a, &v, true); err != nil {
						r.fail("feature %d: %v", i, err)
						return
					}
				}
				all = all[n:]
			}
		},
	}
}
