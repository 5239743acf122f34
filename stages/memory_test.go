package stages

import (
	"fmt"
	"strings"
	"testing"

	"github.com/eerf-stream/eerf/arrowio/wire"
	"github.com/eerf-stream/eerf/stages/meter"
)

// trainBytes adds up the needs of training.
func trainBytes(s Settings) (bytes int64) {
	load := MemoryLoad{Stages: []meter.Stage{meter.StageTrain}, Partitions: 4, Messages: 2}
	for _, need := range s.MemoryNeeds(load) {
		if strings.HasPrefix(need.What, "train: held-out rows") || strings.HasPrefix(need.What, "train: rows") {
			bytes += need.Bytes
		}
	}
	return bytes
}

// If the configuration leaves the classes open, the largest number that fits counts.
func TestMemoryOfTrainingCountsOpenClasses(t *testing.T) {
	s := Default()
	s.Exploration.Features, s.Exploration.Candidates = 20, 200
	s.Train.Loss = "logistic"
	s.Events.MaxClasses = 1024
	open := trainBytes(s)
	s.Events.Classes = []string{"a", "b"}
	two := trainBytes(s)
	const heldOut = 10 * 10_000 * 4 * 1000 // eight samples and their mergers, of nearly 1,024 classes
	if open < two+heldOut {
		t.Errorf("%d bytes with open classes, %d with two", open, two)
	}
	s.Events.Classes, s.Events.MaxClasses = nil, 100
	if hundred := trainBytes(s); hundred >= open || hundred <= two {
		t.Errorf("%d bytes of at most 100 classes, %d of 1,024", hundred, open)
	}
	s.Events.MaxClasses = 1024
	s.Topics.MaxMessageBytes = 8 * 200 * 50 // a checkpoint of 50 classes
	if few := trainBytes(s); few >= open || few <= two {
		t.Errorf("%d bytes if 50 classes fit into a message, %d otherwise", few, open)
	}
}

// Open classes take as much memory in every stage as the same number of configured ones, and a
// process refuses plans of more.
func TestOpenClassesCountWithTheirMaximum(t *testing.T) {
	for _, c := range []struct{ candidates, most, outputs int }{
		{1000, 2, 1}, {1000, 90, 90}, {1000, 1024, 1024}, {10_000, 1024, 104}, // of 80 KB each in a checkpoint of 8 MiB
	} {
		open := Default()
		open.Exploration.Features, open.Exploration.Candidates = 20, c.candidates
		open.Events.Label, open.Events.MaxClasses = []string{"y"}, c.most
		named := open
		for i := range max(2, c.outputs) {
			named.Events.Classes = append(named.Events.Classes, fmt.Sprint(i))
		}
		if k := open.MostOutputs(); k != c.outputs || named.MostOutputs() != k {
			t.Errorf("%d outputs, %d of named classes, want %d", k, named.MostOutputs(), c.outputs)
		}
		load := MemoryLoad{
			Stages:     []meter.Stage{meter.StageSubsample, meter.StageSelection, meter.StageFeaturize, meter.StageTrain},
			Partitions: 64,
			Messages:   2,
		}
		of := named.MemoryNeeds(load)
		sums := 3 * 64 * wire.CheckpointBytes(c.candidates, c.outputs)
		found := false
		for i, need := range open.MemoryNeeds(load) {
			if need.Bytes != of[i].Bytes {
				t.Errorf("up to %d classes: %s takes %d bytes, %d with named classes", c.most, need.What, need.Bytes, of[i].Bytes)
			}
			found = found || need.Bytes == sums
		}
		if !found {
			t.Errorf("up to %d classes: no need of %d bytes for the sums", c.most, sums)
		}
	}
}
