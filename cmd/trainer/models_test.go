package main

import (
	"strings"
	"testing"
	"time"

	"go.uber.org/zap"

	"github.com/eerf-stream/eerf/arrowio/wire"
	"github.com/eerf-stream/eerf/cmd/internal/cli"
	"github.com/eerf-stream/eerf/cmd/internal/clitest"
	"github.com/eerf-stream/eerf/pipeline"
	"github.com/eerf-stream/eerf/pipeline/kafka"
	"github.com/eerf-stream/eerf/stages"
	"github.com/eerf-stream/eerf/stages/topics"
	"github.com/eerf-stream/eerf/stages/train"
	"github.com/eerf-stream/eerf/training"
)

// modelPipeline is a pipeline with models.
type modelPipeline struct {
	t      *testing.T
	broker string
	client *kafka.Client
	topics topics.Config
	at     time.Time
}

func newModelPipeline(t *testing.T) *modelPipeline {
	t.Helper()
	p := &modelPipeline{
		t:      t,
		broker: clitest.Broker(t),
		topics: stages.Default().Topics,
		at:     time.Date(2026, 11, 3, 12, 0, 0, 0, time.UTC),
	}
	client, err := kafka.New(kafka.Config{Brokers: []string{p.broker}}, zap.NewNop())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = client.Close() })
	p.client = client
	if _, err := topics.Create(t.Context(), client, p.topics); err != nil {
		t.Fatal(err)
	}
	return p
}

func (p *modelPipeline) run(args ...string) clitest.Result {
	p.t.Helper()
	return tr(p.t, append([]string{"models"}, append(args, "--set", "kafka.brokers="+p.broker)...)...)
}

func (p *modelPipeline) put(topic string, key, value []byte) {
	p.t.Helper()
	p.at = p.at.Add(time.Minute)
	if _, err := p.client.Produce(p.t.Context(), topic, 0,
		[]pipeline.Record{{Key: key, Value: value, Time: p.at}}); err != nil {
		p.t.Fatal(err)
	}
}

func (p *modelPipeline) point(topic, id string) {
	p.t.Helper()
	value, err := wire.EncodeCurrent(&wire.Current{ID: id, Sequence: 1, Time: p.at})
	if err != nil {
		p.t.Fatal(err)
	}
	p.put(topic, wire.CurrentKey("default"), value)
}

// model writes a judged model and returns its id.
func (p *modelPipeline) model(set string, weight float64, j wire.Judgement) string {
	p.t.Helper()
	j.Rule = train.PromoteBetter
	m := &wire.Model{
		Pipeline: "default", FeatureSetID: set, Sequence: 1,
		TrainRows: 1000, HeldOutRows: 200, TrainedAt: p.at, ConfigHash: "c0ffee0123456789",
		Model: &training.Model{
			Features:  2,
			Outputs:   1,
			Theta:     []float64{weight, 1},
			Intercept: []float64{0},
			Loss:      training.LossSquared,
		},
		Metrics:   wire.Metrics{Measures: training.Measures{Misclassification: wire.Measured(10 + weight)}},
		Judgement: &j, Ranges: []wire.Range{{Partition: 2, FirstOffset: 5, NextOffset: 99, Rows: 1000}},
	}
	value, err := wire.EncodeModel(m)
	if err != nil {
		p.t.Fatal(err)
	}
	id := wire.ModelID(m)
	p.put(p.topics.Models, wire.SetKey("default", id), value)
	return id
}

