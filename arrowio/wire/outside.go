package wire

import (
	"math"
	"slices"

	"github.com/eerf-stream/eerf/internal/outside"
	"github.com/eerf-stream/eerf/scoring"
	"github.com/eerf-stream/eerf/training"
)

// Consequences of values beyond their bounds.
const (
	beyondOwned  = "the record is logged, counted and ignored; its owner rewrites it"
	beyondOther  = "the record is logged, counted and ignored"
	beyondReread = "the record is ignored; its owner computes the partition again"
	beyondLetter = "the message becomes a dead letter, or is counted as unreadable"
)

// Outside lists the values that reach a process through the messages of this package.
func Outside() []outside.Source {
	document := func(d *document, where, writer, beyond string) outside.Source {
		return outside.Source{Name: d.key, Where: where, Writer: writer, Beyond: beyond, Values: outside.Document(d.shape)}
	}
	sources := []outside.Source{
		document(specDocument, "`explorations`, key pipeline", "calibrate, selection", beyondOwned),
		document(
			requestDocument,
			"`explorations`, key `<pipeline>/request/<id>`",
			"commands, featurize, every stage",
			"the request is answered with the fault",
		),
		document(progressDocument, "`explorations`, key `<pipeline>/progress`", "selection", beyondOwned),
		document(refusalDocument, "`scores`, key exploration id", "selection", beyondOther),
		document(
			currentDocument,
			"`feature-sets` and `models`, key `<pipeline>/current`",
			"selection, train, commands",
			beyondOwned,
		),
		document(blockDocument, "`live`, key pipeline", "featurize", beyondOther),
		document(checkpointMetadata, "`scores`, key exploration id", "subsample", beyondReread),
		document(
			samplesMetadata,
			"`samples`, key exploration id",
			"subsample",
			"selection refuses the samples; their owner reads the partition again",
		),
		document(featureSetMetadata, "`feature-sets`, key `<pipeline>/<id>`; files", "selection, commands", beyondOwned),
		document(encoderMetadata, "in a set on `feature-sets`; files", "selection, commands", beyondOwned),
		document(
			modelMetadata,
			"`models`, key `<pipeline>/<id>`; files",
			"train, commands",
			"the model is shown as damaged and never becomes current",
		),
		document(featuresMetadata, "`features`", "featurize", beyondLetter),
		document(rejectedRowsMetadata, "`dead-letters`", "calibrate, subsample, featurize, train", "replay refuses the dead letter"),
	}
	for _, group := range []struct {
		name, where, writer, beyond string
		keys                        []string
	}{
		{"headers of features", "`features`", "featurize", beyondLetter, []string{
			HeaderFeatureSet, HeaderSourceTopic, HeaderSourcePartition, HeaderSourceOffset, HeaderFirstRow, HeaderRowCount,
			HeaderSourceRows, HeaderSourceLog, HeaderSourceBatch, HeaderModel, HeaderLive}},
		{
			"header of event times",
			"`features`, `dead-letters`",
			"featurize, subsample",
			"the event time is unknown",
			[]string{HeaderEventTime},
		},
		{"headers of samples", "`samples`", "subsample", "selection ignores the message", []string{
			headerSampleSpec, headerSamplePart, headerSampleFirst}},
		{
			"headers of dead letters",
			"`dead-letters`",
			"calibrate, subsample, featurize, train",
			"the dead letter is listed as unreadable",
			[]string{
				HeaderErrorTopic, HeaderErrorPartition, HeaderErrorOffset, HeaderErrorRows, HeaderErrorStage, HeaderErrorReason,
				HeaderErrorMessage, HeaderErrorTime},
		},
	} {
		s := outside.Source{Name: group.name, Where: group.where, Writer: group.writer, Beyond: group.beyond}
		for _, key := range group.keys {
			s.Values = append(s.Values, outside.Value{Name: key, Shape: headerShapes[key]})
		}
		sources = append(sources, s)
	}
	return slices.Concat(sources, columnSources)
}

// Shapes of columns.
var (
	anyReal    = &outside.Shape{Kind: outside.Real, Low: -math.MaxFloat64, High: math.MaxFloat64}
	anyReal32  = &outside.Shape{Kind: outside.Real, Low: -math.MaxFloat32, High: math.MaxFloat32}
	square     = &outside.Shape{Kind: outside.Real, High: math.MaxFloat64}
	weight     = &outside.Shape{Kind: outside.Real, Low: -training.LargestWeight, High: training.LargestWeight}
	rowNumber  = outside.WholeOf(math.MaxInt32 - 1)
	ordinal    = outside.WholeOf(outside.LastCount)
	classIndex = outside.WholeOf(1023)
)

// columnSources lists the columns of our own messages; each has a value for every row.
var columnSources = []outside.Source{
	{Name: "columns of checkpoints", Where: "`scores`", Writer: "subsample", Beyond: beyondReread, Values: []outside.Value{
		{Name: "phi", Shape: anyReal}, {Name: "phi_sq", Shape: square}, {Name: "y_phi", Shape: anyReal}}},
	{Name: "columns of samples", Where: "`samples`", Writer: "subsample",
		Beyond: "selection refuses the samples; their owner reads the partition again", Values: []outside.Value{
			{
				Name:  "ordinal",
				Shape: ordinal,
			}, {Name: "x", Shape: anyReal32}, {Name: "class", Shape: classIndex}, {Name: "y", Shape: anyReal32}}},
	{
		Name:   "columns of feature sets",
		Where:  "`feature-sets`; files",
		Writer: "selection, commands",
		Beyond: beyondOwned,
		Values: []outside.Value{
			{Name: "round", Shape: rowNumber}, {Name: "index", Shape: rowNumber}, {Name: "omega", Shape: anyReal32},
			{Name: "phase", Shape: &outside.Shape{Kind: outside.Real, Low: -math.MaxFloat32, High: math.MaxFloat32}},
			{Name: "members", Shape: outside.WholeOf(1<<scoring.MaxMembers - 1)},
			{Name: "weight", Shape: anyReal32}, {Name: "kind", Shape: outside.TextOf(outside.MaxWord)},
			{
				Name:  "coordinate",
				Shape: outside.WholeOf(1<<16 - 1),
			}, {Name: "sign", Shape: &outside.Shape{Kind: outside.Real, Low: -1, High: 1}},
			{Name: "threshold", Shape: anyReal32}, {Name: "score", Shape: anyReal}, {Name: "s", Shape: anyReal}},
	},
	{Name: "columns of models", Where: "`models`; files", Writer: "train, commands",
		Beyond: "the model is shown as damaged and never becomes current", Values: []outside.Value{
			{Name: "feature", Shape: rowNumber}, {Name: "theta", Shape: weight}, {Name: columnJudged, Shape: weight}}},
	{Name: "columns of features", Where: "`features`", Writer: "featurize", Beyond: beyondLetter, Values: []outside.Value{
		{Name: ColumnRow, Shape: rowNumber}, {Name: ColumnFeatures, Shape: anyReal32},
		{
			Name:  ColumnPrediction,
			Shape: anyReal,
		}, {Name: ColumnProbabilities, Shape: &outside.Shape{Kind: outside.Real, High: 1}}}},
	{
		Name:   "columns of rejected rows",
		Where:  "`dead-letters`",
		Writer: "calibrate, subsample, featurize, train",
		Beyond: "replay refuses the dead letter",
		Values: []outside.Value{
			{Name: ColumnRejectedRow, Shape: rowNumber}, {Name: ColumnRejectedReason, Shape: outside.TextOf(outside.MaxWord)}},
	},
}
