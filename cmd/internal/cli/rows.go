package cli

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/apache/arrow/go/v15/arrow"

	"github.com/eerf-stream/eerf/arrowio/encoder"
	"github.com/eerf-stream/eerf/arrowio/files"
	"github.com/eerf-stream/eerf/internal/printable"
	"github.com/eerf-stream/eerf/stages/events"
)

// RowFile is a file of rows with known columns. It may be read several times; the column types are
// inferred once.
type RowFile struct {
	path    string
	options files.Options
	schema  *arrow.Schema
	leftOut []files.LeftOut
	words   []files.NullWord  // read as null, of the columns whose types were inferred
	classes []files.NullWord  // read as classes of the label nevertheless
	bad     []files.BadFields // among the rows read
	first   *files.Reader     // opened to find the columns; used by the first read, then nil
	bar     *Progress
}

// Open opens the file at path for a command with the progress bar. The command only copies the
// columns verbatim: those of a CSV file stay as they are written.
func (f *FileFlags) Open(path string, batchRows int, bar *Progress, verbatim ...string) (*RowFile, error) {
	o, err := f.options()
	if err != nil {
		return nil, err
	}
	o.BatchRows, o.Verbatim = batchRows, verbatim
	return openRows(path, o, bar)
}

// OpenFor is Open for rows to encode, of which the command also copies some columns. What the
// encoder read as text, such as house numbers, stays text if this file only has numbers in it.
func (f *FileFlags) OpenFor(
	path string,
	enc *encoder.Encoder,
	bar *Progress,
	copied ...string,
) (*RowFile, error) {
	o, err := f.options()
	if err != nil {
		return nil, err
	}
	o.Verbatim = onlyCopied(enc, append(copied, enc.Passthrough...))
	o.NullValues = union(o.NullValues, enc.NullWords)
	if enc.Label != nil && len(enc.Label.Columns) == 1 {
		o.Words = map[string][]string{enc.Label.Columns[0]: enc.Label.Classes}
	}
	if texts := textsOf(enc); texts.NumFields() > 0 {
		o.Schema = texts
	}
	return openRows(path, o, bar)
}

// onlyCopied returns the columns that an encoder does not read.
func onlyCopied(enc *encoder.Encoder, copied []string) []string {
	return slices.DeleteFunc(slices.Clone(copied), func(name string) bool {
		isFeature := slices.ContainsFunc(enc.Columns, func(c encoder.Column) bool { return c.Name == name })
		return isFeature || enc.Label != nil && slices.Contains(enc.Label.Columns, name)
	})
}

// textsOf returns the columns that an encoder reads as text even if they look like something else
// in this file: categories, and numbers with decimal commas.
func textsOf(enc *encoder.Encoder) *arrow.Schema {
	var fields []arrow.Field
	add := func(name string, kind encoder.Kind, form *encoder.Form) {
		if kind == encoder.Category || form.DecimalComma {
			fields = append(fields, arrow.Field{Name: name, Type: arrow.BinaryTypes.String, Nullable: true})
		}
	}
	for i := range enc.Columns {
		add(enc.Columns[i].Name, enc.Columns[i].Kind, &enc.Columns[i].Form)
	}
	if label := enc.Label; label != nil {
		for _, name := range label.Columns {
			add(name, label.Kind, &label.Form)
		}
	}
	return arrow.NewSchema(fields, nil)
}

func openRows(path string, o files.Options, bar *Progress) (*RowFile, error) {
	o.Scan = func(done, total int64) { bar.Show("scanning "+path, done, total) }
	reader, err := files.Open(path, o)
	if errors.Is(err, files.ErrNoFormat) {
		return nil, Usagef("%w with --format", err)
	}
	if delimiter := (*files.DelimiterError)(nil); errors.As(err, &delimiter) {
		return nil, Usagef("%w: add --delimiter %s", err, flagValue(delimiter.Other))
	}
	if title := (*files.TitleError)(nil); errors.As(err, &title) {
		return nil, Usagef("%w: add --skip-lines %d", err, title.Lines)
	}
	if err != nil {
		return nil, err
	}
	o.Schema, o.BareQuotes = reader.Schema(), reader.BareQuotes()
	return &RowFile{
		path:    path,
		options: o,
		schema:  o.Schema,
		leftOut: reader.LeftOut(),
		words:   reader.NullWords(),
		bad:     reader.BadFields(),
		first:   reader,
		bar:     bar,
	}, nil
}

// flagValue returns a delimiter as a shell argument of --delimiter.
func flagValue(delimiter rune) string {
	if delimiter == '\t' {
		return `'\t'`
	}
	return "'" + string(delimiter) + "'"
}

// Like opens another file with this file's column types: test rows for training rows.
func (r *RowFile) Like(path string) (*RowFile, error) {
	o := r.options
	return openRows(path, o, r.bar)
}

// Close frees the file if it was never read.
func (r *RowFile) Close() {
	if r.first != nil {
		_ = r.first.Close() // read only
		r.first = nil
	}
}

// Schema is the schema of the rows.
func (r *RowFile) Schema() *arrow.Schema { return r.schema }

// Rows returns a function that opens the file from its start; what names the operation in the
// progress bar.
func (r *RowFile) Rows(what string) func() (events.RowReader, error) {
	return func() (events.RowReader, error) {
		reader := r.first
		r.first = nil
		if reader == nil {
			var err error
			reader, err = files.Open(r.path, r.options)
			if err != nil {
				return nil, err
			}
		}
		return &watched{reader, r, what}, nil
	}
}

// watched reads a file's rows, moves the progress bar and records bad fields.
type watched struct {
	*files.Reader
	file *RowFile
	what string
}

