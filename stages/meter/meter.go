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
	"github.com/eerf-stream/eerf/scoring/adaptive"
)

// Cause says which stage sent a dead letter and why.
type Cause struct{ Stage, Reason string }

// Budget is the memory that a setting allows for something, and how much of it is in use.
type Budget struct {
	Setting     string // its key in the configuration
	Limit, Used int64  // bytes
}

// Challenges counts how the models that a process made stood against those in use.
type Challenges struct {
	Verdicts map[wire.Verdict]int64
	Last     *wire.Judgement // the newest; nil = none yet
	At       time.Time       // when the newest model on the topic was trained
	Pin      wire.Pin        // of the model in use
}

// Settings that are budgets whose use is known.
const (
	BudgetCandidates = "exploration.candidate_memory"
	BudgetSample     = "exploration.sample_memory"
	BudgetTrainRows  = "train.row_memory"
)

// Planning says why no exploration is planned; its zero value says that nothing is in the way.
type Planning struct {
	MissingRows int64  // labelled rows that are missing for a plan
	Fault       string // why the last plan failed
}

// Choosing is how far a selection has come.
type Choosing struct {
	Round, Rounds int // the round in hand, from 1 on, and how many there are at most; 0 = none
	// Point is, under the adaptive criterion, what was measured last on held-out rows; nil = nothing yet. It is not changed.
	Point *adaptive.Point
}

// Activity is what the stages of a process did besides what [Totals] counts. Maps are by stage.
type Activity struct {
	Traffic     map[string]Traffic
	DeadLetters map[Cause]int64
	// Handling are the times from taking up a message to having handled it: scored it, made its features or added it
	// to the sums, with the time in which the broker could not take features.
	Handling map[string]histogram.Snapshot
	// Delay are the times from those that events carry to the acknowledgement of their features.
	Delay histogram.Snapshot
	// UnseenClasses are the classes with the most rows that the feature set does not know, of those that the process featurized.
	UnseenClasses []encoder.ClassRows
	// ClassRequests counts the explorations that the process has asked for since a class had many of these rows.
	ClassRequests int64
	// MissingRows is how many rows the running exploration has yet to score, as far as the checkpoints show; -1 where the
	// process does not select, or where there is no quota.
	MissingRows int64
	// Planning says why no exploration is planned, where this process plans.
	Planning Planning
	// Choosing is how far the running selection has come; zero = none is.
	Choosing Choosing
	// Undecodable counts records under the project's own keys that could not be decoded, by topic.
	Undecodable map[string]int64
	// Budgets are those of the stages that the process runs, by setting.
	Budgets []Budget
	// Aside says of the stages that take part in explorations why they do not, as the one that runs, or ran last, is for another
	// numeric kernel than the process has; empty = they do.
	Aside map[string]string
	// Model is the one in use, without its weights, where this process trains; nil = none.
	Model *wire.Model
	// Challenges are those of the models that this process made.
	Challenges Challenges
}

// Meter is what the stages of a process report to. Safe for use from several goroutines.
type Meter struct {
	handling map[string]*histogram.Histogram // never changed; of the stages that handle messages one by one
	delay    *histogram.Histogram

	mu        sync.Mutex
	totals    Totals
	activity  Activity // without the histograms and budgets
	unseen    encoder.ClassTally
	budgets   map[string]Budget
	positions map[place]*Position
	ending    <-chan struct{} // closed when the process is told to stop; nil before it runs
	undone    []string
}

// New returns a meter at zero.
func New() *Meter {
	m := &Meter{
		handling: map[string]*histogram.Histogram{}, delay: histogram.New(histogram.Seconds()),
		totals: Totals{Seconds: map[string]float64{}},
		activity: Activity{
			Traffic: map[string]Traffic{}, DeadLetters: map[Cause]int64{}, Undecodable: map[string]int64{}, MissingRows: -1,
			Aside:      map[string]string{},
			Challenges: Challenges{Verdicts: map[wire.Verdict]int64{}},
		},
		budgets: map[string]Budget{}, positions: map[place]*Position{},
	}
	for _, stage := range []string{StageSubsample, StageFeaturize, StageTrain} {
		m.handling[stage] = histogram.New(histogram.Seconds())
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
	now.Undecodable, now.Aside = maps.Clone(now.Undecodable), maps.Clone(now.Aside)
	now.Challenges.Verdicts = maps.Clone(now.Challenges.Verdicts)
	now.Budgets = slices.SortedFunc(maps.Values(m.budgets), func(a, b Budget) int { return cmp.Compare(a.Setting, b.Setting) })
	now.UnseenClasses = m.unseen.List()
	now.Delay, now.Handling = m.delay.Snapshot(), map[string]histogram.Snapshot{}
	for stage, times := range m.handling {
		now.Handling[stage] = times.Snapshot()
	}
	return now
}

// AddCalibrate adds what calibration read.
func (m *Meter) AddCalibrate(counts CalibrateCounts) { add(m, &m.totals.Calibrate, counts) }

// AddScoring adds what subsample made of rows.
func (m *Meter) AddScoring(counts wire.Counts) { add(m, &m.totals.Scoring, counts) }

// AddFeaturize adds what featurize made of rows.
func (m *Meter) AddFeaturize(counts FeaturizeCounts) { add(m, &m.totals.Featurize, counts) }

// AddTrain adds what train made of messages and rows.
func (m *Meter) AddTrain(counts TrainCounts) { add(m, &m.totals.Train, counts) }

func add[T any](m *Meter, sum *T, counts T) {
	m.mu.Lock()
	defer m.mu.Unlock()
	Add(sum, counts)
}

// AddTraffic adds the bytes that a stage read and wrote.
func (m *Meter) AddTraffic(stage string, t Traffic) {
	m.mu.Lock()
	defer m.mu.Unlock()
	sum := m.activity.Traffic[stage]
	Add(&sum, t)
	m.activity.Traffic[stage] = sum
}

// AddUndecodable counts a record under the project's own keys that could not be decoded.
func (m *Meter) AddUndecodable(topic string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.activity.Undecodable[topic]++
}

// AddDeadLetter counts a dead letter that was sent.
func (m *Meter) AddDeadLetter(cause Cause) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.activity.DeadLetters[cause]++
}

