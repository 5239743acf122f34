package crash

import (
	"fmt"
	"math"
	"math/rand/v2"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
	"github.com/apache/arrow/go/v15/arrow/memory"

	"github.com/eerf-stream/eerf/arrowio"
)

// The shape of the input. With the settings of a schedule, the first exploration is planned when
// every partition has about eleven messages, and another one after everyOffsets more. Their number
// depends on timing. The tail alone triggers an exploration, the end alone does not.
const (
	partitions   = 3
	mainMessages = 60 // messages per partition during the plan
	tailMessages = 20 // of a partition, after the explorations of the main part
	endMessages  = 6  // of a partition, for the features and the model of the last set
	allMessages  = mainMessages + tailMessages + endMessages
	everyOffsets = partitions * tailMessages
	minRows      = 900
	poisonEvery  = 13 // messages, on average
	badEvery     = 20 // rows, on average
)

// Message is a message of events and its expected outcome.
type Message struct {
	Value []byte
	Rows  int32 // 0 if the whole message is refused
	Bad   []int32
}

// Refused reports whether the whole message must be refused. A tombstone is skipped instead.
func (m *Message) Refused() bool { return m.Rows == 0 && m.Value != nil }

// Input is the list of messages for each partition of events; a message's index is its offset. It
// has a main part, a tail and an end.
type Input [partitions][]Message

var (
	eventSchema = arrow.NewSchema([]arrow.Field{
		{Name: "a", Type: arrow.PrimitiveTypes.Float64},
		{Name: "b", Type: arrow.PrimitiveTypes.Float64},
		{Name: "color", Type: arrow.BinaryTypes.String},
		{Name: "id", Type: arrow.PrimitiveTypes.Int64},
		{Name: "y", Type: arrow.PrimitiveTypes.Float64, Nullable: true},
	}, nil)
	otherSchema = arrow.NewSchema(eventSchema.Fields()[1:], nil) // a feature is missing
)

// NewInput makes the input for a seed.
func NewInput(seed uint64) (*Input, error) {
	in := &Input{}
	for partition := range partitions {
		random := rand.New(rand.NewPCG(seed, uint64(partition)))
		for n := range allMessages {
			// The last message of each part is usable: its rows in features show that all earlier
			// messages are done.
			last := n == mainMessages-1 || n == mainMessages+tailMessages-1 || n == allMessages-1
			m, err := newMessage(random, !last && random.IntN(poisonEvery) == 0)
			if err != nil {
				return nil, fmt.Errorf("input of seed %d: %w", seed, err)
			}
			in[partition] = append(in[partition], m)
		}
	}
	return in, nil
}

func newMessage(random *rand.Rand, poison bool) (Message, error) {
	schema := eventSchema
	if poison && random.IntN(4) == 0 {
		schema = otherSchema
	}
	rows := int32(20 + random.IntN(20))
	rec, bad := newRows(random, rows)
	defer rec.Release()
	if schema == otherSchema {
		whole := rec
		rec = array.NewRecord(schema, whole.Columns()[1:], whole.NumRows())
		whole.Release()
	}
	value, err := arrowio.EncodeStream(schema, rec)
	switch {
	case err != nil || !poison:
		return Message{Value: value, Rows: rows, Bad: bad}, err
	case schema == otherSchema:
		return Message{Value: value}, nil
	}
	return Message{Value: spoil(random, value)}, nil
}

// spoil returns an undecodable message or a tombstone.
func spoil(random *rand.Rand, value []byte) []byte {
	switch random.IntN(3) {
	case 0:
		return value[:len(value)/2]
	case 1:
		return []byte("not an Arrow stream")
	}
	return nil
}

// newRows makes rows of a regression on two numbers, one of them with a threshold, and a category.
// Some have no label, some are unusable.
func newRows(random *rand.Rand, rows int32) (arrow.Record, []int32) {
	b := array.NewRecordBuilder(memory.DefaultAllocator, eventSchema)
	defer b.Release()
	var bad []int32
	for row := range rows {
		x, z, color := random.NormFloat64(), random.NormFloat64(), random.IntN(3)
		y := math.Cos(2*x+z) + 0.3*float64(color) + 0.1*random.NormFloat64()
		if z > 0.4 {
			y += 2
		}
		isBad, unlabelled := random.IntN(badEvery) == 0, random.IntN(badEvery) == 0
		switch {
		case isBad && random.IntN(2) == 0:
			x = math.Inf(-1)
		case isBad:
			y, unlabelled = math.Inf(1), false
		}
		if isBad {
			bad = append(bad, row)
		}
		b.Field(0).(*array.Float64Builder).Append(x)
		b.Field(1).(*array.Float64Builder).Append(z)
		b.Field(2).(*array.StringBuilder).Append([]string{"blue", "green", "red"}[color])
		b.Field(3).(*array.Int64Builder).Append(int64(random.IntN(1e9)))
		if unlabelled {
			b.Field(4).AppendNull()
		} else {
			b.Field(4).(*array.Float64Builder).Append(y)
		}
	}
	return b.NewRecord(), bad
}
