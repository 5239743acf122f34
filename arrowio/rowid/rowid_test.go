package rowid

import (
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
	"github.com/apache/arrow/go/v15/arrow/memory"
)

// record builds a record from JSON lines.
func record(t testing.TB, fields []arrow.Field, rows ...string) arrow.Record {
	t.Helper()
	for i := range fields {
		fields[i].Nullable = true
	}
	rec, _, err := array.RecordFromJSON(memory.DefaultAllocator, arrow.NewSchema(fields, nil),
		strings.NewReader("["+strings.Join(rows, ",")+"]"))
	if err != nil {
		t.Fatal(err)
	}
	return rec
}

func identities(r Rule, rec arrow.Record, rows []int32) []uint64 {
	place := func(row int32) uint64 { return PlaceOf(2, 7, row) }
	return slices.Clone(NewHasher(r).Identities(rec, rows, place))
}

var (
	double = arrow.PrimitiveTypes.Float64
	text   = arrow.BinaryTypes.String
	yesNo  = arrow.FixedWidthTypes.Boolean
)

// Lineages depend on these values. Others change which rows are held out.
func TestIdentitiesGolden(t *testing.T) {
	fields := []arrow.Field{{Name: "a", Type: double}, {Name: "city", Type: text}, {Name: "vip", Type: yesNo}}
	rec := record(t, fields,
		`{"a":0.1,"city":"Bern","vip":true}`, `{"a":null,"city":null,"vip":null}`)
	content := ContentOf(nil, nil, nil, nil)
	for name, c := range map[string]struct{ got, want []uint64 }{
		"content": {identities(content, rec, nil), []uint64{0xdc167bd265956efe, 0x34c96acdcadb1bbb}},
		"group":   {identities(content.Decide(1, 1, "city"), rec, nil), []uint64{0xce687d0c155bb40d, PlaceOf(2, 7, 1)}},
		"place":   {identities(Rule{By: Place}, rec, nil), []uint64{PlaceOf(2, 7, 0), PlaceOf(2, 7, 1)}},
		"at":      {[]uint64{PlaceOf(3, 1<<40, 9), PlaceOf(-1, -1, -1)}, []uint64{0x4f52d311f2d24910, 0xa721445d6a57c444}},
	} {
		if !slices.Equal(c.got, c.want) {
			t.Errorf("%s: %#x, want %#x", name, c.got, c.want)
		}
	}
}

// A content is the same whatever the order of columns, their representation and the rows around it.
func TestContentIsOfValues(t *testing.T) {
	dictionary := &arrow.DictionaryType{IndexType: arrow.PrimitiveTypes.Int8, ValueType: text}
	rows := []string{`{"n":3,"s":"x","b":true}`, `{"n":-1,"s":"","b":false}`, `{"n":null,"s":"y","b":null}`}
	want := identities(ContentOf(nil, nil, nil, nil),
		record(t, []arrow.Field{{Name: "n", Type: double}, {Name: "s", Type: text}, {Name: "b", Type: yesNo}}, rows...), nil)
	if want[0] == want[1] || want[1] == want[2] {
		t.Fatalf("identities %x of different rows", want)
	}
	for name, fields := range map[string][]arrow.Field{
		"int64": {{Name: "n", Type: arrow.PrimitiveTypes.Int64}, {Name: "s", Type: text}, {Name: "b", Type: yesNo}},
		"int8":  {{Name: "s", Type: text}, {Name: "b", Type: yesNo}, {Name: "n", Type: arrow.PrimitiveTypes.Int8}},
		"float32": {
			{Name: "b", Type: yesNo},
			{Name: "s", Type: text},
			{Name: "n", Type: arrow.PrimitiveTypes.Float32},
		},
		"dictionary": {{Name: "n", Type: double}, {Name: "s", Type: dictionary}, {Name: "b", Type: yesNo}},
		"a column more": {
			{Name: "n", Type: double},
			{Name: "s", Type: text},
			{Name: "b", Type: yesNo},
			{Name: "none", Type: text},
		},
		"booleans texts": {{Name: "n", Type: double}, {Name: "s", Type: text}, {Name: "b", Type: text}},
	} {
		rows := rows
		if name == "booleans texts" {
			rows = []string{`{"n":3,"s":"x","b":"true"}`, `{"n":-1,"s":"","b":"false"}`, `{"n":null,"s":"y","b":null}`}
		}
		rec := record(t, fields, rows...)
		if got := identities(ContentOf(nil, nil, nil, nil), rec, nil); !slices.Equal(got, want) {
			t.Errorf("%s: %x, want %x", name, got, want)
		}
		if got := identities(ContentOf(nil, nil, nil, nil), rec, []int32{1, 2}); !slices.Equal(got, want[1:]) {
			t.Errorf("%s, some rows: %x, want %x", name, got, want[1:])
		}
		part := rec.NewSlice(1, 3)
		if got := identities(ContentOf(nil, nil, nil, nil), part, nil); !slices.Equal(got, want[1:]) {
			t.Errorf("%s, sliced: %x, want %x", name, got, want[1:])
		}
	}
}

