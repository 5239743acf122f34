package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/eerf-stream/eerf/arrowio/encoder"
	"github.com/eerf-stream/eerf/arrowio/rowid"
	"github.com/eerf-stream/eerf/arrowio/wire"
	"github.com/eerf-stream/eerf/cmd/internal/cli"
	"github.com/eerf-stream/eerf/config"
	"github.com/eerf-stream/eerf/stages/events"
	"github.com/eerf-stream/eerf/stages/meter"
	"github.com/eerf-stream/eerf/stages/offline"
	"github.com/eerf-stream/eerf/stages/train"
	"github.com/eerf-stream/eerf/training"
)

// fitFileFlags are the flags of `trainer fit` for fitting to a file.
type fitFileFlags struct {
	data, out, set string
	files          cli.FileFlags
	split          cli.SplitFlags
	exploration    cli.SettingFlags
	names          []string // names of these flags
}

func (f *fitFileFlags) add(c *cobra.Command) {
	flags, before := c.Flags(), flagNames(c)
	flags.StringVar(&f.data, "data", "", "file of labelled rows to train on without a broker")
	flags.StringVar(&f.out, "out", "", "file for the model and its feature set; empty = only describe them")
	flags.StringVar(&f.set, "feature-set", "", "file of the feature set; empty = explore the rows for one")
	f.split.Add(c, "by a hash")
	f.files.Add(c)
	f.exploration.AddExploration(c)
	for _, name := range flagNames(c) {
		if !slices.Contains(before, name) {
			f.names = append(f.names, name)
		}
	}
}

// check reports flags that cannot be combined.
func (f *fitFileFlags) check(c *cobra.Command) error {
	switch given := changedFlags(c, f.names); {
	case f.data == "" && len(given) > 0:
		return cli.Usagef("%s needs --data, a file of rows", strings.Join(given, ", "))
	case f.data == "":
		return nil
	case f.set == "":
		return f.split.Check()
	}
	if given := changedFlags(c, f.exploration.Names()); len(given) > 0 {
		return cli.Usagef("%s: the feature set of --feature-set is already explored; leave out one of the two",
			strings.Join(given, ", "))
	}
	return f.split.Check()
}

// flagNames lists the flags defined on a command so far.
func flagNames(c *cobra.Command) (names []string) {
	c.Flags().VisitAll(func(flag *pflag.Flag) { names = append(names, flag.Name) })
	return names
}

// changedFlags lists the named flags that were given.
func changedFlags(c *cobra.Command, names []string) (given []string) {
	for _, name := range names {
		if c.Flags().Changed(name) {
			given = append(given, "--"+name)
		}
	}
	return given
}

// run fits a model to the rows of a file.
func (f *fitFileFlags) run(ctx context.Context, c *cobra.Command, loaded *config.Config, o output) error {
	if err := cli.CheckOut(f.out, f.data, f.set); err != nil {
		return err
	}
	bar := cli.NewProgress(c, o.asJSON)
	defer bar.Done()
	fitted, err := f.fit(ctx, c, loaded, o.decision, bar)
	bar.Done()
	if err != nil {
		return err
	}
	if f.out != "" {
		if err := cli.WriteModel(f.out, fitted.model, fitted.set); err != nil {
			return err
		}
	}
	fitted.model.Metrics.AddDecision(o.decision.Threshold)
	return cli.Print(c, o.asJSON, fitted.summary(f.out), func(w io.Writer, _ fileModelSummary) {
		fitted.print(w, f.out, o)
	})
}