// history writes a model of an earlier set, two of the current set, one of them current, and one
// that lost.
func (p *modelPipeline) history() (ids [4]string) {
	ids[0] = p.model("fs-old", 0, wire.Judgement{Verdict: wire.VerdictFirst})
	ids[1] = p.model("fs-now", 1,
		wire.Judgement{
			Verdict:      wire.VerdictNewSet,
			Incumbent:    ids[0],
			IncumbentSet: "fs-old",
			NotCompared:  "events are gone",
		})
	ids[2] = p.model("fs-now", 2, wire.Judgement{
		Verdict: wire.VerdictBetter, Incumbent: ids[1], Measure: "misclassification", Rows: 200,
		ChallengerError: wire.Measured(11.5), IncumbentError: wire.Measured(12.25),
	})
	p.point(p.topics.FeatureSets, "fs-now")
	p.point(p.topics.Models, ids[2])
	ids[3] = p.model("fs-now", 3, wire.Judgement{
		Verdict: wire.VerdictNotBetter, Incumbent: ids[2], Measure: "misclassification", Rows: 200,
		ChallengerError: wire.Measured(11.75), IncumbentError: wire.Measured(11.5),
		StandardError: wire.Measured(0.3141592), MarginRule: wire.MarginAuto,
	})
	return ids
}

func TestModelsOfAPipelineWithoutAny(t *testing.T) {
	p := newModelPipeline(t)
	if out := p.run("list").Want(t, cli.ExitOK).Out; !strings.Contains(out, "no current model") {
		t.Error(out)
	}
	if list := p.run("list", "--json").Want(t, cli.ExitOK).Object(t); list["current"] != nil ||
		len(list["models"].([]any)) != 0 {
		t.Error(list)
	}
	p.run("show").Want(t, cli.ExitFailure, "pipeline default has no model yet")
	p.run("rollback").Want(t, cli.ExitFailure, "roll back pipeline default: it has no model yet")
	p.run("unpin").Want(t, cli.ExitFailure, "pipeline default has no model yet")
	tr(t, "models", "list", "--set", "kafka.brokers="+clitest.Broker(t)).Want(t, cli.ExitFailure, "unknown topic")
}

// The models of another pipeline are shown and cannot be changed.
func TestModelsOfAnotherPipeline(t *testing.T) {
	p := newModelPipeline(t)
	ids := p.history()
	follow := []string{"--set", "pipeline.name=live", "--set", "featurize.sets_from=default"}
	if list := p.run(append([]string{"list", "--json"}, follow...)...).Want(t, cli.ExitOK).Object(t); list.Text(t,
		"pipeline") != "default" || list.Text(t, "current.id") != ids[2] {
		t.Error(list)
	}
	for _, args := range [][]string{{"rollback", "--force"}, {"unpin"}} {
		if args[0] == "unpin" {
			p.run("rollback", "--force").Want(t, cli.ExitOK)
		}
		p.run(append(args, follow...)...).Want(t, cli.ExitFailure, "featurize.sets_from", "pipeline default")
	}
	for _, command := range []string{"fit", "run"} {
		tr(t, append([]string{command}, follow...)...).Want(t, cli.ExitUsage, "pipeline live",
			"pipeline default (featurize.sets_from)", "stage train")
	}
}

func TestModelsWrongUsage(t *testing.T) {
	for args, says := range map[string]string{
		"models guess":             `unknown command "guess"`,
		"models list m-1":          `unexpected argument "m-1"`,
		"models show m-1 m-2":      `unexpected argument "m-2"`,
		"models rollback m-1":      `unexpected argument "m-1"`,
		"models rollback --guess":  "unknown flag: --guess",
		"models unpin --set nokey": "expected key=value",
	} {
		tr(t, strings.Fields(args)...).Want(t, cli.ExitUsage, says)
	}
}