// Next returns the next batch and moves the bar.
func (w *watched) Next() (arrow.Record, error) {
	done, total := w.Reader.Progress()
	w.file.bar.Show(w.what, done, total)
	rec, err := w.Reader.Next()
	if errors.Is(err, io.EOF) {
		w.file.bad = w.Reader.BadFields()
	}
	return rec, err
}

// Complete checks that a label is set, and that the file has the columns that the configuration
// names. In a stream a column may appear later; in a file a missing column is a mistake.
func (r *RowFile) Complete(events *events.Config) error {
	if len(events.Label) == 0 {
		return Usagef("--label is required: the name of the column to predict; the columns of %s are %s%s",
			r.path, r.columns(), r.headerHint())
	}
	for _, names := range []*[]string{
		&events.Label, &events.Features, &events.Include, &events.Exclude, &events.Passthrough,
	} {
		*names = r.joined(*names)
	}
	if err := r.Check(events); err != nil {
		return err
	}
	if err := r.shareNullValues(events); err != nil {
		return err
	}
	r.KeepClasses(events)
	return nil
}

// joined returns the names of a list with each column whose name has commas as one name, although
// the list was split there.
func (r *RowFile) joined(names []string) []string {
	for _, field := range r.schema.Fields() {
		parts := strings.Split(field.Name, ",")
		if len(parts) == 1 {
			continue
		}
		for i := range parts {
			parts[i] = strings.TrimSpace(parts[i])
		}
		for at := 0; at+len(parts) <= len(names); at++ {
			if slices.Equal(names[at:at+len(parts)], parts) {
				names = slices.Concat(names[:at], []string{field.Name}, names[at+len(parts):])
			}
		}
	}
	return names
}

// shareNullValues gives the file and the configuration each other's words for missing values.
func (r *RowFile) shareNullValues(events *events.Config) error {
	all := union(events.NullValues, r.options.NullValues)
	if given := r.options.NullValues; len(all) > len(given) && r.isCSV() {
		o := r.options
		o.NullValues, o.Schema = all, nil
		r.Close()
		other, err := openRows(r.path, o, r.bar)
		if err != nil {
			return err
		}
		*r = *other
	}
	events.NullValues = all
	return nil
}

// union returns the words of both lists, each once.
func union(a, b []string) []string {
	all := slices.Clone(a)
	for _, word := range b {
		if !slices.Contains(all, word) {
			all = append(all, word)
		}
	}
	return all
}

// KeepClasses reads a word such as None in a label column as a class, unless --null-values is
// given, if it is a configured class or, beside other classes, has the rows that a class needs to
// be learned.
func (r *RowFile) KeepClasses(events *events.Config) {
	if r.options.NullValues != nil || len(events.Label) != 1 {
		return
	}
	label := events.Label[0]
	for _, w := range r.words {
		if w.Column != label || slices.Contains(r.options.Words[label], w.Word) {
			continue
		}
		isClass := slices.Contains(events.Classes, w.Word)
		if len(events.Classes) == 0 {
			isClass = w.Others > 0 && w.Rows >= events.ClassMinRows
		}
		if isClass {
			r.options.Words = map[string][]string{label: append(r.options.Words[label], w.Word)}
			r.classes = append(r.classes, w)
			r.Close() // it was opened without the word
		}
	}
}

// ClassNotes names the words that are read as classes of the label, although they mean "missing" in
// other columns.
func (r *RowFile) ClassNotes() []string {
	var notes []string
	for _, w := range r.classes {
		notes = append(notes, fmt.Sprintf("label %s: %q in %d rows is a class; "+
			"to read it as missing, add --null-values %s", w.Column, w.Word, w.Rows, w.Word))
	}
	return notes
}

// Check reports columns that the configuration names and the file lacks.
func (r *RowFile) Check(events *events.Config) error {
	var faults []string
	for _, use := range []struct {
		key   string
		names []string
	}{
		{"label", events.Label},
		{"features", events.Features},
		{"include", events.Include},
		{"exclude", events.Exclude},
		{"passthrough", events.Passthrough},
		{"group", groupOf(events)},
	} {
		for _, name := range use.names {
			if !r.schema.HasField(name) {
				faults = append(faults, fmt.Sprintf("%q (events.%s)", name, use.key))
			}
		}
	}
	if len(faults) == 0 {
		return nil
	}
	return Usagef("%s has no column %s; its columns are %s%s", r.path, strings.Join(faults, ", "), r.columns(),
		r.headerHint())
}

// groupOf returns the group column, nil if there is none.
func groupOf(events *events.Config) []string {
	if events.Group == "" {
		return nil
	}
	return []string{events.Group}
}

// headerHint advises --no-header if the first line of a text file looks like a row because a name
// is a number.
func (r *RowFile) headerHint() string {
	if r.options.NoHeader || !r.isCSV() {
		return ""
	}
	for _, field := range r.schema.Fields() {
		if _, err := strconv.ParseFloat(field.Name, 64); err == nil {
			return "; if that is a row, add --no-header, which names the columns f0, f1, ..."
		}
	}
	return ""
}

// isCSV reports whether the file is read as CSV.
func (r *RowFile) isCSV() bool { return r.options.FormatOf(r.path) == files.FormatCSV }

// mostColumns is the maximum number of columns that an error lists.
const mostColumns = 40

func (r *RowFile) columns() string {
	var names []string
	for _, field := range r.schema.Fields() {
		names = append(names, field.Name)
	}
	if more := len(names) - mostColumns; more > 0 {
		names = append(names[:mostColumns], fmt.Sprintf("and %d more", more))
	}
	return printable.Text(strings.Join(names, ", "))
}
