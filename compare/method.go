package compare

import (
	"context"
	"fmt"
	"strings"

	"github.com/eerf-stream/eerf/scoring"
)

// Method is a way to make random features.
type Method struct {
	// Name is what flags and tables call it.
	Name string
	// Title is its name in full, Source the work that proposes it, "" for a matter of course.
	Title, Source string
	// Summary says in a sentence what it does.
	Summary string
	// Pool means that it chooses among the candidates of the shared pool.
	Pool bool
	// Learns means that it learns frequencies, in the place of choosing among those that were drawn.
	Learns bool
	// AnySize means that its number of features does not depend on M: it is run once a repeat.
	AnySize bool
	// Hindsight means that the test rows choose between its feature sets, so that its error is too small.
	Hindsight bool
	// Refuses returns why the method cannot work with these options, "" if it can; nil for one that always can.
	Refuses func(o Options) string
	// Select makes the features of a trial. What it returns is a function of the trial alone.
	Select func(ctx context.Context, t *Trial) (*Selected, error)
}

// Selected are the features that a method has made.
type Selected struct {
	// Choices are what models are trained on: one mostly. Of several the one with the smallest test error is reported, which
	// is hindsight, and all count as training.
	Choices []Choice
	// AboveNoise is how many of the features have scores that stand out from chance (see [scoring.Selection]); nil for
	// methods without scores.
	AboveNoise *int
	// RefineSeconds is what moving features that were chosen took, of the time of preprocessing.
	RefineSeconds float64
}

// Choice is a feature set.
type Choice struct {
	Set *scoring.FeatureSet
	// HeldOut marks the training rows that λ is chosen on, where they are not those of the comparison; nil where they are.
	HeldOut []bool
	// Note says what a reader of the table should know of it, mostly nothing.
	Note string
}

// only is a selection of one set.
func only(set *scoring.FeatureSet) *Selected { return &Selected{Choices: []Choice{{Set: set}}} }

// Plain is the name of the method that all others are compared with.
const Plain = "plain"

// References are the methods that gains are stated against: plain features, the same with a better bandwidth, and no
// random features at all.
func References() []string { return []string{Plain, plainTunedMethod.Name, linearMethod.Name} }

// registry has the methods in the order of the tables.
var registry = []*Method{
	plainMethod, plainTunedMethod, linearMethod, orfMethod, sorfMethod, quasiMethod, sesMethod, leverageMethod, leverageTopMethod,
	lkrfMethod, lkrfBestMethod, energyMethod, correlationMethod, residualMethod, adaptiveMethod,
	refinedMethod,
}

// Methods returns all methods, in the order of the tables.
func Methods() []*Method { return append([]*Method(nil), registry...) }

// MethodNames returns the names of all methods.
func MethodNames() []string {
	names := make([]string, len(registry))
	for i, m := range registry {
		names[i] = m.Name
	}
	return names
}

// Lookup finds a method by its name. The error for an unknown one lists those that there are.
func Lookup(name string) (*Method, error) {
	for _, m := range registry {
		if m.Name == name {
			return m, nil
		}
	}
	return nil, fmt.Errorf("unknown method %q: want some of %s", name, strings.Join(MethodNames(), ", "))
}

// Fitting returns the names of all methods that can work with the options, and why the others cannot.
func Fitting(o Options) (names, leftOut []string) {
	for _, m := range registry {
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
