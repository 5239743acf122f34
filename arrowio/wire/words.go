package wire

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/eerf-stream/eerf/scoring"
)

// columnsNamed is the number of columns named for a feature with an ω.
const columnsNamed = 3

// Words describes feature i: for hinges and boxes with the names and units of the columns,
// such as "age ≥ 37.5" or "hours > 40 × education = Masters"; for features with an ω the columns
// that it weighs most.
func (f *FeatureSet) Words(i int) string {
	features := f.Set.Features
	if features.Map.Coordinates() {
		return f.Encoder.FeatureNames()[int(features.Omega[i])]
	}
	kind, p := features.Kind(i), features.Projections()
	if i >= p {
		product := features.Products[i-p]
		factors := make([]string, product.Order)
		for a := range factors {
			factors[a] = f.Encoder.Past(
				int(product.Coordinate[a]),
				float64(product.Threshold[a]),
				product.Sign[a] > 0,
				product.Box,
			)
		}
		return strings.Join(factors, map[scoring.Kind]string{scoring.KindHinge: " × ", scoring.KindBox: " and "}[kind])
	}
	columns := f.weighed(features.Omega[i*features.Dim : (i+1)*features.Dim])
	words := strings.Join(columns[:min(columnsNamed, len(columns))], ", ")
	if more := len(columns) - columnsNamed; more > 0 {
		words += fmt.Sprintf(" and %d more", more)
	}
	return words
}

// weighed lists the columns that ω weighs, the largest weight first.
func (f *FeatureSet) weighed(omega []float32) []string {
	type weight struct {
		column string
		size   float64
	}
	var found []weight
	at := 0
	for i := range f.Encoder.Columns {
		c, size := &f.Encoder.Columns[i], 0.0
		for _, w := range omega[at : at+c.Width] {
			size = max(size, math.Abs(float64(w)))
		}
		at += c.Width
		if size > 0 {
			found = append(found, weight{c.Name, size})
		}
	}
	slices.SortStableFunc(found, func(a, b weight) int { return cmp.Compare(b.size, a.size) })
	names := make([]string, len(found))
	for i, w := range found {
		names[i] = w.column
	}
	return names
}
