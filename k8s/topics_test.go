// Package k8s_test compares the topics in the manifests with those that the programs create. All
// other checks of the manifests are in cmd/internal/checks/k8s.
package k8s_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"testing"

	"go.yaml.in/yaml/v3"

	"github.com/eerf-stream/eerf/config"
)

const configPath = "production/eerf.yaml"

// kafkaTopic holds the compared fields of a KafkaTopic.
type kafkaTopic struct {
	Metadata struct {
		Name string `yaml:"name"`
	} `yaml:"metadata"`
	Spec struct {
		Partitions int            `yaml:"partitions"`
		Replicas   int            `yaml:"replicas"`
		Config     map[string]any `yaml:"config"`
	} `yaml:"spec"`
}

func TestManifestTopicsMatchPrograms(t *testing.T) {
	loaded, err := config.Load(nil, configPath, map[string]any{"kafka.sasl.user": "anybody", "topics.partitions": 12})
	if err != nil {
		t.Fatal(err)
	}
	have := map[string]kafkaTopic{}
	for _, name := range []string{"components/strimzi/events.yaml", "components/strimzi/topics.yaml"} {
		for _, topic := range readTopics(t, name) {
			have[topic.Metadata.Name] = topic
		}
	}
	for _, spec := range loaded.Stages.Topics.Specs(loaded.Stages.Topics.Partitions) {
		topic, ok := have[spec.Name]
		if !ok {
			t.Errorf("topic %s is missing", spec.Name)
			continue
		}
		delete(have, spec.Name)
		configs := map[string]string{}
		for key, value := range topic.Spec.Config {
			configs[key] = fmt.Sprint(value)
		}
		if topic.Spec.Partitions != spec.Partitions || topic.Spec.Replicas != spec.Replication ||
			!maps.Equal(configs, spec.Configs) {
			t.Errorf("%s is %+v, the programs create %+v", spec.Name, topic.Spec, spec)
		}
	}
	for name := range have {
		t.Errorf("no program uses the topic %s", name)
	}
}

func readTopics(t *testing.T, name string) []kafkaTopic {
	t.Helper()
	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	var topics []kafkaTopic
	decoder := yaml.NewDecoder(bytes.NewReader(text))
	for {
		var topic kafkaTopic
		switch err := decoder.Decode(&topic); {
		case errors.Is(err, io.EOF):
			return topics
		case err != nil:
			t.Fatalf("%s: %v", name, err)
		}
		topics = append(topics, topic)
	}
}
