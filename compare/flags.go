package compare

import (
	"context"
	"runtime"
	"slices"
	"strings"

	"github.com/spf13/pflag"

	"github.com/eerf-stream/eerf/scoring"
	"github.com/eerf-stream/eerf/training"
)

// Flags are the flags of a command that compares.
type Flags struct {
	// Options are the values of the flags, valid once [Flags.Complete] has returned.
	Options Options
	// LeftOut are methods of a requested group that cannot work with the other flags, with the
	// reason.
	LeftOut []string

	methods []string
	trees   bool
}

// NewFlags returns the flags of a command with methods in addition to those of this package.
func NewFlags(more ...*Method) *Flags {
	f := &Flags{Options: DefaultOptions()}
	f.Options.More = more
	return f
}

// Add adds the flags to a command's.
func (f *Flags) Add(flags *pflag.FlagSet) {
	o := &f.Options
	flags.StringSliceVar(&f.methods, "methods", nil,
		"comma-separated methods, or all; plain is always included (default: the first five above)")
	flags.BoolVar(&f.trees, "trees", false,
		"also train boosted trees on the same rows; needs a python3 in PATH with LightGBM or scikit-learn")
	flags.TextVar(&o.Map, "map", o.Map, "`name` of the feature map: "+strings.Join(o.Map.Names(), ", "))
	flags.TextVar(&o.Distribution, "distribution", o.Distribution,
		"`name` of the sampling distribution: "+strings.Join(o.Distribution.Names(), ", "))
	flags.Float64Var(&o.Sigma, "sigma", o.Sigma, "bandwidth; 0 = 50th-nearest-neighbour rule")
	flags.IntSliceVar(&o.Features, "features", o.Features, "M, numbers of features, ascending and comma-separated")
	flags.IntVar(&o.Members, "members", 0, "sets that adaptive-refined learns independently, each of its share of the "+
		"features; 0 = one for every 250 features, at most 4")
	flags.IntVar(&o.Candidates, "candidates", 0, "M0, number of candidates; 0 = ten times the largest of --features")
	flags.Float64Var(&o.Sample, "sample", o.Sample,
		"share of the training rows on which candidates are scored; the --held-out rows among them only judge")
	flags.IntVar(&o.SampleRows, "sample-rows", o.SampleRows,
		"upper limit of the rows on which candidates are scored; 0, or --sample alone = no limit")
	flags.IntVar(&o.Repeats, "repeats", o.Repeats, "repeats of the whole comparison, each with its own seed")
	flags.Uint64Var(&o.Seed, "seed", o.Seed, "seed of the first repeat")
	flags.StringVar(&o.Loss, "loss", o.Loss, "loss for training models: "+strings.Join(training.Losses(), ", "))
	flags.BoolVar(&o.Intercept, "intercept", o.Intercept, "fit an intercept; --intercept=false is the paper's setting")
	flags.TextVar(&o.Grid, "lambda-grid", o.Grid,
		"`grid` of lambda: relative, paper (1e-5 to 1e5 absolute), or comma-separated numbers")
	flags.Float64Var(&o.HeldOut, "held-out", o.HeldOut, "share of the training rows on which lambda is chosen")
	flags.Float64Var(&o.TestFraction, "test-fraction", o.TestFraction,
		"share of the rows held out for testing if there is no test file (default for a split by time: 0.2)")
	flags.StringVar(&o.Standardize, "standardize", o.Standardize, "numeric, all (the paper) or none")
	flags.Float64Var(&o.Clip, "clip", o.Clip,
		"bound beyond which standardized values grow logarithmically; 0 = off (the paper)")
	flags.StringVar(&o.Measure, "measure", o.Measure, "measure by which methods are compared: "+
		strings.Join(Measures(), ", ")+"; auto is the log loss of classes and the unexplained variance of numbers, "+
		"and the last, the paper's, depends on the label's zero")
}

// allMethods selects every method that works with the other flags.
const allMethods = "all"

// Complete looks for boosted trees if requested, derives the remaining options and validates all.
// Faults of flags are an [OptionsError].
func (f *Flags) Complete(ctx context.Context) error {
	o := &f.Options
	if f.trees {
		trees, err := findTrees(ctx)
		if err != nil {
			return err
		}
		o.More = append(slices.Clip(o.More), trees)
	}
	if o.Candidates == 0 && len(o.Features) > 0 {
		o.Candidates = scoring.CandidatesPerFeature * o.Features[len(o.Features)-1]
	}
	switch {
	case len(f.methods) == 0:
		o.Methods, f.LeftOut = Usual(*o)
	case slices.Contains(f.methods, allMethods):
		o.Methods, f.LeftOut = Fitting(*o)
	default:
		o.Methods = f.methods
	}
	if f.trees && !slices.Contains(o.Methods, Trees) {
		o.Methods = append(o.Methods, Trees)
	}
	return o.Validate()
}

// OwnRows removes the limit on scored rows if only their share is set. Commands on a user's own
// files call it before [Flags.Complete].
func (f *Flags) OwnRows(flags *pflag.FlagSet) {
	if flags.Changed("sample") && !flags.Changed("sample-rows") {
		f.Options.SampleRows = 0
	}
}

// Made describes how to reproduce a result: command, version and the flags that were set.
func (f *Flags) Made(command, version string, flags *pflag.FlagSet) Made {
	words := []string{command}
	flags.Visit(func(flag *pflag.Flag) {
		value := strings.Trim(flag.Value.String(), "[]") // of lists
		words = append(words, quoted("--"+flag.Name+"="+value))
	})
	return Made{
		Command: strings.Join(words, " "), Version: version, Go: runtime.Version(), Arithmetic: scoring.Arithmetic(),
		System: runtime.GOOS + "/" + runtime.GOARCH, Processors: runtime.GOMAXPROCS(0),
	}
}

// quoted quotes an argument for a shell.
func quoted(s string) string {
	plain := func(r rune) bool {
		return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("-_=.,/:+@%", r)
	}
	if strings.IndexFunc(s, func(r rune) bool { return !plain(r) }) < 0 {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}

// MethodHelp lists the methods with their summaries, the default ones first.
func (f *Flags) MethodHelp() string {
	var lines []string
	for _, byDefault := range []bool{true, false} {
		for _, m := range f.Options.Known() {
			if slices.Contains(f.Options.Methods, m.Name) == byDefault {
				lines = append(lines, "  "+m.Name+strings.Repeat(" ", max(17-len(m.Name), 1))+m.Summary)
			}
		}
	}
	return strings.Join(lines, "\n")
}
