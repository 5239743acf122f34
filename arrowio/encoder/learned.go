package encoder

import (
	"fmt"
	"math"

	"github.com/apache/arrow/go/v15/arrow"
)

// learned is the state of calibration for one column. It depends only on the values in row
// order.
type learned struct {
	name string
	// want is the column's type; its kind is kindAny until a record has the column with a type of
	// values.
	want columnType
	// explicit is set if the options name the column, so that no rule of thumb leaves it out.
	explicit bool

	// spreads belong to a number, or to each element of a vector.
	spreads []spread
	// whole is set for a column of numbers that could be an identifier, as long as all are whole;
	// float says that some came as floats, as all of JSON do.
	whole *distinct[int64]
	float bool
	// hits counts the true ones among n booleans.
	hits, n int64
	// texts are for a column of strings, times for other columns of times.
	texts *learnedTexts
	times *learnedTimes
	// missing counts missing numbers, nonFinite the NaN, infinite ones and those too large for
	// moments.
	missing, nonFinite int64
}

// become gives the column its type.
func (l *learned) become(t columnType, sketch int) {
	if l.want.kind != kindAny {
		return
	}
	l.want = t
	switch t.kind {
	case Numeric, Vector:
		l.spreads = make([]spread, t.width)
	case Category:
		l.texts = newLearnedTexts(sketch)
	case Time, Clock:
		l.times = &learnedTimes{}
	}
}

// learn adds the given rows of a column.
func (l *learned) learn(a arrow.Array, rows picked, s *scratch) {
	switch l.want.kind {
	case Numeric, Vector:
		l.learnNumbers(a, rows, s)
	case Bool:
		l.learnBools(a, rows, s)
	case Category:
		l.texts.learn(a, rows)
	case Time, Clock:
		l.learnTimes(a, rows, s)
	}
}

// learnNumbers adds numbers or vectors.
func (l *learned) learnNumbers(a arrow.Array, rows picked, s *scratch) {
	width := l.want.width
	values, null := s.numbers(a, rows, width)
	for i := range rows.len() {
		for j := range width {
			at := i*width + j
			switch {
			case null != nil && null[at], s.nanMissing && math.IsNaN(values[at]):
				l.missing++
			case !learnableNumber(values[at]):
				l.nonFinite++
			default:
				l.spreads[j].add(values[at])
			}
		}
	}
	if l.whole != nil && !l.whole.done() {
		l.learnWhole(a, rows, null, s)
	}
}

// learnWhole adds numbers to the count of distinct ones.
func (l *learned) learnWhole(a arrow.Array, rows picked, null []bool, s *scratch) {
	if a.DataType().ID() == arrow.NULL || isText(a) {
		return
	}
	s.whole = resize(s.whole, rows.len())
	integers := loadWhole(s.whole, a, rows)
	l.float = l.float || !integers
	for i, v := range s.whole {
		switch at := s.loaded[i]; {
		case null != nil && null[i] || !integers && math.IsNaN(at):
			continue
		case integers:
		case at != math.Trunc(at) || math.Abs(at) > maxWhole:
			l.whole = nil
			return
		default:
			v = int64(at)
		}
		l.whole.add(v)
	}
}

// learnBools adds booleans.
func (l *learned) learnBools(a arrow.Array, rows picked, s *scratch) {
	s.codes = resize(s.codes, rows.len())
	loadBools(s.codes, a, rows, 0, 1)
	for _, k := range s.codes {
		l.n += count(k != nullCode)
		l.hits += count(k == 1)
	}
}

// learnTimes adds times.
func (l *learned) learnTimes(a arrow.Array, rows picked, s *scratch) {
	s.loaded, s.null = resize(s.loaded, rows.len()), resize(s.null, rows.len())
	loadTimes(s.loaded, s.null, a, rows, l.want.kind)
	for i, seconds := range s.loaded {
		if !s.null[i] {
			l.times.add(seconds)
		}
	}
}

