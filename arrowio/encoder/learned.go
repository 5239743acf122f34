package encoder

import (
	"cmp"
	"fmt"
	"math"
	"strconv"
	"strings"

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
	// declared is the type in the options, nil without one; preferComma is set if doubtful commas
	// are decimal ones.
	declared    *DeclaredType
	preferComma bool

	// spreads belong to a number, or to each element of a vector.
	spreads []spread
	// epochs are numbers as times.
	epochs learnedEpochs
	// whole is set for a column of numbers that could be an identifier, as long as all are whole.
	whole *distinct[int64]
	step  steps
	// hits counts the true ones among n booleans.
	hits, n int64
	// texts are for a column of strings, times for other columns of times.
	texts *learnedTexts
	times *learnedTimes
	// missing counts missing numbers, nonFinite the NaN, infinite ones and those too large for
	// moments.
	missing, nonFinite int64
}

// newLearned returns the empty state of a column, which is explicit if the options declare its
// type.
func newLearned(o *Options, name string, explicit bool) *learned {
	l := &learned{name: name, explicit: explicit, want: columnType{kind: kindAny, width: 1}}
	if t, ok := o.typeOfColumn(name); ok {
		l.declared = &t
		l.explicit = true
	}
	return l
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
		l.texts.learn(a, rows, s.nulls)
	case Time, Clock:
		l.learnTimes(a, rows, s)
	}
}

