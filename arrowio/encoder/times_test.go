package encoder

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/apache/arrow/go/v15/arrow"
	"pgregory.net/rapid"
)

func TestParseInstant(t *testing.T) {
	cases := map[string]string{ // the instant in RFC 3339
		"2024-02-29":                        "2024-02-29T00:00:00Z",
		"2024-02-29T18:30":                  "2024-02-29T18:30:00Z",
		"2024-02-29 18:30:05":               "2024-02-29T18:30:05Z",
		" 2024-02-29t18:30:05.25z ":         "2024-02-29T18:30:05.25Z",
		"2024-02-29T18:30:05,123456789":     "2024-02-29T18:30:05.123456789Z",
		"2024-02-29T18:30:05.1234567899999": "2024-02-29T18:30:05.123456789Z",
		"2024-03-31T02:30:00+01:00":         "2024-03-31T01:30:00Z", // within the hour that daylight saving skips in Europe
		"2024-10-27T02:30:00+0200":          "2024-10-27T00:30:00Z", // and within the one that comes twice
		"2024-10-27 02:30:00-05":            "2024-10-27T07:30:00Z",
		"0000-01-01":                        "0000-01-01T00:00:00Z",
		"1969-12-31T23:59:59.5":             "1969-12-31T23:59:59.5Z",
		"9999-12-31T23:59:59.999":           "9999-12-31T23:59:59.999Z",
		"2000-02-29":                        "2000-02-29T00:00:00Z",
		"2024-01-01 ":                       "2024-01-01T00:00:00Z",
	}
	for _, text := range []string{
		"2023-02-29", "1900-02-29", "2024-13-01", "2024-00-01", "2024-01-00", "2024-01-32", "24-01-01", "2024/01/01",
		"20240101", "-024-01-01", "2024-01-01T", "2024-01-01T24:00:00", "2024-01-01T23:60", "2024-01-01T23:59:60",
		"2024-01-01T23:59:5", "2024-01-01T23:59:05.", "2024-01-01T23:59:05.x", "2024-01-01X23:59:05",
		"2024-01-01T23:59:05+1", "2024-01-01T23:59:05+24:00", "2024-01-01T23:59:05+01:00:00", "2024-01-01Z", "", "soon",
		"2024-01-01T23:59:05 Europe/Berlin", "2024-01-01T23:59:05+01:00[Europe/X]", "２０２４-01-01",
	} {
		cases[text] = "" // none
	}
	for text, want := range cases {
		seconds, nanos, ok := ParseInstant(text)
		if got := time.Unix(seconds, nanos).UTC().Format(time.RFC3339Nano); ok != (want != "") || ok && got != want {
			t.Errorf("%q is %s (%v), want %q", text, got, ok, want)
		}
	}
}

func TestParseClock(t *testing.T) {
	cases := map[string]float64{
		"00:00": 0, "08:15": 29700, "23:59:59": 86399, "12:00:00.25": 43200.25, " 01:02:03 ": 3723,
		"24:00": -1, "8:15": -1, "08:60": -1, "08:15:60": -1, "08-15": -1, "08:15:": -1, "08:15:1": -1, "08:15x": -1,
		"": -1, "2024-01-01": -1,
	}
	for text, want := range cases {
		seconds, nanos, ok := parseClock(text)
		if got := inSeconds(seconds, nanos); ok != (want >= 0) || ok && got != want {
			t.Errorf("%q is %v (%v), want %v", text, got, ok, want)
		}
	}
}

