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

// Cause is the stage that sent a dead letter, and its reason.
type Cause struct {
	Stage  Stage
	Reason string
}

// Budget is the memory limit of a setting, and its current use.
type Budget struct {
	Setting     string // its key in the configuration
	Limit, Used int64  // bytes
}

// Challenges counts the comparisons of this process's models with the current ones.
type Challenges struct {
	Verdicts map[wire.Verdict]int64
	Last     *wire.Judgement // the newest; nil = none yet
	At       time.Time       // when the newest model on the topic was trained
	Pin      wire.Pin        // of the current model
}

// Settings with monitored budgets.
const (
	BudgetCandidates = "exploration.candidate_memory"
	BudgetSample     = "exploration.sample_memory"
	BudgetTrainRows  = "train.row_memory"
)

// Planning holds the reason for planning no exploration. The zero value means that nothing prevents
// one.
type Planning struct {
	MissingRows int64 // labelled rows that a plan still needs
	Rows        int64 // labelled rows available, if some are missing
	// Unusable describes unreadable messages and rows without a usable label, if some are missing.
	Unusable string

	Takeover string // reason why this process must not plan for the pipeline, see package calibrate

	Fault   string    // why the last plan failed
	At      time.Time // when it failed
	RetryAt time.Time // earliest time of the next try
}

// String describes the obstacle to a plan; it is empty if nothing prevents one.
func (p Planning) String() string {
	switch {
	case p.Takeover != "":
		return p.Takeover
	case p.MissingRows > 0:
		text := fmt.Sprintf("%d labelled rows are missing for an exploration: have %d, exploration.min_rows requires %d",
			p.MissingRows, p.Rows, p.Rows+p.MissingRows)
		if p.Unusable != "" {
			text += "; " + p.Unusable
		}
		return text
	case p.Fault != "":
		return fmt.Sprintf("no exploration could be planned at %s; next try at %s: %s",
			p.At.UTC().Format(time.RFC3339), p.RetryAt.UTC().Format(time.RFC3339), p.Fault)
	}
	return ""
}

// Choosing is the progress of a selection.
type Choosing struct {
	Round, Rounds int // the current round, from 1 on, and the maximum; 0 = none
	// Point is the last measurement on held-out rows under the adaptive criterion; nil = none yet.
	// It is immutable.
	Point *adaptive.Point
}

// Activity holds the stages' reports other than [Totals]. Maps are by stage.
type Activity struct {
	Traffic     map[Stage]Traffic
	DeadLetters map[Cause]int64
	// Handling holds the times from starting on a message until it was scored, featurized or added
	// to the sums. Waiting for the broker to take features is included.
	Handling map[Stage]histogram.Snapshot
	// Delay holds the times from the timestamps of events to the acknowledgement of their features.
	Delay histogram.Snapshot
	// UnseenClasses are the most frequent classes unknown to the feature set, among the rows that
	// the process featurized.
	UnseenClasses []encoder.ClassRows
	// Columns is featurize's report on the columns of events.
	Columns ColumnReport
	// IgnoredTimes counts events with a time out of bounds, see [Meter.CheckTime].
	IgnoredTimes int64
	// ClassRequests counts the explorations that the process requested because a class had many of
	// these rows.
	ClassRequests int64
	// MissingRows is the number of rows that the running exploration has yet to score, according to
	// checkpoints; -1 if the process does not select, or if there is no quota.
	MissingRows int64
	// Planning is the reason for planning no exploration, if this process plans.
	Planning Planning
	// Choosing is the progress of the running selection; zero = none is running.
	Choosing Choosing
	// Undecodable counts records under the project's own keys that could not be decoded, by topic.
	Undecodable map[string]int64
	// LogChanges counts recreated and truncated logs.
	LogChanges map[LogChange]int64
	// Budgets are the budgets of the stages that the process runs.
	Budgets []Budget
	// WrongKernel is the reason why a stage does not participate in explorations: the running or
	// most recent one needs another numeric kernel than this process has. Empty = it participates.
	WrongKernel map[Stage]string
	// Quarantined are the partitions whose work fails persistently and is retried, ordered by stage
	// and partition.
	Quarantined []Quarantine
	// Model is the current model, without its weights, if this process trains; nil = none.
	Model *wire.Model
	// Challenges are the comparisons of models made by this process.
	Challenges Challenges
	// Serving holds the requests received over HTTP.
	Serving ServingSnapshot
}

