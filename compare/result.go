package compare

import (
	"github.com/eerf-stream/eerf/arrowio/encoder"
	"github.com/eerf-stream/eerf/scoring"
	"github.com/eerf-stream/eerf/training"
)

// Result is what a comparison found.
type Result struct {
	// Made says what made the result, filled in by whoever asked for it.
	Made    Made    `json:"made"`
	Data    Facts   `json:"data"`
	Options Options `json:"options"`
	// Complete is false when the comparison was interrupted; what is here is what was done by then.
	Complete bool `json:"complete"`
	// Metric says what Error is: misclassification, unexplained variance or, on request, relative squared error, in percent.
	Metric string `json:"metric"`
	// Tables have one entry for each M, with a line for each method.
	Tables []Table `json:"tables"`
	// Runs are all measurements, in the order in which they were made.
	Runs []Measurement `json:"runs"`
	// Notes are whole sentences that a reader should know.
	Notes []string `json:"notes,omitempty"`
	// Seconds are those of work that all methods have in common: split (with encoding) and bandwidth, for all repeats.
	Seconds map[string]float64 `json:"seconds"`
	// Spectra are the criteria's values of all candidates in the first repeat.
	Spectra []Spectrum `json:"-"`
}

// Made says how a result can be had again.
type Made struct {
	Command string `json:"command,omitempty"`
	// Version is that of the program, Go that of its compiler, Arithmetic the numeric kernel of the scores.
	Version    string `json:"version,omitempty"`
	Go         string `json:"go,omitempty"`
	Arithmetic string `json:"kernel,omitempty"`
	// System is operating system and architecture, Processors how many were used; for the seconds alone.
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
	// PublishedSplits is the number of published splits, of which each seed has one; 0 where there is one, or the seed draws it.
	PublishedSplits int `json:"published_splits,omitempty"`
	Dim             int `json:"dim"`
	SampleRows      int `json:"sample_rows"`
	// Candidates is M0, as it came to be.
	Candidates int `json:"candidates"`
	// Sigma is the bandwidth of the first repeat.
	Sigma float64 `json:"sigma"`
	// Constant are encoded columns that had one value in all training rows.
	Constant []string `json:"constant,omitempty"`
	// LeftOut are columns that are no features, with the reason.
	LeftOut []string `json:"left_out,omitempty"`
	// Columns says of each column what became of it, as the first repeat's training rows were.
	Columns []encoder.ColumnUse `json:"columns,omitempty"`
	// Unlabelled and Rejected count rows of the first repeat, training and test, that could not be used.
	Unlabelled int `json:"unlabelled,omitempty"`
	Rejected   int `json:"rejected,omitempty"`
}

// Measurement is one method at one M in one repeat. Times are in seconds of the wall clock.
type Measurement struct {
	Method string `json:"method"`
	M      int    `json:"m"`
	// Features is how many the method made, M but for methods of any size.
	Features int    `json:"features"`
	Repeat   int    `json:"repeat"`
	Seed     uint64 `json:"seed"`
	// Error is in percent; Unexplained is the unexplained variance of a regression.
	Error       float64  `json:"error"`
	Unexplained *float64 `json:"unexplained_variance,omitempty"`
	// Measures is everything that was measured on the test rows.
	Measures   training.Measures `json:"measures"`
	Preprocess float64           `json:"preprocess_seconds"`
	// Refine is what moving features that were chosen took, of Preprocess.
	Refine float64 `json:"refine_seconds,omitempty"`
	Train  float64 `json:"train_seconds"`
	Test   float64 `json:"test_seconds"`
	// RowMicroseconds is the time of a test row, featurized and predicted with all others on one core: the least of some passes.
	RowMicroseconds float64 `json:"row_microseconds"`
	Lambda          float64 `json:"lambda"`
	// AtEdge means that λ is the lowest or highest that was tried.
	AtEdge bool `json:"lambda_at_edge"`
	// Iterations are those of the logistic loss, over all λ that were tried.
	Iterations int `json:"iterations,omitempty"`
	// AboveNoise is how many of the features have scores that stand out from chance, for methods with scores.
	AboveNoise *int   `json:"above_noise,omitempty"`
	Note       string `json:"note,omitempty"`
	// Failure is why there is no error, "" mostly.
	Failure string `json:"failure,omitempty"`
}

// Spectrum is the values of a criterion, falling, for all candidates of the pool.
type Spectrum struct {
	Criterion string
	Values    []float64
}

// spectra returns the spectra of the criteria among the methods, where the pool was scored.
func (r *repeat) spectra(methods []*Method) []Spectrum {
	var all []Spectrum
	for _, method := range methods {
		criterion, err := scoring.ParseCriterion(method.Name)
		scored := r.shares["sums"]
		if err != nil || scored == nil || criterion.HoldsOut() {
			continue
		}
		values := scoring.CriterionValues(scored.value.(*scoring.Sums), r.train.task, criterion)
		all = append(all, Spectrum{Criterion: method.Name, Values: falling(values)})
	}
	return all
}