// Times of every type and unit, and their text, give the same numbers.
func TestTimesOfEveryTypeAreOneNumber(t *testing.T) {
	instants := []any{
		"2024-02-29T18:30:05",
		"1969-12-31T23:59:58",
		"1677-09-22T00:00:00",
		"2262-04-11T00:00:00",
		nil,
		"1900-03-01T12:00:00",
	}
	dates := []any{"2024-02-29", "1969-12-31", "1601-01-01", "9999-12-31", nil, "0001-01-01"}
	clocks := []any{"00:00:00", "23:59:59", "12:34:56", "06:00:01", nil, "18:30:05"}
	coded := &arrow.DictionaryType{IndexType: arrow.PrimitiveTypes.Int8, ValueType: arrow.BinaryTypes.String}
	for _, c := range []struct {
		kind   Kind
		values []any
		types  []arrow.DataType
	}{
		{Time, instants, []arrow.DataType{
			text, arrow.BinaryTypes.LargeString, coded, arrow.FixedWidthTypes.Timestamp_s, arrow.FixedWidthTypes.Timestamp_ms,
			arrow.FixedWidthTypes.Timestamp_us, arrow.FixedWidthTypes.Timestamp_ns, &arrow.TimestampType{Unit: arrow.Second},
		}},
		{Time, dates, []arrow.DataType{text, arrow.FixedWidthTypes.Date32, arrow.FixedWidthTypes.Date64}},
		{
			Clock,
			clocks,
			[]arrow.DataType{
				text,
				arrow.FixedWidthTypes.Time32s,
				arrow.FixedWidthTypes.Time32ms,
				arrow.FixedWidthTypes.Time64us,
				arrow.FixedWidthTypes.Time64ns,
			},
		},
	} {
		o := options()
		o.MissingIndicator = 0.01
		e, _ := calibrated(t, o, record(t, col(t, "at", text, c.values...)))
		if e.Columns[0].Kind != c.kind || !e.Columns[0].Missing {
			t.Fatalf("column %+v", e.Columns[0])
		}
		want := slices.Clone(encoded(t, e, record(t, col(t, "at", text, c.values...))).X)
		for _, dt := range c.types {
			rec := record(t, col(t, "at", dt, c.values...))
			learned, _ := calibrated(t, o, rec)
			if canonical(t, learned) != canonical(t, e) {
				t.Errorf("%s gives\n%s, text\n%s", dt, canonical(t, learned), canonical(t, e))
			}
			if got := encoded(t, e, rec); !slices.Equal(got.X, want) || got.Counts.Imputed != 1 {
				t.Errorf("%s gives %v, text %v", dt, got.X, want)
			}
		}
	}
}

// TestCyclesEqualTheLibrary compares the dimensions of cycles with the calendar and the sine of the
// standard library.
func TestCyclesEqualTheLibrary(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		at := time.UnixMilli(rapid.Int64Range(-62e12, 253e12).Draw(r, "instant")).UTC() // years 5 to 9987
		seconds := float64(at.Unix()) + float64(at.Nanosecond())/1e9
		midnight := time.Date(at.Year(), at.Month(), at.Day(), 0, 0, 0, 0, time.UTC)
		ofDay := at.Sub(midnight).Seconds()
		weekday := float64((at.Weekday() + 6) % 7) // Monday is 0
		for cycle, phase := range map[Cycle]float64{
			Day:  ofDay / 86400,
			Week: (weekday*86400 + ofDay) / (7 * 86400),
			Year: math.Mod(math.Mod(seconds, 31556952)+31556952, 31556952) / 31556952,
		} {
			sin, cos := math.Sincos(2 * math.Pi * phase)
			for j, want := range []float64{sin, cos, 2*phase - 1} {
				if place := cycle.facts().place(seconds); math.Abs(place[j]-want) > 1e-8 {
					r.Fatalf("%s of %v: %v, want phase %v", cycle, at, place, phase)
				}
			}
		}
	})
}

