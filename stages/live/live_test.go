package live

import (
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"
	"time"

	"github.com/eerf-stream/eerf/arrowio/wire"
	"github.com/eerf-stream/eerf/training"
)

var noon = time.Date(2026, 3, 4, 12, 0, 0, 0, time.UTC)

func modelOf(loss string, metrics wire.Metrics) *wire.Model {
	return &wire.Model{ID: "m-1", Model: &training.Model{Loss: loss}, Metrics: metrics, HeldOutRows: 2000}
}

func near(t *testing.T, what string, got, want float64) {
	t.Helper()
	if math.Abs(got-want) > 1e-9*max(1, math.Abs(want)) {
		t.Errorf("%s is %v, want %v", what, got, want)
	}
}

// The figures equal the measures of training on the same rows. Only the AUC uses scores in bins.
func TestFiguresOfClassesEqualTraining(t *testing.T) {
	for _, c := range []struct {
		loss             string
		outputs, classes int
	}{
		{training.LossLogistic, 1, 2},
		{training.LossSquared, 1, 2},
		{training.LossLogistic, 3, 3},
		{training.LossSquared, 3, 3},
	} {
		rng := rand.New(rand.NewPCG(1, 2))
		tally := NewTally(modelOf(c.loss, wire.Metrics{}), "", nil, c.classes)
		reference := training.NewClassification(c.outputs, training.CommonestOfRows)
		reference.Logits = c.loss == training.LossLogistic
		block := &wire.Block{}
		for i := range 3000 {
			class := int32(rng.IntN(c.classes))
			f := make([]float32, c.outputs)
			for k := range f {
				f[k] = float32(rng.NormFloat64())
			}
			f[int(class)%c.outputs] += 0.7
			tally.AddClass(f, class)
			reference.Add(f, []int32{class})
			if i%500 == 499 {
				block.Add(tally.Take())
			}
		}
		got, want := FiguresOf([]*wire.Block{block}), reference.Measures()
		near(t, "misclassification", got.Error, *want.Misclassification)
		near(t, "the constant's", got.ConstantError, *want.ConstantError)
		if reference.Logits {
			near(t, "log loss", got.Loss, *want.LogLoss)
			near(t, "the constant's log loss", *got.Constant, *want.ConstantLogLoss)
		}
		if (got.AUC == nil) != (want.AUC == nil) || got.AUC != nil && math.Abs(*got.AUC-*want.AUC) > 2e-3 {
			t.Errorf("%s of %d: AUC %v, want %v", c.loss, c.classes, got.AUC, want.AUC)
		}
	}
}

func TestFiguresOfARegressionEqualTraining(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	const far = 1.7e9 // labels keep their variance far from zero
	tally := NewTally(modelOf(training.LossSquared, wire.Metrics{}), "", []float64{0, far}, 0)
	reference := training.NewRegression([]float64{0, 0})
	for range 2000 {
		y := []float32{float32(rng.NormFloat64()), float32(100 + 5*rng.NormFloat64())}
		f := []float32{y[0] + float32(rng.NormFloat64()), y[1] - 1}
		tally.AddRegression([]float64{float64(f[0]), float64(f[1]) + far}, []float64{float64(y[0]), float64(y[1]) + far})
		reference.Add(f, y, 1)
	}
	block := &wire.Block{}
	block.Add(tally.Take())
	got, want := FiguresOf([]*wire.Block{block}), reference.Measures()
	near(t, "unexplained variance", got.Error, *want.UnexplainedVariance)
	for k := range 2 {
		near(t, "RMSE", got.RMSE[k], want.RMSE[k])
		near(t, "MAE", got.MAE[k], want.MAE[k])
	}
	if tally.Take() != nil {
		t.Error("tally still has rows after Take")
	}
}

