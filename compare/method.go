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
	// Title is its full name, Source the work that proposes it, "" for common knowledge.
	Title, Source string
	// Summary describes it in a sentence.
	Summary string
	// AnySize means that its number of features does not depend on M.
	AnySize bool
	// Unclipped means that the method gets numbers beyond the clip without the encoder's
	// logarithms.
	Unclipped bool
	// Refuses returns the reason why the method cannot work with these options, "" if it can; nil
	// means that it always can.
	Refuses func(o Options) string
	// Select makes the features of a trial. The result depends on the trial alone.
	Select func(ctx context.Context, t *Trial) (*Selected, error)
	// predict predicts the test rows instead, without features.
	predict func(ctx context.Context, r *repeat) (*predictions, error)
}

// Selected is the feature set that a method has made.
type Selected struct {
	Set *scoring.FeatureSet
	// Note is a remark for readers of the table, usually "".
	Note string
}

// only returns a set without a note.
func only(set *scoring.FeatureSet) *Selected { return &Selected{Set: set} }

// Plain is the name of the method with which all others are compared.
const Plain = "plain"

// registry lists the methods of this package in the order of the tables.
var registry = []*Method{
	plainMethod, plainTunedMethod, linearMethod, energyMethod, correlationMethod,
	residualMethod, adaptiveMethod, cosineMethod, refinedMethod,
}

// Known returns the methods of this package and those that the options add, in the order of the
// tables.
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

// usual are the methods that answer whether learned features are worth it: baselines without labels
// and without random features, the best choice among candidates, and the default of a pipeline.
var usual = []*Method{plainMethod, plainTunedMethod, linearMethod, residualMethod, refinedMethod}

// Brief returns the methods of a short comparison among those of the options: the baselines and the
// default of a pipeline.
func Brief(o Options) (names []string) {
	for _, m := range []*Method{plainMethod, linearMethod, refinedMethod} {
		if slices.Contains(o.Methods, m.Name) {
			names = append(names, m.Name)
		}
	}
	return names
}

// Usual returns the names of the methods that run by default, and the reasons why others of them
// cannot work with the options.
func Usual(o Options) (names, leftOut []string) { return fitting(usual, o) }

// Fitting returns the names of all methods that can work with the options, and the reasons why the
// others cannot.
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
