package state

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"time"

	"go.uber.org/zap"

	"github.com/eerf-stream/eerf/arrowio/wire"
	"github.com/eerf-stream/eerf/pipeline"
)

// Owner is a stage that writes control records. One process at a time runs it, so only one process
// repairs a record.
type Owner int

// The owners of control records.
const (
	OwnerPlanner Owner = iota
	OwnerSelection
	OwnerTrainer
)

// Record is a kind of control record that is repaired by the stage that writes it.
type Record int

// The kinds of control records, in the order of repair: a set or model comes before its pointer.
const (
	RecordSpec Record = iota
	RecordProgress
	RecordSet
	RecordSetPointer
	RecordModel
	RecordModelPointer
)

// recordKinds lists the kinds: their names in log messages, topics and owners.
var recordKinds = [...]struct {
	name  string
	topic Topic
	owner Owner
}{
	RecordSpec:         {"exploration", TopicExplorations, OwnerPlanner},
	RecordProgress:     {"selection progress", TopicExplorations, OwnerSelection},
	RecordSet:          {"feature set", TopicFeatureSets, OwnerSelection},
	RecordSetPointer:   {"pointer to the feature set", TopicFeatureSets, OwnerSelection},
	RecordModel:        {"model", TopicModels, OwnerTrainer},
	RecordModelPointer: {"pointer to the model", TopicModels, OwnerTrainer},
}

// Repair is a record that its owner must rewrite or delete before compaction keeps the wrong one.
type Repair struct {
	Record Record
	ID     string // of a feature set or model
	// Gone reports that the topic lost the record because it was recreated or truncated. The next
	// record under the key then replaces the known value regardless of its sequence number, because
	// its writer may not have seen the lost one. Otherwise an older record, or one that cannot be
	// decoded, follows the known value.
	Gone bool
}

// repairOf returns the pending repair of a record.
func (s Snapshot) repairOf(record Record, id string) (r Repair, pending bool) {
	for _, r := range s.Repairs {
		if r.Record == record && r.ID == id {
			return r, true
		}
	}
	return Repair{}, false
}

// Damaged reports whether a record without an id (a spec, a pointer, progress) awaits its repair.
func (s Snapshot) Damaged(record Record) bool {
	_, pending := s.repairOf(record, "")
	return pending
}

// gone reports whether the topic lost a record.
func (s Snapshot) gone(record Record, id string) bool {
	r, _ := s.repairOf(record, id)
	return r.Gone
}

// maxRepairs limits the pending repairs of sets and models, so that reading many undecodable
// records takes time in proportion to their number. The owner finds further ones when it rereads
// the topic after these repairs.
const maxRepairs = 1000

// damage adds a repair. The list is copied: earlier snapshots share it.
func (s *Snapshot) damage(record Record, id string, gone bool) {
	if len(s.Repairs) >= maxRepairs && id != "" && !gone {
		return
	}
	pending, found := s.repairOf(record, id)
	if found && (pending.Gone || !gone) {
		return
	}
	s.repaired(record, id)
	s.Repairs = append(slices.Clone(s.Repairs), Repair{Record: record, ID: id, Gone: gone})
	slices.SortFunc(s.Repairs, func(a, b Repair) int {
		return cmp.Or(cmp.Compare(a.Record, b.Record), cmp.Compare(a.ID, b.ID))
	})
}

// repaired removes a repair.
func (s *Snapshot) repaired(record Record, id string) {
	s.dropRepairs(func(r Repair) bool { return r.Record == record && r.ID == id })
}

// dropRepairs removes the repairs that drop accepts, in a copy.
func (s *Snapshot) dropRepairs(drop func(Repair) bool) {
	if slices.ContainsFunc(s.Repairs, drop) {
		s.Repairs = slices.DeleteFunc(slices.Clone(s.Repairs), drop)
	}
}