// learnNumbers adds numbers or vectors.
func (l *learned) learnNumbers(a arrow.Array, rows picked, s *scratch) {
	width := l.want.width
	values, null := s.numbers(a, rows, width, &Form{})
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
				if width == 1 {
					l.epochs.add(values[at])
					l.step.add(values[at])
				}
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
	for i, v := range s.whole {
		switch at := s.loaded[i]; {
		case null != nil && null[i] || !integers && math.IsNaN(at):
			continue
		case integers:
		case at != math.Trunc(at) || math.IsInf(at, 0):
			l.whole = nil
			return
		case math.Abs(at) > maxWhole:
			v = int64(math.Float64bits(at))
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
	loadTimes(s.loaded, s.null, a, rows, l.want.kind, &Form{})
	for i, seconds := range s.loaded {
		if !s.null[i] {
			l.times.add(seconds)
		}
	}
}

// column returns the feature column learned from this many rows, or the reason for leaving it out.
func (l *learned) column(rows int64, share float64, o *Options) (Column, string) {
	v := l.verdict()
	c := Column{Name: l.name, Kind: v.kind, Form: v.form, Width: l.want.width}
	if reason := l.unusable(&v, share); reason != "" {
		return c, reason
	}
	b := columnBuilder{column: &c, standardize: o.Standardize, clip: o.Clip}
	switch c.Kind {
	case Numeric, Vector:
		for _, s := range l.numbers(&v) {
			m, _ := s.settled()
			b.value(m.mean, m.scale())
			b.bounds(m)
		}
	case Bool:
		b.value(bernoulli(l.booleans(&v)))
	case Time, Clock:
		b.times(v.times)
	case Category:
		b.categories(l.texts, rows, o.MaxCategories)
	}
	if missing := l.absent(&v, rows); c.Kind != Vector && float64(missing) > o.MissingIndicator*float64(rows) {
		c.Missing = true
		b.extra(bernoulli(missing, rows))
	}
	c.Width = c.dimensions()
	return c, ""
}

// verdict returns the kind of the column, and the form and the values of it.
func (l *learned) verdict() verdict {
	switch l.want.kind {
	case Category:
		v := l.texts.forms.decide(l.name, l.declared, l.preferComma)
		v.form.Numbers = l.want.numbers
		return v
	case Numeric:
		form, times := l.epochs.found(l.name)
		if l.declared != nil && l.declared.Kind != Time || l.explicit && l.declared == nil && form != DateNumbers &&
			!namesTimes.MatchString(l.name) {
			break
		}
		if l.declared != nil {
			form = cmp.Or(l.declared.Form.Dates, form)
			times = l.epochs.of(form)
		}
		if form != "" {
			return verdict{kind: Time, form: Form{Dates: form}, fits: times.seconds.all.n, times: times}
		}
	case Time, Clock:
		return verdict{kind: l.want.kind, times: l.times}
	}
	return verdict{kind: l.want.kind}
}

// numbers returns the distributions of a column of numbers or vectors.
func (l *learned) numbers(v *verdict) []spread {
	if l.texts != nil {
		return []spread{v.numbers.values}
	}
	return l.spreads
}

// booleans returns how many booleans are true, and how many there are.
func (l *learned) booleans(v *verdict) (hits, n int64) {
	if l.texts != nil {
		return l.texts.forms.yes, v.fits
	}
	return l.hits, l.n
}

// absent returns how many of the rows have no value that could be encoded; for a vector it counts
// numbers.
func (l *learned) absent(v *verdict, rows int64) int64 {
	switch l.want.kind {
	case Numeric:
		if v.kind == Time {
			return rows - v.fits
		}
		return rows - l.spreads[0].all.n - l.nonFinite
	case Vector:
		return l.missing
	case Bool:
		return rows - l.n
	case Time, Clock:
		return rows - l.times.seconds.all.n
	case Category:
		if v.kind != Category {
			return rows - v.fits
		}
		return rows - l.texts.values.n
	}
	return rows
}

// unusable returns why the column cannot be a feature, or "".
func (l *learned) unusable(v *verdict, share float64) string {
	if l.declared != nil && v.kind != l.declared.Kind && l.want.kind != kindAny {
		return fmt.Sprintf("it is declared as %s in events.types, but is %s", l.declared.Kind, l.want)
	}
	switch v.kind {
	case Numeric, Vector:
		return l.unusableNumbers(v, share)
	case Bool:
		if _, n := l.booleans(v); n > 0 {
			return ""
		}
	case Time, Clock:
		if v.times.seconds.all.n > 0 {
			return ""
		}
	case Category:
		return l.texts.unusable(l.name, l.explicit, share)
	}
	return noValue
}

// identifies reports whether a column of numbers looks like an identifier, and returns its distinct
// and judged values.
func (l *learned) identifies(v *verdict, share float64) (distinct, n int64, is bool) {
	switch {
	case l.explicit || v.kind != Numeric:
		return 0, 0, false
	case l.texts == nil && l.whole != nil:
		return l.whole.judged, l.whole.n, l.whole.identify(l.name, &l.spreads[0].all, &l.step, share)
	case l.texts != nil && v.numbers.fractions == 0 && v.form.Unit == "":
		d := l.texts.values.hashes
		return d.judged, d.n, d.identify(l.name, &v.numbers.values.all, &v.numbers.step, share)
	}
	return 0, 0, false
}

// identifierReason begins the reason of an identifier that is left out.
const identifierReason = "it looks like an identifier"

// repeats returns the share of rows that have the value of an earlier row in a column that is left
// out as an identifier, or whose name suggests one; 0 if its values hardly recur.
func (l *learned) repeats(v *verdict, reason string, share float64) float64 {
	switch {
	case !strings.HasPrefix(reason, identifierReason) && (reason != "" || !namesThings.MatchString(l.name)):
		return 0
	case l.texts != nil && (v.kind == Category || v.kind == Numeric && v.numbers.fractions == 0):
		return l.texts.values.hashes.repeats(share)
	case l.texts == nil && l.whole != nil && v.kind == Numeric:
		return l.whole.repeats(share)
	}
	return 0
}

// overrule says how an identifier becomes a feature all the same.
const overrule = "; events.include (--include) overrules"

// noValue is why a column without values is left out.
const noValue = "it has no value in the calibration rows"

// unusableNumbers is unusable for numbers and vectors.
func (l *learned) unusableNumbers(v *verdict, share float64) string {
	if distinct, n, is := l.identifies(v, share); is {
		return fmt.Sprintf(identifierReason+": %d distinct whole numbers in %d values"+overrule, distinct, n)
	}
	for _, s := range l.numbers(v) {
		if s.all.n > 0 {
			return ""
		}
	}
	if l.nonFinite > 0 {
		return "it has no finite value in the calibration rows"
	}
	return noValue
}

// constant returns the names of the dimensions of c, made from l, that had one value in all rows.
func (l *learned) constant(c *Column, v *verdict, rows int64) []string {
	var names []string
	for j := range c.values() {
		var same bool
		switch c.Kind {
		case Numeric, Vector:
			same = l.numbers(v)[j].all.constant()
		case Bool:
			hits, n := l.booleans(v)
			same = hits == 0 || hits == n
		case Category:
			same = l.texts.values.count(c.Categories[j]) == rows
		default:
			same = v.times.seconds.all.constant()
		}
		if same {
			names = append(names, c.dimensionName(j))
		}
	}
	return names
}

// constantRows is the number of rows from which a column with one value is left out.
const constantRows = 20

// single returns the only value of a column that can be a feature, "" if it has several or its
// missing values have a dimension.
func (l *learned) single(c *Column, v *verdict, rows int64) string {
	switch {
	case l.explicit || c.Missing || c.Kind == Vector || rows < constantRows:
	case c.Kind == Category && len(c.Categories) == 1 && !c.Other:
		return strconv.Quote(c.Categories[0])
	case c.Kind == Bool:
		if hits, n := l.booleans(v); hits == 0 || hits == n {
			return className(hits > 0)
		}
	case c.Kind == Numeric && l.numbers(v)[0].all.nearlyConstant():
		return fmt.Sprintf("%.6g", c.Mean[0])
	case isTime(c.Kind) && v.times.seconds.all.constant():
		return c.value(0, 0)
	}
	return ""
}

// scratch is memory for the rows of one column being learned.
type scratch struct {
	loaded []float64
	null   []bool
	whole  []int64
	codes  []int32
	// nanMissing is set if NaN is a missing feature.
	nanMissing bool
	nulls      *nullWords
}

// numbers loads the numbers of the given rows, [rows·width], and which of them are null; nil if
// none is.
func (s *scratch) numbers(a arrow.Array, rows picked, width int, form *Form) ([]float64, []bool) {
	s.loaded = resize(s.loaded, rows.len()*width)
	s.null = resize(s.null, rows.len()*width)
	if isText(a) {
		loadParsed(s.loaded, s.null, a, rows, form.number)
		return s.loaded, s.null
	}
	loadNumbers(s.loaded, a, rows)
	if markNulls(s.null, a, rows, width) {
		return s.loaded, s.null
	}
	return s.loaded, nil
}