// Rows of classes that a feature set does not know are misclassified, and have no log loss.
func TestRowsOfUnknownClassesAreErrors(t *testing.T) {
	for loss, measured := range map[string]float64{
		training.LossLogistic: math.Log1p(math.Exp(-1)),
		training.LossSquared:  1. / 3,
	} {
		tally := NewTally(modelOf(loss, wire.Metrics{}), "", nil, 2)
		add := func(known, unknown int) *Figures {
			for range known {
				tally.AddClass([]float32{1}, 1)
			}
			for range unknown {
				tally.AddUnknown()
			}
			block := &wire.Block{}
			block.Add(tally.Take())
			if err := block.Models[0].Validate(); err != nil {
				t.Error(err)
			}
			return FiguresOf([]*wire.Block{block})
		}
		some := add(4, 2)
		near(t, "misclassification", some.Error, 100./3)
		near(t, "the constant's", some.ConstantError, 100./3)
		near(t, "loss", some.Loss, measured)
		if some.Rows != 6 || some.UnknownClassRows != 2 {
			t.Errorf("%+v", some)
		}
		all := add(0, 3)
		if all.Error != 100 || all.Loss < 1 || (all.Constant != nil) != (loss == training.LossSquared) {
			t.Errorf("of unknown classes alone: %+v", all)
		}
	}
	w := NewWindow() // a promise is broken by a new class alone
	for number := range int64(8) {
		promised, percent := 0.1, 1.0
		tally := NewTally(modelOf(training.LossLogistic, wire.Metrics{
			Measures: training.Measures{LogLoss: &promised, Misclassification: &percent}, MeasuredRows: 2000,
		}), "", nil, 2)
		for i := range 250 {
			if i%5 == 0 || number == 6 {
				tally.AddUnknown()
			} else {
				tally.AddClass([]float32{4}, 1)
			}
		}
		block := &wire.Block{SourceLog: "log", NextOffset: number + 1, From: noon, To: noon}
		block.Add(tally.Take())
		w.Add(block)
	}
	r := w.Report()
	if r.State != Wrong || r.Short.UnknownClassRows < 200 {
		t.Errorf("report %+v of %+v", r, r.Short)
	}
	if _, err := json.Marshal(r); err != nil {
		t.Error(err)
	}
}

// The sums stay finite for any outputs of a model, because JSON has no other numbers.
func TestSumsStayFinite(t *testing.T) {
	regression := NewTally(modelOf(training.LossSquared, wire.Metrics{}), "", []float64{math.MaxFloat64}, 0)
	classes := NewTally(modelOf(training.LossLogistic, wire.Metrics{}), "", nil, 2)
	for _, f := range []float64{math.NaN(), math.Inf(1), math.Inf(-1), math.MaxFloat32, -math.MaxFloat32} {
		regression.AddRegression([]float64{f}, []float64{-math.MaxFloat64})
		classes.AddClass([]float32{float32(f)}, 1)
	}
	for _, tally := range []*Tally{regression, classes} {
		sums := tally.Take()
		again, err := wire.ParseLive([]wire.Header{wire.LiveHeader(sums)})
		if err != nil || !reflect.DeepEqual(again, sums) {
			t.Errorf("wrote %+v, read %+v, %v", sums, again, err)
		}
	}
}

// Any valid sums give a report that JSON can hold.
func TestReportsOfExtremeSumsAreFinite(t *testing.T) {
	zero, most := 0.0, 1e90
	classes := func(loss, squares float64) *wire.LiveSums {
		return &wire.LiveSums{
			Model:         "m-1",
			Measure:       wire.LiveLogLoss,
			Promised:      &zero,
			PromisedError: &zero,
			Rows:          1000,
			Loss:          loss,
			Squares:       squares,
			Classes:       []int64{1, 999},
		}
	}
	regression := func(loss, squares, label, squaredLabel float64) *wire.LiveSums {
		return &wire.LiveSums{
			Model:         "m-1",
			Measure:       wire.LiveSquaredError,
			Promised:      &most,
			PromisedError: &most,
			Rows:          1000,
			Loss:          loss,
			Squares:       squares,
			Outputs:       []wire.OutputSums{{SquaredResidual: loss, Label: label, SquaredLabel: squaredLabel}},
		}
	}
	for name, kinds := range map[string][]*wire.LiveSums{
		"no noise":           {classes(0, 1e-300), classes(1e90, 0)},
		"noise":              {classes(0, 1e-300), classes(1e90, 1e170)},
		"tiny labels":        {regression(1e90, 1e170, 0, 1e-300)},
		"tiny and far away":  {regression(0, 1e-300, -1e60, 1e90), regression(1e90, 0, 1e60, 0)},
		"nothing and a lot":  {regression(0, 0, 0, 0), regression(1e90, 1e170, 0, 1e90)},
		"tiny loss and none": {classes(1e-300, 1e-300), classes(0, 0)},
	} {
		w := NewWindow()
		for i := range 40 {
			s := kinds[i%len(kinds)].Clone()
			if err := s.Validate(); err != nil {
				t.Fatal(name, err)
			}
			w.Add(blockAt(i, &s))
			if _, err := json.Marshal(w.Report()); err != nil {
				t.Errorf("%s: after %d blocks: %v", name, i+1, err)
				break
			}
		}
	}
}

