package encoder

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// Form is how the text of a column is read. It is decided once, by the calibration rows of the
// column or by [Options.Types], so that a value means the same in every later row.
type Form struct {
	// Text is set if numbers or booleans were text in the calibration rows. They may be text later,
	// as times always may.
	Text bool `json:"text,omitempty"`
	// Numbers is set if numbers and booleans may stand for the texts of a category.
	Numbers bool `json:"numbers,omitempty"`
	// DecimalComma is set if the numbers have decimal commas.
	DecimalComma bool `json:"decimal_comma,omitempty"`
	// Unit is the text before or after numbers. Numbers with another unit are missing.
	Unit string `json:"unit,omitempty"`
	// Dates is the order of dates that text leaves open, DayFirst or MonthFirst, or one of
	// DateNumbers, Seconds, Milliseconds, Microseconds and Nanoseconds for times that are numbers.
	Dates string `json:"dates,omitempty"`
	// nulls are the words of the encoder that mean a missing value; nil = only absences do.
	nulls *nullWords
}

// validate returns the fault of the form of a column of a kind.
func (f *Form) validate(kind Kind) error {
	switch {
	case (f.DecimalComma || f.Unit != "") && kind != Numeric:
		return fmt.Errorf("a decimal comma or a unit in a %s column", kind)
	case f.Unit != "" && (len(f.Unit) > 2*maxUnit || !learnable(f.Unit)):
		return fmt.Errorf("unit %q is not valid UTF-8 of at most %d bytes", f.Unit, 2*maxUnit)
	case f.Dates != "" && kind != Time:
		return fmt.Errorf("dates %q in a %s column", f.Dates, kind)
	case f.Dates != "" && !slices.Contains(dateForms, f.Dates):
		return fmt.Errorf("dates %q is not one of %s", f.Dates, strings.Join(dateForms, ", "))
	}
	return nil
}

// dateForms are the values of Form.Dates.
var dateForms = []string{DayFirst, MonthFirst, DateNumbers, Seconds, Milliseconds, Microseconds, Nanoseconds}

// words describes the form for people.
func (f *Form) words() string {
	var words []string
	if f.DecimalComma {
		words = append(words, "with decimal commas")
	}
	if f.Unit != "" {
		words = append(words, fmt.Sprintf("in %q", f.Unit))
	}
	switch {
	case unitsOf[f.Dates] > 0:
		words = append(words, "as "+f.Dates+" since 1970")
	case f.Dates != "":
		words = append(words, "as "+f.Dates)
	}
	return strings.Join(words, " ")
}

// DeclaredType is a column's type as a user declares it.
type DeclaredType struct {
	Kind Kind
	Form Form
}

// declaredTypes are the types that a user may declare.
var declaredTypes = map[string]DeclaredType{
	"category":                  {Kind: Category},
	"number":                    {Kind: Numeric},
	"number with decimal comma": {Kind: Numeric, Form: Form{DecimalComma: true}},
	"boolean":                   {Kind: Bool},
	"date":                      {Kind: Time},
	"date " + DayFirst:          {Kind: Time, Form: Form{Dates: DayFirst}},
	"date " + MonthFirst:        {Kind: Time, Form: Form{Dates: MonthFirst}},
	"date " + DateNumbers:       {Kind: Time, Form: Form{Dates: DateNumbers}},
	"date in " + Seconds:        {Kind: Time, Form: Form{Dates: Seconds}},
	"date in " + Milliseconds:   {Kind: Time, Form: Form{Dates: Milliseconds}},
	"date in " + Microseconds:   {Kind: Time, Form: Form{Dates: Microseconds}},
	"date in " + Nanoseconds:    {Kind: Time, Form: Form{Dates: Nanoseconds}},
	"time of day":               {Kind: Clock},
}

// DeclaredTypes lists the types that a user may declare.
func DeclaredTypes() []string { return slices.Sorted(maps.Keys(declaredTypes)) }

// typeOfColumn returns the declared type of a column.
func (o *Options) typeOfColumn(name string) (t DeclaredType, ok bool) {
	declared, found := o.Types[name]
	if !found {
		return t, false
	}
	t, ok = declaredTypes[declared]
	return t, ok
}

// typeFaults checks the declared types.
func (o Options) typeFaults() (faults []error) {
	for _, name := range slices.Sorted(maps.Keys(o.Types)) {
		if _, ok := declaredTypes[o.Types[name]]; !ok {
			faults = append(faults, fmt.Errorf("types: column %q is declared %q, which is not one of: %s",
				name, o.Types[name], strings.Join(DeclaredTypes(), "; ")))
		}
	}
	return faults
}

