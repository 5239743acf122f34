package crash

import (
	"slices"
	"strings"
	"testing"

	"github.com/eerf-stream/eerf/internal/failpoint"
	"github.com/eerf-stream/eerf/stages/topics"
)

// written are the points around the writes to each topic. Producers write events.
var written = map[string][]failpoint.Point{
	"events":       {failpoint.FetchBefore},
	"explorations": {failpoint.PlanBefore, failpoint.PlanAfter},
	"scores":       {failpoint.CheckpointBefore, failpoint.CheckpointAfter, failpoint.RetireBefore},
	"samples":      {failpoint.SamplesBefore, failpoint.SamplesAfter},
	"feature-sets": {failpoint.SetBefore, failpoint.SetBetween, failpoint.SetAfter},
	"features":     {failpoint.FeaturesBefore, failpoint.FeaturesAfter},
	"models":       {failpoint.ModelBefore, failpoint.ModelBetween, failpoint.ModelAfter},
	"live":         {failpoint.BlocksBefore, failpoint.BlocksAfter},
	"dead-letters": {failpoint.DeadLettersAfter},
}

// A topic whose writes no process is killed at is a gap in the schedules.
func TestMatrixCoversEveryTopic(t *testing.T) {
	kills := slices.Concat(killed...)
	for _, spec := range topics.Default().Named("p").Specs(1) {
		points := written[strings.TrimPrefix(spec.Name, "p.")]
		if len(points) == 0 {
			t.Errorf("no point is known at which %s is written", spec.Name)
		}
		for _, point := range points {
			if !slices.Contains(kills, point) {
				t.Errorf("no process is killed at %s, where %s is written", point, spec.Name)
			}
		}
	}
}
