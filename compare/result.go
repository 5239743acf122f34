package compare

import (
	"github.com/eerf-stream/eerf/arrowio/encoder"
	"github.com/eerf-stream/eerf/training"
)

// Result is the result of a comparison.
type Result struct {
	// Made describes the making of the result. The caller fills it in.
	Made    Made    `json:"made"`
	Data    Facts   `json:"data"`
	Options Options `json:"options"`
	// Complete is false if the comparison was interrupted; the result then has the measurements up
	// to that point.
	Complete bool `json:"complete"`
	// Metric names the measure of the errors: see [Options.Measure]. All but the log loss are in
	// percent.
	Metric string `json:"metric"`
	// Tables have one entry for each M, with a line for each method.
	Tables []Table `json:"tables"`
	// Runs are all measurements, in order.
	Runs []Measurement `json:"runs"`
	// MethodsLeftOut are default methods that cannot work with the options, with the reason. The
	// caller fills it in.
	MethodsLeftOut []string `json:"methods_left_out,omitempty"`
	// Telltales are columns that predict the label nearly alone, on the first repeat's training
	// rows. Without is the comparison without them; the caller fills it in.
	Telltales []encoder.Telltale `json:"telltales,omitempty"`
	Without   *Without           `json:"without_telltales,omitempty"`
	// Warnings are the notes on columns of which more than a tenth of the values are unusable.
	Warnings []string `json:"-"`
	// Notes are remarks for readers, in whole sentences.
	Notes []string `json:"notes,omitempty"`
}

// Without is the smallest error without some columns.
type Without struct {
	Columns  []string `json:"columns"`
	Method   string   `json:"method"`
	Error    float64  `json:"error"`
	Constant float64  `json:"constant_error"`
}

// Made describes how to reproduce a result.
type Made struct {
	Command string `json:"command,omitempty"`
	// Version is the program's version, Go its compiler's, Arithmetic the numeric kernel of the
	// scores.
	Version    string `json:"version,omitempty"`
	Go         string `json:"go,omitempty"`
	Arithmetic string `json:"kernel,omitempty"`
	// System is operating system and architecture, Processors the number used; they only matter for
	// the times.
	System     string `json:"system,omitempty"`
	Processors int    `json:"processors,omitempty"`
}

// Facts describe the rows.
type Facts struct {
	Name      string `json:"name"`
	Task      string `json:"task"`
	Outputs   int    `json:"outputs"`
	Classes   int    `json:"classes,omitempty"`
	TrainRows int    `json:"train_rows"`
	TestRows  int    `json:"test_rows"`
	// FixedSplit means that the test rows are the same in all repeats.
	FixedSplit bool `json:"fixed_split"`
	// Split describes test rows that do not come from a file of their own. The caller fills it in.
	Split      string `json:"split,omitempty"`
	Dim        int    `json:"dim"`
	SampleRows int    `json:"sample_rows"`
	// Candidates is the actual M0.
	Candidates int `json:"candidates"`
	// Sigma is the bandwidth of the first repeat.
	Sigma float64 `json:"sigma"`
	// Constant are encoded columns that had one value in all training rows.
	Constant []string `json:"constant,omitempty"`
	// Columns is the use of each column, decided on the first repeat's training rows.
	Columns []encoder.ColumnUse `json:"columns,omitempty"`
	// Unlabelled and Rejected count rows of the first repeat, training and test, that could not be
	// used.
	Unlabelled int `json:"unlabelled,omitempty"`
	// UnknownClass counts rows of classes that are not learned. UnknownClassTestRows of them are
	// test rows, which count as misclassified.
	UnknownClass         int `json:"unknown_class,omitempty"`
	UnknownClassTestRows int `json:"unknown_class_test_rows,omitempty"`
	// UnknownClasses are the most frequent classes of these test rows.
	UnknownClasses []encoder.ClassRows `json:"unknown_classes,omitempty"`
	Rejected       int                 `json:"rejected,omitempty"`
	// Copies is the share of the rows that equal an earlier row.
	Copies float64 `json:"copies,omitempty"`
}

// Measurement is one method at one M in one repeat. Times are in wall-clock seconds.
type Measurement struct {
	Method string `json:"method"`
	M      int    `json:"m"`
	// Features is the number of features that the method made: M, except for methods of any size.
	Features int    `json:"features"`
	Repeat   int    `json:"repeat"`
	Seed     uint64 `json:"seed"`
	// Error is by the measure of the comparison.
	Error float64 `json:"error"`
	// Measures are all measures on the test rows.
	Measures   training.Measures `json:"measures"`
	Preprocess float64           `json:"preprocess_seconds"`
	Train      float64           `json:"train_seconds"`
	Test       float64           `json:"test_seconds"`
	// RowMicroseconds is the time per test row when all are featurized and predicted on one core:
	// the least of several passes.
	RowMicroseconds float64 `json:"row_microseconds"`
	Lambda          float64 `json:"lambda"`
	// AtEdge means that λ is the lowest or highest tried.
	AtEdge bool `json:"lambda_at_edge"`
	// Iterations is the number of iterations of the logistic loss, over all λ.
	Iterations int    `json:"iterations,omitempty"`
	Note       string `json:"note,omitempty"`
	// Failure is the reason of a failure, usually "".
	Failure string `json:"failure,omitempty"`
}