// learnedForms is what the texts of a column are when they are read as numbers, dates, times of day
// and booleans.
type learnedForms struct {
	// values counts all texts, absent the marks of absence among them.
	values, absent int64
	// dates are by order, the first with the day first. open counts dates that both orders read,
	// firsts and seconds are the first two parts of these.
	dates [2]learnedTimes
	open  int64
	parts [2]constantPart
	// zoned and local count the times of day of dates with and without a zone.
	zoned, local int64
	clocks       learnedTimes
	yes, no      int64
	units        map[string]*learnedUnit
	codes        int64
}

// constantPart tells whether a part of all dates is the same.
type constantPart struct {
	value  int
	varies bool
}

func (p *constantPart) add(v int, first bool) {
	if first {
		p.value = v
	}
	p.varies = p.varies || v != p.value
}

// learnedUnit are the numbers with one unit: by reading, first with points.
type learnedUnit struct {
	readings [2]learnedReading
}

// learnedReading is one reading of numbers.
type learnedReading struct {
	values    spread
	fractions int64 // values that are not whole
	alone     int64 // values that the other reading does not have
	epochs    learnedEpochs
	step      steps
}

// maxUnits bounds the units of a column that are told apart.
const maxUnits = 16

// add learns from a text.
func (l *learnedForms) add(text string) {
	l.values++
	switch {
	case isAbsence(text):
		l.absent++
	case l.addTime(text):
		l.addNumber(text)
	default:
		if value, ok := parseBool(text); ok && value {
			l.yes++
		} else if ok {
			l.no++
		}
		l.addNumber(text)
	}
}

// addTime learns from a text that is a date or a time of day.
func (l *learnedForms) addTime(text string) bool {
	if seconds, nanos, ok := parseClock(text); ok {
		l.clocks.add(inSeconds(seconds, nanos))
		return true
	}
	day, dayOK := parseTime(text, false)
	month, monthOK := parseTime(text, true)
	if dayOK {
		l.dates[0].add(inSeconds(day.seconds, day.nanos))
	}
	if monthOK {
		l.dates[1].add(inSeconds(month.seconds, month.nanos))
	}
	if !dayOK && !monthOK {
		return false
	}
	at := day
	if !dayOK {
		at = month
	}
	l.zoned += count(at.clock && at.zoned)
	l.local += count(at.clock && !at.zoned)
	if dayOK && monthOK && day.open {
		d, _, _ := cutDate(cutWeekday(strings.Trim(text, " ")))
		l.parts[0].add(d.day, l.open == 0)
		l.parts[1].add(d.month, l.open == 0)
		l.open++
	}
	return true
}

// addNumber learns from a text that may be a number.
func (l *learnedForms) addNumber(text string) {
	if len(text) > MaxCategoryBytes {
		return
	}
	w, ok := parseWritten(text)
	if !ok {
		return
	}
	if w.code {
		l.codes++
	}
	if l.units == nil {
		l.units = make(map[string]*learnedUnit)
	}
	unit := l.units[w.unit]
	if unit == nil {
		if len(l.units) >= maxUnits {
			return
		}
		unit = &learnedUnit{}
		l.units[strings.Clone(w.unit)] = unit
	}
	unit.readings[0].add(w.point, w.hasPoint, w.hasComma)
	unit.readings[1].add(w.comma, w.hasComma, w.hasPoint)
}

func (r *learnedReading) add(v float64, has, other bool) {
	if !has || !learnableNumber(v) {
		return
	}
	r.values.add(v)
	r.epochs.add(v)
	r.step.add(v)
	r.fractions += count(v != float64(int64(v)))
	r.alone += count(!other)
}

// verdict is the kind of a column of texts.
type verdict struct {
	kind Kind
	form Form
	// fits is the number of texts of the kind; the others are missing. It is 0 for categories.
	fits int64
	// times or numbers are the values of the kind.
	times   *learnedTimes
	numbers learnedReading
	notes   []string
}

// nearly reports whether nearly all texts that are no marks of absence are of one kind.
func (l *learnedForms) nearly(fits int64) bool {
	return fits > 0 && fits*100 >= nearlyAll*(l.values-l.absent)
}

// decide returns the kind of the texts: dates, times of day, booleans or numbers if nearly all
// texts are, else categories. preferComma is set if doubtful commas are decimal ones.
func (l *learnedForms) decide(name string, declared *DeclaredType, preferComma bool) verdict {
	if declared != nil {
		return l.declared(*declared)
	}
	if v := l.asDates(); l.nearly(v.fits) {
		return v
	}
	if n := l.clocks.seconds.all.n; l.nearly(n) {
		return verdict{kind: Clock, fits: n, times: &l.clocks}
	}
	if l.nearly(l.yes + l.no) {
		return verdict{kind: Bool, form: Form{Text: true}, fits: l.yes + l.no}
	}
	v := l.asNumbers(preferComma)
	if fits := v.fits; l.nearly(fits) && (l.codes*codeShare <= fits || v.numbers.fractions > 0 && !l.mostlyCodes(fits)) {
		if unit, times := v.numbers.epochs.found(name); unit != "" && v.form.Unit == "" && !v.form.DecimalComma {
			return verdict{kind: Time, form: Form{Dates: unit}, fits: times.seconds.all.n, times: times}
		}
		return v
	}
	return verdict{kind: Category}
}