// Figures that no error has are no promise: blocks with them would be invalid.
func TestPromisesBeyondAllErrorsAreUnknown(t *testing.T) {
	huge, negative := 1e300, -1.0
	for name, c := range map[string]struct {
		loss    string
		classes int
		metrics training.Measures
	}{
		"huge log loss":     {training.LossLogistic, 2, training.Measures{LogLoss: &huge, Misclassification: &huge}},
		"negative log loss": {training.LossLogistic, 2, training.Measures{LogLoss: &negative, Misclassification: &negative}},
		"huge RMSE":         {training.LossSquared, 0, training.Measures{RMSE: []float64{huge}, UnexplainedVariance: &huge}},
	} {
		tally := NewTally(modelOf(c.loss, wire.Metrics{Measures: c.metrics}), "", []float64{0}, c.classes)
		if c.classes > 0 {
			tally.AddClass([]float32{1}, 1)
		} else {
			tally.AddRegression([]float64{1}, []float64{2})
		}
		s := tally.Take()
		if err := s.Validate(); err != nil || s.Promised != nil || s.PromisedError != nil {
			t.Errorf("%s: %+v, %v", name, s, err)
		}
	}
}

// sums of n rows with a mean loss and variance of a row.
func sums(n int64, loss, variance, promised float64) *wire.LiveSums {
	zero := 0.0
	return &wire.LiveSums{
		Model: "m-1", Measure: wire.LiveSquaredError, Promised: &promised, PromisedError: &zero, PromisedRows: 2000,
		Rows: n, Loss: float64(n) * loss, Squares: float64(n) * (variance + loss*loss),
		Outputs: []wire.OutputSums{{SquaredResidual: float64(n) * loss, SquaredLabel: float64(n)}},
	}
}

// windowOf has a block of 250 rows for each mean loss, one per second, alternating between two
// partitions.
func windowOf(losses ...float64) *Window {
	w := NewWindow()
	for i, loss := range losses {
		w.Add(blockAt(i, sums(250, loss, 1, 1)))
	}
	return w
}

// blockAt is the i-th block of a stream, one per second.
func blockAt(i int, s *wire.LiveSums) *wire.Block {
	at := noon.Add(time.Duration(i) * time.Second)
	return &wire.Block{
		Pipeline:    "p",
		Partition:   int32(i % 2),
		FirstOffset: int64(i),
		NextOffset:  int64(i) + 1,
		From:        at,
		To:          at,
		Models:      []wire.LiveSums{*s},
	}
}

// steady is n mean losses around a level.
func steady(n int, level, wave float64) (losses []float64) {
	for i := range n {
		losses = append(losses, level+wave*float64(1-2*(i%2)))
	}
	return losses
}

func TestStates(t *testing.T) {
	jumps := steady(40, 1, 0.05)
	copy(jumps[20:], steady(16, 3, 0.05))
	for _, c := range []struct {
		name   string
		window *Window
		want   State
	}{
		{"nothing", windowOf(), Unknown},
		{"fewer than 1,000 rows", windowOf(steady(3, 9, 0)...), Unknown},
		{"as promised", windowOf(steady(40, 1, 0.05)...), Well},
		{"better than promised", windowOf(steady(40, 0.5, 0.05)...), Well},
		{"a little above", windowOf(steady(40, 1.05, 0.05)...), Well},
		{"worse", windowOf(steady(40, 1.3, 0.05)...), Wrong},
		{"worse since 1,000 rows", windowOf(append(steady(36, 1, 0.05), steady(4, 1.5, 0.05)...)...), Wrong},
		{"well again since 1,000 rows", windowOf(append(steady(36, 1.5, 0.05), steady(4, 1, 0.05)...)...), Well},
		{"worse since 1,000 rows, after jumps", windowOf(append(jumps[:36], steady(4, 1.5, 0.05)...)...), Wrong},
		{"rows of a block alike", windowOf(inPairs(steady(40, 1.2, 0.5))...), Well},
		{"one of two partitions wrong", onePartition(12), Wrong},
		{"one of two partitions wrong, for long", onePartition(100), Wrong},
		{"a hard partition dominates", hardPartition(), Well},
		{"half learned, as a new model promises", halfLearned(100, 0), Wrong},
		{"relearned", halfLearned(100, 8), Well},
		{"a lasting change for the worse", halfLearned(200, 0), Well},
	} {
		if got := c.window.Report(); got.State != c.want {
			t.Errorf("%s: %s, excess %v", c.name, got.State, got.Excess)
		}
	}
}

