package encoder

// columnBuilder fills a column from the learned moments and categories.
type columnBuilder struct {
	column *Column
	// The settings.
	standardize string
	clip        float64
}

// value adds a dimension for values.
func (b columnBuilder) value(mean, scale float64) {
	b.column.Mean = append(b.column.Mean, mean)
	if standardizes(b.standardize, b.column.Kind) {
		b.column.Scale = append(b.column.Scale, scale)
	}
}

// reach is the greatest distance of a value from the mean, relative to the farthest calibration
// value on its side: features that no row has taught beyond are not extrapolated without bound.
const reach = 1.5

// bounds adds the bounds of a dimension whose values have these moments. Rounding may put the mean
// of nearly equal values outside their range.
func (b columnBuilder) bounds(m moment) {
	if b.clip > 0 && standardizes(b.standardize, b.column.Kind) {
		b.column.Low = append(b.column.Low, min(m.lo, m.mean, m.mean-float64(reach*(m.mean-m.lo))))
		b.column.High = append(b.column.High, max(m.hi, m.mean, m.mean+float64(reach*(m.hi-m.mean))))
	}
}

// extra adds a dimension of 0 and 1, or of a cycle: it has mean and scale if everything is
// standardized.
func (b columnBuilder) extra(mean, scale float64) {
	if b.standardize == StandardizeAll {
		b.column.Mean, b.column.Scale = append(b.column.Mean, mean), append(b.column.Scale, scale)
	}
}

// times adds the dimensions of times.
func (b columnBuilder) times(l *learnedTimes) {
	seconds, _ := l.seconds.settled()
	b.value(seconds.mean, seconds.scale())
	b.bounds(seconds)
	for _, i := range l.spanned(b.column.Kind) {
		b.column.Cycles = append(b.column.Cycles, cycles[i].cycle)
		at := &l.cycles[i]
		for _, m := range at.place[:b.column.CycleDims()] {
			b.extra(m.mean, m.scale())
		}
	}
}

// categories adds the dimensions of the commonest strings and of other values, learned from this
// many rows.
func (b columnBuilder) categories(l *learnedTexts, rows int64, most int) {
	kept, other := l.categories(most)
	b.column.Categories, b.column.Other = kept, other
	for _, v := range kept {
		b.extra(bernoulli(l.values.count(v), rows))
	}
	if other {
		b.extra(bernoulli(l.rest(kept), rows))
	}
}
