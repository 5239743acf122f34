package encoder

// columnBuilder fills a column from the learned moments and categories.
type columnBuilder struct {
	column      *Column
	standardize string // the setting
}

// value adds a dimension for values.
func (b columnBuilder) value(mean, scale float64) {
	b.column.Mean = append(b.column.Mean, mean)
	if standardizes(b.standardize, b.column.Kind) {
		b.column.Scale = append(b.column.Scale, scale)
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
	for _, i := range l.spanned(b.column.Kind) {
		b.column.Cycles = append(b.column.Cycles, cycles[i].cycle)
		at := &l.cycles[i]
		b.extra(at.sin.mean, at.sin.scale())
		b.extra(at.cos.mean, at.cos.scale())
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
