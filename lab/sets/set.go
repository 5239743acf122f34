package sets

import (
	"fmt"
	"strings"

	"github.com/eerf-stream/eerf/scoring"
)

// Set describes a public data set.
type Set struct {
	// Name is its name in commands, Title its usual name.
	Name, Title string
	// Home is the page that publishes it, License the terms stated there.
	Home, License string
	// Files are the files for [Set.Load].
	Files []File
	// Notice is a remark for readers of results on the set; usually empty.
	Notice string
	// TrainRows and TestRows count the rows of each part; for a set without its own test rows both
	// refer to the default split or the first published one.
	TrainRows, TestRows int
	// Dim is the number of encoded dimensions, Classes the number of classes; 0 for a regression.
	Dim, Classes int
	// Defaults are the settings of the paper, or ours if it does not use the set.
	Defaults Defaults

	open func(f folder) *rowSource
}

// Names returns the names of all sets in documentation order.
func Names() []string {
	names := make([]string, len(sets))
	for i, s := range sets {
		names[i] = s.Name
	}
	return names
}

// Lookup finds a set by its name. The error for an unknown name lists the known ones.
func Lookup(name string) (*Set, error) {
	for _, s := range sets {
		if s.Name == name {
			return s, nil
		}
	}
	return nil, fmt.Errorf("unknown data set %q: want one of %s", name, strings.Join(Names(), ", "))
}

// Defaults are the settings for a set: the paper's if it used the set.
type Defaults struct {
	// Features are the numbers M of features at which methods are compared; the last one is the
	// paper's.
	Features []int
	// Candidates is M0. Sample is N0 as a fraction of the training rows.
	Candidates int
	Sample     float64
	// SampleRows bounds N0; 0 means no bound.
	SampleRows int
	// Map is the feature map.
	Map scoring.Map
	// Fixed means that the set has its own test rows; Splits is the number of published splits, if
	// several. Otherwise TestFraction of all rows, chosen by the seed, are test rows.
	Fixed        bool
	Splits       int
	TestFraction float64
	// Standardize and Clip are the encoder's settings.
	Standardize string
	Clip        float64
	// Intercept reports whether the model has an intercept; the paper's has none.
	Intercept bool
}