// column returns the feature column learned from this many rows, or the reason for leaving it out.
func (l *learned) column(rows int64, share float64, o *Options) (Column, string) {
	c := Column{Name: l.name, Kind: l.want.kind, Width: l.want.width}
	if reason := l.unusable(share); reason != "" {
		return c, reason
	}
	b := columnBuilder{column: &c, standardize: o.Standardize}
	switch c.Kind {
	case Numeric, Vector:
		for j := range l.spreads {
			m, _ := l.spreads[j].settled()
			b.value(m.mean, m.scale())
		}
	case Bool:
		b.value(bernoulli(l.hits, l.n))
	case Time, Clock:
		b.times(l.times, c.Kind)
	case Category:
		if times, kind := l.texts.times(); times != nil {
			b.times(times, kind)
			break
		}
		b.categories(l.texts, rows, o.MaxCategories)
	}
	if missing := l.absent(rows); c.Kind != Vector && float64(missing) > o.MissingIndicator*float64(rows) {
		c.Missing = true
		b.extra(bernoulli(missing, rows))
	}
	c.Width = c.dimensions()
	return c, ""
}

// absent returns how many of the rows have no value that could be encoded; for a vector it counts
// numbers.
func (l *learned) absent(rows int64) int64 {
	switch l.want.kind {
	case Numeric:
		return rows - l.spreads[0].all.n - l.nonFinite
	case Vector:
		return l.missing
	case Bool:
		return rows - l.n
	case Time, Clock:
		return rows - l.times.seconds.all.n
	case Category:
		if times, _ := l.texts.times(); times != nil {
			return rows - times.seconds.all.n
		}
		return rows - l.texts.values.n
	}
	return rows
}

// unusable returns why the column cannot be a feature, or "".
func (l *learned) unusable(share float64) string {
	switch l.want.kind {
	case Numeric, Vector:
		return l.unusableNumbers(share)
	case Bool:
		if l.n > 0 {
			return ""
		}
	case Time, Clock:
		if l.times.seconds.all.n > 0 {
			return ""
		}
	case Category:
		if times, _ := l.texts.times(); times != nil {
			return ""
		}
		return l.texts.unusable(l.name, l.explicit, share)
	}
	return noValue
}

// identifies reports whether the column looks like an identifier.
func (l *learned) identifies(share float64) bool {
	switch {
	case l.explicit:
		return false
	case l.texts != nil:
		times, _ := l.texts.times()
		return times == nil && l.texts.values.identifies(l.name, share)
	}
	d := l.whole
	return d != nil && (d.unique(share) && !l.float || d.recurs() && namesThings.MatchString(l.name))
}

// overrule says how an identifier becomes a feature all the same.
const overrule = "; events.include (--include) overrules"

// noValue is why a column without values is left out.
const noValue = "it has no value in the calibration rows"

// unusableNumbers is unusable for numbers and vectors.
func (l *learned) unusableNumbers(share float64) string {
	if l.identifies(share) {
		return fmt.Sprintf(
			"it looks like an identifier: %d distinct whole numbers in %d values"+overrule,
			l.whole.judged, l.whole.n,
		)
	}
	for j := range l.spreads {
		if l.spreads[j].all.n > 0 {
			return ""
		}
	}
	if l.nonFinite > 0 {
		return "it has no finite value in the calibration rows"
	}
	return noValue
}

// constant returns the names of the dimensions of c, made from l, that had one value in all rows.
func (l *learned) constant(c *Column, rows int64) []string {
	var names []string
	for j := range c.values() {
		var same bool
		switch {
		case c.Kind == Numeric || c.Kind == Vector:
			same = l.spreads[j].all.constant()
		case c.Kind == Bool:
			same = l.hits == 0 || l.hits == l.n
		case c.Kind == Category:
			same = l.texts.values.count(c.Categories[j]) == rows
		case l.times != nil:
			same = l.times.seconds.all.constant()
		default:
			times, _ := l.texts.times()
			same = times.seconds.all.constant()
		}
		if same {
			names = append(names, c.dimensionName(j))
		}
	}
	return names
}

// scratch is memory for the rows of one column being learned.
type scratch struct {
	loaded []float64
	null   []bool
	whole  []int64
	codes  []int32
	// nanMissing is set if NaN is a missing feature.
	nanMissing bool
}

// numbers loads the numbers of the given rows, [rows·width], and which of them are null; nil if
// none is.
func (s *scratch) numbers(a arrow.Array, rows picked, width int) ([]float64, []bool) {
	s.loaded = resize(s.loaded, rows.len()*width)
	s.null = resize(s.null, rows.len()*width)
	if isText(a) {
		loadParsed(s.loaded, s.null, a, rows, parseNumber)
		return s.loaded, s.null
	}
	loadNumbers(s.loaded, a, rows)
	if markNulls(s.null, a, rows, width) {
		return s.loaded, s.null
	}
	return s.loaded, nil
}