// inPairs repeats each mean loss, once for each of two partitions, and drops the rest.
func inPairs(losses []float64) []float64 {
	var pairs []float64
	for _, loss := range losses[:len(losses)/2] {
		pairs = append(pairs, loss, loss)
	}
	return pairs
}

// onePartition has blocks as promised, and then some in which one of two partitions is wrong.
func onePartition(blocks int) *Window {
	losses := inPairs(steady(40, 1, 0.05))
	for i := range blocks {
		losses = append(losses, 1+4*float64(i%2))
	}
	return windowOf(losses...)
}

// hardPartition has blocks as promised of two partitions, one with three times the loss of the
// other, which then has the newest 1,000 rows.
func hardPartition() *Window {
	w := windowOf(steady(40, 1, -0.5)...)
	for i := range 4 {
		w.Add(blockAt(41+2*i, sums(250, 1.5, 1, 1)))
	}
	return w
}

// WrongSince is the time of the block with which the model became wrong. It is zero once the model
// is well.
func TestWrongSince(t *testing.T) {
	w := halfLearned(100, 8)
	if since := w.Report().WrongSince; !since.IsZero() {
		t.Errorf("well, but wrong since %v", since)
	}
	if since := halfLearned(50, 0).Report().WrongSince; since.Sub(noon) < 40*time.Second ||
		since.Sub(noon) > 44*time.Second {
		t.Errorf("wrong since %v", since)
	}
	// A promise that is never kept is replaced after a while, but the model stays wrong since the
	// same time.
	if since := windowOf(append(steady(40, 1, 0.05),
		steady(300, 3, 0.05)...)...).Report().WrongSince; since.Sub(noon) > 44*time.Second {
		t.Errorf("wrong since %v, for 300 seconds", since)
	}
}

// halfLearned has blocks of a wrong model, and then of a model that keeps a bad promise. The last
// blocks are as good as before. Each block has 250 rows.
func halfLearned(blocks, good int) *Window {
	w := windowOf(steady(40, 1, 0.05)...)
	for i := range blocks {
		loss, promised := 3.0, 3.0
		switch {
		case i < 12:
			promised = 1
		case i >= blocks-good:
			loss = 1
		}
		s := sums(250, loss+0.05*float64(1-2*(i%2)), 1, promised)
		s.Model = fmt.Sprint("m-", promised)
		w.Add(blockAt(40+i, s))
	}
	return w
}

// A window keeps the blocks of the newest rows of all partitions, and counts a block once.
func TestWindowKeepsTheNewestRows(t *testing.T) {
	w := windowOf(make([]float64, 100)...)
	r := w.Report()
	if r.Short.Rows != 1000 || r.Long.Rows != 10_000 || r.Hours[0].Rows != 25_000 || len(r.Hours) != 1 {
		t.Fatalf("%d and %d rows, %+v", r.Short.Rows, r.Long.Rows, r.Hours)
	}
	w.Add(w.blocks[len(w.blocks)-2].Block)
	if again := w.Report(); !reflect.DeepEqual(again, r) {
		t.Error("republished block was counted twice")
	}
	for i := range Hours + 5 {
		at := noon.Add(time.Duration(i) * time.Hour)
		w.Add(&wire.Block{
			Partition:   5,
			FirstOffset: int64(i),
			NextOffset:  int64(i) + 1,
			From:        at,
			To:          at,
			Models:      []wire.LiveSums{*sums(1, 1, 0, 1)},
		})
	}
	if n := len(w.Report().Hours); n != Hours {
		t.Errorf("%d hours", n)
	}
}

// message is the i-th message, with n compared rows.
func message(i int64, n int64, at time.Duration) Message {
	m := Message{
		Rows:  wire.FeatureBatch{SourceOffset: i, RowCount: 10, SourceRows: 10, SourceLog: "log"},
		Time:  noon.Add(at),
		Bytes: 1000,
	}
	if n > 0 {
		m.Live = sums(n, 1, 0, 1)
	}
	return m
}