// codeShare is the reciprocal of the largest share of codes, such as 01 or 00501, in a column of
// numbers.
const codeShare = 100

func (l *learnedForms) mostlyCodes(fits int64) bool { return 2*l.codes > fits }

// declared returns the verdict of a declared type.
func (l *learnedForms) declared(t DeclaredType) verdict {
	var v verdict
	switch t.Kind {
	case Time:
		v = l.asDates()
		if t.Form.Dates == MonthFirst {
			v.times = &l.dates[1]
		} else if t.Form.Dates == DayFirst {
			v.times = &l.dates[0]
		}
		if v.form.Dates == "" || t.Form.Dates != "" {
			v.form.Dates = t.Form.Dates
		}
		if unitsOf[t.Form.Dates] > 0 {
			numbers := l.asNumbers(false)
			v.times = numbers.numbers.epochs.of(t.Form.Dates)
		}
		v.fits = v.times.seconds.all.n
		v.notes = nil
	case Clock:
		v = verdict{times: &l.clocks, fits: l.clocks.seconds.all.n}
	case Bool:
		v = verdict{fits: l.yes + l.no}
	case Numeric:
		v = l.asNumbers(t.Form.DecimalComma)
		if v.form.DecimalComma != t.Form.DecimalComma {
			v = l.reading(t.Form.DecimalComma, "")
		}
	}
	v.kind, v.form.Text = t.Kind, t.Kind == Numeric || t.Kind == Bool
	return v
}

// asDates returns the texts as dates, in the order that reads more of them. If both orders read
// all, a part that never changes is the day, as in monthly data; else the day is first.
func (l *learnedForms) asDates() verdict {
	v := verdict{kind: Time}
	day, month := &l.dates[0], &l.dates[1]
	first := day
	why := "every date may be either: the day is taken to be first"
	switch {
	case month.seconds.all.n != day.seconds.all.n:
		why = ""
		if month.seconds.all.n > day.seconds.all.n {
			first = month
		}
	case l.parts[0].varies != l.parts[1].varies:
		why = "every date may be either: the part that never changes is taken to be the day"
		if l.parts[0].varies {
			first = month
		}
	}
	v.times, v.fits = first, first.seconds.all.n
	if l.open > 0 || day.seconds.all.n != month.seconds.all.n {
		v.form.Dates = DayFirst
		if first == month {
			v.form.Dates = MonthFirst
		}
	}
	if l.open > 0 && why != "" {
		v.notes = append(v.notes, fmt.Sprintf("%s; events.types (--type) overrules, such as \"date %s\"", why,
			map[string]string{DayFirst: MonthFirst, MonthFirst: DayFirst}[v.form.Dates]))
	}
	if l.zoned > 0 && l.local > 0 {
		v.notes = append(v.notes, fmt.Sprintf("%d times have a zone and %d have none, which count as UTC", l.zoned, l.local))
	}
	return v
}

// asNumbers returns the texts as numbers: without a unit or in the commonest one, with the decimal
// mark that most of them have.
func (l *learnedForms) asNumbers(preferComma bool) verdict {
	point, comma := l.reading(false, ""), l.reading(true, "")
	if comma.numbers.alone > point.numbers.alone ||
		preferComma && comma.numbers.alone == point.numbers.alone && comma.fits >= point.fits {
		return comma
	}
	return point
}

// merge adds the numbers among other texts.
func (l *learnedForms) merge(other *learnedForms) {
	l.values += other.values
	l.absent += other.absent
	l.codes += other.codes
	if l.units == nil {
		l.units = make(map[string]*learnedUnit)
	}
	for _, name := range slices.Sorted(maps.Keys(other.units)) {
		unit := l.units[name]
		if unit == nil {
			if len(l.units) >= maxUnits {
				continue
			}
			unit = &learnedUnit{}
			l.units[name] = unit
		}
		for i := range unit.readings {
			to, from := &unit.readings[i], &other.units[name].readings[i]
			to.values.merge(&from.values)
			to.fractions += from.fractions
			to.alone += from.alone
		}
	}
}

