package main

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"

	"github.com/eerf-stream/eerf/arrowio"
	"github.com/eerf-stream/eerf/arrowio/wire"
	"github.com/eerf-stream/eerf/internal/hostile"
	"github.com/eerf-stream/eerf/internal/outside"
	"github.com/eerf-stream/eerf/pipeline"
)

// attack is a record with one extreme value.
type attack struct {
	value  string // of the table
	record pipeline.Record
}

// attacks makes the records that try every value of a source, in the places of the examples. The
// place of a value follows from the name of its source; sources of servers and requests have none.
func attacks(t *testing.T, s outside.Source, examples []pipeline.Record) (all []attack) {
	t.Helper()
	for _, v := range s.Values {
		var made []pipeline.Record
		for _, example := range examples {
			switch {
			case strings.HasPrefix(s.Name, "eerf."):
				made = append(made, documentAttacks(s.Name, v, example)...)
			case strings.HasPrefix(s.Name, "columns of"), s.Name == "Arrow messages":
				made = append(made, columnAttacks(s, v, example)...)
			case strings.HasPrefix(s.Name, "header"):
				made = append(made, headerAttacks(s, v, example)...)
			case s.Name == "records":
				made = append(made, recordAttacks(v, example)...)
			}
		}
		for _, r := range made {
			all = append(all, attack{s.Name + " " + v.Name, r})
		}
	}
	return all
}

// on reports whether values of a source come from a topic.
func on(s outside.Source, topic string) bool {
	return strings.Contains(s.Where, "`"+topic+"`") || strings.Contains(s.Where, "every topic")
}

// documentAttacks puts extremes into a field of a document.
func documentAttacks(name string, v outside.Value, example pipeline.Record) (made []pipeline.Record) {
	text := documentIn(name, example.Value)
	if text == "" {
		return nil
	}
	document := hostile.Parsed(text)
	for _, e := range hostile.Extremes(v.Shape) {
		changed := hostile.WithValue(document, v.Name, e.Value)
		if changed == nil {
			continue
		}
		r := example
		r.Value = []byte(hostile.JSON(changed))
		if !wire.IsJSON(example.Value) {
			r.Value = withMetadata(example.Value, name, string(r.Value))
		}
		made = append(made, r)
	}
	return made
}

// documentIn returns the document with the name in a message; empty if it holds no such.
func documentIn(name string, value []byte) string {
	if wire.IsJSON(value) {
		if string(outside.Member(value, "document")) == fmt.Sprintf("%q", name) {
			return string(value)
		}
		return ""
	}
	text := ""
	rewrite(value, func(meta map[string]string, _ []arrow.Field, _ []arrow.Array) { text = meta[name] })
	return text
}

// withMetadata returns an Arrow message with another value of its metadata.
func withMetadata(value []byte, key, text string) []byte {
	return rewrite(value, func(meta map[string]string, _ []arrow.Field, _ []arrow.Array) { meta[key] = text })
}

// rewrite decodes an Arrow message, lets edit change it, and encodes it again. It returns nil if
// the value is not one.
func rewrite(value []byte, edit func(meta map[string]string, fields []arrow.Field, columns []arrow.Array)) []byte {
	decoded, err := arrowio.NewDecoder(arrowio.Limits{}).Decode(slices.Clone(value))
	if err != nil || len(decoded) == 0 {
		return nil
	}
	rec := decoded[0]
	meta := rec.Schema().Metadata().ToMap()
	fields := slices.Clone(rec.Schema().Fields())
	columns := slices.Clone(rec.Columns())
	edit(meta, fields, columns)
	md := arrow.MetadataFrom(meta)
	schema := arrow.NewSchema(fields, &md)
	out, err := arrowio.EncodeStream(schema, array.NewRecord(schema, columns, rec.NumRows()))
	if err != nil {
		return nil
	}
	return out
}