// fit explores the file if no feature set is given, and fits a model on the set.
func (f *fitFileFlags) fit(
	ctx context.Context,
	c *cobra.Command,
	loaded *config.Config,
	decision cli.Decision,
	bar *cli.Progress,
) (*fileModel, error) {
	fitted := &fileModel{seconds: map[meter.Stage]float64{}}
	file, err := f.open(fitted, bar)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	split, err := f.splitOf(ctx, c, fitted, loaded, file)
	if err != nil {
		return nil, err
	}
	if split != nil {
		fitted.warn(rowid.CopiesNote(split.Copies, split.Rule.Identity))
		fitted.copies = split.Copies
	}
	if fitted.set == nil {
		if err := fitted.explore(ctx, loaded, file, split); err != nil {
			return nil, withSplitHint(err, split)
		}
	}
	label := fitted.set.Encoder.Label
	loss, err := training.LossFor(loaded.Stages.Train.Loss, label.Classes != nil)
	if err == nil { // otherwise fitting names the fault
		if err := decision.Check(label, loss); err != nil {
			return nil, err
		}
	}
	began := time.Now()
	rows := file.Rows("fitting to " + f.data)
	fitted.model, fitted.rows, err = offline.Fit(ctx, fitted.set, loaded.Stages.Train, f.data, split, rows)
	if err != nil {
		return nil, fmt.Errorf("fit to %s: %w", f.data, err)
	}
	fitted.seconds[meter.StageTrain] = time.Since(began).Seconds()
	if err := f.fitWithout(ctx, loaded, fitted, file, split); err != nil {
		return nil, err
	}
	many, few := encoder.Notes(withoutUnseenClasses(fitted.rows.Columns))
	cli.Warn(c, many)
	fitted.first = many
	fitted.warn(few...)
	fitted.advise(f.data)
	fitted.noteClasses(split)
	return fitted, nil
}

// noteClasses warns of rows of classes that are not learned. The counts are of all rows, so they
// replace the warning of the exploration, which did not read the held-out ones.
func (m *fileModel) noteClasses(split *train.FileSplit) {
	if m.rows.UnseenClass == 0 {
		return
	}
	if m.classNote != "" {
		m.warnings = slices.DeleteFunc(m.warnings, func(note string) bool { return note == m.classNote })
	}
	m.warn(unseenNotes(m.rows.UnseenClass, m.rows.UnseenClasses, m.set.Encoder.Label.Classes, heldOutWrong)...)
	if split != nil && split.Rule.By == wire.SplitTime {
		m.warn("the last rows are held out, and a class may occur in them alone; " + useRandomSplit)
	}
}

// withoutUnseenClasses leaves out the findings that unseenNotes describes.
func withoutUnseenClasses(all []encoder.Tally) []encoder.Tally {
	for i := range all {
		if all[i].Label {
			all[i].Unseen = encoder.Finding{}
		}
	}
	return all
}

// useRandomSplit advises how rows of all times are held out.
const useRandomSplit = "--split random holds out random rows"

// withSplitHint adds to a fault of the label that it may be due to a split by time.
func withSplitHint(err error, split *train.FileSplit) error {
	var label *encoder.LabelError
	if !errors.As(err, &label) || split == nil || split.Rule.By != wire.SplitTime {
		return err
	}
	return fmt.Errorf("%w; the exploration lacks the last rows, which are held out: %s", err, useRandomSplit)
}

// fitWithout measures a model without the columns that predict the label nearly alone, if there are
// any. It is not measured where no other column is left.
func (f *fitFileFlags) fitWithout(
	ctx context.Context,
	loaded *config.Config,
	fitted *fileModel,
	file *cli.RowFile,
	split *train.FileSplit,
) error {
	columns := telling(fitted.telltales)
	if len(columns) == 0 {
		return nil
	}
	without := *loaded
	without.Stages.Events.Exclude = slices.Concat(loaded.Stages.Events.Exclude, columns)
	other := &fileModel{seconds: map[meter.Stage]float64{}}
	err := other.explore(ctx, &without, file, split)
	if err == nil {
		rows := file.Rows("fitting without " + strings.Join(columns, ", "))
		other.model, _, err = offline.Fit(ctx, other.set, without.Stages.Train, f.data, split, rows)
	}
	if err != nil {
		return ctx.Err()
	}
	fitted.without = &withoutColumns{Columns: columns, Measures: other.model.Metrics.Measures}
	return nil
}

// telling lists the columns of telltales, each once.
func telling(found []encoder.Telltale) (columns []string) {
	for _, tell := range found {
		for _, name := range tell.Columns {
			if !slices.Contains(columns, name) {
				columns = append(columns, name)
			}
		}
	}
	return columns
}

// withoutColumns are the measures of a model without some columns.
type withoutColumns struct {
	Columns  []string          `json:"columns"`
	Measures training.Measures `json:"measures"`
}

