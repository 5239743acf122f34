package main

import (
	"errors"
	"fmt"
	"runtime"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/eerf-stream/eerf/cmd/internal/cli"
	"github.com/eerf-stream/eerf/compare"
	"github.com/eerf-stream/eerf/compare/report"
	"github.com/eerf-stream/eerf/datasets"
	"github.com/eerf-stream/eerf/scoring"
)

// compareFlags are the flags of `trainer compare`.
type compareFlags struct {
	rows    rowFlags
	options compare.Options
	methods []string
	leftOut []string // methods that cannot work with the other flags, with the reason
	out     string
	json    bool
	// texts of options, still to be parsed
	featureMap, distribution, grid string
}

func newCompare() *cobra.Command {
	f := compareFlags{options: compare.DefaultOptions()}
	c := &cobra.Command{
		Use:   "compare",
		Short: "Methods side by side on your own file: errors, times, plots",
		Long: `compare trains models on the features of several methods, on the same training rows, and measures them on the
same test rows: mean error with its standard error, the difference to plain random features in pairs of equal seeds,
and seconds. Repeat r = 0, 1, ... uses seed + r for the split, the candidates and the sample. Results depend on the
rows, the flags and the seed alone, except for the seconds.

Rows come from --data, with test rows from --test-file or a share of them, or from a public data set (--dataset), of
which the paper's settings are the defaults. An interrupt prints what is done so far.

Methods (the first five run by default: what random features have to beat, the best choice among drawn ones, and what a
pipeline learns; --methods all runs every one that fits the other flags):
` + methodHelp(),
		Example: `  trainer compare --data rows.csv --label churned
  trainer compare --data rows.parquet --label price --task regression --features 50,100,200 --out report
  trainer compare --data a9a.gz --test-file a9a.t.gz --format libsvm --task classification \
      --methods energy,correlation,plain-tuned --features 100 --candidates 2000 --sample 0.05
  trainer compare --dataset letter --data-dir data --repeats 5 --json`,
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error { return f.run(c) },
	}
	f.add(c)
	return c
}

// methodHelp lists the methods with their summaries, the default ones first.
func methodHelp() string {
	var b strings.Builder
	usual := compare.DefaultOptions().Methods
	for _, byDefault := range []bool{true, false} {
		for _, m := range compare.DefaultOptions().Known() {
			if slices.Contains(usual, m.Name) == byDefault {
				fmt.Fprintf(&b, "  %-16s %s\n", m.Name, m.Summary)
			}
		}
	}
	return strings.TrimSuffix(b.String(), "\n")
}

func (f *compareFlags) add(c *cobra.Command) {
	f.rows.add(c)
	flags, o := c.Flags(), &f.options
	flags.StringSliceVar(&f.methods, "methods", nil, "methods, with commas, or all; plain is always among them (default: the five that answer whether it is worth it)")
	flags.StringVar(&f.featureMap, "map", scoring.MapCosine.String(), "feature map: cosine, arccos0, arccos1, arccos2, linear")
	flags.StringVar(&f.distribution, "distribution", "", "sampling distribution: gaussian, cauchy, laplace (default: that of the map)")
	flags.Float64Var(&o.Sigma, "sigma", o.Sigma, "bandwidth; 0 = 50th-nearest-neighbour rule")
	flags.IntSliceVar(&o.Features, "features", o.Features, "M, numbers of features, rising, with commas")
	flags.IntVar(&o.Candidates, "candidates", 0, "M0, candidates drawn; 0 = ten times the largest of --features")
	flags.Float64Var(&o.Sample, "sample", o.Sample, "share of the training rows that candidates are scored on")
	flags.IntVar(&o.SampleRows, "sample-rows", o.SampleRows, "the most rows that candidates are scored on, whatever the share; 0, or a --sample without it on your own file = no bound")
	flags.IntVar(&o.Repeats, "repeats", o.Repeats, "how often everything is done, each time with another seed; of a set with published splits, the split of that number")
	flags.Uint64Var(&o.Seed, "seed", o.Seed, "seed of the first repeat")
	flags.StringVar(&o.Loss, "loss", o.Loss, "what models are trained with: "+strings.Join(compare.Losses(), ", "))
	flags.BoolVar(&o.Intercept, "intercept", o.Intercept, "fit an intercept; --intercept=false is the paper's setting")
	flags.StringVar(&f.grid, "lambda-grid", "relative", "relative, paper (1e-5 to 1e5 absolute), or numbers with commas")
	flags.Float64Var(&o.HeldOut, "held-out", o.HeldOut, "share of the training rows on which lambda is chosen")
	flags.StringVar(&o.Standardize, "standardize", o.Standardize, "numeric, all (the paper) or none")
	flags.Float64Var(&o.Clip, "clip", o.Clip, "bound on standardized values; 0 = off (the paper)")
	cli.PaperFlag(c, &o.Paper)
	flags.StringVar(&f.out, "out", "", "directory for report.html, its plots as SVG, results.csv and results.json")
	cli.JSONFlag(c, &f.json)
}