// columnAttacks puts extremes into the first values of a column. Events have columns of any name.
func columnAttacks(s outside.Source, v outside.Value, example pipeline.Record) (made []pipeline.Record) {
	isEvent := s.Name == "Arrow messages"
	if wire.IsJSON(example.Value) || isEvent != (v.Name == "values of a column") {
		return nil
	}
	var names []string
	rewrite(example.Value, func(_ map[string]string, fields []arrow.Field, _ []arrow.Array) {
		for _, f := range fields {
			names = append(names, f.Name)
		}
	})
	for i, name := range names {
		if name != v.Name && !isEvent {
			continue
		}
		for _, word := range hostile.Words() {
			r := example
			changed := false
			r.Value = rewrite(example.Value, func(_ map[string]string, _ []arrow.Field, columns []arrow.Array) {
				changed = putWord(columns[i], word)
			})
			if changed && r.Value != nil {
				made = append(made, r)
			}
		}
	}
	return made
}

// putWord overwrites the first numbers of a column, or the first bytes of its texts.
// It reports whether the column holds either.
func putWord(column arrow.Array, word [8]byte) bool {
	data := column.Data()
	for len(data.Children()) > 0 {
		data = data.Children()[0]
	}
	id := data.DataType().ID()
	if id == arrow.STRING && data.Buffers()[2].Len() > 0 {
		copy(data.Buffers()[2].Bytes(), word[:])
		return true
	}
	if !arrow.IsFloating(id) && !arrow.IsInteger(id) || data.Buffers()[1].Len() < 4 {
		return false
	}
	copy(data.Buffers()[1].Bytes(), word[:])
	return true
}

// headerAttacks replaces a header, or adds it.
func headerAttacks(_ outside.Source, v outside.Value, example pipeline.Record) (made []pipeline.Record) {
	for _, text := range hostile.Texts(v.Shape) {
		r := example
		r.Headers = slices.DeleteFunc(slices.Clone(example.Headers), func(h pipeline.Header) bool { return h.Key == v.Name })
		made = append(made, r) // without it
		r.Headers = append(slices.Clone(r.Headers), pipeline.Header{Key: v.Name, Value: []byte(text)})
		made = append(made, r)
	}
	return made
}

// recordAttacks changes times, keys, headers and sizes of a record.
func recordAttacks(v outside.Value, example pipeline.Record) (made []pipeline.Record) {
	switch v.Name {
	case "offset":
		return nil
	case "timestamp":
		for _, ms := range []int64{
			0,
			1,
			253402300799999,
			253402300800000,
			1 << 53,
			math.MaxInt64 / 1_000_000,
			math.MaxInt64,
			-2,
		} {
			r := example
			r.Time = time.UnixMilli(ms)
			made = append(made, r)
		}
		return made
	}
	for _, value := range [][]byte{nil, {}, []byte("hello"), []byte("{}"), make([]byte, 900<<10),
		[]byte(strings.Repeat("[", 1<<19)), example.Value[:len(example.Value)/2]} {
		r := example
		r.Value = value
		made = append(made, r)
	}
	for _, key := range []string{
		"",
		"/",
		"p/",
		"p/current",
		"p/request/",
		"p/progress",
		"p.9223372036854775807.x",
		"p.-1.x",
		"\xff\x1b[2J",
		strings.Repeat("k", 64<<10),
	} {
		r := example
		r.Key = []byte(key)
		made = append(made, r)
	}
	r := example
	r.Headers = slices.Repeat([]pipeline.Header{{Key: "x", Value: []byte("y")}}, 5000)
	return append(made, r)
}

// eventMutants are damaged events.
func eventMutants(example pipeline.Record, n int) (all []attack) {
	m := hostile.ArrowMessage("event", example.Value)
	for i := range n {
		r := example
		r.Value = m.Mutate(rand.New(rand.NewPCG(38, uint64(i))), nil, []*hostile.Message{m})
		all = append(all, attack{"mutants of events", r})
	}
	return all
}