// String returns a sentence.
func (w *withoutColumns) String() string {
	return fmt.Sprintf("without %s: %s", strings.Join(w.Columns, ", "), w.Measures.Sentence())
}

// splitOf returns the split of the file. If the feature set was explored on the same file, its
// split counts.
func (f *fitFileFlags) splitOf(
	ctx context.Context,
	c *cobra.Command,
	fitted *fileModel,
	loaded *config.Config,
	file *cli.RowFile,
) (*train.FileSplit, error) {
	o := loaded.Stages.Train
	if fitted.set == nil {
		if err := file.Complete(&loaded.Stages.Events); err != nil {
			return nil, err
		}
		split, note, err := f.split.Resolve(ctx, file, loaded.Stages.Events, o.HeldOutFraction, o.HeldOutSeed)
		fitted.warn(note)
		return split, err
	}
	l := fitted.set.Lineage
	e := eventsOf(fitted.set, loaded.Stages.Events.Group)
	if l.EventsTopic != f.data || l.Split == nil {
		split, note, err := f.split.Resolve(ctx, file, e, o.HeldOutFraction, o.HeldOutSeed)
		fitted.warn(note)
		return split, err
	}
	if given := changedFlags(c, append(f.split.Names(), "held-out")); len(given) > 0 {
		return nil, cli.Usagef("%s: the feature set was explored on this file without the rows held out by %v, "+
			"and errors can only be measured on those; leave the flag out", strings.Join(given, ", "), l.Split)
	}
	return file.Split(ctx, *l.Split, e)
}

// eventsOf returns the uses of columns for the split of a file on which a set is used: what
// identifies a row of the set identifies a row of the file, unless a group is given.
func eventsOf(set *wire.FeatureSet, group string) events.Config {
	identity := set.Lineage.Identity
	return events.Config{Columns: events.Columns{
		Features: identity.Columns,
		Exclude:  identity.Without,
		Group:    cmp.Or(group, identity.Group),
		Label:    set.Encoder.Label.Columns,
	}}
}

// open opens the file of rows, with the column types of the feature set if one is given.
func (f *fitFileFlags) open(fitted *fileModel, bar *cli.Progress) (file *cli.RowFile, err error) {
	if f.set == "" {
		return f.files.Open(f.data, 0, bar)
	}
	fitted.set, err = cli.ReadFeatureSet(f.set)
	if err != nil {
		return nil, err
	}
	if fitted.set.Encoder.Label == nil {
		return nil, fmt.Errorf("feature set %s has no label to train on", f.set)
	}
	return f.files.OpenFor(f.data, fitted.set.Encoder, bar)
}

// fileModel is a model that was fitted to a file.
type fileModel struct {
	set      *wire.FeatureSet
	model    *wire.Model
	rows     train.RowCounts
	columns  []encoder.ColumnUse // of an exploration
	warnings []string
	first    []string // warnings before the summary
	seconds  map[meter.Stage]float64
	copies   float64 // share of the rows that equal an earlier row
	// classNote is the warning of the exploration about classes that are not learned, "" without
	// any.
	classNote string

	telltales []encoder.Telltale // of an exploration
	without   *withoutColumns    // nil without telltales
}

func (m *fileModel) explore(
	ctx context.Context,
	loaded *config.Config,
	file *cli.RowFile,
	split *train.FileSplit,
) error {
	found, err := file.Explore(ctx, loaded, split)
	if err != nil {
		return err
	}
	m.set, m.seconds = found.Set, found.Seconds
	m.columns = found.Set.Lineage.Columns
	m.telltales = found.Report.Telltales
	m.warn(found.Report.Warnings...)
	m.warn(found.Warning)
	m.classNote = found.Report.ClassNote
	return nil
}

// warn adds the notes for the user that are not empty.
func (m *fileModel) warn(notes ...string) {
	for _, note := range notes {
		if note != "" {
			m.warnings = append(m.warnings, note)
		}
	}
}

// advise warns of errors that are missing or may be too low.
func (m *fileModel) advise(data string) {
	l := m.set.Lineage
	switch seen := m.model.Metrics.Seen; {
	case seen != nil:
		m.warn(fmt.Sprintf("no error is reported, because %d of the %d held-out rows taught the feature set; "+
			"leave out --feature-set, or explore with --sample 0.5", seen.InRanges, m.model.HeldOutRows))
	case l.EventsTopic != data:
		m.warn(fmt.Sprintf("the feature set was learned from %s; if that contained these rows, the errors are too low",
			l.EventsTopic))
	}
}