func TestModelsListAndShow(t *testing.T) {
	p := newModelPipeline(t)
	ids := p.history()
	out := p.run("list").Want(t, cli.ExitOK).Out
	for _, says := range append(ids[:], "current: "+ids[2], " 13.00 ", "11.75 % vs 11.50 %", "12.25", "better",
		"not_better",
		"new_set", "first") {
		if !strings.Contains(out, says) {
			t.Errorf("the list lacks %q:\n%s", says, out)
		}
	}
	list, ok := p.run("list", "--promoted", "--json").Want(t, cli.ExitOK).Object(t).At(t, "models").([]any)
	if !ok || len(list) != 3 {
		t.Fatalf("%v", list)
	}
	if newest, ok := list[0].(map[string]any); !ok || newest["id"] != ids[2] || newest["current"] != true {
		t.Errorf("%v", list[0])
	}

	shown := p.run("show", "--json").Want(t, cli.ExitOK).Object(t)
	if shown.Text(t, "id") != ids[2] || shown.Number(t, "judgement.incumbent_error") != 12.25 ||
		shown.Text(t, "config_hash") != "c0ffee0123456789" ||
		shown.Text(t, "current.id") != ids[2] || len(shown.At(t, "ranges").([]any)) != 1 {
		t.Errorf("%v", shown)
	}
	text := p.run("show", ids[3][:12]).Want(t, cli.ExitOK).Out
	for _, says := range []string{
		ids[3],
		"not made current: it did not beat the incumbent",
		"11.75 %, the incumbent 11.50 %",
		"better, by 0.31 %, the standard error",
		"offset 5 row 0 to offset 99",
		"c0ffee012345",
	} {
		if !strings.Contains(text, says) {
			t.Errorf("lacks %q:\n%s", says, text)
		}
	}
	p.run("show", "m-feedfeed").Want(t, cli.ExitFailure, "m-feedfeed is not on the models topic", "trainer models list")
	p.put(p.topics.Models, wire.SetKey("default", ids[1]), nil)
	p.run("show", ids[1]).Want(t, cli.ExitFailure, "not on the models topic", "topics.keep_models")
}

func TestModelsRollback(t *testing.T) {
	p := newModelPipeline(t)
	ids := p.history()
	out := p.run("rollback", "--reason", "false alarms").Want(t, cli.ExitOK).Out
	for _, says := range []string{
		ids[1] + " replaces " + ids[2],
		"pinned until `trainer models unpin`",
		"false alarms",
	} {
		if !strings.Contains(out, says) {
			t.Errorf("lacks %q:\n%s", says, out)
		}
	}
	// The model before that belongs to another set than the current one.
	p.run("rollback").Want(t, cli.ExitFailure, ids[0]+" belongs to feature set fs-old, but the current one is fs-now",
		"--force")
	p.run("rollback", "--to", "m-feedfeed").Want(t, cli.ExitFailure, "is not on the models topic", "trainer models list")
	if now := p.run("list", "--json").Object(t); now.Text(t, "current.id") != ids[1] ||
		now.Text(t, "current.pin") != "hold" {
		t.Errorf("%v", now["current"])
	}
	forced := p.run("rollback", "--force", "--json").Want(t, cli.ExitOK).Object(t)
	if forced.Text(t, "before.id") != ids[1] || forced.Text(t, "current.id") != ids[0] {
		t.Errorf("%v", forced)
	}
	p.run("rollback", "--force").Want(t, cli.ExitFailure, "no earlier model to roll back to", "names no earlier one")

	// A rollback works to any model on the topic, even one that lost. Repeating it only pins.
	beaten := p.run("rollback", "--to", ids[3][:10], "--until-beaten", "--json").Want(t, cli.ExitOK).Object(t)
	if beaten.Text(t, "current.id") != ids[3] || beaten.Text(t, "current.pin") != "until_beaten" ||
		!strings.Contains(beaten.Text(t, "current.reason"), "requested on") {
		t.Errorf("%v", beaten)
	}
	if again := p.run("rollback", "--to", ids[3]).Want(t, cli.ExitOK).Out; !strings.Contains(again,
		"was already current; it is pinned now") {
		t.Error(again)
	}
	if free := p.run("unpin").Want(t, cli.ExitOK).Out; !strings.Contains(free, ids[3]+" is no longer pinned") {
		t.Error(free)
	}
	if free := p.run("unpin", "--json").Want(t, cli.ExitOK).Object(t); free["pin"] != "" ||
		free.Text(t, "current.id") != ids[3] {
		t.Errorf("%v", free)
	}
	if free := p.run("unpin").Want(t, cli.ExitOK).Out; !strings.Contains(free, "was not pinned") {
		t.Error(free)
	}
	p.put(p.topics.Models, wire.SetKey("default", ids[2]), nil)
	p.run("rollback", "--to", ids[2]).Want(t, cli.ExitFailure, "newest promoted models")
}
