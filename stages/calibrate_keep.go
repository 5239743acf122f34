package stages

import (
	"fmt"
	"slices"
	"sort"
	"strings"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
	"github.com/apache/arrow/go/v15/arrow/memory"

	"github.com/eerf-stream/eerf/arrowio/encoder"
)

// Calibration keeps so many bytes of rows, shared out evenly to the partitions, but never less than the smaller number
// for each. What a row counts for does not depend on the message that it came in: the values of the columns that can
// be features or labels, and rowBytes.
const (
	calibrationBytes    = 64 << 20
	minCalibrationBytes = 1 << 20
	rowBytes            = 8
	textBytes           = 8 // of a string, beside its length
)

// calibrationShare is what one of n partitions may keep.
func calibrationShare(n int) int64 {
	return max(calibrationBytes/int64(max(1, n)), minCalibrationBytes)
}

// keeper copies the columns of events that can be features or labels. A copy has all the columns of the original, so
// that the encoder reports on them as it would; those that no encoder reads have no values.
type keeper struct {
	labels, features map[string]bool
	never            map[string]bool // excluded and passthrough columns
}

func newKeeper(c EventsConfig) *keeper {
	return &keeper{
		labels: setOf(c.Label), features: setOf(c.Features), never: setOf(slices.Concat(c.Exclude, c.Passthrough)),
	}
}

func setOf(names []string) map[string]bool {
	set := make(map[string]bool, len(names))
	for _, name := range names {
		set[name] = true
	}
	return set
}

// keeps reports whether values of the column can matter.
func (k *keeper) keeps(field arrow.Field) bool {
	switch {
	case kindOf(field.Type) == "":
		return false
	case k.labels[field.Name]:
		return true
	case len(k.features) > 0:
		return k.features[field.Name]
	default:
		return !k.never[field.Name]
	}
}

// kindOf names how an encoder reads a type; it is empty for a type that it cannot read.
func kindOf(t arrow.DataType) string {
	number := func(t arrow.DataType) bool { return arrow.IsInteger(t.ID()) || arrow.IsFloating(t.ID()) }
	switch t := t.(type) {
	case *arrow.NullType:
		return "null"
	case *arrow.BooleanType:
		return string(encoder.Bool)
	case *arrow.StringType, *arrow.LargeStringType:
		return string(encoder.Category)
	case *arrow.DictionaryType:
		if id := t.ValueType.ID(); id == arrow.STRING || id == arrow.LARGE_STRING {
			return string(encoder.Category)
		}
		return ""
	case *arrow.FixedSizeListType:
		if number(t.Elem()) && t.Len() > 0 {
			return fmt.Sprintf("%s of %d", encoder.Vector, t.Len())
		}
		return ""
	}
	if number(t) {
		return string(encoder.Numeric)
	}
	return ""
}

// key is the same for schemas whose kept columns have the same names and kinds, in whatever order.
func (k *keeper) key(schema *arrow.Schema) string {
	var columns []string
	for _, field := range schema.Fields() {
		if k.keeps(field) {
			columns = append(columns, fmt.Sprintf("%q %s", field.Name, kindOf(field.Type)))
		}
	}
	sort.Strings(columns)
	return strings.Join(columns, "\n")
}

// fit returns how many of the first rows go into a budget that may be passed by the last of them, and what they count
// for. Any budget above 0 takes a row, so a row too large for it cannot hold calibration up.
func (k *keeper) fit(rows arrow.Record, wanted, budget int64) (n, bytes int64) {
	fixed := int64(rowBytes)
	var texts []func(int) int64
	for i, field := range rows.Schema().Fields() {
		if !k.keeps(field) {
			continue
		}
		switch column := rows.Column(i).(type) {
		case *array.String:
			texts = append(texts, func(row int) int64 { return int64(column.ValueLen(row)) })
		case *array.LargeString:
			texts = append(texts, func(row int) int64 { return int64(column.ValueLen(row)) })
		case *array.Dictionary:
			texts = append(texts, func(row int) int64 {
				text, _ := textAt(column, row)
				return int64(len(text))
			})
		default:
			fixed += fixedBytes(field.Type)
		}
	}
	fixed += textBytes * int64(len(texts))
	for ; n < min(wanted, rows.NumRows()) && bytes < budget; n++ {
		bytes += fixed
		for _, length := range texts {
			bytes += length(int(n))
		}
	}
	return n, bytes
}