// fileModelSummary describes the model of a file for machines.
type fileModelSummary struct {
	Model      modelFacts              `json:"model"`
	File       string                  `json:"file,omitempty"`
	FeatureSet fileSetSummary          `json:"feature_set"`
	Rows       train.RowCounts         `json:"rows"`
	Copies     float64                 `json:"copies,omitempty"` // share of the rows that equal an earlier row
	Columns    []encoder.ColumnUse     `json:"columns,omitempty"`
	Warnings   []string                `json:"warnings,omitempty"`
	Seconds    map[meter.Stage]float64 `json:"seconds"`
	// Telltales are columns that predict the label nearly alone, Without the errors of a model
	// without them.
	Telltales []encoder.Telltale `json:"telltales,omitempty"`
	Without   *withoutColumns    `json:"without_telltales,omitempty"`
}

// fileSetSummary describes the feature set of the model. `featurizer inspect` shows more.
type fileSetSummary struct {
	ID        string `json:"id"`
	Task      string `json:"task"`
	Columns   int    `json:"columns"`
	Dim       int    `json:"dim"`
	Features  int    `json:"features"`
	Criterion string `json:"criterion"`
	Source    string `json:"source"` // the file or topic explored
}

func (m *fileModel) summary(out string) fileModelSummary {
	l := m.set.Lineage
	return fileModelSummary{
		Model: factsOf(m.model),
		File:  out,
		FeatureSet: fileSetSummary{
			ID:        m.set.ID(),
			Task:      m.set.Task.String(),
			Columns:   len(m.set.Encoder.Columns),
			Dim:       m.set.Encoder.Dim,
			Features:  m.set.Set.Features.Len(),
			Criterion: l.Criterion.String(),
			Source:    l.EventsTopic,
		},
		Rows:     m.rows,
		Copies:   m.copies,
		Columns:  m.columns,
		Warnings: slices.Concat(m.first, m.warnings),
		Seconds:  m.seconds,

		Telltales: m.telltales,
		Without:   m.without,
	}
}

// headline returns the error of the model next to a constant's, and the rows that it is from.
func (m *fileModel) headline() string {
	metrics := &m.model.Metrics
	said := metrics.Sentence()
	if said == "" {
		return "no error was measured: the notes below say why"
	}
	return fmt.Sprintf("%s, on %d held-out rows that taught nothing: %v", said, metrics.MeasuredRows, m.model.Split)
}

func (m *fileModel) print(w io.Writer, out string, o output) {
	cli.WriteNotes(w, m.first)
	cli.WriteTelltales(w, m.telltales)
	if m.without != nil {
		fmt.Fprintln(w, cli.Wrapped(m.without.String(), cli.Width(w), "  "))
	}
	if said := m.headline(); said != "" {
		fmt.Fprintln(w, cli.Wrapped(said, cli.Width(w), "  "))
	}
	cli.WriteColumns(w, m.columns, "add --out model.arrow, then featurizer inspect --file model.arrow")
	l, enc := m.set.Lineage, m.set.Encoder
	fmt.Fprintf(w, "%d features of %d columns for %s %v, chosen by %v on %d rows of %s\n",
		m.set.Set.Features.Len(), len(enc.Columns), m.set.Task, enc.Label.Columns, l.Criterion, l.Rows, l.EventsTopic)
	fmt.Fprintf(w, "%d rows: %d to train on, %d of classes that are not learned, %d unlabelled, %d rejected\n",
		m.rows.Rows, m.rows.Trained, m.rows.UnseenClass, m.rows.Unlabelled, m.rows.Rejected)
	printModel(w, m.model, o.paper)
	cli.WriteDecisions(w, &m.model.Metrics.Measures, o.decision)
	cli.WriteNotes(w, m.warnings)
	if out == "" {
		fmt.Fprintln(w, "not written: add --out model.arrow to keep it")
		return
	}
	fmt.Fprintf(w, "written to %s; use it with: trainer predict --model %s --data FILE --out predictions.csv%s\n",
		out, out, o.flags)
}