// reading returns the texts as numbers with decimal commas or points, in the given unit or else the
// commonest one.
func (l *learnedForms) reading(comma bool, unit string) verdict {
	v := verdict{kind: Numeric, form: Form{Text: true, DecimalComma: comma}}
	at := int(count(comma))
	if bare := l.units[""]; bare != nil {
		v.numbers = bare.readings[at]
		v.numbers.values.low = slices.Clone(v.numbers.values.low) // of the copy that merge changes
		v.numbers.values.high = slices.Clone(v.numbers.values.high)
	}
	names := slices.SortedFunc(maps.Keys(l.units), func(a, b string) int {
		return cmp.Or(
			cmp.Compare(l.units[b].readings[at].values.all.n, l.units[a].readings[at].values.all.n),
			strings.Compare(a, b),
		)
	})
	names = slices.DeleteFunc(names, func(name string) bool { return name == "" })
	if unit == "" && len(names) > 0 &&
		(isMoney(names[0]) || l.units[names[0]].readings[at].values.all.n >= v.numbers.values.all.n) {
		unit = names[0] // otherwise a few numbers in another unit than the rest
	}
	if l.units[unit] != nil && unit != "" {
		v.form.Unit = unit
		of := &l.units[unit].readings[at]
		v.numbers.values.merge(&of.values)
		v.numbers.fractions += of.fractions
		v.numbers.alone += of.alone
	}
	v.fits = v.numbers.values.all.n
	return v
}

// fits reports whether a text is a value of the kind.
func (f *Form) fits(kind Kind, text string) bool {
	ok := true
	switch kind {
	case Numeric:
		_, ok = f.number(text)
	case Time:
		_, ok = f.time(text)
	case Clock:
		_, _, ok = parseClock(text)
	case Bool:
		_, ok = parseBool(text)
	}
	return ok
}

// IsWords reports whether a text is neither a number, a date, a time of day nor a boolean, in any
// form, nor marks an absent value.
func IsWords(text string) bool {
	if _, ok := parseWritten(text); ok || isAbsence(text) {
		return false
	}
	if _, ok := parseBool(text); ok {
		return false
	}
	if _, _, ok := parseClock(text); ok {
		return false
	}
	_, dayFirst := parseTime(text, false)
	_, monthFirst := parseTime(text, true)
	return !dayFirst && !monthFirst
}

// parseBool reads a boolean.
func parseBool(text string) (value, ok bool) {
	const longest = len("false")
	if len(text) < len("true") || len(text) > longest+2 {
		return false, false
	}
	switch strings.ToLower(strings.TrimSpace(text)) {
	case "true":
		return true, true
	case "false":
		return false, true
	}
	return false, false
}

// learnedEpochs are numbers as times counted since 1970, or as dates such as 20201231, as long as
// all numbers can be.
type learnedEpochs struct {
	n      int64
	form   string // "" = some number cannot
	times  learnedTimes
	lo, hi float64
}

// The numbers of seconds since 1970 that are times: in columns whose name suggests times the years
// 1973 to 2099, in others 2001 to 2039.
const (
	leastSeconds, mostSeconds        = 1e8, 4.1e9
	leastSecondsUnnamed, mostUnnamed = 1e9, 2.2e9
	epochRows                        = 20
)

// epochForm returns the form in which a number is a time, "" if it is none.
func epochForm(v float64) string {
	if _, ok := dateNumber(v); ok {
		return DateNumbers
	}
	for _, unit := range []string{Seconds, Milliseconds, Microseconds, Nanoseconds} {
		per := float64(unitsOf[unit])
		if v >= leastSeconds*per && v <= mostSeconds*per {
			return unit
		}
	}
	return ""
}

func (l *learnedEpochs) add(v float64) {
	form := epochForm(v)
	if l.n == 0 {
		l.form = form
		l.lo, l.hi = v, v
	}
	l.n++
	if l.form == "" || form != l.form {
		l.form = ""
		return
	}
	l.lo, l.hi = min(l.lo, v), max(l.hi, v)
	f := Form{Dates: form}
	seconds, _ := f.since(v)
	l.times.add(seconds)
}

// found returns the form of a column of numbers that are times, and the times; "" if they are none.
// Numbers that count rows are none.
func (l *learnedEpochs) found(name string) (string, *learnedTimes) {
	per := float64(unitsOf[l.form])
	switch {
	case l.form == "" || l.n < epochRows || l.lo == l.hi:
		return "", nil
	case l.form == DateNumbers || namesTimes.MatchString(name):
		return l.form, &l.times
	case l.lo < leastSecondsUnnamed*per || l.hi > mostUnnamed*per || l.hi-l.lo < 4*float64(l.n):
		return "", nil
	}
	return l.form, &l.times
}

// of returns the times of a declared form; none if the numbers have another form.
func (l *learnedEpochs) of(form string) *learnedTimes {
	if l.form != form {
		return &learnedTimes{}
	}
	return &l.times
}