// AddUnseenClasses counts featurized rows of classes that the feature set does not know.
func (m *Meter) AddUnseenClasses(classes []encoder.ClassRows) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, c := range classes {
		m.unseen.Add(c.Class, c.Rows)
	}
}

// AskedForClass counts an exploration that was asked for because of a class.
func (m *Meter) AskedForClass() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.activity.ClassRequests++
}

// Worked adds the time since start to a stage; for use with defer.
func (m *Meter) Worked(stage string, start time.Time) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.totals.Seconds[stage] += time.Since(start).Seconds()
}

// Handled records how long handling a message took; for use with defer.
func (m *Meter) Handled(stage string, start time.Time) {
	m.handling[stage].Observe(time.Since(start).Seconds())
}

// Arrived records when, after the time that an event carries, its features were acknowledged.
func (m *Meter) Arrived(event, now time.Time) {
	if carriesTime(event) {
		m.delay.Observe(max(0, now.Sub(event).Seconds()))
	}
}

// SetBudget records how much of a budget is in use.
func (m *Meter) SetBudget(b Budget) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.budgets[b.Setting] = b
}

// SetPlanning reports why no exploration is planned; its zero value says that nothing is in the way.
func (m *Meter) SetPlanning(p Planning) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.activity.Planning = p
}

// SetChoosing reports how far a selection has come; its zero value says that none is running.
func (m *Meter) SetChoosing(c Choosing) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.activity.Choosing = c
}

// SetMissingRows records how many rows the running exploration has yet to score; -1 = unknown.
func (m *Meter) SetMissingRows(rows int64) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.activity.MissingRows = rows
}

// TakesPart reports that a stage takes part in explorations.
func (m *Meter) TakesPart(stage string) { m.setAside(stage, "") }

// StandsAside logs and reports that a stage takes no part in an exploration, which is for another numeric kernel than this process
// has; with nil, that it takes part again.
func (m *Meter) StandsAside(logger *zap.Logger, stage, kernel string, from *wire.Spec) {
	if from == nil {
		m.TakesPart(stage)
		logger.Info("an exploration of this process's numeric kernel runs, taking part again", zap.String("kernel", kernel))
		return
	}
	m.setAside(stage, fmt.Sprintf("stands aside: exploration %s is for numeric kernel %s, this process has %s", from.Exploration, from.Arithmetic, kernel))
	logger.Error("this process has another numeric kernel than the exploration and takes no part in it: what it owned goes to others",
		zap.String("exploration", from.Exploration), zap.String("kernel", kernel), zap.String("exploration_kernel", from.Arithmetic))
}

func (m *Meter) setAside(stage, why string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.activity.Aside[stage] = why
}

// SetModel records the model in use; nil = none is known any more.
func (m *Meter) SetModel(model *wire.Model) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.activity.Model = model
}

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

// ErrUnfinished says that a process was told to stop and could not finish its work in time. Nothing is lost: what
// is not saved is done again after the next start.
var ErrUnfinished = errors.New("work in hand was not finished within shutdown.drain_timeout and will be done again")

// EndsWith names the channel that is closed when the process is told to stop.
func (m *Meter) EndsWith(ending <-chan struct{}) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.ending = ending
}

// LeftUndone logs that a partition ended with unfinished work. At the end of a process it will be part of its error; where a
// partition was taken away, its next owner goes on from what is saved.
func (m *Meter) LeftUndone(logger *zap.Logger, stage string, partition int, err error) {
	logger.Warn("work in hand is not saved and will be done again", zap.Error(err))
	m.mu.Lock()
	defer m.mu.Unlock()
	select {
	case <-m.ending:
		m.undone = append(m.undone, fmt.Sprintf("%s %d", stage, partition))
	default:
	}
}

// Unfinished is an [ErrUnfinished] that names the partitions, or nil.
func (m *Meter) Unfinished() error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if len(m.undone) == 0 {
		return nil
	}
	return fmt.Errorf("%w: partitions %s", ErrUnfinished, strings.Join(m.undone, ", "))
}
