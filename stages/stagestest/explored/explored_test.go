package explored

import (
	"testing"

	"github.com/eerf-stream/eerf/scoring"
	"github.com/eerf-stream/eerf/stages/stagestest"
)

func TestFeatureSetsOfEveryTask(t *testing.T) {
	for _, task := range stagestest.Tasks {
		for _, criterion := range []scoring.Criterion{scoring.Correlation, scoring.Residual} {
			config := Exploration()
			config.Criterion = criterion
			rows := stagestest.Cut(t, stagestest.Events(t, task, 600, 1, stagestest.SomeFaults), stagestest.Every(70))
			set := FeatureSet(t, Events(task), config, rows...)
			if again := FeatureSet(t, Events(task), config, rows...); set.ID() != again.ID() || set.Set.Features.Len() != 10 {
				t.Errorf("%s by %s: sets %s and %s of %d features", task, criterion, set.ID(), again.ID(), set.Set.Features.Len())
			}
		}
	}
}
