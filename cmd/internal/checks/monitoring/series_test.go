package monitoring

import (
	"testing"
	"time"

	"github.com/prometheus/prometheus/model/histogram"
	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/promql"
	"github.com/prometheus/prometheus/promql/parser"
	"github.com/prometheus/prometheus/storage"
	"github.com/prometheus/prometheus/tsdb/chunkenc"
	"github.com/prometheus/prometheus/tsdb/chunks"
)

// sample is a number at a time in milliseconds.
type sample struct {
	at    int64
	value float64
}

func (s sample) T() int64                      { return s.at }
func (s sample) ST() int64                     { return 0 }
func (s sample) F() float64                    { return s.value }
func (s sample) H() *histogram.Histogram       { return nil }
func (s sample) FH() *histogram.FloatHistogram { return nil }
func (s sample) Type() chunkenc.ValueType      { return chunkenc.ValFloat }
func (s sample) Copy() chunks.Sample           { return s }

// madeUp reads series in the format of Prometheus' tests, with values a minute apart.
func madeUp(t *testing.T, lines []string) []storage.Series {
	t.Helper()
	var all []storage.Series
	for _, line := range lines {
		names, values, err := parser.NewParser(parser.Options{}).ParseSeriesDesc(line)
		if err != nil {
			t.Fatalf("%s: %v", line, err)
		}
		var samples []chunks.Sample
		for i, value := range values {
			if !value.Omitted {
				samples = append(samples, sample{int64(i) * time.Minute.Milliseconds(), value.Value})
			}
		}
		all = append(all, storage.NewListSeries(names, samples))
	}
	return all
}

// seriesSet iterates over series.
type seriesSet struct {
	storage.SeriesSet // provides the methods that are not overridden

	left []storage.Series
	at   storage.Series
}

func (s *seriesSet) Next() bool {
	if len(s.left) == 0 {
		return false
	}
	s.at, s.left = s.left[0], s.left[1:]
	return true
}

func (s *seriesSet) At() storage.Series { return s.at }

// holding answers queries from given series.
func holding(series []storage.Series) storage.Queryable {
	return &storage.MockQueryable{MockQuerier: &storage.MockQuerier{
		SelectMockFunction: func(_ bool, _ *storage.SelectHints, matchers ...*labels.Matcher) storage.SeriesSet {
			found := &seriesSet{SeriesSet: storage.EmptySeriesSet()}
			for _, one := range series {
				if matches(one.Labels(), matchers) {
					found.left = append(found.left, one)
				}
			}
			return found
		},
	}}
}

func matches(names labels.Labels, matchers []*labels.Matcher) bool {
	for _, m := range matchers {
		if !m.Matches(names.Get(m.Name)) {
			return false
		}
	}
	return true
}

// alarms evaluates an expression at the end of a day of series.
func alarms(t *testing.T, engine *promql.Engine, expr string, lines []string) int {
	t.Helper()
	query, err := engine.NewInstantQuery(t.Context(), holding(madeUp(t, lines)), nil, expr, time.Unix(0, 0).Add(24*time.Hour))
	if err != nil {
		t.Fatal(err)
	}
	defer query.Close()
	vector, err := query.Exec(t.Context()).Vector()
	if err != nil {
		t.Fatalf("%s: %v", expr, err)
	}
	return len(vector)
}
