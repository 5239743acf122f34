package datasets

import (
	"fmt"

	"github.com/eerf-stream/eerf/arrowio/encoder"
	"github.com/eerf-stream/eerf/arrowio/rowid"
	"github.com/eerf-stream/eerf/scoring"
)

// Data are encoded rows with their labels.
type Data struct {
	// Name is the name of the table.
	Name string
	// N is the number of rows, Dim the dimensions of each.
	N, Dim int
	// Identity is [N]; rows with equal identities belong on the same side. nil means that all rows
	// differ.
	Identity []uint64
	// X is row-major [N·Dim], finite.
	X []float32
	// Task is the kind of the labels.
	Task scoring.Task
	// Classes is the number of classes, 0 for a regression.
	Classes int
	// Class is [N], each in 0..Classes-1; nil for a regression.
	Class []int32
	// Outputs is the number of label columns of a regression, 0 for classes.
	Outputs int
	// Y is row-major [N·Outputs], the labels minus their means over the training rows
	// (Split.Encoder.Label.Mean), so that float32 keeps their digits; nil for classes.
	Y []float32
}

// Identities returns the identities of the rows.
func (d *Data) Identities() []uint64 {
	if d.Identity != nil {
		return d.Identity
	}
	ids := make([]uint64, d.N)
	for i := range ids {
		ids[i] = rowid.PlaceOf(0, int64(i), 0)
	}
	return ids
}

// Targets returns the labels in the form for scoring. It only allocates for two classes, which
// become ±1.
func (d *Data) Targets() scoring.Targets {
	switch d.Task {
	case scoring.Regression:
		return scoring.Targets{Outputs: d.Outputs, Values: d.Y}
	case scoring.Binary:
		signs := make([]float32, d.N)
		for i, k := range d.Class {
			signs[i] = float32(2*k - 1)
		}
		return scoring.Targets{Outputs: 1, Values: signs}
	case scoring.MultiClass:
		return scoring.Targets{Outputs: d.Classes, Class: d.Class}
	}
	panic(fmt.Sprint("datasets: unknown task ", d.Task))
}

// Split is a training part and a test part with the same encoding.
type Split struct {
	Train, Test *Data
	// Encoder is the encoder learned from the training rows.
	Encoder *encoder.Encoder
	// Report is the calibrator's report on the training rows.
	Report encoder.Report
	// TrainLeftOut and TestLeftOut count the unusable rows.
	TrainLeftOut, TestLeftOut LeftOut
	// Tallies are the uses of the values of the columns in all rows.
	Tallies []encoder.Tally
	// TestUnknown are the most frequent classes of test rows that are not learned.
	TestUnknown []encoder.ClassRows
	// Copies is the share of the rows of the table that equal an earlier row; 0 if rows are
	// identified by place or group.
	Copies float64
}

// LeftOut counts unusable rows.
type LeftOut struct {
	// Unlabelled rows have no label.
	Unlabelled int `json:"unlabelled"`
	// UnknownClass rows have a class that is not learned. Test rows among them count as errors.
	UnknownClass int `json:"unknown_class"`
	// Rejected rows have a number that is NaN, infinite or too large.
	Rejected int `json:"rejected"`
}

// SplitOptions are the options of splitting and encoding a table.
type SplitOptions struct {
	// Seed shuffles the rows of a table without test rows of its own.
	Seed uint64
	// TestFraction is the share of test rows, in (0, 1); tables with test rows of their own ignore
	// it.
	TestFraction float64
	// Standardize is the encoder's option: numeric (also ""), all or none.
	Standardize string
	// Clip bounds standardized dimensions; 0 means no bound.
	Clip float64
}
