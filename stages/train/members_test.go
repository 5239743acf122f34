package train

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/eerf-stream/eerf/arrowio/wire"
	"github.com/eerf-stream/eerf/stages/stagestest"
	"github.com/eerf-stream/eerf/training"
)

// shared returns the set with three members; every seventh feature belongs to two of them.
func shared(set *wire.FeatureSet) *wire.FeatureSet {
	of := *set
	of.Set.Members = make([]int32, set.Set.Features.Len())
	for i := range of.Set.Members {
		of.Set.Members[i] = 1 << (i % 3)
		if i%7 == 0 {
			of.Set.Members[i] |= 1 << ((i + 1) % 3)
		}
	}
	return &of
}

// alone returns the set that has only the given features of another, with their values.
func alone(set *wire.FeatureSet, features []int32) *wire.FeatureSet {
	of := *set
	of.Set = *set.Set.Pick(features)
	return &of
}

func TestModelIsTheMeanOfTheModelsOfTheMembers(t *testing.T) {
	for _, task := range stagestest.Tasks {
		for _, loss := range []string{training.LossSquared, training.LossLogistic} {
			if task == stagestest.Regression && loss == training.LossLogistic {
				continue
			}
			t.Run(fmt.Sprintf("%s, %s loss", task, loss), func(t *testing.T) {
				events := stagestest.Events(t, task, 900, 50, stagestest.Faults{NoLabel: 0.1})
				set := shared(featureSet(t, task, events))
				config := trainConfig()
				config.Loss = loss
				pieces := stagestest.Cut(t, events, stagestest.Every(80))
				model := solve(t, train(t, set, config, featureMessages(t, set, pieces, whole)))
				members := set.Set.MemberFeatures()
				want := [2]*training.Model{blank(model.Model), blank(model.Model)}
				var lambdas []wire.LambdaPoint
				for j, features := range members {
					one := alone(set, features)
					m := solve(t, train(t, one, config, featureMessages(t, one, pieces, whole)))
					addShare(want[0], m.Model, features, len(members))
					addShare(want[1], m.Judged, features, len(members))
					for _, p := range m.Metrics.LambdaPath {
						p.Member = j + 1
						lambdas = append(lambdas, p)
					}
				}
				for i, got := range []*training.Model{model.Model, model.Judged} {
					checkSame(t, got, want[i])
				}
				if got := model.Metrics.LambdaPath; len(got) != len(lambdas) || got[0].Member != 1 ||
					got[len(got)-1].Member != len(members) {
					t.Errorf("path %+v, want %+v", got, lambdas)
				}
				fit := trainingRows(t, set, config, featureMessages(t, set, pieces, whole))
				_, held := split(fit, func(r trainingRow) bool { return r.held })
				near(t, "error", errorOf(model.Metrics.Measures),
					naiveError(held, set.Task, codedModel(set, model.Judged)), 0.01)
			})
		}
	}
}

// blank returns a model of zeros.
func blank(of *training.Model) *training.Model {
	return &training.Model{
		Features:  of.Features,
		Outputs:   of.Outputs,
		Theta:     make([]float64, len(of.Theta)),
		Intercept: make([]float64, len(of.Intercept)),
	}
}

// addShare adds the model of a member, one of n.
func addShare(sum, member *training.Model, features []int32, n int) {
	sum.Lambda += member.Lambda / float64(n)
	for k := range sum.Outputs {
		sum.Intercept[k] += member.Intercept[k] / float64(n)
		for i, at := range features {
			sum.Theta[k*sum.Features+int(at)] += member.Theta[k*member.Features+i] / float64(n)
		}
	}
}

func checkSame(t *testing.T, got, want *training.Model) {
	t.Helper()
	a := slices.Concat(got.Theta, got.Intercept, []float64{got.Lambda})
	b := slices.Concat(want.Theta, want.Intercept, []float64{want.Lambda})
	for i, v := range b {
		if !(math.Abs(a[i]-v) <= 1e-6*math.Max(1, math.Abs(v))) {
			t.Fatalf("number %d of the model is %v, want %v", i, a[i], v)
		}
	}
}
