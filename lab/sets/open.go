package sets

import (
	"fmt"
	"math"
	"strings"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
	"github.com/apache/arrow/go/v15/arrow/memory"

	"github.com/eerf-stream/eerf/arrowio/encoder"
	"github.com/eerf-stream/eerf/arrowio/files"
)

// Labels of the delimited text sets.
const (
	adultLabel  = "income"
	letterLabel = "letter"
	newsLabel   = "shares"
	yearLabel   = "year"

	regressionLabel = "y" // for the sets with ten splits, whose columns have no names
)

var adultColumns = []arrow.Field{
	whole("age"), text("workclass"), whole("fnlwgt"), text("education"), whole("education-num"), text("marital-status"),
	text("occupation"), text("relationship"), text("race"), text("sex"), whole("capital-gain"), whole("capital-loss"),
	whole("hours-per-week"), text("native-country"), text(adultLabel),
}

// openAdult reads the attributes as published. The test file starts with a comment, and its labels
// end in a full stop.
func openAdult(f folder) *rowSource {
	testFile := headless(adultColumns)
	testFile.SkipLines = 1
	return &rowSource{
		train: f.delimited("adult.data", headless(adultColumns), named(adultColumns)),
		test: f.delimited("adult.test", testFile, func(rec arrow.Record) (arrow.Record, error) {
			renamed, err := named(adultColumns)(rec)
			if err != nil {
				return nil, err
			}
			defer renamed.Release()
			return replaceColumn(renamed, adultLabel, withoutFullStop)
		}),
		// As in the paper, no dimension marks a missing attribute.
		options: encoder.Options{Label: []string{adultLabel}, Task: encoder.TaskClassification, MissingIndicator: 1},
	}
}

// withoutFullStop removes the full stop at the end of each text.
func withoutFullStop(a arrow.Array) (arrow.Array, error) {
	texts, ok := a.(*array.String)
	if !ok {
		return nil, fmt.Errorf("is %s, want text", a.DataType())
	}
	b := array.NewStringBuilder(memory.DefaultAllocator)
	defer b.Release()
	for i := range texts.Len() {
		if texts.IsNull(i) {
			b.AppendNull()
			continue
		}
		b.Append(strings.TrimSuffix(texts.Value(i), "."))
	}
	return b.NewArray(), nil
}

// openA9A reads 123 columns of both files: the test file has only 122.
func openA9A(f folder) *rowSource {
	return &rowSource{
		train: f.libsvm("a9a", 123), test: f.libsvm("a9a.t", 123),
		options: encoder.Options{Label: []string{libsvmLabel}, Task: encoder.TaskClassification},
	}
}

func openMNIST(f folder) *rowSource {
	return &rowSource{
		train:   f.idx("train-images-idx3-ubyte", "train-labels-idx1-ubyte"),
		test:    f.idx("t10k-images-idx3-ubyte", "t10k-labels-idx1-ubyte"),
		options: encoder.Options{Label: []string{idxLabel}, Task: encoder.TaskClassification},
	}
}

// openLetter names the columns as their authors do.
func openLetter(f folder) *rowSource {
	columns := []arrow.Field{text(letterLabel)}
	for _, name := range strings.Fields("x-box y-box width high onpix x-bar y-bar x2bar y2bar xybar x2ybr xy2br " +
		"x-ege xegvy y-ege yegvx") {
		columns = append(columns, whole(name))
	}
	return &rowSource{
		train: f.delimited("letter-recognition.data", headless(columns), named(columns)), firstTest: 15000,
		options: encoder.Options{Label: []string{letterLabel}, Task: encoder.TaskClassification},
	}
}

func openNews(f folder) *rowSource {
	return &rowSource{
		train: f.delimited("OnlineNewsPopularity.csv", files.Options{}, nil),
		options: encoder.Options{
			// not about the article
			Label: []string{newsLabel}, Task: encoder.TaskRegression, Exclude: []string{"url", "timedelta"},
		},
	}
}

func openNewsLog(f folder) *rowSource {
	s := openNews(f)
	s.train = f.delimited("OnlineNewsPopularity.csv", files.Options{}, func(rec arrow.Record) (arrow.Record, error) {
		return replaceColumn(rec, newsLabel, logarithm)
	})
	return s
}

// logarithm is the natural logarithm of whole numbers; for 0 it is -Inf, and such a row is
// rejected.
func logarithm(a arrow.Array) (arrow.Array, error) {
	numbers, ok := a.(*array.Int64)
	if !ok {
		return nil, fmt.Errorf("is %s, want whole numbers", a.DataType())
	}
	b := array.NewFloat64Builder(memory.DefaultAllocator)
	defer b.Release()
	for i := range numbers.Len() {
		if numbers.IsNull(i) {
			b.AppendNull()
			continue
		}
		b.Append(math.Log(float64(numbers.Value(i))))
	}
	return b.NewArray(), nil
}

// openRegression reads numbers with the label after them, and the masks of the splits.
func openRegression(f folder, path string, dim int) *rowSource {
	columns := make([]arrow.Field, 0, dim+1)
	for i := range dim {
		columns = append(columns, decimal(fmt.Sprintf("x%d", i+1)))
	}
	columns = append(columns, decimal(regressionLabel))
	masks := make([]arrow.Field, publishedSplits)
	for i := range masks {
		masks[i] = whole(fmt.Sprintf("split%d", i+1))
	}
	return &rowSource{
		train:   f.delimited(path+".csv", headless(columns), named(columns)),
		masks:   f.delimited(path+".test_mask.csv", headless(masks), nil),
		options: encoder.Options{Label: []string{regressionLabel}, Task: encoder.TaskRegression},
	}
}

// yearTrainRows is the published split: all songs of an artist are on one side of it.
const yearTrainRows = 463715

func openYear(f folder) *rowSource {
	columns := yearColumns()
	return &rowSource{
		train: f.delimited("YearPredictionMSD.txt", headless(columns), named(columns)), firstTest: yearTrainRows,
		options: encoder.Options{Label: []string{yearLabel}, Task: encoder.TaskRegression},
	}
}

// yearColumns are the year and 12 averages and 78 covariances of timbre.
func yearColumns() []arrow.Field {
	columns := []arrow.Field{whole(yearLabel)}
	for i := range 90 {
		columns = append(columns, decimal(fmt.Sprintf("timbre%d", i+1)))
	}
	return columns
}
