package encoder

import (
	"math"
	"strconv"

	"github.com/apache/arrow/go/v15/arrow"

	"github.com/eerf-stream/eerf/scoring"
)

// encodeLabel fills Labelled and Targets for all requested rows, and adds the faults of labels to
// the feature faults.
func (r *Rows) encodeLabel(rec arrow.Record) {
	e := r.binding.encoder
	r.prepareTargets(e)
	if len(r.binding.label) == 0 {
		clear(r.Labelled)
		r.Counts.Unlabelled += int64(r.N)
		return
	}
	for i := range r.Labelled {
		r.Labelled[i] = true
	}
	r.labelFault = resize(r.labelFault, r.N)
	clear(r.labelFault)
	if e.Label.Task == scoring.Regression {
		for k, column := range r.binding.label {
			r.loadLabels(rec.Column(column))
			r.encodeOutput(e.Label, k)
			r.refuseLabels(e.Label, rec.Column(column))
		}
	} else {
		r.encodeClasses(e.Label, rec.Column(r.binding.label[0]))
		r.refuseLabels(e.Label, rec.Column(r.binding.label[0]))
	}
	r.settleLabels()
}

// prepareTargets makes room for the targets, all zero.
func (r *Rows) prepareTargets(e *Encoder) {
	k := e.Outputs()
	r.Targets = scoring.Targets{Outputs: k}
	switch {
	case k == 0:
	case e.Label.Task == scoring.MultiClass:
		r.class = resize(r.class, r.N)
		clear(r.class)
		r.Targets.Class = r.class
	default:
		r.values = resize(r.values, r.N*k)
		clear(r.values)
		r.Targets.Values = r.values
	}
}

// refuseLabels makes texts that are no label faults of rows that count as labelled.
func (r *Rows) refuseLabels(l *Label, a arrow.Array) {
	if !r.binding.text || l.Kind == Category || !isStrings(a) {
		return
	}
	refuseTexts(
		r.labelFault,
		a,
		r.picked,
		l.Kind,
		&r.binding.labelForm,
		func(i int) bool { return !r.Labelled[i] && !r.Unseen[i] },
	)
	for i, fault := range r.labelFault {
		r.Labelled[i] = r.Labelled[i] || fault == wrongKind
	}
}

// loadLabels loads a label column of numbers; rows with a null become unlabelled.
func (r *Rows) loadLabels(a arrow.Array) {
	r.loaded = resize(r.loaded, r.N)
	r.null = resize(r.null, r.N)
	missing := false
	if isText(a) {
		loadParsed(r.loaded, r.null, a, r.picked, r.binding.labelForm.number)
		missing = true
	} else {
		loadNumbers(r.loaded, a, r.picked)
		missing = markNulls(r.null, a, r.picked, 1)
	}
	if missing {
		for i, missing := range r.null {
			if missing {
				r.Labelled[i] = false
				r.loaded[i] = 0
			}
		}
	}
}

// encodeOutput turns the loaded labels into output k of a regression.
func (r *Rows) encodeOutput(l *Label, k int) {
	lo, hi := l.bounds()
	for i, v := range r.loaded {
		if !r.Labelled[i] {
			continue
		}
		y := float32(l.Transform.apply(v) - l.Mean[k])
		fault := numberFault(v)
		switch {
		case fault != noFault:
		case v < lo || v > hi || !l.Transform.has(v):
			fault = outOfBounds
		case math.IsInf(float64(y), 0):
			fault = infLabel
		default:
			r.values[i*len(l.Columns)+k] = y
		}
		r.faultLabel(i, k, fault)
	}
}

// bounds returns the configured bounds, infinite where none is configured.
func (l *Label) bounds() (lo, hi float64) {
	lo, hi = math.Inf(-1), math.Inf(1)
	if l.Min != nil {
		lo = *l.Min
	}
	if l.Max != nil {
		hi = *l.Max
	}
	return lo, hi
}

