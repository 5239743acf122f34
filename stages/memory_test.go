package stages

import (
	"strings"
	"testing"

	"github.com/eerf-stream/eerf/stages/meter"
)

// trainBytes adds up the needs of training.
func trainBytes(s Settings) (bytes int64) {
	load := MemoryLoad{Stages: []meter.Stage{meter.StageTrain}, Partitions: 4, Messages: 2, Outputs: 1}
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
	open := trainBytes(s)
	s.Events.Classes = []string{"a", "b"}
	two := trainBytes(s)
	const heldOut = 10 * 10_000 * 4 * 1000 // eight samples and their mergers, of nearly 1,024 classes
	if open < two+heldOut {
		t.Errorf("%d bytes with open classes, %d with two", open, two)
	}
	s.Events.Classes = nil
	s.Topics.MaxMessageBytes = 8 * 200 * 50 // a checkpoint of 50 classes
	if few := trainBytes(s); few >= open || few <= two {
		t.Errorf("%d bytes if 50 classes fit into a message, %d otherwise", few, open)
	}
}
