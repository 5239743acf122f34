package stages

import (
	"maps"
	"time"

	"github.com/eerf-stream/eerf/arrowio/wire"
	"github.com/eerf-stream/eerf/internal/histogram"
	"github.com/eerf-stream/eerf/pipeline"
)

// Traffic is how many bytes a stage read in messages, by what became of these, and what it wrote. Bytes are those of keys,
// values and headers.
type Traffic struct {
	UsedBytes        int64
	UndecodableBytes int64
	OtherSetBytes    int64 // of messages of feature sets other than the one trained on

	OutputMessages, OutputBytes int64 // of features
}

func (t *Traffic) add(other Traffic) {
	t.UsedBytes += other.UsedBytes
	t.UndecodableBytes += other.UndecodableBytes
	t.OtherSetBytes += other.OtherSetBytes
	t.OutputMessages += other.OutputMessages
	t.OutputBytes += other.OutputBytes
}

// LetterCause says which stage sent a dead letter and why.
type LetterCause struct{ Stage, Reason string }

// Activity is what the runners of a process did besides what [Totals] counts. Maps are by stage.
type Activity struct {
	Traffic     map[string]Traffic
	DeadLetters map[LetterCause]int64
	// Handling are the times from taking a message in hand to having handled it: scored it, made its features or added it
	// to the sums, with the time in which the broker could not take features.
	Handling map[string]histogram.Snapshot
	// Delay are the times from those that events carry to the acknowledgement of their features.
	Delay histogram.Snapshot
	// MissingRows is how many rows the running exploration has yet to score, as far as the checkpoints tell; -1 where the
	// process does not select, or where there is no quota.
	MissingRows int64
	// Budgets are those of the stages that the process runs.
	Budgets []Budget
	// Model is the one in use, without its weights, where this process trains; nil = none.
	Model *wire.Model
	// Challenges are those of the models that this process made.
	Challenges Challenges
}

// handledStages are those that handle messages one by one.
var handledStages = []string{StageSubsample, StageFeaturize, StageTrain}

// activity is what [Counters] keeps for [Activity].
type activity struct {
	traffic     map[string]Traffic
	letters     map[LetterCause]int64
	followed    map[place]*progress
	missingRows int64
	metered     map[string]meteredBudget
	model       *wire.Model
	challenges  Challenges
	handling    map[string]*histogram.Histogram // never changed
	delay       *histogram.Histogram
}

func newActivity() activity {
	a := activity{
		traffic: map[string]Traffic{}, letters: map[LetterCause]int64{}, followed: map[place]*progress{}, missingRows: -1,
		challenges: Challenges{Verdicts: map[wire.Verdict]int64{}},
		metered:    map[string]meteredBudget{},
		handling:   map[string]*histogram.Histogram{}, delay: histogram.New(histogram.Seconds()),
	}
	for _, stage := range handledStages {
		a.handling[stage] = histogram.New(histogram.Seconds())
	}
	return a
}

// Activity returns what was done so far.
func (c *Counters) Activity() Activity {
	c.mu.Lock()
	defer c.mu.Unlock()
	snapshot := Activity{
		Traffic: maps.Clone(c.traffic), DeadLetters: maps.Clone(c.letters), Handling: map[string]histogram.Snapshot{},
		Delay: c.delay.Snapshot(), MissingRows: c.missingRows, Model: c.model, Budgets: c.budgets(),
		Challenges: c.challenges.clone(),
	}
	for stage, times := range c.handling {
		snapshot.Handling[stage] = times.Snapshot()
	}
	return snapshot
}

func (c *Counters) addTraffic(stage string, t Traffic) {
	c.mu.Lock()
	defer c.mu.Unlock()
	sum := c.traffic[stage]
	sum.add(t)
	c.traffic[stage] = sum
}

// addLetters counts dead letters that were sent.
func (c *Counters) addLetters(letters []pipeline.Record) {
	if len(letters) == 0 {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	for i := range letters {
		if letter, err := wire.ParseDeadLetterHeaders(wireHeaders(letters[i].Headers)); err == nil {
			c.letters[LetterCause{letter.Stage, letter.Reason}]++
		}
	}
}

// handled notes how long a message was in hand; for use with defer.
func (c *Counters) handled(stage string, start time.Time) {
	c.handling[stage].Observe(time.Since(start).Seconds())
}

// arrived notes when, after the time that an event carries, its features were acknowledged.
func (c *Counters) arrived(event, now time.Time) {
	if carriesTime(event) {
		c.delay.Observe(max(0, now.Sub(event).Seconds()))
	}
}

// setMissingRows notes how many rows the running exploration has yet to score; -1 = unknown.
func (c *Counters) setMissingRows(rows int64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.missingRows = rows
}

// setModel notes the model in use; nil = none is known any more.
func (c *Counters) setModel(m *wire.Model) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.model = m
}
