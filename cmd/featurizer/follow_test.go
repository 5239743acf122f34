package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/eerf-stream/eerf/cmd/internal/cli"
	"github.com/eerf-stream/eerf/cmd/internal/clitest"
)

// A pipeline that uses another pipeline's sets can be run and inspected, and refuses operations
// that are reserved to the other one.
func TestCommandsOnFollowingPipeline(t *testing.T) {
	broker := clitest.Broker(t)
	shop := []string{"-c", pipelineFile(t, broker), "--set", "pipeline.name=shop"}
	live := clitest.File(t, "live.yaml", fmt.Sprintf(`
kafka: {brokers: [%q], fetch_max_wait: 20ms}
pipeline: {name: live}
topics: {partitions: 2}
featurize: {sets_from: shop, predictions: true, commit_interval: 100ms}
admin: {listen: "127.0.0.1:0"}
`, broker))
	data := clitest.File(t, "rows.csv", clitest.Mixed(1400))

	fz(t, append([]string{"topics", "create"}, shop...)...).Want(t, cli.ExitOK)
	if done := fz(t, "topics", "create", "-c", live, "--json").Want(t, cli.ExitOK).Object(t).
		At(t, "done").([]any); len(done) != 4 {
		t.Errorf("created %v", done)
	}
	fz(t, "topics", "check", "-c", live).Want(t, cli.ExitOK)
	fz(t, "inspect", "-c", live).Want(t, cli.ExitFailure, "pipeline shop has no feature set yet")

	follower := service(t, "run", "-c", live, "--json")
	for _, topic := range []string{"shop", "live"} { // the rows that shop learns from also appear in live, labelled
		fz(t, append([]string{"produce", "--data", data, "--rows-per-message", "100",
			"--set", "topics.events=" + topic + ".events"}, shop...)...).Want(t, cli.ExitOK)
	}
	stop := running(t, append([]string{"--stages", "calibrate,subsample,selection"}, shop...)...)
	set := await(t, always, append([]string{"inspect", "--json"}, shop...)...).Text(t, "feature_set.id")
	stop().Want(t, cli.ExitOK)
	wrong := []string{"--set", "pipeline.name=shp", "--set", "topics.explorations=shop.explorations",
		"--set", "topics.feature_sets=shop.feature-sets"}
	fz(t, append(append([]string{"inspect"}, shop...), wrong...)...).Want(t, cli.ExitFailure,
		"pipeline shp has no feature set yet; check pipeline.name")
	follower.AwaitReady(t)
	if id := fz(t, "inspect", "-c", live, "--json").Want(t, cli.ExitOK).Object(t).Text(t, "feature_set.id"); id != set {
		t.Errorf("live uses set %s, shop has %s", id, set)
	}
	if o := fz(t, "explorations", "list", "-c", live, "--json").Want(t, cli.ExitOK).
		Object(t); o.Text(t, "pipeline") != "shop" {
		t.Errorf("%v", o)
	}
	for _, args := range [][]string{{"start"}, {"start", "--dry-run"}, {"cancel"}} {
		fz(t, append(append([]string{"explorations"}, args...), "-c", live)...).Want(t, cli.ExitFailure, "pipeline live",
			"pipeline shop (featurize.sets_from)")
	}

	// Once all rows are featurized, the page shows the state of live, and names the parts that
	// belong to shop.
	var page struct {
		Flow struct {
			Topics     []struct{ Role, Name, Error string }
			Partitions []struct {
				Subsample, Train any
				Featurize        *struct{ Next int64 }
			}
		}
	}
	clitest.Eventually(t, "all rows on the page", func() bool {
		code, body := follower.Get(t, "/api/status")
		if code != http.StatusOK || json.Unmarshal([]byte(body), &page) != nil || len(page.Flow.Partitions) != 2 {
			return false
		}
		for _, p := range page.Flow.Partitions {
			if p.Featurize == nil || p.Featurize.Next != 7 {
				return false
			}
		}
		return true
	})
	for _, p := range page.Flow.Partitions {
		if p.Subsample != nil || p.Train != nil {
			t.Errorf("positions of shop's events shown for live: %+v", p)
		}
	}
	for _, topic := range page.Flow.Topics {
		if (topic.Name == "") != strings.Contains(topic.Error, "pipeline shop explores") {
			t.Errorf("topic %+v", topic)
		}
	}
	totals := follower.Stop(t).Want(t, cli.ExitOK).Object(t)
	if totals.Number(t, "featurize.featurized") != 1400 || totals.Number(t, "featurize.no_model") != 1400 {
		t.Errorf("%v", totals)
	}
}