// fixedBytes is the size of a value of a type that is no string.
func fixedBytes(t arrow.DataType) int64 {
	switch t := t.(type) {
	case *arrow.FixedSizeListType:
		return int64(t.Len()) * fixedBytes(t.Elem())
	case arrow.FixedWidthDataType:
		return int64(max(1, t.BitWidth()/8))
	}
	return 1
}

// textAt returns the string of a row of a dictionary column, and false for null.
func textAt(column *array.Dictionary, row int) (string, bool) {
	if column.IsNull(row) {
		return "", false
	}
	at := column.GetValueIndex(row)
	if column.Dictionary().IsNull(at) {
		return "", false
	}
	switch values := column.Dictionary().(type) {
	case *array.String:
		return values.Value(at), true
	case *array.LargeString:
		return values.Value(at), true
	}
	return "", false
}

// copy returns the first n rows with columns of their own, so that the message that they came in can go. The caller
// releases it.
func (k *keeper) copy(rows arrow.Record, n int64) (arrow.Record, error) {
	fields := slices.Clone(rows.Schema().Fields())
	columns := make([]arrow.Array, 0, len(fields))
	defer func() { releaseArrays(columns) }()
	for i := range fields {
		if !k.keeps(fields[i]) {
			columns = append(columns, absent(fields[i].Type, n))
			continue
		}
		column, err := head(rows.Column(i), n)
		if err != nil {
			return nil, fmt.Errorf("column %q: %w", fields[i].Name, err)
		}
		fields[i].Type = column.DataType()
		columns = append(columns, column)
	}
	return array.NewRecord(arrow.NewSchema(fields, nil), columns, n), nil
}

// join returns two copies as one, or false if their columns differ. The caller releases it.
func (k *keeper) join(a, b arrow.Record) (arrow.Record, bool) {
	if !a.Schema().Equal(b.Schema()) {
		return nil, false
	}
	n := a.NumRows() + b.NumRows()
	columns := make([]arrow.Array, 0, a.NumCols())
	defer func() { releaseArrays(columns) }()
	for i, field := range a.Schema().Fields() {
		if !k.keeps(field) {
			columns = append(columns, absent(field.Type, n))
			continue
		}
		column, err := array.Concatenate([]arrow.Array{a.Column(i), b.Column(i)}, memory.DefaultAllocator)
		if err != nil {
			return nil, false
		}
		columns = append(columns, column)
	}
	return array.NewRecord(a.Schema(), columns, n), true
}

// head copies the first n values of a column; of a dictionary column the strings, as a few rows need not keep a large
// dictionary. Joining copies, and takes no more memory than there are values.
func head(column arrow.Array, n int64) (arrow.Array, error) {
	var first arrow.Array
	if dictionary, ok := column.(*array.Dictionary); ok {
		first = plain(dictionary, n)
	} else {
		first = array.NewSlice(column, 0, n)
	}
	defer first.Release()
	return array.Concatenate([]arrow.Array{first}, memory.DefaultAllocator)
}

// plain returns the first strings of a dictionary column.
func plain(column *array.Dictionary, n int64) arrow.Array {
	b := array.NewLargeStringBuilder(memory.DefaultAllocator)
	defer b.Release()
	for row := range int(n) {
		if text, ok := textAt(column, row); ok {
			b.Append(text)
		} else {
			b.AppendNull()
		}
	}
	return b.NewArray()
}

// withoutValues stands for a column that nothing reads.
type withoutValues struct {
	*array.Null
	kind arrow.DataType
}

func absent(t arrow.DataType, n int64) arrow.Array { return withoutValues{array.NewNull(int(n)), t} }

// DataType is that of the column it stands for.
func (c withoutValues) DataType() arrow.DataType { return c.kind }

func releaseArrays(columns []arrow.Array) {
	for _, column := range columns {
		column.Release()
	}
}

// calibrationSchema is a shape of events.
type calibrationSchema struct {
	// usable says that an encoder can be learned from it: the label columns are there and everything has its kind.
	usable bool
}

// calibrationSchemas are the shapes met, by their keys.
type calibrationSchemas struct {
	events EventsConfig
	keeper *keeper
	met    map[string]*calibrationSchema
}

func newCalibrationSchemas(events EventsConfig) *calibrationSchemas {
	return &calibrationSchemas{events: events, keeper: newKeeper(events), met: make(map[string]*calibrationSchema)}
}