func (f *compareFlags) run(c *cobra.Command) error {
	set, err := f.rows.check()
	if err != nil {
		return err
	}
	if set != nil {
		f.takeDefaults(c.Flags(), set.Defaults)
	}
	if err := f.complete(c.Flags()); err != nil {
		return err
	}
	bar := cli.NewProgress(c, f.json)
	defer bar.Done()
	table, notes, err := f.rows.read(c.Context(), set, bar)
	if err != nil {
		return err
	}
	defer table.Release()
	if f.out != "" { // find that out before the work
		if err := report.Prepare(f.out); err != nil {
			return err
		}
	}
	result, err := compare.Run(c.Context(), table.Name(), table, f.options, bar.Show)
	bar.Done()
	if result == nil {
		return asUsage(err)
	}
	result.Notes = append(notes, result.Notes...)
	if f.rows.file != nil {
		result.Data.Columns = f.rows.file.Columns(result.Data.Columns)
	}
	result.Made, result.MethodsLeftOut = f.made(c), f.leftOut
	return errors.Join(f.show(c, result), err)
}

// show prints the result and writes the report.
func (f *compareFlags) show(c *cobra.Command, result *compare.Result) error {
	if f.out != "" {
		if err := report.Write(f.out, result); err != nil {
			return err
		}
	}
	if f.json {
		if err := cli.WriteJSON(c.OutOrStdout(), result); err != nil {
			return err
		}
	} else {
		printComparison(c.OutOrStdout(), result, f.out)
	}
	if failed := result.Failures(); len(failed) > 0 {
		return fmt.Errorf("some methods failed:\n  %s", strings.Join(failed, "\n  "))
	}
	return nil
}

// takeDefaults applies the paper's settings for a data set unless a flag was given.
func (f *compareFlags) takeDefaults(flags *pflag.FlagSet, d datasets.Defaults) {
	o := &f.options
	for name, take := range map[string]func(){
		"features":      func() { o.Features = d.Features },
		"candidates":    func() { o.Candidates = d.Candidates },
		"sample":        func() { o.Sample = d.Sample },
		"sample-rows":   func() { o.SampleRows = d.SampleRows },
		"map":           func() { f.featureMap = d.Map.String() },
		"test-fraction": func() { f.rows.testFraction = max(d.TestFraction, o.TestFraction) },
		"standardize":   func() { o.Standardize = d.Standardize },
		"clip":          func() { o.Clip = d.Clip },
		"intercept":     func() { o.Intercept = d.Intercept },
	} {
		if !flags.Changed(name) {
			take()
		}
	}
}

// complete parses texts and derives the remaining options.
func (f *compareFlags) complete(flags *pflag.FlagSet) (err error) {
	o := &f.options
	if o.Map, err = scoring.ParseMap(f.featureMap); err != nil {
		return cli.Usagef("--map: %w", err)
	}
	o.Distribution = scoring.Gaussian
	if o.Map == scoring.MapLinear {
		o.Distribution = scoring.Uniform
	}
	if f.distribution != "" {
		if o.Distribution, err = scoring.ParseDistribution(f.distribution); err != nil {
			return cli.Usagef("--distribution: %w", err)
		}
	}
	if err := o.Grid.UnmarshalText([]byte(f.grid)); err != nil {
		return cli.Usagef("--lambda-grid: %w", err)
	}
	if o.Candidates == 0 && len(o.Features) > 0 {
		o.Candidates = candidatesPerFeature * o.Features[len(o.Features)-1]
	}
	if f.rows.dataset == "" && flags.Changed("sample") && !flags.Changed("sample-rows") {
		o.SampleRows = 0
	}
	o.TestFraction = f.rows.testFraction
	f.chooseMethods()
	return asUsage(o.Validate())
}

// allMethods selects every method that works with the other flags.
const allMethods = "all"

// chooseMethods takes the requested methods, or finds those that work with the other flags.
func (f *compareFlags) chooseMethods() {
	o := &f.options
	switch {
	case len(f.methods) == 0:
		o.Methods, f.leftOut = compare.Usual(*o)
	case slices.Contains(f.methods, allMethods):
		o.Methods, f.leftOut = compare.Fitting(*o)
	default:
		o.Methods = f.methods
	}
}

// candidatesPerFeature is M0/M if M0 is not given: the paper's rule.
const candidatesPerFeature = 10

// asUsage turns an error about options into a usage error.
func asUsage(err error) error {
	var fault *compare.OptionsError
	if errors.As(err, &fault) {
		return &cli.UsageError{Err: err}
	}
	return err
}

// made says how to reproduce the result.
func (f *compareFlags) made(c *cobra.Command) compare.Made {
	command := []string{c.CommandPath()}
	c.Flags().Visit(func(flag *pflag.Flag) {
		value := strings.Trim(flag.Value.String(), "[]") // of lists
		command = append(command, quoted("--"+flag.Name+"="+value))
	})
	return compare.Made{
		Command: strings.Join(command, " "), Version: c.Root().Version, Go: runtime.Version(), Arithmetic: scoring.Arithmetic(),
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
