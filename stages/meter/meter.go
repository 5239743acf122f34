package meter

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"go.uber.org/zap"

	"github.com/eerf-stream/eerf/arrowio/encoder"
	"github.com/eerf-stream/eerf/arrowio/wire"
	"github.com/eerf-stream/eerf/internal/histogram"
	"github.com/eerf-stream/eerf/pipeline"
	"github.com/eerf-stream/eerf/scoring/adaptive"
)

// Cause says which stage sent a dead letter and why.
type Cause struct {
	Stage  Stage
	Reason string
}

// Budget is the memory that a setting allows, and how much of it is in use.
type Budget struct {
	Setting     string // its key in the configuration
	Limit, Used int64  // bytes
}

// Challenges counts how the models that a process made compared with those in use.
type Challenges struct {
	Verdicts map[wire.Verdict]int64
	Last     *wire.Judgement // the newest; nil = none yet
	At       time.Time       // when the newest model on the topic was trained
	Pin      wire.Pin        // of the model in use
}

// Settings whose budgets are watched.
const (
	BudgetCandidates = "exploration.candidate_memory"
	BudgetSample     = "exploration.sample_memory"
	BudgetTrainRows  = "train.row_memory"
)

// Planning says why no exploration is planned. The zero value means that nothing is in the way.
type Planning struct {
	MissingRows int64 // labelled rows that a plan still needs
	Rows        int64 // labelled rows that there are, where some are missing

	Takeover string // why this process must not plan for the pipeline, see package calibrate

	Fault   string    // why the last plan failed
	At      time.Time // when it failed
	RetryAt time.Time // when the next try is due, at the earliest
}

// String says what is in the way of a plan; it is empty where nothing is.
func (p Planning) String() string {
	switch {
	case p.Takeover != "":
		return p.Takeover
	case p.MissingRows > 0:
		return fmt.Sprintf("%d labelled rows are missing for an exploration: there are %d, exploration.min_rows asks for %d",
			p.MissingRows, p.Rows, p.Rows+p.MissingRows)
	case p.Fault != "":
		return fmt.Sprintf("no exploration could be planned at %s, the next try is at %s: %s",
			p.At.UTC().Format(time.RFC3339), p.RetryAt.UTC().Format(time.RFC3339), p.Fault)
	}
	return ""
}

// Choosing says how far a selection has come.
type Choosing struct {
	Round, Rounds int // the current round, from 1 on, and the most that there can be; 0 = none
	// Point is the last measurement on held-out rows under the adaptive criterion; nil = none yet.
	// It is never changed.
	Point *adaptive.Point
}

// Activity is what the stages of a process did in addition to what [Totals] counts. Maps are by
// stage.
type Activity struct {
	Traffic     map[Stage]Traffic
	DeadLetters map[Cause]int64
	// Handling has the times from starting on a message until it was handled: scored, featurized or
	// added to the sums. Time in which the broker could not take features is included.
	Handling map[Stage]histogram.Snapshot
	// Delay has the times from the timestamps of events to the acknowledgement of their features.
	Delay histogram.Snapshot
	// UnseenClasses are the most frequent classes, among the rows that the process featurized, that
	// the feature set does not know.
	UnseenClasses []encoder.ClassRows
	// Columns is what featurize saw of the columns of events.
	Columns ColumnReport
	// IgnoredTimes counts events whose time was out of bounds, see [Meter.CheckTime].
	IgnoredTimes int64
	// ClassRequests counts the explorations that the process asked for because a class had many of
	// these rows.
	ClassRequests int64
	// MissingRows is how many rows the running exploration still has to score, as far as
	// checkpoints show; -1 if the process does not select, or if there is no quota.
	MissingRows int64
	// Planning says why no exploration is planned, if this process plans.
	Planning Planning
	// Choosing says how far the running selection has come; zero = none is running.
	Choosing Choosing
	// Undecodable counts records under the project's own keys that could not be decoded, by topic.
	Undecodable map[string]int64
	// LogChanges counts logs that turned out not to be the ones read before.
	LogChanges map[LogChange]int64
	// Budgets are those of the stages that the process runs.
	Budgets []Budget
	// WrongKernel says why a stage takes no part in explorations: the one that runs, or ran last,
	// needs another numeric kernel than the process has. Empty = it takes part.
	WrongKernel map[Stage]string
	// Quarantined are the partitions whose work failed for good and is tried again, ordered by
	// stage and partition.
	Quarantined []Quarantine
	// Model is the one in use, without its weights, if this process trains; nil = none.
	Model *wire.Model
	// Challenges are those of the models that this process made.
	Challenges Challenges
	// Serving is what the process was asked for over HTTP.
	Serving ServingSnapshot
}

