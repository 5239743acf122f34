package wire

import (
	"testing"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
	"github.com/apache/arrow/go/v15/arrow/decimal128"
	"github.com/apache/arrow/go/v15/arrow/decimal256"
	"github.com/apache/arrow/go/v15/arrow/memory"

	"github.com/eerf-stream/eerf/arrowio"
	"github.com/eerf-stream/eerf/arrowio/encoder"
)

// Times, decimals and durations survive a message, can be learned and encoded, and their rows can be gathered.
func TestTimesAndDecimalsComeThroughAMessage(t *testing.T) {
	zone := &arrow.TimestampType{Unit: arrow.Microsecond, TimeZone: "Europe/Berlin"}
	fields := []arrow.Field{
		{Name: "date32", Type: arrow.FixedWidthTypes.Date32}, {Name: "date64", Type: arrow.FixedWidthTypes.Date64},
		{Name: "stamp", Type: zone}, {Name: "time32", Type: arrow.FixedWidthTypes.Time32ms}, {Name: "time64", Type: arrow.FixedWidthTypes.Time64ns},
		{Name: "took", Type: arrow.FixedWidthTypes.Duration_ms}, {Name: "price", Type: &arrow.Decimal128Type{Precision: 9, Scale: 2}},
		{Name: "sum", Type: &arrow.Decimal256Type{Precision: 50, Scale: 3}},
	}
	b := array.NewRecordBuilder(memory.DefaultAllocator, arrow.NewSchema(fields, nil))
	defer b.Release()
	for i := range 30 {
		v := int64(i)
		b.Field(0).(*array.Date32Builder).Append(arrow.Date32(v))
		b.Field(1).(*array.Date64Builder).Append(arrow.Date64(v * 86_400_000))
		b.Field(2).(*array.TimestampBuilder).Append(arrow.Timestamp(v * 3_600_000_000))
		b.Field(3).(*array.Time32Builder).Append(arrow.Time32(v * 60_000))
		b.Field(4).(*array.Time64Builder).Append(arrow.Time64(v * 60_000_000_000))
		b.Field(5).(*array.DurationBuilder).Append(arrow.Duration(v * 500))
		b.Field(6).(*array.Decimal128Builder).Append(decimal128.FromI64(v))
		b.Field(7).(*array.Decimal256Builder).Append(decimal256.FromI64(v))
	}
	rec := b.NewRecord()
	defer rec.Release()
	recs := must(newDecoder().Decode(must(arrowio.EncodeStream(rec.Schema(), rec))))
	defer releaseAll(recs)
	learn := encoder.NewCalibrator(encoder.Options{Clip: encoder.DefaultClip})
	if err := learn.Add(recs[0]); err != nil {
		t.Fatal(err)
	}
	e, report, err := learn.Encoder()
	if err != nil {
		t.Fatal(err)
	}
	if len(e.Columns) != len(fields) || e.Dim != 3+3+3+3+3+1+1+1 {
		t.Errorf("%v of %+v", e.FeatureNames(), report.Columns)
	}
	gathered := must(GatherRows(recs, []int32{3, 29}))
	defer gathered.Release()
	var all, some encoder.Rows
	if err := e.Encode(&all, recs[0], []int32{3, 29}); err != nil {
		t.Fatal(err)
	}
	if err := e.Encode(&some, gathered, nil); err != nil {
		t.Fatal(err)
	}
	diff(t, all.X, some.X)
}