func TestNumbersOfOneValueAreEqual(t *testing.T) {
	b := array.NewFloat64Builder(memory.DefaultAllocator)
	defer b.Release()
	b.AppendValues(
		[]float64{0, math.Copysign(0, -1), math.NaN(), math.Float64frombits(0xfff8000000000123), 0.1, float64(float32(0.1))},
		nil,
	)
	a := b.NewArray()
	rec := array.NewRecord(
		arrow.NewSchema([]arrow.Field{{Name: "x", Type: double}}, nil),
		[]arrow.Array{a},
		int64(a.Len()),
	)
	got := identities(ContentOf(nil, nil, nil, nil), rec, nil)
	if got[0] != got[1] || got[2] != got[3] || got[4] == got[5] || got[0] == got[2] {
		t.Errorf("identities %x", got)
	}
}

// Values are not mistaken for those of other columns. A decimal number may be a text.
func TestContentTellsColumnsApart(t *testing.T) {
	seen := map[uint64]string{}
	for _, row := range []string{
		`{"a":1,"b":2}`, `{"a":2,"b":1}`, `{"a":1}`, `{"b":1}`, `{}`, `{"a":1,"b":1}`, `{"a":0,"b":0}`, `{"a":0}`,
	} {
		rec := record(t, []arrow.Field{{Name: "a", Type: double}, {Name: "b", Type: double}}, row)
		id := identities(ContentOf(nil, nil, nil, nil), rec, nil)[0]
		if other, ok := seen[id]; ok {
			t.Errorf("%s and %s have the same identity", row, other)
		}
		seen[id] = row
	}
	rec := record(t, []arrow.Field{{Name: "a", Type: text}, {Name: "b", Type: text}}, `{"a":"1","b":"2"}`)
	if seen[identities(ContentOf(nil, nil, nil, nil), rec, nil)[0]] != `{"a":1,"b":2}` {
		t.Error("decimal numbers as texts are other than the numbers")
	}
}

func TestContentIsOfConfiguredColumns(t *testing.T) {
	rec := record(t, []arrow.Field{{Name: "x", Type: double}, {Name: "id", Type: double}, {Name: "y", Type: text}},
		`{"x":1,"id":1,"y":"a"}`, `{"x":1,"id":2,"y":"a"}`, `{"x":1,"id":1,"y":"b"}`)
	for name, c := range map[string]struct {
		rule                Rule
		otherID, otherLabel bool // differ
	}{
		"all":                  {ContentOf(nil, nil, nil, []string{"y"}), true, true},
		"excluded":             {ContentOf(nil, []string{"id"}, nil, []string{"y"}), false, true},
		"excluded, but copied": {ContentOf(nil, []string{"id"}, []string{"id"}, []string{"y"}), true, true},
		"features":             {ContentOf([]string{"x"}, nil, nil, []string{"y"}), false, true},
		"features, id copied":  {ContentOf([]string{"x"}, nil, []string{"id"}, nil), true, false},
	} {
		ids := identities(c.rule, rec, nil)
		if (ids[0] != ids[1]) != c.otherID || (ids[0] != ids[2]) != c.otherLabel {
			t.Errorf("%s: identities %x", name, ids)
		}
	}
}

