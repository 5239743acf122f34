package pipe

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"runtime"
	"sync"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
	"github.com/apache/arrow/go/v15/arrow/ipc"

	"github.com/eerf-stream/eerf/arrowio"
	"github.com/eerf-stream/eerf/arrowio/formats"
	"github.com/eerf-stream/eerf/scoring"
	"github.com/eerf-stream/eerf/stages/events"
	"github.com/eerf-stream/eerf/stages/featurize"
)

// Limits of a batch.
const (
	// MaxBatchBytes is the size of the largest batch with its schema and dictionaries.
	MaxBatchBytes = 64 << 20
	// BudgetBytes is the memory that decoding a batch may allocate.
	BudgetBytes = 128 << 20
	// MaxAnswerBytes bounds the answers to a batch, and thereby its rows.
	MaxAnswerBytes = 64 << 20
	// maxRows bounds batches with small answers.
	maxRows = 1 << 20
)

// HelloKey is the key of the [Hello] in the metadata of the output's schema.
const HelloKey = "eerf.pipe"

// helloVersion is the version of the protocol.
const helloVersion = 1

// Hello describes the answers of a process.
type Hello struct {
	FormatVersion int      `json:"format_version"`
	Version       string   `json:"version"` // of the program
	Arithmetic    string   `json:"arithmetic"`
	FeatureSet    string   `json:"feature_set"`
	Model         string   `json:"model,omitempty"`
	Features      int      `json:"features"`
	Classes       []string `json:"classes,omitempty"`
	MaxRows       int      `json:"max_rows"` // of a batch
	MaxBatchBytes int64    `json:"max_batch_bytes"`
}

// Options configure [Answer].
type Options struct {
	Pair     *featurize.Pair
	Features bool   // answer with features; otherwise with predictions alone
	Version  string // of the program
	Threads  int    // 0 = GOMAXPROCS
}

// Answer answers the batches of the input until its end.
func Answer(in io.Reader, out io.Writer, o Options) error {
	if o.Pair.Model == nil && !o.Features {
		return errors.New("predictions need a model")
	}
	a := newAnswerer(o)
	buffered := bufio.NewWriterSize(out, outputBuffer)
	schema, err := a.schema(o)
	if err != nil {
		return err
	}
	w := ipc.NewWriter(buffered, ipc.WithSchema(schema))
	send := func(rec arrow.Record) error {
		err := w.Write(rec)
		if err == nil {
			err = buffered.Flush()
		}
		if err != nil {
			return fmt.Errorf("write answers: %w", err)
		}
		return nil
	}
	if err := a.each(in, schema, send); err != nil {
		return err
	}
	err = w.Close()
	if err == nil {
		err = buffered.Flush()
	}
	if err != nil {
		return fmt.Errorf("end answers: %w", err)
	}
	return nil
}

// outputBuffer collects the small parts of an answer.
const outputBuffer = 64 << 10

// answerer maps batches. It belongs to one goroutine.
type answerer struct {
	features bool
	limits   arrowio.Limits
	reader   *events.Reader
	mappers  []*featurize.Mapper // one for each thread
	parts    []*featurize.Mapped // reused
	faults   []error             // of the parts
}

func newAnswerer(o Options) *answerer {
	threads := o.Threads
	if threads <= 0 {
		threads = runtime.GOMAXPROCS(0)
	}
	a := &answerer{
		features: o.Features,
		limits: arrowio.Limits{
			MaxMessageBytes: MaxBatchBytes,
			BudgetBytes:     BudgetBytes,
			MaxRows:         rowsOf(o),
		},
	}
	a.reader = events.Source{Limits: a.limits, Format: formats.Arrow}.FeatureReader(o.Pair.Encoder())
	for range threads {
		a.mappers = append(a.mappers, o.Pair.NewMapper())
	}
	return a
}

// rowsOf returns how many rows of answers fit in MaxAnswerBytes.
func rowsOf(o Options) int {
	bytes := 8 * (1 + o.Pair.Outputs())
	if o.Features {
		bytes += 4 * o.Pair.Features()
	}
	if classes := len(o.Pair.Classes()); classes > 0 {
		bytes += 4 * (1 + classes)
	}
	return max(1, min(maxRows, MaxAnswerBytes/bytes))
}

// schema returns the schema of the answers with its Hello.
func (a *answerer) schema(o Options) (*arrow.Schema, error) {
	hello, err := json.Marshal(Hello{
		FormatVersion: helloVersion,
		Version:       o.Version,
		Arithmetic:    scoring.Arithmetic(),
		FeatureSet:    o.Pair.SetID(),
		Model:         o.Pair.ModelID(),
		Features:      o.Pair.Features(),
		Classes:       o.Pair.Classes(),
		MaxRows:       a.limits.MaxRows,
		MaxBatchBytes: MaxBatchBytes,
	})
	if err != nil {
		return nil, fmt.Errorf("describe the answers: %w", err)
	}
	meta := arrow.NewMetadata([]string{HelloKey}, []string{string(hello)})
	return arrow.NewSchema(a.mappers[0].AnswerFields(a.features), &meta), nil
}

// each sends the answers to the batches of the input, after those to no rows.
func (a *answerer) each(in io.Reader, schema *arrow.Schema, send func(arrow.Record) error) error {
	if err := a.send([]*featurize.Mapped{{}}, schema, send); err != nil {
		return err
	}
	batches := arrowio.NewBatches(in, MaxBatchBytes)
	for number := 0; ; number++ {
		message, err := batches.Next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err == nil {
			err = a.answer(message, schema, send)
		}
		if err != nil {
			return fmt.Errorf("batch %d: %w", number, err)
		}
	}
}

// answer sends the answers to the batch of a message.
func (a *answerer) answer(message []byte, schema *arrow.Schema, send func(arrow.Record) error) error {
	records, err := a.reader.Read(message)
	if err != nil {
		return err
	}
	defer events.Release(records)
	for _, batch := range records {
		parts, err := a.divide(batch)
		if err != nil {
			return err
		}
		if err := a.send(parts, schema, send); err != nil {
			return err
		}
	}
	return nil
}

// fewestRows is the number of rows from which another thread takes part.
const fewestRows = 256

// divide maps a batch on the threads, each of which takes consecutive rows.
func (a *answerer) divide(batch arrow.Record) ([]*featurize.Mapped, error) {
	rows := int(batch.NumRows())
	n := max(1, min(len(a.mappers), rows/fewestRows))
	a.parts = append(a.parts[:0], make([]*featurize.Mapped, n)...)
	a.faults = append(a.faults[:0], make([]error, n)...)
	work := func(i int, part arrow.Record) {
		a.parts[i], a.faults[i] = a.mappers[i].Map([]arrow.Record{part}, a.features, func() error { return nil })
	}
	if n == 1 {
		work(0, batch)
		return a.parts, a.faults[0]
	}
	var group sync.WaitGroup
	for i := range n {
		part := batch.NewSlice(int64(i*rows/n), int64((i+1)*rows/n))
		group.Go(func() {
			defer part.Release()
			work(i, part)
		})
	}
	group.Wait()
	return a.parts, errors.Join(a.faults...)
}

// send sends mapped rows.
func (a *answerer) send(parts []*featurize.Mapped, schema *arrow.Schema, send func(arrow.Record) error) error {
	var rows int64
	for _, part := range parts {
		rows += int64(part.Total)
	}
	columns := a.mappers[0].Answer(parts, a.features)
	rec := array.NewRecord(schema, columns, rows)
	for _, column := range columns {
		column.Release()
	}
	defer rec.Release()
	return send(rec)
}