// Blocks close by their contents, regardless of the times of events.
func TestWhenBlocksClose(t *testing.T) {
	type step struct {
		Message
		closes int
	}
	fat := message(1, 0, 0)
	fat.Bytes = BlockBytes
	other := message(1, 5, 0)
	other.Rows.SourceLog = "other"
	for name, steps := range map[string][]step{
		"enough rows":              {{message(0, 249, 0), 0}, {message(1, 1, 0), 1}},
		"many rows in one message": {{message(0, 1000, 0), 1}, {message(1, 1, 0), 0}},
		"few rows in an hour":      {{message(0, 5, 0), 0}, {message(1, 5, time.Hour), 0}},
		"a first event in 2050": {
			{message(0, 100, 24*365*24*time.Hour), 0},
			{message(1, 100, 0), 0},
			{message(2, 50, 0), 1},
		},
		"an event in 2050": {
			{message(0, 100, 0), 0},
			{message(1, 100, 24*365*24*time.Hour), 0},
			{message(2, 50, 0), 1},
		},
		"nothing to compare":         {{message(0, 0, 0), 0}, {message(1, 0, time.Hour), 0}},
		"many bytes":                 {{message(0, 5, 0), 0}, {fat, 1}},
		"another log":                {{message(0, 5, 0), 0}, {other, 1}},
		"a repeated message":         {{message(0, 249, 0), 0}, {message(0, 249, 0), 0}, {message(1, 1, 0), 1}},
		"times that run backwards":   {{message(0, 125, time.Hour), 0}, {message(1, 125, 0), 1}},
		"the last message of events": {{message(math.MaxInt64-1, 250, 0), 1}},
	} {
		b := &Builder{Pipeline: "p", Partition: 3}
		for i, s := range steps {
			closed := b.Add(s.Message)
			if len(closed) != s.closes {
				t.Errorf("%s: message %d closes %d blocks, want %d", name, i, len(closed), s.closes)
			}
			for _, block := range closed {
				if err := block.Validate(); err != nil && name != "the last message of events" {
					t.Errorf("%s: %v", name, err)
				}
			}
		}
	}
}

// A block of many models closes before its sums exceed the room of a window.
func TestBlocksStayWithinTheirMemory(t *testing.T) {
	b := &Builder{Pipeline: "p", Partition: 3}
	for i := range int64(100) {
		m := message(i, 1, 0)
		m.Live.Model = fmt.Sprint("m-", i)
		m.Live.Outputs = slices.Repeat(m.Live.Outputs, 1<<10) // 40 KB
		for _, block := range b.Add(m) {
			if err := block.Validate(); err != nil || len(block.Models) < 10 {
				t.Errorf("%d models, %v", len(block.Models), err)
			}
			return
		}
	}
	t.Error("no block was closed")
}

// A provisional block is reported, but decides nothing. The final one replaces it.
func TestProvisionalBlocksDecideNothing(t *testing.T) {
	w := windowOf(steady(40, 1, 0.05)...)
	before := w.Report()
	open := blockAt(40, sums(240, 99, 1, 1))
	open.Provisional = true
	w.Add(open)
	after := w.Report()
	if after.Open == nil || after.Open.Rows != 240 || after.Open.Loss != 99 {
		t.Fatalf("provisional rows %+v", after.Open)
	}
	if after.Open = nil; !reflect.DeepEqual(after, before) {
		t.Errorf("a provisional block changes the report from %+v to %+v", before, after)
	}
	newer := *open
	newer.NextRow, newer.Models = 5, []wire.LiveSums{*sums(245, 50, 1, 1)}
	w.Add(&newer)
	if r := w.Report(); r.Open.Rows != 245 {
		t.Errorf("%d provisional rows, want those of the newer block", r.Open.Rows)
	}
	final := *open
	final.Provisional = false
	final.NextRow, final.Models = 9, []wire.LiveSums{*sums(250, 1, 1, 1)}
	w.Add(&final)
	w.Add(open) // republished by a fenced owner
	if r := w.Report(); r.Open != nil || r.Short.Rows != 1000 || r.State != Well {
		t.Errorf("after the final block: %+v", r)
	}
}

// The newest block is kept even if it exceeds the limit of all blocks together.
func TestWindowKeepsTheNewestBlock(t *testing.T) {
	w := windowOf(steady(40, 1, 0)...)
	large := blockAt(40, sums(250, 1, 1, 1))
	for i := range 130 { // like a record of another program
		s := sums(1, 1, 0, 1)
		s.Model = fmt.Sprint("m-", i)
		s.Outputs = slices.Repeat(s.Outputs, 1<<10)
		large.Models = append(large.Models, *s)
	}
	if large.Memory() <= blockBytes {
		t.Fatalf("%d bytes", large.Memory())
	}
	w.Add(large)
	if r := w.Report(); r.Short == nil || len(w.blocks) != 1 {
		t.Errorf("%d blocks, %+v", len(w.blocks), r.Short)
	}
	if err := large.Validate(); err == nil {
		t.Error("a block larger than the window is valid")
	}
}