func TestCyclesNeedAFullPeriod(t *testing.T) {
	every := func(step time.Duration, n int) []any {
		start := time.Date(2024, 1, 1, 0, 0, 0, 0, time.UTC)
		return sequence(n, func(i int) any { return start.Add(time.Duration(i) * step).Format("2006-01-02T15:04:05") })
	}
	day := 24 * time.Hour
	cases := map[string]struct {
		values []any
		want   []Cycle
	}{
		"an hour":            {every(time.Minute, 60), nil},
		"a day of minutes":   {every(time.Minute, 24*60+1), []Cycle{Day}},
		"not quite a day":    {every(time.Minute, 24*60), nil},
		"a week of hours":    {every(time.Hour, 7*24+1), []Cycle{Day, Week}},
		"a year of dates":    {every(day, 367), []Cycle{Week, Year}},
		"two years of weeks": {every(7*day, 110), []Cycle{Year}},
		"three years":        {every(37*time.Hour, 800), []Cycle{Day, Week, Year}},
		"one time":           {every(0, 50), nil},
	}
	for name, c := range cases {
		o := options()
		o.Include = []string{"at"}
		e, report := calibrated(t, o, record(t, col(t, "at", text, c.values...)))
		column := e.Columns[0]
		if !slices.Equal(column.Cycles, c.want) || column.Width != 1+3*len(c.want) {
			t.Errorf("%s: cycles %v of width %d, want %v", name, column.Cycles, column.Width, c.want)
		}
		if constant := len(report.Constant) == 1; constant != (name == "one time") {
			t.Errorf("%s: constant %v", name, report.Constant)
		}
	}
	clocks := sequence(20, func(i int) any { return fmt.Sprintf("%02d:30:00", 8+i%3) })
	e, _ := calibrated(t, options(), record(t, col(t, "opens", arrow.FixedWidthTypes.Time32s, clocks...)))
	if want := []string{
		"opens",
		"opens, hour of day (sin)",
		"opens, hour of day (cos)",
	}; !slices.Equal(e.FeatureNames(), want) {
		t.Errorf("names %v, want %v", e.FeatureNames(), want)
	}
}

// Whatever a column of times holds, x is finite and the row is kept.
func TestExtremeTimes(t *testing.T) {
	stamp := arrow.FixedWidthTypes.Timestamp_s
	at := newInt64s(t, stamp, math.MinInt64, math.MaxInt64, 0, -1, 253402300799)
	for _, standardize := range []string{StandardizeNumeric, StandardizeAll} {
		o := options()
		o.Standardize = standardize
		e, _ := calibrated(t, o, record(t, column{"at", at}))
		rows := encoded(t, e, record(t, column{"at", at}))
		if rows.N != 5 || !slices.Equal(e.Columns[0].Cycles, []Cycle{Day, Week, Year}) {
			t.Errorf("%d rows, rejected %v, columns %+v", rows.N, rows.Rejected, e.Columns)
		}
		usual, _ := calibrated(
			t,
			o, record(t, col(t, "at", stamp, "2024-01-01T00:00:00", "2024-01-09T12:00:00", "2024-01-03T08:00:00")),
		)
		if rows := encoded(t, usual, record(t, column{"at", at})); rows.N != 5 || rows.Counts.Clipped < 2 {
			t.Errorf("%d rows, rejected %v, counts %+v", rows.N, rows.Rejected, rows.Counts)
		}
	}
}

func TestTextThatIsNoTimeIsMissing(t *testing.T) {
	values := sequence(100, func(i int) any {
		switch i {
		case 7, 20:
			return "unknown"
		case 30:
			return nil
		}
		return fmt.Sprintf("2024-01-%02d", 1+i%28)
	})
	o := options()
	o.MissingIndicator = 0.01
	e, report := calibrated(t, o, record(t, col(t, "day", text, values...)))
	use := report.Columns[0]
	if use.Kind != Time || use.Missing != 0.03 || use.Dims != 5 || !strings.Contains(
		use.Reason,
		`2 of 99 values are none and count as missing: "unknown" in 2 rows; events.types (--type) overrules`,
	) {
		t.Errorf("use %+v", use)
	}
	rows := encoded(t, e, record(t, col(t, "day", text, "2024-01-15", "soon", nil)))
	if rows.Counts.Imputed != 2 || rows.X[4] != 0 || !slices.Equal(rows.X[5:10], []float32{0, 0, 0, 0, 1}) {
		t.Errorf("x %v, counts %+v", rows.X, rows.Counts)
	}
	// A column with less than 95 % times is one of categories.
	for i := range 6 {
		values[40+i] = "later"
	}
	if e, _ := calibrated(t, o, record(t, col(t, "day", text, values...))); e.Columns[0].Kind != Category {
		t.Errorf("column %+v", e.Columns[0])
	}
}
