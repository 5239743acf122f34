package stages_test

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/eerf-stream/eerf/arrowio/wire"
	"github.com/eerf-stream/eerf/pipeline"
	"github.com/eerf-stream/eerf/stages/meter"
	"github.com/eerf-stream/eerf/stages/state"
	"github.com/eerf-stream/eerf/stages/topics"
)

func TestAPipelineThatFollowsOnlyFeaturizes(t *testing.T) {
	s := testSettings(1)
	s.Pipeline.Name, s.Featurize.SetsFrom = "live", "flow"
	s.Topics = topics.Default().Unnamed().Reading("live", "flow")
	if got := s.Runs(); len(got) != 1 || got[0] != meter.StageFeaturize {
		t.Errorf("runs %v", got)
	}
	if err := s.CheckStages([]meter.Stage{meter.StageFeaturize}); err != nil {
		t.Error(err)
	}
	for _, stage := range []meter.Stage{
		meter.StageCalibrate,
		meter.StageSubsample,
		meter.StageSelection,
		meter.StageTrain,
	} {
		err := s.CheckStages([]meter.Stage{meter.StageFeaturize, stage})
		for _, text := range []string{"pipeline live", "pipeline flow", "featurize.sets_from", "no stage " + string(stage)} {
			if err == nil || !strings.Contains(err.Error(), text) {
				t.Errorf("%s: %v does not contain %q", stage, err, text)
			}
		}
	}
	if group := s.Group(meter.StageFeaturize); group != "eerf-live-featurize" {
		t.Errorf("group %s: offsets would be mixed with those of the other pipeline", group)
	}
	client := state.Still(s.State(), state.Snapshot{})
	for what, err := range map[string]error{
		"request": client.SendRequest(t.Context(), wire.Request{Action: wire.ActionStart, ID: "r"}),
		"pointer": client.PointSet(t.Context(), &wire.Current{
			ID:       "fs-0123456789abcdef0123456789abcdef",
			Sequence: 1,
		}, time.Unix(1, 0)),
	} {
		if !errors.Is(err, state.ErrReadOnly) || !pipeline.IsPermanent(err) {
			t.Errorf("%s: %v", what, err)
		}
	}
}

// A column of predictions is not a feature of the plan, and the settings themselves stay unchanged.
func TestPredictionsAreNoFeatures(t *testing.T) {
	s := testSettings(1)
	s.Events.Exclude = make([]string, 1, 2)
	s.Events.Exclude[0] = "id"
	s.Live.PredictionColumn = "said"
	if got := s.Plan().Events.Exclude; !slices.Equal(got, []string{"id", "said"}) {
		t.Errorf("excluded are %v", got)
	}
	if len(s.Events.Exclude) != 1 || len(s.Events.Exclude[:2][1]) > 0 {
		t.Errorf("the settings have become %v", s.Events.Exclude[:2])
	}
}
