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
	Now      float64 `json:"now"`      // share of imputed values in recent rows

	values, imputed int64 // of recent rows
}

// NewField is a field of events that the feature set does not include.
type NewField struct {
	Field string  `json:"field"`
	Rows  int64   `json:"rows"`
	Now   float64 `json:"now"` // share of recent rows with the field
}

// Share is the share of imputed values.
func (i Imputed) Share() float64 { return float64(i.Imputed) / float64(max(1, i.Values)) }

// Lacks reports whether the share of missing values exceeds calibration's by enough to notify
// people.
func (i Imputed) Lacks() bool { return i.Share() > i.Expected+0.1 }

// Columns holds featurize's observations of event columns under one feature set.
type Columns struct {
	FeatureSet string
	Rows       int64
	Imputed    []Imputed
	Strays     []encoder.ClassRows // fields unknown to the set, with their row counts
}

// ColumnReport sums the observations since the current feature set became active.
type ColumnReport struct {
	FeatureSet string
	Imputed    []Imputed  // columns with imputed values, largest excess over calibration first
	NewFields  []NewField // most rows first
}

// recentRows is the minimum number of recent rows: beyond twice that number their counts are
// halved.
const recentRows = 10_000

// columnWatch sums the reported observations of columns.
type columnWatch struct {
	set          string
	rows, recent int64
	imputed      map[string]Imputed
	strays       encoder.ClassTally
	recently     map[string]int64 // recent row counts of the strays
}

// AddColumns adds featurize's observations of event columns under the current feature set. It
// returns the names of unknown fields seen for the first time.
func (m *Meter) AddColumns(seen Columns) (news []string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	w := &m.columns
	if w.set != seen.FeatureSet {
		*w = columnWatch{set: seen.FeatureSet, imputed: map[string]Imputed{}, recently: map[string]int64{}}
	}
	w.rows, w.recent = w.rows+seen.Rows, w.recent+seen.Rows
	for _, one := range seen.Imputed {
		sum := w.imputed[one.Column]
		one.values, one.imputed = one.Values+sum.values, one.Imputed+sum.imputed
		one.Values, one.Imputed = one.Values+sum.Values, one.Imputed+sum.Imputed
		w.imputed[one.Column] = one
	}
	for _, field := range seen.Strays {
		if w.strays.Rows(field.Class) == 0 {
			news = append(news, field.Class)
		}
		w.strays.Add(field.Class, field.Rows)
		if w.strays.Rows(field.Class) > 0 {
			w.recently[field.Class] += field.Rows
		}
	}
	if w.recent > 2*recentRows {
		w.halve()
	}
	return news
}

// halve halves the weight of recent rows.
func (w *columnWatch) halve() {
	w.recent /= 2
	for name, one := range w.imputed {
		one.values, one.imputed = one.values/2, one.imputed/2
		w.imputed[name] = one
	}
	for field, rows := range w.recently {
		if w.recently[field] = rows / 2; w.strays.Rows(field) == 0 {
			delete(w.recently, field)
		}
	}
}

// list returns the sums.
func (w *columnWatch) list() ColumnReport {
	found := ColumnReport{FeatureSet: w.set}
	for _, f := range w.strays.List() {
		found.NewFields = append(
			found.NewFields,
			NewField{f.Class, f.Rows, float64(w.recently[f.Class]) / float64(max(1, w.recent))},
		)
	}
	for _, one := range w.imputed {
		if one.Imputed > 0 {
			one.Now = float64(one.imputed) / float64(max(1, one.values))
			found.Imputed = append(found.Imputed, one)
		}
	}
	slices.SortFunc(found.Imputed, func(a, b Imputed) int {
		return cmp.Or(cmp.Compare(b.Now-b.Expected, a.Now-a.Expected), cmp.Compare(a.Column, b.Column))
	})
	return found
}
