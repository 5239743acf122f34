package main

import (
	"path/filepath"
	"testing"
	"time"

	"github.com/segmentio/kafka-go"

	"github.com/eerf-stream/eerf/cmd/internal/cli"
	"github.com/eerf-stream/eerf/cmd/internal/clitest"
)

// A topic is deleted under a stopped pipeline, one of the disasters in docs/operations.md: the
// stages wait for it and continue, the feature set stays the same, and no row is featurized twice.
func TestStagesRecoverFromDeletedTopics(t *testing.T) {
	for topic, kept := range map[string]int{"scores": 24, "samples": 24, "explorations": 24, "feature-sets": 24,
		"features": 0, "models": 24, "dead-letters": 24} {
		t.Run(topic, func(t *testing.T) {
			t.Parallel()
			address := clitest.Broker(t)
			config := pipelineFile(t, address)
			fz(t, "topics", "create", "-c", config).Want(t, cli.ExitOK)
			fz(t, "produce", "-c", config, "--data", clitest.File(t, "rows.csv", clitest.Mixed(2400)),
				"--rows-per-message", "100").Want(t, cli.ExitOK)
			run := []string{"-c", config, "--stages", "calibrate,subsample,selection,featurize"}
			stop := running(t, run...)
			awaitFeatures(t, config, 24)
			before := fz(t, "inspect", "-c", config, "--json").Want(t, cli.ExitOK).Object(t)
			stop().Want(t, cli.ExitOK)

			deleteTopic(t, address, "default."+topic)
			fz(t, "topics", "check", "-c", config).Want(t, cli.ExitFailure, topic)
			running(t, run...)
			fz(t, "topics", "create", "-c", config).Want(t, cli.ExitOK)
			after := await(t, always, "inspect", "-c", config, "--json")
			if a, b := before.Text(t, "feature_set.id"), after.Text(t, "feature_set.id"); a != b {
				t.Errorf("the set was %s and is %s", a, b)
			}
			fz(t, "produce", "-c", config, "--data", clitest.File(t, "more.csv", clitest.Mixed(100))).Want(t, cli.ExitOK)
			awaitFeatures(t, config, kept+1)
		})
	}
}

// awaitFeatures waits until the features topic has the given number of messages; more is an error.
func awaitFeatures(t *testing.T, config string, want int) {
	t.Helper()
	clitest.Eventually(t, "messages of features", func() bool {
		r := fz(t, "topics", "export", "-c", config, "--topic", "default.features", "--out", filepath.Join(t.TempDir(), "x"),
			"--limit", "0", "--json")
		if r.Code != cli.ExitOK {
			return false
		}
		have := len(r.Object(t).At(t, "messages").([]any))
		if have > want {
			t.Fatalf("%d messages of features, want %d", have, want)
		}
		return have == want
	})
}

func deleteTopic(t *testing.T, address, topic string) {
	t.Helper()
	client := &kafka.Client{Addr: kafka.TCP(address), Timeout: time.Minute}
	response, err := client.DeleteTopics(t.Context(), &kafka.DeleteTopicsRequest{Topics: []string{topic}})
	if err == nil {
		err = response.Errors[topic]
	}
	if err != nil {
		t.Fatal(err)
	}
}
