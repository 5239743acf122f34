package meter

import "time"

// Snapshot holds the counts and positions of a process at one moment. Its parts are taken one after
// another.
type Snapshot struct {
	Time       time.Time
	Totals     Totals
	Activity   Activity
	Partitions []PartitionStatus
}

// Snapshot returns the current counts and positions of the process.
func (m *Meter) Snapshot(now time.Time) Snapshot {
	s := Snapshot{Time: now, Totals: m.Totals(), Activity: m.Activity(), Partitions: m.Partitions(now)}
	for i := range s.Partitions {
		p := &s.Partitions[i]
		p.LagRows = float64(p.LagMessages()) * rowsPerMessage(*p, s.Totals)
	}
	return s
}

// rowsPerMessage is the mean over the partition, or else over the process, or else 1.
func rowsPerMessage(p PartitionStatus, t Totals) float64 {
	rows, messages := p.Rows, p.Messages
	if rows == 0 {
		switch p.Stage {
		case StageSubsample:
			rows, messages = t.Scoring.Rows, t.Scoring.Messages
		case StageFeaturize:
			rows, messages = t.Featurize.Rows, t.Featurize.Messages
		case StageTrain:
			c := &t.Train
			rows = c.Rows + c.Unlabelled + c.Rejected + c.UnseenClass + c.Duplicate
			messages = c.Messages - c.OtherSet
		}
	}
	if rows == 0 || messages == 0 {
		return 1
	}
	return float64(rows) / float64(messages)
}
