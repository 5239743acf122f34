package stages

import (
	"time"

	"github.com/eerf-stream/eerf/pipeline"
)

// Snapshot is what a process did and where it stands at a time. Its parts are taken one after another.
type Snapshot struct {
	Time       time.Time
	Totals     Totals
	Activity   Activity
	Partitions []PartitionStatus
	Groups     map[string]pipeline.GroupStatus // by stage
	State      State
}

// Snapshot tells what the process did and where it stands now.
func (r *Runtime) Snapshot() Snapshot {
	now := r.Clock()
	s := Snapshot{
		Time: now, Totals: r.Counters.Totals(), Activity: r.Counters.Activity(), Partitions: r.Counters.Partitions(now),
		Groups: r.Groups(), State: r.Watch.State(),
	}
	for i := range s.Partitions {
		p := &s.Partitions[i]
		p.LagRows = float64(p.LagMessages()) * rowsPerMessage(*p, s.Totals)
	}
	return s
}

// rowsPerMessage is the mean of the partition, else that of the process, else 1.
func rowsPerMessage(p PartitionStatus, t Totals) float64 {
	rows, messages := p.Rows, p.Messages
	if rows == 0 {
		switch p.Stage {
		case StageSubsample:
			rows, messages = t.Scoring.Rows, t.Scoring.Messages
		case StageFeaturize:
			rows, messages = t.Featurize.Rows, t.Featurize.Messages
		case StageTrain:
			rows, messages = t.Train.Rows+t.Train.Unlabelled+t.Train.Duplicate, t.Train.Messages-t.Train.OtherSet
		}
	}
	if rows == 0 || messages == 0 {
		return 1
	}
	return float64(rows) / float64(messages)
}