// of returns the shape of the rows, which are at least one.
func (s *calibrationSchemas) of(key string, rows arrow.Record) *calibrationSchema {
	if schema, ok := s.met[key]; ok {
		return schema
	}
	usable := !slices.ContainsFunc(s.events.Label, func(name string) bool { return !rows.Schema().HasField(name) })
	if usable {
		head := rows.NewSlice(0, 1)
		usable = encoder.NewCalibrator(s.events.EncoderOptions()).Add(head) == nil
		head.Release()
	}
	s.met[key] = &calibrationSchema{usable: usable}
	return s.met[key]
}

// calibrationGroup is the rows of one shape in one partition.
type calibrationGroup struct {
	schema *calibrationSchema
	rows   int64          // met
	kept   []arrow.Record // copies; of a shape that is not usable the first row
}

// calibrationRows are the first rows of one partition. They are enough when those of one usable shape are as many as
// wanted, or when the budget is used up: a prefix of the rows by ordinal, however they are cut into messages.
type calibrationRows struct {
	schemas *calibrationSchemas
	wanted  int64
	budget  int64               // bytes left
	groups  []*calibrationGroup // by their first rows
	byShape map[*calibrationSchema]*calibrationGroup
	filled  bool
}

func newCalibrationRows(schemas *calibrationSchemas, wanted, budget int64) *calibrationRows {
	return &calibrationRows{schemas: schemas, wanted: wanted, budget: budget, byShape: make(map[*calibrationSchema]*calibrationGroup)}
}

// enough reports whether no more rows are needed.
func (c *calibrationRows) enough() bool { return c.filled || c.overBudget() }

func (c *calibrationRows) overBudget() bool { return c.budget <= 0 }

// add copies what is needed of a batch. Every row counts for the budget, also one that will not be used, so that what
// is read is bounded; rows of other shapes do not count as wanted ones.
func (c *calibrationRows) add(batch arrow.Record) error {
	if c.enough() || batch.NumRows() == 0 {
		return nil
	}
	keeper := c.schemas.keeper
	key := keeper.key(batch.Schema())
	schema := c.schemas.of(key, batch)
	group := c.byShape[schema]
	if group == nil {
		group = &calibrationGroup{schema: schema}
		if len(c.groups) > 0 {
			c.budget -= int64(len(key)) // the number of shapes is bounded, too
		}
		c.byShape[schema], c.groups = group, append(c.groups, group)
	}
	wanted := batch.NumRows()
	if schema.usable {
		wanted = min(wanted, c.wanted-group.rows)
	}
	n, bytes := keeper.fit(batch, wanted, max(1, c.budget))
	c.budget -= bytes
	group.rows += n
	c.filled = schema.usable && group.rows >= c.wanted
	if !schema.usable {
		if len(group.kept) > 0 {
			return nil
		}
		n = 1
	}
	rows, err := keeper.copy(batch, n)
	if err != nil {
		return err
	}
	group.keep(keeper, rows)
	return nil
}

// keep takes over rows. Batches are joined with others of their size, so that many small messages are not many small
// records.
func (g *calibrationGroup) keep(k *keeper, rows arrow.Record) {
	for len(g.kept) > 0 {
		last := g.kept[len(g.kept)-1]
		if last.NumRows() > rows.NumRows() {
			break
		}
		both, ok := k.join(last, rows)
		if !ok {
			break
		}
		last.Release()
		rows.Release()
		g.kept, rows = g.kept[:len(g.kept)-1], both
	}
	g.kept = append(g.kept, rows)
}

func (c *calibrationRows) release() {
	for _, group := range c.groups {
		releaseAll(group.kept)
		group.kept = nil
	}
}

// chosen is the shape to learn from: usable, with the most rows over all partitions; of equals the one met first, in
// partition order. Where none is usable it is the one with the most rows, which will say why.
func chosen(partitions []*calibrationRows) *calibrationSchema {
	rows := make(map[*calibrationSchema]int64)
	var order []*calibrationSchema
	for _, partition := range partitions {
		for _, group := range partition.groups {
			if _, ok := rows[group.schema]; !ok {
				order = append(order, group.schema)
			}
			rows[group.schema] += group.rows
		}
	}
	var best *calibrationSchema
	for _, schema := range order {
		if best == nil || schema.usable && !best.usable || schema.usable == best.usable && rows[schema] > rows[best] {
			best = schema
		}
	}
	return best
}
