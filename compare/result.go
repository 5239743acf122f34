package compare

import (
	"github.com/eerf-stream/eerf/arrowio/encoder"
	"github.com/eerf-stream/eerf/training"
)

// Result is what a comparison found.
type Result struct {
	// Made says what made the result. The caller fills it in.
	Made    Made    `json:"made"`
	Data    Facts   `json:"data"`
	Options Options `json:"options"`
	// Complete is false if the comparison was interrupted; the result then has what was done until
	// then.
	Complete bool `json:"complete"`
	// Metric says what Error is: misclassification, unexplained variance or, on request, relative squared error, in
	// percent.
	Metric string `json:"metric"`
	// Tables have one entry for each M, with a line for each method.
	Tables []Table `json:"tables"`
	// Runs are all measurements, in the order in which they were made.
	Runs []Measurement `json:"runs"`
	// MethodsLeftOut are default methods that cannot work with the options, with the reason. Filled in by the code that
	// chose the methods.
	MethodsLeftOut []string `json:"methods_left_out,omitempty"`
	// Notes are whole sentences that a reader should know.
	Notes []string `json:"notes,omitempty"`
}

// Made says how to reproduce a result.
type Made struct {
	Command string `json:"command,omitempty"`
	// Version is the program's version, Go its compiler's, Arithmetic the numeric kernel of the scores.
	Version    string `json:"version,omitempty"`
	Go         string `json:"go,omitempty"`
	Arithmetic string `json:"kernel,omitempty"`
	// System is operating system and architecture, Processors how many were used; they only matter for the seconds.
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
	// Split says which rows they are, if they are not those of a file of their own. The caller fills it in.
	Split      string `json:"split,omitempty"`
	Dim        int    `json:"dim"`
	SampleRows int    `json:"sample_rows"`
	// Candidates is the actual M0.
	Candidates int `json:"candidates"`
	// Sigma is the bandwidth of the first repeat.
	Sigma float64 `json:"sigma"`
	// Constant are encoded columns that had one value in all training rows.
	Constant []string `json:"constant,omitempty"`
	// Columns says how each column is used, based on the first repeat's training rows.
	Columns []encoder.ColumnUse `json:"columns,omitempty"`
	// Unlabelled and Rejected count rows of the first repeat, training and test, that could not be used.
	Unlabelled int `json:"unlabelled,omitempty"`
	Rejected   int `json:"rejected,omitempty"`
}

// Measurement is one method at one M in one repeat. Times are in wall-clock seconds.
type Measurement struct {
	Method string `json:"method"`
	M      int    `json:"m"`
	// Features is how many the method made: M, except for methods of any size.
	Features int    `json:"features"`
	Repeat   int    `json:"repeat"`
	Seed     uint64 `json:"seed"`
	// Error is in percent.
	Error float64 `json:"error"`
	// Measures is everything that was measured on the test rows.
	Measures   training.Measures `json:"measures"`
	Preprocess float64           `json:"preprocess_seconds"`
	Train      float64           `json:"train_seconds"`
	Test       float64           `json:"test_seconds"`
	// RowMicroseconds is the time per test row, featurized and predicted with all others on one core: the least of
	// several passes.
	RowMicroseconds float64 `json:"row_microseconds"`
	Lambda          float64 `json:"lambda"`
	// AtEdge means that λ is the lowest or highest tried.
	AtEdge bool `json:"lambda_at_edge"`
	// Iterations are those for the logistic loss, over all λ tried.
	Iterations int    `json:"iterations,omitempty"`
	Note       string `json:"note,omitempty"`
	// Failure is why there is no error, usually "".
	Failure string `json:"failure,omitempty"`
}