// Meter receives the reports of the stages of a process. It is safe for concurrent use.
type Meter struct {
	handling map[Stage]*histogram.Histogram // the map is immutable; has the stages that handle messages one by one
	delay    *histogram.Histogram
	serving  *Serving // immutable

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
			Traffic:     map[Stage]Traffic{},
			DeadLetters: map[Cause]int64{},
			Undecodable: map[string]int64{},
			LogChanges:  map[LogChange]int64{},
			MissingRows: -1,
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

// Totals returns the current sums.
func (m *Meter) Totals() Totals {
	m.mu.Lock()
	defer m.mu.Unlock()
	totals := m.totals
	totals.Seconds = maps.Clone(totals.Seconds)
	return totals
}

// Activity returns the current activity.
func (m *Meter) Activity() Activity {
	m.mu.Lock()
	defer m.mu.Unlock()
	now := m.activity
	now.Traffic, now.DeadLetters = maps.Clone(now.Traffic), maps.Clone(now.DeadLetters)
	now.Undecodable, now.LogChanges, now.WrongKernel = maps.Clone(
		now.Undecodable,
	), maps.Clone(
		now.LogChanges,
	), maps.Clone(
		now.WrongKernel,
	)
	now.Challenges.Verdicts = maps.Clone(now.Challenges.Verdicts)
	now.Budgets = slices.SortedFunc(
		maps.Values(m.budgets),
		func(a, b Budget) int { return cmp.Compare(a.Setting, b.Setting) },
	)
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

// AddCalibrate adds counts of calibration.
func (m *Meter) AddCalibrate(counts CalibrateCounts) { add(m, &m.totals.Calibrate, counts) }

// AddScoring adds counts of subsample.
func (m *Meter) AddScoring(counts wire.Counts) { add(m, &m.totals.Scoring, counts) }

// AddFeaturize adds counts of featurize.
func (m *Meter) AddFeaturize(counts FeaturizeCounts) { add(m, &m.totals.Featurize, counts) }

// AddTrain adds counts of train.
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

// LogChange identifies a change of a log: it was recreated or truncated.
type LogChange struct {
	Topic string
	Kind  string // recreated or truncated
}

// AddGap counts a gap caused by a change of the log, once for each partition and each reader that
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

// AskedForClass counts an exploration that was requested because of a class.
func (m *Meter) AskedForClass() { m.update(func() { m.activity.ClassRequests++ }) }

// Worked adds the time since start to a stage; for use with defer.
func (m *Meter) Worked(stage Stage, start time.Time) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.totals.Seconds[stage] += time.Since(start).Seconds()
}

// Handled records the handling time of a message; for use with defer.
func (m *Meter) Handled(stage Stage, start time.Time) {
	m.handling[stage].Observe(time.Since(start).Seconds())
}

// Arrived records the delay from an event to the acknowledgement of its features.
func (m *Meter) Arrived(event, now time.Time) {
	if knownTime(event) {
		m.delay.Observe(max(0, now.Sub(event).Seconds()))
	}
}

// SetBudget records the current use of a budget.
func (m *Meter) SetBudget(b Budget) { m.update(func() { m.budgets[b.Setting] = b }) }

// SetPlanning reports why no exploration is planned. The zero value means that nothing prevents
// one.
func (m *Meter) SetPlanning(p Planning) { m.update(func() { m.activity.Planning = p }) }

// SetChoosing reports the progress of a selection. The zero value means that none is running.
func (m *Meter) SetChoosing(c Choosing) { m.update(func() { m.activity.Choosing = c }) }

// SetMissingRows records the number of rows that the running exploration has yet to score; -1 =
// unknown.
func (m *Meter) SetMissingRows(rows int64) { m.update(func() { m.activity.MissingRows = rows }) }

// RightKernel reports that a stage participates in explorations.
func (m *Meter) RightKernel(stage Stage) { m.setKernel(stage, "") }

// WrongKernel logs and reports that a stage does not participate in an exploration because it needs
// another numeric kernel than this process has; with nil, that it participates again.
func (m *Meter) WrongKernel(logger *zap.Logger, stage Stage, kernel string, from *wire.Spec) {
	if from == nil {
		m.RightKernel(stage)
		logger.Info("numeric kernel matches the exploration's; participating again", zap.String("kernel", kernel))
		return
	}
	m.setKernel(
		stage,
		fmt.Sprintf(
			"not participating: exploration %s is for numeric kernel %s, this process has %s",
			from.Exploration,
			from.Arithmetic,
			kernel,
		),
	)
	logger.Error(
		"numeric kernel differs from the exploration's; not participating, partitions go to other processes",
		zap.String(
			"exploration",
			from.Exploration,
		),
		zap.String("kernel", kernel),
		zap.String("exploration_kernel", from.Arithmetic),
	)
}

func (m *Meter) setKernel(stage Stage, why string) {
	m.update(func() { m.activity.WrongKernel[stage] = why })
}

// SetModel records the current model; nil = none is known.
func (m *Meter) SetModel(model *wire.Model) { m.update(func() { m.activity.Model = model }) }

// Judged records the judgement of a newly trained model.
func (m *Meter) Judged(j *wire.Judgement) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.activity.Challenges.Verdicts[j.Verdict]++
	m.activity.Challenges.Last = j
}

// SetPin records whether the current model is pinned, and when the newest model was trained.
func (m *Meter) SetPin(pin wire.Pin, newest time.Time) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.activity.Challenges.Pin, m.activity.Challenges.At = pin, newest
}

// ErrUnfinished means that a process was told to stop and could not finish its work in time.
// Nothing is lost: unsaved work is redone after the next start.
var ErrUnfinished = errors.New(
	"work in progress was not finished within shutdown.drain_timeout; it will be redone after the next start",
)

// EndsWith sets the channel that is closed when the process is told to stop.
func (m *Meter) EndsWith(ending <-chan struct{}) { m.update(func() { m.ending = ending }) }

// LeftUndone logs that a partition ended with unfinished work. When the process ends, this becomes
// part of its error. If the partition was revoked, its next owner resumes from the saved state.
func (m *Meter) LeftUndone(logger *zap.Logger, stage Stage, partition int, err error) {
	logger.Warn("work in progress is unsaved; it will be redone", zap.Error(err))
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
