package compare

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/eerf-stream/eerf/scoring"
)

// Method is a way to make random features.
type Method struct {
	// Name is its name in flags and tables.
	Name string
	// Title is its full name, Source the work that proposes it, "" if it is common knowledge.
	Title, Source string
	// Summary says in a sentence what it does.
	Summary string
	// AnySize means that its number of features does not depend on M.
	AnySize bool
	// Unclipped means that the method sees numbers beyond the clip as they are, not as logarithms.
	Unclipped bool
	// Refuses returns why the method cannot work with these options, "" if it can; nil means that it always
	// can.
	Refuses func(o Options) string
	// Select makes the features of a trial. The result depends on the trial alone.
	Select func(ctx context.Context, t *Trial) (*Selected, error)
	// predict predicts the test rows instead, without features.
	predict func(ctx context.Context, r *repeat) (*predictions, error)
}

// Selected is the feature set that a method has made.
type Selected struct {
	Set *scoring.FeatureSet
	// Note is what a reader of the table should know about it, usually nothing.
	Note string
}

// only is a selection of one set.
func only(set *scoring.FeatureSet) *Selected { return &Selected{Set: set} }

// Plain is the name of the method that all others are compared with.
const Plain = "plain"

// registry lists the methods of this package in the order of the tables.
var registry = []*Method{
	plainMethod, plainTunedMethod, linearMethod, energyMethod, correlationMethod, residualMethod, adaptiveMethod, cosineMethod, refinedMethod,
}

// Known returns the methods of this package and those that the options add, in the order of the tables.
func (o Options) Known() []*Method { return slices.Concat(registry, o.More) }

// Lookup finds a method by its name. The error for an unknown name lists the known ones.
func (o Options) Lookup(name string) (*Method, error) {
	var names []string
	for _, m := range o.Known() {
		if m.Name == name {
			return m, nil
		}
		names = append(names, m.Name)
	}
	return nil, fmt.Errorf("unknown method %q: want some of %s", name, strings.Join(names, ", "))
}

// usual answers whether random features are worth it: what they have to beat, without labels and without random
// features; the best choice among candidates; and what a pipeline learns by default.
var usual = []*Method{plainMethod, plainTunedMethod, linearMethod, residualMethod, refinedMethod}

// Usual returns the names of the methods that run by default, and why some of them cannot work with the options.
func Usual(o Options) (names, leftOut []string) { return fitting(usual, o) }

// Fitting returns the names of all methods that can work with the options, and why the others cannot.
func Fitting(o Options) (names, leftOut []string) { return fitting(o.Known(), o) }

func fitting(methods []*Method, o Options) (names, leftOut []string) {
	for _, m := range methods {
		if reason := m.refuses(o); reason != "" {
			leftOut = append(leftOut, m.Name+": "+reason)
			continue
		}
		names = append(names, m.Name)
	}
	return names, leftOut
}

func (m *Method) refuses(o Options) string {
	if m.Refuses == nil {
		return ""
	}
	return m.Refuses(o)
}