// Repair performs the pending repairs of an owner and reports whether it wrote anything. Each
// repair decides by the newest snapshot, which contains the ones before it.
func (f *Follower) Repair(ctx context.Context, owner Owner, at time.Time) (acted bool, err error) {
	for _, r := range f.Snapshot().Repairs {
		now := f.Snapshot()
		if recordKinds[r.Record].owner != owner || !slices.Contains(now.Repairs, r) {
			continue
		}
		wrote, err := f.repair(ctx, now, r, at)
		if acted = acted || wrote; err != nil {
			return acted, err
		}
	}
	return acted, nil
}

// repair rewrites a record if its value is known, and deletes a damaged one that no process can
// restore.
func (f *Follower) repair(ctx context.Context, now Snapshot, r Repair, at time.Time) (acted bool, err error) {
	switch r.Record {
	case RecordSpec:
		if now.Spec == nil { // the planner starts another exploration
			return false, nil
		}
		f.reportRepair(r, now.Spec.Exploration)
		return true, f.PublishSpec(ctx, now.Spec, at)
	case RecordProgress:
		if now.Progress == nil {
			return true, f.deleteDamaged(ctx, r, wire.ProgressKey(f.config.Pipeline), at)
		}
		f.reportRepair(r, now.Progress.Exploration)
		return true, f.PublishProgress(ctx, now.Progress)
	case RecordSet:
		return f.repairSet(ctx, now, r, at)
	case RecordSetPointer:
		if now.Current == nil || now.CurrentLost() {
			return false, nil
		}
		f.reportRepair(r, now.Current.ID)
		return true, f.PointSet(ctx, now.Current, at)
	case RecordModel:
		return f.repairModel(ctx, now.Models, r, at)
	case RecordModelPointer:
		f.reportRepair(r, now.Models.Current.ID)
		_, err := f.PointModel(ctx, now.Models, *now.Models.Current)
		return true, err
	}
	return false, nil
}

// repairSet rewrites a feature set that this process or an earlier record of the topic still holds.
func (f *Follower) repairSet(ctx context.Context, now Snapshot, r Repair, at time.Time) (acted bool, err error) {
	if entry, ok := now.Sets[r.ID]; ok {
		set, err := f.LoadSet(ctx, entry)
		if err == nil {
			f.reportRepair(r, r.ID)
			_, err = f.PublishSet(ctx, set, entry.Time)
		}
		if !errors.Is(err, ErrNoSet) {
			return true, err
		}
	}
	if r.Gone {
		return false, nil
	}
	return true, f.deleteDamaged(ctx, r, wire.SetKey(f.config.Pipeline, r.ID), at)
}

// repairModel rewrites the current model if this process holds it. Otherwise the next model
// replaces it. Damaged records of other models are deleted.
func (f *Follower) repairModel(ctx context.Context, models Models, r Repair, at time.Time) (acted bool, err error) {
	if models.Current == nil || models.Current.ID != r.ID {
		return true, f.deleteDamaged(ctx, r, wire.SetKey(f.config.Pipeline, r.ID), at)
	}
	model := f.models.get(r.ID)
	if model == nil {
		return false, nil
	}
	f.reportRepair(r, r.ID)
	return true, f.PublishModel(ctx, model)
}

// deleteDamaged deletes a record that no process can restore.
func (f *Follower) deleteDamaged(ctx context.Context, r Repair, key []byte, at time.Time) error {
	kind := recordKinds[r.Record]
	f.logger.Warn("undecodable record cannot be restored; deleting it",
		zap.String("record", kind.name), zap.ByteString("key", key))
	_, err := f.write(ctx, kind.topic, "delete undecodable "+kind.name, pipeline.Record{Key: key, Time: at})
	return err
}

func (f *Follower) reportRepair(r Repair, id string) {
	event := "record was overwritten by a stale or invalid one; rewriting it"
	if r.Gone {
		event = "record was lost with a recreated or truncated topic; rewriting it"
	}
	f.logger.Warn(event, zap.String("record", recordKinds[r.Record].name), zap.String("id", id))
}