// numberFault returns the fault of a label that is not a finite number.
func numberFault(v float64) uint8 {
	switch {
	case math.IsNaN(v):
		return nanLabel
	case math.IsInf(v, 0):
		return infLabel
	default:
		return noFault
	}
}

// labelTally returns the tally of output k.
func (r *Rows) labelTally(k int) *Tally { return &r.binding.tallies[len(r.binding.columns)+k] }

// faultLabel records the first fault of a row's label.
func (r *Rows) faultLabel(i, k int, fault uint8) {
	if fault != noFault {
		r.labelTally(k).reject(r.rowNumber(r.Row[i]), fault, r.loaded[i])
	}
	if r.labelFault[i] == noFault {
		r.labelFault[i] = fault
	}
}

// encodeClasses turns a label column into class targets.
func (r *Rows) encodeClasses(l *Label, a arrow.Array) {
	r.codes = resize(r.codes, r.N)
	switch l.Kind {
	case Category:
		r.entries = loadCodes(r.codes, a, r.picked, &r.binding.classes.names, r.entries)
	case Bool:
		loadBools(r.codes, a, r.picked, r.binding.classes.no, r.binding.classes.yes)
	default:
		r.loadLabels(a)
		r.codeNumbers(isShort(a.DataType()))
	}
	for i, k := range r.codes {
		switch {
		case k < 0:
			r.Labelled[i] = false
			if k == unseenCode {
				r.Unseen[i] = true
				r.Counts.UnseenClass++
				r.addUnseen(l.Kind, a, i)
			}
		case l.Task == scoring.MultiClass:
			r.class[i] = k
		default:
			r.values[i] = float32(2*k - 1)
		}
	}
}

// addUnseen counts row i of a label column by its class.
func (r *Rows) addUnseen(kind Kind, a arrow.Array, i int) {
	class, _ := classNames(kind, a, r.picked.part(i, i+1), &scratch{})(0)
	r.UnseenClasses.Add(class, 1)
	if tally := r.labelTally(0); tally.Unseen.isFirst(r.rowNumber(r.Row[i])) {
		tally.Unseen.First = quoted(class)
	}
}

// codeNumbers finds the class of each loaded label. The code of a faulty one is arbitrary but
// valid: its row is rejected.
func (r *Rows) codeNumbers(short bool) {
	for i, v := range r.loaded {
		switch fault := numberFault(v); {
		case !r.Labelled[i]:
			r.codes[i] = nullCode
		case fault != noFault:
			r.codes[i] = 0
			r.faultLabel(i, 0, fault)
		default:
			r.codes[i] = r.binding.classes.number(classValue(v, short))
		}
	}
}

// number returns the code of a numeric class.
func (t *classTable) number(v float64) int32 {
	if k, seen := t.numbers[v]; seen {
		return k
	}
	return unseenCode
}

// isShort reports whether a type has fewer digits than float64.
func isShort(t arrow.DataType) bool {
	return t.ID() == arrow.FLOAT32 || t.ID() == arrow.FLOAT16
}

// classValue returns the number that identifies a class. For a short float it is the float64 with
// the same shortest decimal form, so that 0.1 is one class in columns of any width.
func classValue(v float64, short bool) float64 {
	if !short || v == math.Trunc(v) {
		return v
	}
	decimal, err := strconv.ParseFloat(strconv.FormatFloat(v, 'g', -1, 32), 64)
	if err != nil {
		return v
	}
	return decimal
}

// settleLabels zeroes the targets of unlabelled rows, counts them, and makes a faulty label a fault
// of the row unless a feature is faulty already.
func (r *Rows) settleLabels() {
	k := r.Targets.Outputs
	for i, labelled := range r.Labelled {
		if labelled {
			if r.fault[i] == noFault {
				r.fault[i] = r.labelFault[i]
			}
			continue
		}
		r.Counts.Unlabelled++
		if r.Targets.Values != nil {
			clear(r.values[i*k : (i+1)*k])
		}
		// A class needs no clearing: an unlabelled row was given none.
	}
}