// Meter is what the stages of a process report to. It is safe for concurrent use.
type Meter struct {
	handling map[Stage]*histogram.Histogram // never changed; for the stages that handle messages one by one
	delay    *histogram.Histogram
	serving  *Serving // never changed

	mu          sync.Mutex
	totals      Totals
	activity    Activity // without the histograms and budgets
	unseen      encoder.ClassTally
	columns     columnWatch
	budgets     map[string]Budget
	positions   map[place]*Position
	quarantined map[place]Quarantine
	ending      <-chan struct{} // closed when the process is told to stop; nil before it runs
	undone      []string
}

// New returns a meter at zero.
func New() *Meter {
	m := &Meter{
		handling: map[Stage]*histogram.Histogram{}, delay: histogram.New(), serving: newServing(),
		totals: Totals{Seconds: map[Stage]float64{}},
		activity: Activity{
			Traffic: map[Stage]Traffic{}, DeadLetters: map[Cause]int64{}, Undecodable: map[string]int64{}, LogChanges: map[LogChange]int64{}, MissingRows: -1,
			WrongKernel: map[Stage]string{},
			Challenges:  Challenges{Verdicts: map[wire.Verdict]int64{}},
		},
		budgets: map[string]Budget{}, positions: map[place]*Position{}, quarantined: map[place]Quarantine{},
	}
	for _, stage := range []Stage{StageSubsample, StageFeaturize, StageTrain} {
		m.handling[stage] = histogram.New()
	}
	return m
}

// Totals returns the present sums.
func (m *Meter) Totals() Totals {
	m.mu.Lock()
	defer m.mu.Unlock()
	totals := m.totals
	totals.Seconds = maps.Clone(totals.Seconds)
	return totals
}

// Activity returns what was done so far.
func (m *Meter) Activity() Activity {
	m.mu.Lock()
	defer m.mu.Unlock()
	now := m.activity
	now.Traffic, now.DeadLetters = maps.Clone(now.Traffic), maps.Clone(now.DeadLetters)
	now.Undecodable, now.LogChanges, now.WrongKernel = maps.Clone(now.Undecodable), maps.Clone(now.LogChanges), maps.Clone(now.WrongKernel)
	now.Challenges.Verdicts = maps.Clone(now.Challenges.Verdicts)
	now.Budgets = slices.SortedFunc(maps.Values(m.budgets), func(a, b Budget) int { return cmp.Compare(a.Setting, b.Setting) })
	now.Quarantined = m.quarantines()
	now.UnseenClasses = m.unseen.List()
	now.Columns = m.columns.list()
	now.Serving = m.serving.Snapshot()
	now.Delay, now.Handling = m.delay.Snapshot(), map[Stage]histogram.Snapshot{}
	for stage, times := range m.handling {
		now.Handling[stage] = times.Snapshot()
	}
	return now
}

// update changes the meter under its lock.
func (m *Meter) update(change func()) {
	m.mu.Lock()
	defer m.mu.Unlock()
	change()
}

// AddCalibrate adds what calibration read.
func (m *Meter) AddCalibrate(counts CalibrateCounts) { add(m, &m.totals.Calibrate, counts) }

// AddScoring adds what subsample made of rows.
func (m *Meter) AddScoring(counts wire.Counts) { add(m, &m.totals.Scoring, counts) }

// AddFeaturize adds what featurize made of rows.
func (m *Meter) AddFeaturize(counts FeaturizeCounts) { add(m, &m.totals.Featurize, counts) }

// AddTrain adds what train made of messages and rows.
func (m *Meter) AddTrain(counts TrainCounts) { add(m, &m.totals.Train, counts) }

func add[T any](m *Meter, sum *T, counts T) { m.update(func() { Add(sum, counts) }) }

// AddTraffic adds the bytes that a stage read and wrote.
func (m *Meter) AddTraffic(stage Stage, t Traffic) {
	m.mu.Lock()
	defer m.mu.Unlock()
	sum := m.activity.Traffic[stage]
	Add(&sum, t)
	m.activity.Traffic[stage] = sum
}

// AddUndecodable counts a record under the project's own keys that could not be decoded.
func (m *Meter) AddUndecodable(topic string) { m.update(func() { m.activity.Undecodable[topic]++ }) }

// LogChange is a log that turned out not to be the one read before.
type LogChange struct {
	Topic string
	Kind  string // recreated or truncated
}

// AddGap counts a gap that is a change of the log, once for each partition and each reader that
// notices it.
func (m *Meter) AddGap(g pipeline.Gap) {
	if !g.Changed() {
		return
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.activity.LogChanges[LogChange{g.Topic, string(g.Kind)}]++
}

// AddDeadLetter counts a dead letter that was sent.
func (m *Meter) AddDeadLetter(cause Cause) { m.update(func() { m.activity.DeadLetters[cause]++ }) }

// AddUnseenClasses counts featurized rows of classes that the feature set does not know.
func (m *Meter) AddUnseenClasses(classes []encoder.ClassRows) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, c := range classes {
		m.unseen.Add(c.Class, c.Rows)
	}
}