func TestDecide(t *testing.T) {
	content := ContentOf(nil, nil, nil, nil)
	for name, c := range map[string]struct {
		rows, contents int64
		group          string
		want           By
	}{
		"distinct":        {2000, 2000, "", Content},
		"three copies":    {2000, 700, "", Content},
		"four categories": {2000, 8, "", Place},
		"a group":         {2000, 8, "customer", Group},
	} {
		r := content.Decide(c.rows, c.contents, c.group)
		if r.By != c.want || r.Group != c.group || r.Validate() != nil {
			t.Errorf("%s: %+v", name, r)
		}
	}
	for _, r := range []Rule{
		{By: "row"},
		{By: Group},
		{By: Content, Group: "x"},
		{By: Content, HeldOutFraction: math.NaN()},
		{By: Content, HeldOutFraction: 1},
		{By: Place, HeldOutFraction: 0.2},
	} {
		if r.Validate() == nil {
			t.Errorf("%+v is valid", r)
		}
	}
}

// Of a sample, the share of copies is an estimate. The tolerance is four times its standard error.
func TestCopies(t *testing.T) {
	for name, times := range map[string][]int{ // occurrences of the contents, in turn
		"none":          {1},
		"twice":         {2},
		"three times":   {3},
		"a fifth twice": {1, 1, 1, 1, 2},
	} {
		var ids []uint64
		contents := 0
		for ; len(ids) < 30000; contents++ {
			for range times[contents%len(times)] {
				ids = append(ids, uint64(contents))
			}
		}
		want := 1 - float64(contents)/float64(len(ids))
		for _, sampled := range []float64{1, 0.3, 0.1} {
			c, rng := NewCounter(ContentOf(nil, nil, nil, nil)), rand.New(rand.NewPCG(1, 2))
			for _, id := range ids {
				if sampled == 1 || rng.Float64() < sampled {
					c.AddIdentity(id)
				}
			}
			tolerance := 1e-12
			if sampled < 1 { // of k, the standard error is √(2k/(np))/p
				tolerance += 4 * math.Sqrt(2*2*want/float64(len(ids))) / sampled
			}
			if got := c.Copies(sampled); math.Abs(got-want) > tolerance {
				t.Errorf("%s, sampled %v: %.4f, want %.4f ± %.4f", name, sampled, got, want, tolerance)
			}
		}
	}
	if got := NewCounter(ContentOf(nil, nil, nil, nil)).Copies(1); got != 0 {
		t.Errorf("%v of no rows", got)
	}
}

func TestCopiesNote(t *testing.T) {
	content, group := ContentOf(nil, nil, nil, nil), Rule{By: Group, Group: "customer"}
	for _, c := range []struct {
		got, want string
	}{
		{CopiesNote(0.5, content), "50 % of the rows equal an earlier row; no copy of a held-out row is trained on"},
		{CopiesNote(0.009, content), ""},
		{CopiesNote(0.5, Rule{By: Place}), ""},
		{TaughtNote(0.25, content), "25 % of the test rows equal a training row; the errors may be too low"},
		{TaughtNote(0.25, group), `25 % of the test rows have the "customer" of a training row; the errors may be too low`},
		{TaughtNote(0.25, Rule{By: Place}), ""},
	} {
		if c.got != c.want {
			t.Errorf("note %q, want %q", c.got, c.want)
		}
	}
}

func BenchmarkContent(b *testing.B) {
	fields, rows := []arrow.Field{{Name: "city", Type: text}}, make([]string, 4096)
	for i := range 20 {
		fields = append(fields, arrow.Field{Name: string(rune('a' + i)), Type: double})
	}
	for i := range rows {
		rows[i] = `{"city":"Bern","a":1,"b":2,"c":3,"d":4,"e":5,"f":6,"g":7,"h":8,"i":9,"j":1,"k":2,"l":3,"m":4,"n":5,"o":6,"p":7,"q":8,"r":9,"s":1,"t":2}`
	}
	rec, h := record(b, fields, rows...), NewHasher(ContentOf(nil, nil, nil, nil))
	for b.Loop() {
		h.Identities(rec, nil, nil)
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/4096, "ns/row")
}
