package meter

import (
	"cmp"
	"slices"

	"github.com/eerf-stream/eerf/arrowio/encoder"
)

// Imputed counts what featurize imputed in a column.
type Imputed struct {
	Column   string  `json:"column"`
	Values   int64   `json:"values"`
	Imputed  int64   `json:"imputed"`
	Expected float64 `json:"expected"` // share of missing values in calibration
}

// Share is the share of imputed values.
func (i Imputed) Share() float64 { return float64(i.Imputed) / float64(max(1, i.Values)) }

// Lacks reports whether so many more values are missing than in calibration that people should know.
func (i Imputed) Lacks() bool { return i.Share() > i.Expected+0.1 }

// Columns is what featurize saw of the columns of events by one feature set.
type Columns struct {
	FeatureSet string
	Rows       int64
	Imputed    []Imputed
	Strays     []encoder.ClassRows // fields that the set does not know, and the rows that have them, most first
}

// columnWatch sums what is reported of columns.
type columnWatch struct {
	set     string
	rows    int64
	imputed map[string]Imputed
	strays  encoder.ClassTally
}

// AddColumns adds what featurize saw of the columns of events, by the feature set in use. It returns the names of the fields
// that the set does not know and that had not been seen before.
func (m *Meter) AddColumns(seen Columns) (news []string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	w := &m.columns
	if w.set != seen.FeatureSet {
		*w = columnWatch{set: seen.FeatureSet, imputed: map[string]Imputed{}}
	}
	w.rows += seen.Rows
	for _, one := range seen.Imputed {
		sum := w.imputed[one.Column]
		one.Values, one.Imputed = one.Values+sum.Values, one.Imputed+sum.Imputed
		w.imputed[one.Column] = one
	}
	for _, field := range seen.Strays {
		if w.strays.Rows(field.Class) == 0 {
			news = append(news, field.Class)
		}
		w.strays.Add(field.Class, field.Rows)
	}
	return news
}

// list returns the sums, of columns with imputed values, those with the most beyond what is expected first.
func (w *columnWatch) list() Columns {
	found := Columns{FeatureSet: w.set, Rows: w.rows, Strays: w.strays.List()}
	for _, one := range w.imputed {
		if one.Imputed > 0 {
			found.Imputed = append(found.Imputed, one)
		}
	}
	slices.SortFunc(found.Imputed, func(a, b Imputed) int {
		return cmp.Or(cmp.Compare(b.Share()-b.Expected, a.Share()-a.Expected), cmp.Compare(a.Column, b.Column))
	})
	return found
}