// AskedForClass counts an exploration that was asked for because of a class.
func (m *Meter) AskedForClass() { m.update(func() { m.activity.ClassRequests++ }) }

// Worked adds the time since start to a stage; for use with defer.
func (m *Meter) Worked(stage Stage, start time.Time) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.totals.Seconds[stage] += time.Since(start).Seconds()
}

// Handled records how long handling a message took; for use with defer.
func (m *Meter) Handled(stage Stage, start time.Time) {
	m.handling[stage].Observe(time.Since(start).Seconds())
}

// Arrived records how long after an event its features were acknowledged.
func (m *Meter) Arrived(event, now time.Time) {
	if knownTime(event) {
		m.delay.Observe(max(0, now.Sub(event).Seconds()))
	}
}

// SetBudget records how much of a budget is in use.
func (m *Meter) SetBudget(b Budget) { m.update(func() { m.budgets[b.Setting] = b }) }

// SetPlanning reports why no exploration is planned. The zero value means that nothing is in the
// way.
func (m *Meter) SetPlanning(p Planning) { m.update(func() { m.activity.Planning = p }) }

// SetChoosing reports how far a selection has come. The zero value means that none is running.
func (m *Meter) SetChoosing(c Choosing) { m.update(func() { m.activity.Choosing = c }) }

// SetMissingRows records how many rows the running exploration still has to score; -1 = unknown.
func (m *Meter) SetMissingRows(rows int64) { m.update(func() { m.activity.MissingRows = rows }) }

// RightKernel reports that a stage takes part in explorations.
func (m *Meter) RightKernel(stage Stage) { m.setKernel(stage, "") }

// WrongKernel logs and reports that a stage takes no part in an exploration because it needs
// another numeric kernel than this process has; with nil, that it takes part again.
func (m *Meter) WrongKernel(logger *zap.Logger, stage Stage, kernel string, from *wire.Spec) {
	if from == nil {
		m.RightKernel(stage)
		logger.Info("an exploration of this process's numeric kernel runs, taking part again", zap.String("kernel", kernel))
		return
	}
	m.setKernel(stage, fmt.Sprintf("takes no part: exploration %s is for numeric kernel %s, this process has %s", from.Exploration, from.Arithmetic, kernel))
	logger.Error("this process has another numeric kernel than the exploration and takes no part in it: its partitions go to other processes",
		zap.String("exploration", from.Exploration), zap.String("kernel", kernel), zap.String("exploration_kernel", from.Arithmetic))
}

func (m *Meter) setKernel(stage Stage, why string) {
	m.update(func() { m.activity.WrongKernel[stage] = why })
}

// SetModel records the model in use; nil = none is known.
func (m *Meter) SetModel(model *wire.Model) { m.update(func() { m.activity.Model = model }) }

// Judged records what became of a model that was just made.
func (m *Meter) Judged(j *wire.Judgement) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.activity.Challenges.Verdicts[j.Verdict]++
	m.activity.Challenges.Last = j
}

// SetPin records whether the model in use is pinned, and when the newest model was trained.
func (m *Meter) SetPin(pin wire.Pin, newest time.Time) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.activity.Challenges.Pin, m.activity.Challenges.At = pin, newest
}

// ErrUnfinished says that a process was told to stop and could not finish its work in time. Nothing
// is lost: whatever is not saved is done again after the next start.
var ErrUnfinished = errors.New("work in progress was not finished within shutdown.drain_timeout and will be done again")

// EndsWith names the channel that is closed when the process is told to stop.
func (m *Meter) EndsWith(ending <-chan struct{}) { m.update(func() { m.ending = ending }) }

// LeftUndone logs that a partition ended with unfinished work. When the process ends, this becomes
// part of its error. When the partition was taken away, its next owner goes on from what is saved.
func (m *Meter) LeftUndone(logger *zap.Logger, stage Stage, partition int, err error) {
	logger.Warn("work in progress is not saved and will be done again", zap.Error(err))
	m.mu.Lock()
	defer m.mu.Unlock()
	select {
	case <-m.ending:
		m.undone = append(m.undone, fmt.Sprintf("%s %d", stage, partition))
	default:
	}
}

// Unfinished returns an [ErrUnfinished] that names the partitions, or nil.
func (m *Meter) Unfinished() error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if len(m.undone) == 0 {
		return nil
	}
	return fmt.Errorf("%w: partitions %s", ErrUnfinished, strings.Join(m.undone, ", "))
}
