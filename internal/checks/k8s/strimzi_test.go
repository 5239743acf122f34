package k8s

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/yaml"
)

const strimziGroup = "kafka.strimzi.io"

// kafkaTopic has the fields of Strimzi's KafkaTopic v1 but status.
type kafkaTopic struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata"`
	Spec              struct {
		TopicName  string         `json:"topicName,omitempty"`
		Partitions int            `json:"partitions,omitempty"`
		Replicas   int            `json:"replicas,omitempty"`
		Config     map[string]any `json:"config,omitempty"`
	} `json:"spec"`
}

// kafkaUser has those fields of Strimzi's KafkaUser v1 that are used.
type kafkaUser struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata"`
	Spec              struct {
		Authentication struct {
			Type string `json:"type"`
		} `json:"authentication"`
		Authorization struct {
			Type string `json:"type"`
			ACLs []struct {
				Resource struct {
					Type        string `json:"type"`
					Name        string `json:"name"`
					PatternType string `json:"patternType"`
				} `json:"resource"`
				Operations []string `json:"operations"`
			} `json:"acls"`
		} `json:"authorization"`
	} `json:"spec"`
}

// operations are those of Strimzi, by the column of the table of rights.
var operations = map[string]string{
	"read": "Read", "write": "Write", "describe": "Describe", "describe configs": "DescribeConfigs", "create": "Create", "alter": "Alter",
}

func decodeStrimzi(m *Manifest) error {
	switch m.GetKind() + " " + m.GroupVersionKind().Version {
	case "KafkaTopic v1":
		var topic kafkaTopic
		return yaml.UnmarshalStrict(m.Text, &topic)
	case "KafkaUser v1":
		var user kafkaUser
		if err := yaml.UnmarshalStrict(m.Text, &user); err != nil {
			return err
		}
		return user.check()
	}
	return fmt.Errorf("no type of %v is written down here", m.GroupVersionKind())
}

func (u *kafkaUser) check() error {
	s := u.Spec
	if s.Authentication.Type != "scram-sha-512" || s.Authorization.Type != "simple" {
		return fmt.Errorf("authentication %q, authorization %q", s.Authentication.Type, s.Authorization.Type)
	}
	for _, acl := range s.Authorization.ACLs {
		if acl.Resource.PatternType != "literal" || acl.Resource.Type != "topic" && acl.Resource.Type != "group" {
			return fmt.Errorf("resource %+v", acl.Resource)
		}
		for _, operation := range acl.Operations {
			if !slices.Contains([]string{"Read", "Write", "Describe", "DescribeConfigs"}, operation) {
				return fmt.Errorf("operation %q", operation)
			}
		}
	}
	return nil
}

// rights returns what a user may, as "topic name operation".
func (u *kafkaUser) rights() []string {
	var all []string
	for _, acl := range u.Spec.Authorization.ACLs {
		for _, operation := range acl.Operations {
			all = append(all, acl.Resource.Type+" "+acl.Resource.Name+" "+operation)
		}
	}
	slices.Sort(all)
	return all
}

var quoted = regexp.MustCompile("`([a-z-]+)`")

// documented reads the rows of the table of rights that a workload needs, and joins them.
func documented(t *testing.T, pipeline string, rows ...string) []string {
	t.Helper()
	_, table, _ := strings.Cut(readFile(t, "docs/operations.md"), "\n| who | read |")
	table, _, _ = strings.Cut("| who | read |"+table, "\n\n")
	lines := strings.Split(table, "\n")
	columns := cells(lines[0])
	var all []string
	for _, line := range lines[2:] {
		row := cells(line)
		if !slices.Contains(rows, strings.Trim(row[0], "`")) {
			continue
		}
		for i, column := range columns[1:] {
			for _, name := range quoted.FindAllStringSubmatch(row[i+1], -1) {
				right := "topic " + name[1] + " " + operations[column]
				if column == "groups" {
					right = "group eerf-" + pipeline + "-" + name[1] + " Read"
				}
				all = append(all, right)
			}
		}
	}
	slices.Sort(all)
	all = slices.Compact(all)
	return slices.DeleteFunc(all, func(right string) bool { // to read or to write includes to describe
		topic, isDescribe := strings.CutSuffix(right, " Describe")
		return isDescribe && (slices.Contains(all, topic+" Read") || slices.Contains(all, topic+" Write"))
	})
}

func cells(line string) []string {
	parts := strings.Split(strings.Trim(line, "|"), "|")
	for i := range parts {
		parts[i] = strings.TrimSpace(parts[i])
	}
	return parts
}

// TestUsersHaveTheRightsThatTheyNeed compares users with the table of rights, which the project's own tests give and take on
// Apache Kafka.
func TestUsersHaveTheRightsThatTheyNeed(t *testing.T) {
	rows := map[string][]string{
		"eerf-selector": {"calibrate", "select"}, "eerf-scoring": {"subsample"}, "eerf-featurizer": {"featurize"},
		"eerf-trainer": {"train"}, "eerf-retrain": {"trainer fit"},
	}
	o := render(t, copyFiles(t), "overlays/production")
	pipeline := o.configuration(t, "eerf-selector").Pipeline.Name
	want := map[string][]string{"eerf-keda": {"group eerf-" + pipeline + "-featurize Describe", "topic events Describe"}}
	for user, names := range rows {
		want[user] = documented(t, pipeline, names...)
		if len(want[user]) == 0 {
			t.Fatalf("docs/operations.md has no rights of %v", names)
		}
	}
	for _, m := range o.ofKind("KafkaUser") {
		var user kafkaUser
		if err := yaml.UnmarshalStrict(m.Text, &user); err != nil {
			t.Fatal(err)
		}
		if have := user.rights(); !slices.Equal(have, want[user.Name]) {
			t.Errorf("%s has the rights\n%s\nand needs\n%s", user.Name, strings.Join(have, "\n"), strings.Join(want[user.Name], "\n"))
		}
		delete(want, user.Name)
	}
	for user := range want {
		t.Errorf("there is no user %s", user)
	}
}

// TestTopicsAreCoPartitioned compares the partitions of topics with the configuration. What else they are created with is
// compared by the tests beside the manifests.
func TestTopicsAreCoPartitioned(t *testing.T) {
	o := render(t, copyFiles(t), "overlays/production")
	topics := o.configuration(t, "eerf-selector").Topics
	want := map[string]int{topics.Events: topics.Partitions, topics.Scores: topics.Partitions, topics.Samples: topics.Partitions,
		topics.Features: topics.Partitions, topics.DeadLetters: topics.Partitions, topics.Explorations: 1, topics.FeatureSets: 1, topics.Models: 1}
	for _, m := range o.ofKind("KafkaTopic") {
		var topic kafkaTopic
		if err := yaml.UnmarshalStrict(m.Text, &topic); err != nil {
			t.Fatal(err)
		}
		if topic.Spec.Partitions != want[topic.Name] || topic.Spec.Replicas != topics.Replication {
			t.Errorf("%s: %d partitions, %d replicas; want %d, %d", topic.Name, topic.Spec.Partitions, topic.Spec.Replicas,
				want[topic.Name], topics.Replication)
		}
		delete(want, topic.Name)
	}
	for topic := range want {
		t.Errorf("there is no topic %s", topic)
	}
}
