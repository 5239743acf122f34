package encoder

import (
	"fmt"

	"github.com/apache/arrow/go/v15/arrow"
)

// learned is what calibration knows of one column so far. What it holds is a function of the values
// in row order.
type learned struct {
	name string
	// want is the column's type; its kind is kindAny until a record has it in a type of values.
	want columnType
	// explicit says that the options name the column, so that no rule of thumb leaves it out.
	explicit bool

	// moments are those of a number, or of each element of a vector.
	moments []moment
	// whole is set for a whole-number column that could be an identifier.
	whole *distinctWhole
	// hits counts the true ones among n booleans.
	hits, n int64
	// texts are the values of a category.
	texts *distinctTexts
	// nonFinite counts numbers that were NaN, infinite or too large for moments.
	nonFinite int64
}

// become gives the column its type.
func (l *learned) become(t columnType, maxCategories int) {
	if l.want.kind != kindAny {
		return
	}
	l.want = t
	switch t.kind {
	case Numeric, Vector:
		l.moments = make([]moment, t.width)
	case Category:
		l.texts = newDistinctTexts(maxCategories)
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
		l.learnTexts(a, rows)
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
			case null != nil && null[at]:
			case !learnableNumber(values[at]):
				l.nonFinite++
			default:
				l.moments[j].add(values[at])
			}
		}
	}
	if l.whole != nil && !l.whole.done() {
		l.learnWhole(a, rows, null, s)
	}
}

// learnWhole adds numbers to the count of distinct ones.
func (l *learned) learnWhole(a arrow.Array, rows picked, null []bool, s *scratch) {
	if a.DataType().ID() == arrow.NULL {
		return
	}
	s.whole = resize(s.whole, rows.len())
	if !loadWhole(s.whole, a, rows) {
		l.whole.leave()
		return
	}
	for i, v := range s.whole {
		if null == nil || !null[i] {
			l.whole.add(v)
		}
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

// learnTexts adds categories.
func (l *learned) learnTexts(a arrow.Array, rows picked) {
	t := textsOf(a)
	for i := range rows.len() {
		if value, ok := t.at(rows.row(i)); ok {
			l.texts.add(value)
		}
	}
}

// column returns the feature column that was learned from so many rows, or the reason why it is none.
func (l *learned) column(rows int64, standardize string) (Column, string) {
	c := Column{Name: l.name, Kind: l.want.kind, Width: l.want.width}
	if reason := l.unusable(); reason != "" {
		return c, reason
	}
	standardized := standardizes(standardize, c.Kind)
	add := func(mean, scale float64) {
		c.Mean = append(c.Mean, mean)
		if standardized {
			c.Scale = append(c.Scale, scale)
		}
	}
	switch c.Kind {
	case Numeric, Vector:
		for j := range l.moments {
			add(l.moments[j].mean, l.moments[j].scale())
		}
	case Bool:
		add(bernoulli(l.hits, l.n))
	case Category:
		c.Categories = l.texts.values()
		c.Width = len(c.Categories)
		for _, v := range c.Categories {
			if standardized {
				add(bernoulli(l.texts.count(v), rows))
			}
		}
	}
	return c, ""
}

// unusable returns why the column cannot be a feature, or nothing.
func (l *learned) unusable() string {
	switch l.want.kind {
	case Numeric, Vector:
		return l.unusableNumbers()
	case Bool:
		if l.n > 0 {
			return ""
		}
	case Category:
		switch {
		case l.texts.long:
			return fmt.Sprintf("it holds a string of more than %d bytes", MaxCategoryBytes)
		case l.texts.beyond:
			return fmt.Sprintf("it has more than %d distinct values", l.texts.limit)
		case len(l.texts.rows) > 0:
			return ""
		case l.texts.unlearnable > 0:
			return "none of its values in the calibration rows is valid UTF-8"
		}
	}
	return "it has no value in the calibration rows"
}

// unusableNumbers is unusable for numbers and vectors.
func (l *learned) unusableNumbers() string {
	if l.whole != nil && l.whole.nearUnique() {
		return fmt.Sprintf("it looks like an identifier: %d distinct whole numbers in %d values", len(l.whole.seen), l.whole.n)
	}
	for j := range l.moments {
		if l.moments[j].n > 0 {
			return ""
		}
	}
	if l.nonFinite > 0 {
		return "it has no finite value in the calibration rows"
	}
	return "it has no value in the calibration rows"
}

// constant returns the names of the dimensions of c, made from l, that had one value in all rows.
func (l *learned) constant(c *Column, rows int64) []string {
	var names []string
	for j := range c.Width {
		var same bool
		switch c.Kind {
		case Numeric, Vector:
			same = l.moments[j].constant()
		case Bool:
			same = l.hits == 0 || l.hits == l.n
		case Category:
			same = l.texts.count(c.Categories[j]) == rows
		}
		if same {
			names = append(names, c.dimensionName(j))
		}
	}
	return names
}

// scratch is the memory of one column's rows at hand.
type scratch struct {
	loaded []float64
	null   []bool
	whole  []int64
	codes  []int32
}

// numbers loads the numbers of the given rows, [rows·width], and which of them are null; nil when
// none is.
func (s *scratch) numbers(a arrow.Array, rows picked, width int) ([]float64, []bool) {
	s.loaded = resize(s.loaded, rows.len()*width)
	s.null = resize(s.null, rows.len()*width)
	loadNumbers(s.loaded, a, rows)
	if markNulls(s.null, a, rows, width) {
		return s.loaded, s.null
	}
	return s.loaded, nil
}
