package scoring

import "fmt"

// Targets are the raw outputs of some rows. Exactly one of Values and Class is set.
//
//	Regression  Values = y minus the calibration mean, any number of outputs
//	Binary      Values = ±1, Outputs = 1
//	MultiClass  Class, Outputs = the number of classes
type Targets struct {
	// Outputs is K.
	Outputs int
	// Values is row-major [rows·Outputs], finite.
	Values []float32
	// Class is [rows], each in 0..Outputs-1.
	Class []int32
}

// Slice returns the targets of rows first..next-1, which share the memory of t.
func (t Targets) Slice(first, next int) Targets {
	if t.Class != nil {
		return Targets{Outputs: t.Outputs, Class: t.Class[first:next]}
	}
	return Targets{Outputs: t.Outputs, Values: t.Values[first*t.Outputs : next*t.Outputs]}
}

// check panics unless t has the outputs of rows rows.
func (t *Targets) check(rows, outputs int) {
	if t.Outputs != outputs {
		panic(fmt.Sprintf("scoring: targets of %d outputs for sums of %d", t.Outputs, outputs))
	}
	if (t.Values != nil) == (t.Class != nil) && rows > 0 {
		panic("scoring: targets need exactly one of values and classes")
	}
	if t.Values != nil && len(t.Values) != rows*outputs {
		panic(fmt.Sprintf("scoring: %d target values for %d rows of %d outputs", len(t.Values), rows, outputs))
	}
	if t.Class != nil && len(t.Class) != rows {
		panic(fmt.Sprintf("scoring: %d classes for %d rows", len(t.Class), rows))
	}
	for i, class := range t.Class {
		if class < 0 || int(class) >= outputs {
			panic(fmt.Sprintf("scoring: class %d of row %d is not in 0..%d", class, i, outputs-1))
		}
	}
}

// Raw returns raw output k of row i.
func (t *Targets) Raw(i, k int) float32 {
	if t.Class == nil {
		return t.Values[i*t.Outputs+k]
	}
	if int(t.Class[i]) == k {
		return 1
	}
	return 0
}
